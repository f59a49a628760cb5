"""adapters_cil.py: libfbp.adapters.cil beside CIL: its conversion to ASTRA's vectors, its data containers,
and its own reconstructors with this program's backprojection (where CIL was built with IPP); and
libfbp.adapters.tigre beside CIL's conversion to TIGRE's geometry.
"""

import sys
import types

import astra  # noqa: F401 - CIL's conversion needs it
import cil.recon
import numpy as np
from cil.framework import AcquisitionGeometry, ImageGeometry

try:
    import tigre  # noqa: F401
except ImportError:  # its geometry is a class with attributes; the rest needs a GPU
    for name in ("tigre", "tigre.utilities", "tigre.utilities.geometry"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["tigre.utilities.geometry"].Geometry = type("Geometry", (), {})
from cil.plugins.astra.utilities import convert_geometry_to_astra_vec_3D as to_astra
from cil.plugins.tigre import CIL2TIGREGeometry
from cil.recon.FBP import has_ipp

import libfbp as fbp
from adapters_util import HEAD, Case, check, check_true, done, is_the_right_way_round, rmse, row

CIL = fbp.adapters.cil
ORIGINS = ("bottom-left", "top-left", "bottom-right", "top-right")


def panel_axes():
    """Rows and columns of a panel that is turned a little about all axes."""
    x = np.array([1, 0.02, 0.01])
    x /= np.linalg.norm(x)
    y = np.array([0, 0.01, 1])
    y -= x * (y @ x)
    return x, y / np.linalg.norm(y)


def geometry(kind, views, size, *, origin="bottom-left", unit="degree", arc=360, moved=False, labels=None):
    x, y = panel_axes()
    source, panel = ([0.0, -500, 0], [0.0, 300, 0]) if not moved else ([1.0, -500, 2], [3.0, 300, 1])
    more = {"detector_direction_x": x, "detector_direction_y": y} if moved else {}
    more["rotation_axis_position"] = [2.0, 1, 0] if moved else [0, 0, 0]
    if kind == "cone":
        made = AcquisitionGeometry.create_Cone3D(source, panel, **more)
    else:
        made = AcquisitionGeometry.create_Parallel3D(detector_position=panel, **more)
    made.set_panel(size, (1.2, 1.1), origin=origin)
    angles = np.linspace(0, arc, views, endpoint=False)
    start = 10.0
    if unit == "radian":
        angles, start = np.radians(angles), np.radians(start)
    made.set_angles(angles, initial_angle=start, angle_unit=unit)
    made.set_labels(labels or ["angle", "vertical", "horizontal"])
    return made


def simulated(of, phantom="ellipsoids"):
    """AcquisitionData with the views of a phantom, in the order of the geometry's labels."""
    scan = fbp.simulate(CIL.scan(of), phantom)
    letters = {"angle": 0, "vertical": 1, "horizontal": 2}
    data = of.allocate(None)
    data.fill(np.ascontiguousarray(scan.views.transpose([letters[str(n)] for n in of.dimension_labels])))
    return data, scan


def check_geometry():
    """The adapter's vectors and volume are those of CIL's conversion for ASTRA."""
    for kind in ("cone", "parallel"):
        for origin in ORIGINS:
            for unit in ("degree", "radian"):
                of = geometry(kind, 40, (110, 80), origin=origin, unit=unit, moved=True)
                volume = ImageGeometry(50, 40, 30, 0.5, 0.6, 0.7, 3, -2, 1)
                theirs_volume, theirs = to_astra(volume, of)
                a = CIL.scan(of, volume)
                b = fbp.adapters.astra.scan(theirs, None, theirs_volume)
                want = b.vectors * (np.array([-1, 1, 1, 1])[:, None] if kind == "parallel" else 1)
                # CIL has angles in single precision: 500 mm times 1e-6 rad
                check(f"{kind}, {origin}, {unit}: vectors, in mm", np.abs(a.vectors - want).max(), 5e-4)
                same = [np.allclose(a._core.volume[k], b._core.volume[k]) for k in ("size", "voxel", "centre")]
                check_true(f"{kind}: volume", all(same))


def pixels(scan, points):
    p = scan.matrices @ np.c_[points, np.ones(len(points))].T
    return p[:, :2] / p[:, 2:]


def about(axis, a):
    """Matrix of a turn about x, y or z."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out = np.eye(3)
    out[i, i] = out[j, j] = np.cos(a)
    out[j, i] = np.sin(a)
    out[i, j] = -np.sin(a)
    return out


def check_tigre():
    """Points land on the same pixels by CIL's geometry, and by TIGRE's that CIL makes of it.

    CIL's volume for TIGRE is turned and moved along the axis where the ray through the axis is not that
    to the panel's middle.  Of panels that are turned about several axes CIL's angles are no more exact.
    """
    volume = ImageGeometry(50, 40, 30, 0.5, 0.6, 0.7, 0, 0, 1)
    points = np.random.default_rng(7).normal(size=(50, 3)) * 20
    for name, source, panel, turn in (
        ("centred", (0, -500, 0), (0, 300, 0), np.eye(3)),
        ("moved source", (1, -500, 2), (0, 300, 0), np.eye(3)),
        ("moved panel", (0, -500, 0), (3, 300, 1), np.eye(3)),
        ("turned about x", (0, -500, 0), (3, 300, 1), about(0, 0.1)),
        ("turned about y", (0, -500, 0), (3, 300, 1), about(1, 0.1)),
        ("turned about z", (0, -500, 0), (3, 300, 1), about(2, 0.1)),
    ):
        of = AcquisitionGeometry.create_Cone3D(
            list(map(float, source)), list(map(float, panel)),
            detector_direction_x=turn[:, 0], detector_direction_y=turn[:, 2],
        )  # fmt: skip
        of.set_panel((110, 80), (1.2, 1.1))
        of.set_angles(np.linspace(0, 360, 20, endpoint=False), initial_angle=10)
        ours = CIL.scan(of, volume)
        theirs = fbp.adapters.tigre.scan(None, *CIL2TIGREGeometry.getTIGREGeometry(volume, of))
        a, b = (np.arctan2(s.vectors[0, 0, 1], s.vectors[0, 0, 0]) for s in (ours, theirs))
        high = theirs._core.volume["centre"][2] - ours._core.volume["centre"][2]
        moved = points @ about(2, b - a).T + (0, 0, high)
        worst = np.abs(pixels(theirs, moved) - pixels(ours, points)).max()
        check(f"TIGRE by CIL, {name}: in pixels", worst, 1e-3)


def check_plane():
    """Geometries in a plane, which CIL converts as one row of space."""
    for name, of in (
        ("cone", AcquisitionGeometry.create_Cone2D([1.0, -500], [3.0, 300], rotation_axis_position=[2.0, 1])),
        ("parallel", AcquisitionGeometry.create_Parallel2D(detector_position=[3.0, 0])),
    ):
        of.set_panel(100, 1.2)
        of.set_angles(np.linspace(0, 360, 90, endpoint=False))
        a = CIL.scan(of).vectors
        b = fbp.adapters.astra.scan(to_astra(of.get_ImageGeometry(), of)[1]).vectors
        b[:, 0] *= -1 if name == "parallel" else 1
        check(f"{name} in a plane: vectors, in mm", np.abs(a - b).max(), 5e-4)
        scan = fbp.simulate(CIL.scan(of), "ellipsoids")
        data = of.allocate(None)
        data.fill(scan.views[:, 0])
        image = (CIL.FDK if name == "cone" else CIL.FBP)(data).run(verbose=0)
        check(f"{name} in a plane: image", np.abs(image.array - fbp.recon(scan).array[0]).max(), 0)


def check_orders():
    """Data and volumes with axes in any order, and an ImageData to fill."""
    usual, _ = simulated(geometry("cone", 60, (60, 50)))
    want = CIL.FDK(usual).run(verbose=0)
    other, _ = simulated(geometry("cone", 60, (60, 50), labels=["horizontal", "vertical", "angle"]))
    volume = other.geometry.get_ImageGeometry()
    volume.set_labels(["horizontal_x", "vertical", "horizontal_y"])
    found = CIL.FDK(other, volume).run(verbose=0)
    check_true(f"labels {found.dimension_labels}", found.geometry == volume)
    check("axes in another order", np.abs(found.array.transpose(1, 2, 0) - want.array).max(), 0)
    out = want.geometry.allocate(7)
    CIL.FDK(usual).run(out, verbose=0)
    check("out", np.abs(out.array - want.array).max(), 0)
    made = CIL.Processor(None, usual.geometry)(usual)
    check("Processor", np.abs(made.array - want.array).max(), 0)


def cases(n=96, views=180):
    """CIL filters, and one backprojects: with CIL's filter, and with this program's.  TIGRE's and ASTRA's
    backprojection of CIL need a GPU."""
    for kind, recon, own in (("cone", CIL.FDK, cil.recon.FDK), ("parallel", CIL.FBP, cil.recon.FBP)):
        data, scan = simulated(geometry(kind, views, (n, n * 3 // 4), arc=360 if kind == "cone" else 180))
        volume = fbp.recon(scan, mask=0)
        truth = fbp.truth(volume, scan, "ellipsoids").array
        yield Case(
            f"CIL {kind}, {' x '.join(map(str, truth.shape[::-1]))}, {views} views of {n} x {n * 3 // 4}",
            (lambda d=data, o=own: CIL.use(o(d)).run(verbose=0).array) if has_ipp else None,
            lambda d=data, r=recon: r(d).run(verbose=0).array,
            truth,
            tuple(slice(m // 6, m - m // 6) for m in truth.shape),
        )


def check_chunks():
    """CIL's way to take a few slices at once, and a filter that is an array."""
    data, _ = simulated(geometry("parallel", 90, (60, 48), arc=180))
    for backend in ("tigre", "astra"):
        data.reorder(backend)
        whole = CIL.use(cil.recon.FBP(data, backend=backend)).run(verbose=0).array
        parts = CIL.use(cil.recon.FBP(data, backend=backend))
        parts.set_split_processing(16)
        check(f"{backend}: in chunks", np.abs(parts.run(verbose=0).array - whole).max(), 0)
        hann = CIL.use(cil.recon.FBP(data, filter="hann", backend=backend))
        array = CIL.use(cil.recon.FBP(data, filter=hann.get_filter_array(), backend=backend))
        check(f"{backend}: array as filter",
              np.abs(array.run(verbose=0).array - hann.run(verbose=0).array).max(), 0)  # fmt: skip
        ours = CIL.FBP(data, filter="hann").run(verbose=0).array
        check(f"{backend}: hann of both", rmse(hann.run(verbose=0).array, ours) / ours.std(), 0.05)


BENCH = (128, 180)  # arguments of cases() for bench/peers/adapters.py


def main():
    check_geometry()
    check_tigre()
    check_plane()
    check_orders()
    if has_ipp:
        check_chunks()
    print(HEAD)
    for case in cases():
        ours, theirs = row(case, 1)
        a, truth = ours[case.part], case.truth[case.part]
        error = rmse(a, truth)
        is_the_right_way_round(case.name, a, truth, error)
        if theirs is not None:
            check(f"{case.name}: difference", rmse(a, theirs[case.part]), 0.1 * float(truth.std()))
    done()


if __name__ == "__main__":
    main()
