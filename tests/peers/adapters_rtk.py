"""adapters_rtk.py: libfbp.adapters.rtk beside RTK: its matrices, its projections of ellipsoids and its FDK
on the CPU."""

import itk
import numpy as np
from itk import RTK as rtk

import libfbp as fbp
from adapters_util import HEAD, Case, check, check_true, done, is_the_right_way_round, rmse, row

IMAGE = itk.Image[itk.F, 3]
# density, half axes, middle; RTK's axes: y is the axis of rotation
ELLIPSOIDS = (
    (1.0, (30, 25, 28), (0, 0, 0)),
    (0.5, (6, 8, 5), (12, 6, -9)),
    (-0.4, (4, 4, 4), (-10, -12, 5)),
)


def constant(size, spacing, origin, direction=None):
    source = rtk.ConstantImageSource[IMAGE].New()
    source.SetSize([int(n) for n in size])
    source.SetSpacing([float(d) for d in spacing])
    source.SetOrigin([float(o) for o in origin])
    if direction is not None:
        source.SetDirection(itk.matrix_from_array(np.ascontiguousarray(direction, float)))
    source.SetConstant(0.0)
    return source


def of_ellipsoids(kind, source, *geometry):
    """A chain of RTK's filters that adds them up: projections or a volume."""
    made = [source]
    for density, axis, middle in ELLIPSOIDS:
        step = kind[IMAGE, IMAGE].New()
        step.SetInput(made[-1].GetOutput())
        if geometry:
            step.SetGeometry(geometry[0])
        step.SetDensity(density)
        step.SetAxis([float(a) for a in axis])
        step.SetCenter([float(c) for c in middle])
        made.append(step)
    made[-1].Update()
    image = made[-1].GetOutput()
    image.DisconnectPipeline()
    return image


def circle(views, sid=600.0, sdd=900.0, offset=0.0, jitter=0.0):
    """Views on a circle; all nine parameters of each vary."""
    rng = np.random.default_rng(2)
    geometry = rtk.ThreeDCircularProjectionGeometry.New()
    for k in range(views):
        e = rng.normal(size=8) * jitter
        far = sdd and sdd + e[7]
        geometry.AddProjection(sid + e[0], far, k * 360 / views, offset + e[1], e[2], 0.2 * e[3],
                               0.2 * e[4], e[5], e[6])  # fmt: skip
    return geometry


def projections(geometry, views, size, spacing):
    origin = [-(n - 1) / 2 * d for n, d in zip(size, spacing)]
    stack = constant((*size, views), (*spacing, 1), (*origin, 0))
    return of_ellipsoids(rtk.RayEllipsoidIntersectionImageFilter, stack, geometry)


def rtk_fdk(geometry, stack, volume, displaced):
    if displaced:
        weigh = rtk.DisplacedDetectorForOffsetFieldOfViewImageFilter[IMAGE].New()
        weigh.SetInput(stack)
        weigh.SetGeometry(geometry)
        weigh.Update()
        stack = weigh.GetOutput()
    fdk = rtk.FDKConeBeamReconstructionFilter[IMAGE].New()
    fdk.SetInput(0, volume.GetOutput())
    fdk.SetInput(1, stack)
    fdk.SetGeometry(geometry)
    fdk.Update()
    return itk.array_from_image(fdk.GetOutput())


def cases(n=64, views=120):
    mm = 64 / n
    size, spacing = (int(1.9 * n), int(1.7 * n)), (mm, mm)
    volume = constant((1.1 * n, 0.9 * n, n), (mm, mm, mm), (-0.5 * n * mm, -29, -31))
    truth = itk.array_from_image(of_ellipsoids(rtk.DrawEllipsoidImageFilter, volume))
    for name, offset, jitter in (("circle", 0, 0), ("uneven circle", 0, 0.5), ("displaced panel", 25, 0)):
        geometry = circle(views, offset=offset, jitter=jitter)
        stack = projections(geometry, views, size, spacing)
        yield Case(
            f"RTK {name}, {' x '.join(map(str, truth.shape[::-1]))}, {views} views of "
            f"{size[0]} x {size[1]}",
            lambda g=geometry, s=stack, d=bool(offset): rtk_fdk(g, s, volume, d),
            lambda g=geometry, s=stack: itk.array_view_from_image(fbp.adapters.rtk.fdk(s, g, volume)),
            truth,
            tuple(slice(m // 8, m - m // 8) for m in truth.shape),
        )


def check_places():
    """Points land where RTK's matrices say, view by view; the panel's origin is not its middle."""
    rng = np.random.default_rng(5)
    points = np.c_[rng.normal(size=(50, 3)) * 40, np.ones(50)]
    stack = constant((30, 20, 25), (0.7, 0.9, 1), (-9, -11, 0))
    for name, sdd in (("cone", 900.0), ("parallel", 0.0)):
        geometry = circle(25, sdd=sdd, offset=3, jitter=2.0)
        scan = fbp.adapters.rtk.scan(stack, geometry)
        check_true(f"{name}: is {scan.kind}", scan.kind == name)
        worst = 0.0
        for k, ours in enumerate(scan.matrices):
            theirs = points @ itk.array_from_matrix(geometry.GetMatrix(k)).T
            want = (theirs[:, :2] / theirs[:, 2:] - (-9, -11)) / (0.7, 0.9)
            found = (points[:, [0, 2, 1, 3]] * (1, -1, 1, 1)) @ ours.T
            worst = max(worst, np.abs(found[:, :2] / found[:, 2:] - want).max())
        check(f"{name}: points of its matrices, in pixels", worst, 1e-9)


def check_directions():
    """Volumes whose axes stand in another order, and projections as an array."""
    geometry, views = circle(60), 60
    stack = projections(geometry, views, (80, 70), (1.0, 1.0))
    usual = constant((50, 40, 30), (1.0, 1.1, 1.2), (-25, -22, -18))
    want = itk.array_from_image(fbp.adapters.rtk.fdk(stack, geometry, usual))
    turned = np.array([[0, 0, -1], [1, 0, 0], [0, -1, 0]], float)  # axes x, y, z of RTK: -k, i, -j
    last = (-25 + 49, -22, -18 + 29 * 1.2)
    like = constant((40, 30, 50), (1.1, 1.2, 1.0), last, turned)
    found = fbp.adapters.rtk.fdk(stack, geometry, like)
    check_true("turned axes: direction", np.array_equal(itk.array_from_matrix(found.GetDirection()), turned))
    moved = itk.array_from_image(found).transpose(1, 2, 0)[::-1, :, ::-1]
    check("turned axes: difference", np.abs(moved - want).max(), 0)
    values = np.array(itk.array_view_from_image(stack))
    again = fbp.adapters.rtk.fdk(values, geometry, usual, spacing=(1.0, 1.0))
    check("an array: difference", np.abs(itk.array_from_image(again) - want).max(), 0)


def check_refused():
    geometry, stack = circle(9), constant((30, 20, 9), (1, 1, 1), (0, 0, 0))
    oblique = constant((9, 9, 9), (1, 1, 1), (0, 0, 0), [[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    bent = circle(9)
    bent.SetRadiusCylindricalDetector(500.0)
    for words, given in (
        ("oblique", (stack, geometry, oblique)),
        ("cylinder", (stack, bent)),
        ("empty image", (IMAGE.New(), geometry)),
        ("8 for 9 views", (stack, circle(8))),
        ("has no views", (stack, circle(0))),
    ):
        try:
            fbp.adapters.rtk.scan(*given)
            check_true(f"{words}: is refused", False)
        except fbp.Error as e:
            check_true(f"refused: {e}", words in str(e))


BENCH = (128, 180)  # arguments of cases() for bench/peers/adapters.py


def main():
    check_places()
    check_directions()
    check_refused()
    print(HEAD)
    for case in cases():
        ours, theirs = row(case, 1)
        part = case.part
        error = rmse(ours[part], case.truth[part])
        check(f"{case.name}: difference from RTK's FDK", rmse(ours[part], theirs[part]), 1e-4)
        is_the_right_way_round(case.name, ours[part], theirs[part], rmse(ours[part], theirs[part]))
        check(f"{case.name}: error beside RTK's", error / rmse(theirs[part], case.truth[part]), 1.1)
    done()


if __name__ == "__main__":
    main()
