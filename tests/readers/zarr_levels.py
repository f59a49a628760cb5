"""zarr_levels.py FBP: OME-Zarr as zarr-python opens it, of version 2 or 3: every level, values, places,
the integers' scale; and, where it is installed, as napari shows it.
"""

import json
import subprocess
import sys

import numpy
import zarr

FBP = sys.argv[1]
N = [100, 90, 71]  # x, y, z
VOXEL = [1.0, 1.25, 1.5]
failures = []


def check(true, what):
    if not true:
        failures.append(what)
        print("FAILED:", what)


def fbp(*args):
    done = subprocess.run([FBP, *map(str, args)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"fbp {args}: {done.stderr}")
    return done.stdout


def make_scan():
    fbp("simulate", "--size", 64, "--views", 30, "--voxel", 2, "-o", "full.json", "-q")
    scan = json.load(open("full.json"))
    scan["volume"] = {"size": N, "voxel_mm": VOXEL, "centre_mm": [3.0, -2.0, 5.0]}
    json.dump(scan, open("scan.json", "w"))


def mean(a):
    """Of 2 x 2 x 2 samples, at the ends of those that are there, in double."""
    n = [(s + 1) // 2 for s in a.shape]
    wide = numpy.full([2 * k for k in n], numpy.nan)
    wide[: a.shape[0], : a.shape[1], : a.shape[2]] = a
    blocks = wide.reshape(n[0], 2, n[1], 2, n[2], 2)
    if a.dtype.kind == "f":
        return numpy.nanmean(blocks, axis=(1, 3, 5)).astype(a.dtype)
    total = numpy.nansum(blocks, axis=(1, 3, 5)).astype(int)
    count = numpy.isfinite(blocks).sum(axis=(1, 3, 5))
    return ((2 * total + count) // (2 * count)).astype(a.dtype)


def transformation(dataset):
    scale, translation = dataset["coordinateTransformations"]
    return numpy.array(scale["scale"]), numpy.array(translation["translation"])


def check_image(path, values, spacing, origin):
    """Returns its levels."""
    group = zarr.open_group(path, mode="r")
    image = group.attrs["multiscales"][0]
    check([a["name"] for a in image["axes"]] == ["z", "y", "x"], f"{path}: axes")
    check(all(a["unit"] == "millimeter" for a in image["axes"]), f"{path}: unit")
    levels = [group[d["path"]] for d in image["datasets"]]
    check(len(levels) == 3, f"{path}: {len(levels)} levels")
    arrays = [level[:] for level in levels]
    scale, offset = (levels[0].attrs.get(k, d) for k, d in (("scale_factor", 1), ("add_offset", 0)))
    if arrays[0].dtype == values.dtype:
        check(numpy.array_equal(arrays[0], values), f"{path}: values")
    else:
        worst = numpy.abs(arrays[0] * scale + offset - numpy.clip(values, 0, 1)).max()
        check(worst <= scale * 0.5001, f"{path}: values differ by {worst}")
    for below, above, level in zip(arrays, arrays[1:], (1, 2)):
        check(numpy.array_equal(above, mean(below)), f"{path}: means of level {level}")
    for level, dataset in enumerate(image["datasets"]):
        step, first = transformation(dataset)
        check(numpy.allclose(step, spacing * 2**level, rtol=1e-15), f"{path}: scale of level {level}")
        shift = (2**level - 1) / 2 * spacing
        check(numpy.allclose(first, origin + shift, rtol=1e-15), f"{path}: place of level {level}")
    return arrays


def by_napari(path, arrays, spacing, origin):
    """What its plug-in hands to the viewer, without a window."""
    try:
        from napari.components import ViewerModel
        from napari_ome_zarr import napari_get_reader
    except ImportError as e:
        print(f"not tried with napari: {e}")
        return
    layers = napari_get_reader(path)(path)
    check(len(layers) == 1, f"napari: {len(layers)} layers")
    data, more, kind = layers[0]
    check(kind == "image" and len(data) == len(arrays), f"napari: {kind} of {len(data)} levels")
    layer = ViewerModel().add_image(data, **more, multiscale=True)
    for level, array in enumerate(arrays):
        check(numpy.array_equal(numpy.asarray(layer.data[level]), array), f"napari: level {level}")
    # Its plug-in (0.10) leaves translations out: the first voxel is at 0 then.
    first = numpy.array(layer.data_to_world([0, 0, 0]))
    check(numpy.allclose(first, origin) or not first.any(), f"napari: the first voxel is at {first}")
    last = layer.data_to_world(numpy.array(arrays[0].shape) - 1)
    check(numpy.allclose(last - first, spacing * (numpy.array(arrays[0].shape) - 1)),
          f"napari: the last voxel is at {last}")
    print("opened by napari")


make_scan()
fbp("recon", "scan.json", "-o", "v.npy", "-q")
fbp("recon", "scan.json", "-o", "v.mha", "-q")
told = json.loads(fbp("info", "v.mha", "--json"))
place = [numpy.array(told[k])[::-1] for k in ("spacing_mm", "origin_mm")]
volume = numpy.load("v.npy")
plain = None
for name, options in (("v.ome.zarr", []), ("packed.ome.zarr", ["--compress"]),
                      ("u16.zarr", ["--output-type", "uint16", "--output-range", "0,1"]),
                      ("u8.zarr", ["--output-type", "uint8", "--output-range", "0,1", "--compress"])):
    fbp("recon", "scan.json", "-o", name, *options, "-q")
    found = check_image(name, volume, *place)
    plain = plain or found
for part in (2, 3, 1):
    fbp("recon", "scan.json", "-o", "parts.ome.zarr", "--part", f"{part}/3", "-q")
check_image("parts.ome.zarr", volume, *place)
by_napari("v.ome.zarr", plain, *place)
# Theirs, as fbp reads it.
v2 = {"zarr_format": 2} if zarr.__version__ >= "3" else {"zarr_version": 2}
theirs = zarr.open("theirs.zarr", mode="w", shape=volume.shape, chunks=(20, 33, 47), dtype=">f4",
                   compressor=None, **v2)
theirs[:] = volume
fbp("compare", "v.mha", "theirs.zarr", "--tolerance", 0)
print(f"zarr {zarr.__version__}:", f"{len(failures)} failures" if failures else "passed")
sys.exit(1 if failures else 0)
