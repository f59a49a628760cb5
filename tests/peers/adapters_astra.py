"""adapters_astra.py: libfbp.adapters.astra beside ASTRA: its conversion to vectors, its projectors on the
CPU, which are those of planes, and its FBP."""

import astra
import numpy as np

import libfbp as fbp
from adapters_util import HEAD, Case, check, done, is_the_right_way_round, rmse, row

DISCS = ((0.5, 0.5, 0.4, 1.0), (0.62, 0.35, 0.1, 1.0), (0.3, 0.6, 0.06, -0.5), (0.45, 0.75, 0.05, 0.7))


def phantom(rows, columns):
    """Discs with soft edges, in an image that is not square."""
    y, x = np.mgrid[:rows, :columns]
    image = np.zeros((rows, columns), np.float32)
    for cx, cy, r, value in DISCS:
        far = np.hypot(x - cx * columns, y - cy * columns * 0.75) - r * columns * 0.75
        image += value / (1 + np.exp(np.clip(far, -30, 30)))
    return image.astype(np.float32)


def geometries(n, width):
    """Geometries in a plane, by name, with the projector that ASTRA has for each."""
    half, turn = (np.linspace(0, end, n, endpoint=False) for end in (np.pi, 2 * np.pi))
    rng = np.random.default_rng(3)
    columns = int(width * 1.5)
    parallel = astra.create_proj_geom("parallel", 1.0, columns, half)
    fan = astra.create_proj_geom("fanflat", 1.5, columns, turn, 3.0 * width, 1.5 * width)
    moved = {}
    for name, geometry in (("parallel_vec", parallel), ("fanflat_vec", fan)):
        moved[name] = astra.geom_2vec(geometry)
        vectors = moved[name]["Vectors"]
        vectors[:, 2:4] += (2 + rng.normal(size=(n, 1))) * vectors[:, 4:6]
        if name == "fanflat_vec":
            vectors[:, :2] *= 1 + 0.01 * rng.normal(size=(n, 1))
    return {
        "parallel": (parallel, "strip"),
        "parallel_vec": (moved["parallel_vec"], "linear"),
        "fanflat": (fan, "line_fanflat"),
        "fanflat_vec": (moved["fanflat_vec"], "line_fanflat"),
    }


def project(geometry, volume, image, projector):
    made = astra.create_projector(projector, geometry, volume)
    number, sinogram = astra.create_sino(image, made)
    astra.data2d.delete(number)
    return sinogram, made


def astra_fbp(geometry, volume, sinogram, projector):
    ids = astra.data2d.create("-sino", geometry, sinogram), astra.data2d.create("-vol", volume)
    settings = astra.astra_dict("FBP") | {
        "ProjectorId": projector, "ProjectionDataId": ids[0], "ReconstructionDataId": ids[1],
        "option": {"FilterType": "Ram-Lak"},
    }  # fmt: skip
    algorithm = astra.algorithm.create(settings)
    astra.algorithm.run(algorithm)
    image = astra.data2d.get(ids[1])
    astra.algorithm.delete(algorithm)
    astra.data2d.delete(ids)
    return image


def cases(n=160, views=200):
    """FBP of ASTRA's is for its type parallel alone."""
    rows = n * 3 // 4
    image = phantom(rows, n)
    volume = astra.create_vol_geom(rows, n, -0.5 * n, 0.5 * n, -0.4 * n, 0.35 * n)
    for name, (geometry, projector) in geometries(views, n).items():
        sinogram, made = project(geometry, volume, image, projector)
        yield Case(
            f"ASTRA {name}, {n} x {rows}, {views} views of {sinogram.shape[1]}",
            (lambda g=geometry, s=sinogram, m=made: astra_fbp(g, volume, s, m))
            if name == "parallel" else None,
            lambda g=geometry, s=sinogram: fbp.adapters.astra.recon(g, volume, s),
            image, (slice(None), slice(None)),
        )  # fmt: skip


def check_conversion():
    """Circles are what astra.geom_2vec() makes of them."""
    angles = np.linspace(0.1, 7, 33)
    create = astra.create_proj_geom
    for geometry in (
        create("cone", 1.1, 0.9, 8, 12, angles, 200, 100),
        create("parallel3d", 1.1, 0.9, 8, 12, angles),
        create("fanflat", 1.1, 12, angles, 200, 100),
        create("parallel", 1.1, 12, angles),
    ):
        theirs, name = astra.geom_2vec(geometry), geometry["type"]
        a = fbp.adapters.astra.scan(geometry).vectors
        b = fbp.adapters.astra.scan(theirs).vectors
        if "DetectorCount" not in geometry:
            full = theirs["Vectors"].reshape(-1, 4, 3)
            check(f"{name}: its own vectors, in mm", np.abs(b[:, 1:] - full[:, 1:]).max(), 1e-12)
        else:
            b[:, 3] = a[:, 3]
        check(f"{name}: vectors of geom_2vec(), in mm", np.abs(a - b).max(), 1e-9)


def check_places():
    """A blob lands where ASTRA's projector lets it land, view by view."""
    volume = astra.create_vol_geom(60, 80, -30, 50, -25, 35)
    y, x = np.mgrid[:60, :80]
    image = np.exp(-((x - 60) ** 2 + (y - 14) ** 2) / 18).astype(np.float32)
    place = np.array([-30 + 60.5, 35 - 14.5, 0, 1])  # row 0 is at the top
    for name, (geometry, projector) in geometries(90, 80).items():
        sinogram, _ = project(geometry, volume, image, projector)
        column = (sinogram * np.arange(sinogram.shape[1])).sum(1) / sinogram.sum(1)
        p = fbp.adapters.astra.scan(geometry).matrices @ place
        check(f"{name}: a blob's column, in columns", np.abs(p[:, 0] / p[:, 2] - column).max(), 0.2)


BENCH = (512, 720)  # arguments of cases() for bench/peers/adapters.py


def main():
    check_conversion()
    check_places()
    print(HEAD)
    for case in cases():
        ours, theirs = row(case, 1)
        error = rmse(ours, case.truth)
        check(f"{case.name}: error", error, 0.02)
        if theirs is not None:
            check(f"{case.name}: difference from ASTRA's FBP", rmse(ours, theirs), 0.002)
        is_the_right_way_round(case.name, ours, case.truth, error)
    done()


if __name__ == "__main__":
    main()
