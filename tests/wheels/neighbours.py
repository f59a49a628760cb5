"""neighbours.py first|last FOLDER: libfbp in one process with other packages that bring libraries for
the same formats, imported before or after them; each reads what the other has written.  Packages that
are not installed are said."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

order, folder = sys.argv[1:]
fbp: Any = None
there: dict[str, Any] = {}
if order == "first":
    import libfbp as fbp
for name in ("h5py", "tifffile", "PIL.Image", "imageio.v3", "torch"):
    try:
        there[name] = importlib.import_module(name)
    except ImportError:
        print(f"not installed: {name}")
if order == "last":
    import libfbp as fbp
import numpy as np

os.chdir(folder)
ramp = np.arange(5 * 6 * 8, dtype=np.float32).reshape(5, 6, 8)
geometry = fbp.Scan.cone(None, fbp.angles(60), sod=100, sdd=200, pixel=0.8, shape=(32, 32))
volume = fbp.recon(fbp.simulate(geometry, "ball", scale=0.02))


def equal(one: Any, other: Any, what: str) -> None:
    assert np.array_equal(np.asarray(one), np.asarray(other)), what
    print(what)


if h5py := there.get("h5py"):
    with h5py.File("theirs.h5", "w") as file:
        file.create_dataset("volume", data=ramp, chunks=(1, 6, 8), compression="gzip", shuffle=True)
    equal(fbp.read("theirs.h5:/volume").array, ramp, "libfbp reads what h5py wrote")
    volume.save("mine.h5")
    with h5py.File("mine.h5", "r") as file:
        found: list[Any] = []
        file.visititems(lambda _, item: found.append(item) if hasattr(item, "shape") and item.ndim == 3 else None)
        equal(found[0][()], volume.array, "h5py reads what libfbp wrote")
for name, write, read in (("tifffile", "imwrite", "imread"), ("imageio.v3", "imwrite", "imread")):
    if module := there.get(name):
        getattr(module, write)("theirs.tif", ramp)
        equal(fbp.read("theirs.tif").array, ramp, f"libfbp reads TIFF that {name} wrote")
        volume.save("mine.tif")
        equal(getattr(module, read)("mine.tif"), volume.array, f"{name} reads TIFF that libfbp wrote")
if image := there.get("PIL.Image"):
    image.fromarray(ramp[0]).save("theirs.tiff", compression="tiff_adobe_deflate")
    equal(fbp.read("theirs.tiff").array.reshape(6, 8), ramp[0], "libfbp reads TIFF that PIL wrote")
    fbp.view(volume).save("mine.png")
    assert np.asarray(image.open("mine.png")).std() > 0
if torch := there.get("torch"):
    views = torch.from_numpy(np.array(fbp.simulate(geometry, "ball", scale=0.02).views))
    scan = fbp.Scan.cone(views, fbp.angles(60), sod=100, sdd=200, pixel=0.8)
    equal(fbp.recon(scan).array, volume.array, "libfbp reconstructs a tensor of torch")
    assert float((torch.ones(64, 64) @ torch.ones(64, 64))[0, 0]) == 64
