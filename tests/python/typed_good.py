"""A program of a user's; tests/python/types.sh has it checked by mypy --strict."""

import numpy as np
from numpy.typing import NDArray

import libfbp as fbp


def show(now: fbp.Progress) -> None:
    print(f"{100 * now.fraction:.0f} %")


def middle(path: str) -> NDArray[np.float32]:
    scan: fbp.Scan = fbp.load(path, pixel=0.2, sod=100, sdd=200.5, flat=np.ones((8, 9)), dark="d.npy")
    volume = fbp.recon(scan, filter="hann", voxel=0.1, roi="1:2,:,:", memory="8G", progress=show)
    x, y, z = volume.spacing
    assert volume.report is not None
    print(x + y + z, volume.unit.upper(), volume.report.min, volume.report.warnings)
    array: NDArray[np.float32] = volume.array
    middle: NDArray[np.float32] = array[len(array) // 2]
    return middle


def again(views: NDArray[np.uint16], out: NDArray[np.float32]) -> float:
    scan = fbp.Scan.cone(views, fbp.angles(len(views)), sod=1, sdd=2, pixel=(0.1, 0.2), i0=60000)
    plan = fbp.Plan(scan, device="cuda", size=(64, 64, 32), progress=True)
    plan = fbp.Plan(scan, filter=lambda f: np.exp(-(f**2)))
    plan.run(out=out)
    plan.run(lambda k: views[k], out, progress=lambda p: print(p.done))
    return fbp.find_centre(scan).column + plan.summary.memory_bytes


def on_a_card(views: object, out: object) -> fbp.Volume:
    scan = fbp.Scan.cone(views, fbp.angles(360), sod=1, sdd=2, pixel=0.1)
    fbp.Plan(scan).run(views, out)
    return fbp.recon(scan, out=out)


def options() -> fbp.Options:
    return {"filter": "hann", "centre": "auto", "hu": 0.02}


def brighter(volume: fbp.Volume) -> float:
    slices = [float(s.mean()) for s in volume if (s > 0.02).any()]
    return max(slices) + float((2 * volume - volume[0]).mean() + volume.max()) + len(volume)


def picture(volume: fbp.Volume) -> bytes:
    return fbp.view(volume, mip=True, window=(0, 1)).png


try:
    fbp.recon(fbp.geometry.load("scan.xml").with_views("views.npy"), **options())
except fbp.InvalidError as e:
    print(e.status)
