"""zarr_others.py FBP: arrays as zarr-python, of version 2 or 3, stores them: fbp reads each as zarr-python
does, or refuses it with one sentence that says what to do.
"""

import subprocess
import sys

import numcodecs
import numpy
import zarr

FBP = sys.argv[1]
THREE = zarr.__version__ >= "3"
V2 = {"zarr_format": 2} if THREE else {"zarr_version": 2}
VOLUME = numpy.random.default_rng(1).random((7, 9, 11)).astype("f4")
failures = []


def fails(what):
    failures.append(what)
    print("FAILED:", what)


def fbp(*args):
    return subprocess.run([FBP, *args], capture_output=True, text=True)


def store(name, data, **how):
    how = {"chunks": tuple(min(4, n) for n in data.shape), "compressor": None, **how}
    array = zarr.open(name, mode="w", shape=data.shape, dtype=data.dtype, **V2, **how)
    array[...] = data
    return array[...]


def same(name, values):
    """Values as float, whose last three axes are a volume, are those that fbp reads."""
    numpy.save("values.npy", numpy.asarray(values, "f8").reshape(values.shape[-3:]))
    done = fbp("compare", name, "values.npy", "--tolerance", "0")
    if done.returncode != 0:
        fails(f"{name}: {done.stdout}{done.stderr}")


def read(name, data, **how):
    same(name, store(name, data, **how))


def refused(name, *words):
    done = fbp("info", name)
    if done.returncode != 1 or done.stderr.count("\n") != 1:
        fails(f"{name}: status {done.returncode}: {done.stdout}{done.stderr}")
    for word in (name, *words):
        if word not in done.stderr:
            fails(f"{name}: no word of {word}: {done.stderr}")


def not_read(name, data, *words, **how):
    store(name, data, **how)
    refused(name, *words)


def types():
    for kind in ("<f4", ">f4", "<f8", ">f8", "<i2", ">i2", "<u2", ">u2", "i1", "u1", "<i4", ">i4", "<u4"):
        read(f"type_{kind[0] == '>'}_{kind[-2:]}.zarr", (VOLUME * 100).astype(kind))
    read("bool.zarr", VOLUME > 0.5)
    for kind in ("<i8", "<u8", "<f2", "<c8"):
        not_read(f"type_{kind[1:]}.zarr", VOLUME.astype(kind), kind, "store float32")


def shapes():
    read("odd.zarr", VOLUME, chunks=(3, 5, 2))
    read("one.zarr", VOLUME, chunks=(100, 100, 100))
    read("slices.zarr", VOLUME, chunks=(1, 9, 11))
    read("nested.zarr", VOLUME, dimension_separator="/")
    read("picture.zarr", VOLUME[0])
    read("four.zarr", VOLUME[None])
    read("five.zarr", VOLUME[None, None], dimension_separator="/")
    not_read("list.zarr", VOLUME[0, 0], "1 dimension", "[z][y][x]")
    not_read("six.zarr", VOLUME[None, None, None], "6 dimensions", "[z][y][x]")
    not_read("series.zarr", numpy.stack([VOLUME, VOLUME]), "series", "store one volume")
    not_read("channels.zarr", numpy.stack([VOLUME, VOLUME])[None], "several channels", "store one volume")


def codings():
    read("zlib.zarr", VOLUME, compressor=numcodecs.Zlib())
    read("gzip.zarr", VOLUME.astype(">f8"), compressor=numcodecs.GZip(), chunks=(5, 2, 3))
    for codec in (numcodecs.Blosc(cname="lz4"), numcodecs.Blosc(cname="zstd", shuffle=2), numcodecs.Zstd(),
                  numcodecs.LZ4(), numcodecs.BZ2(), numcodecs.LZMA()):
        name = codec.codec_id
        not_read(f"{name}.zarr", VOLUME, f"compressed by {name}", "compressor=None", compressor=codec)
    not_read("filtered.zarr", (VOLUME * 100).astype("i4"), "filters", "store them without",
             filters=[numcodecs.Delta(dtype="i4")])
    not_read("fortran.zarr", VOLUME, "Fortran order", "C order", order="F")


def chunks_that_are_not_there():
    for name, value in (("seven", 7.5), ("nan", numpy.nan), ("null", None)):
        array = zarr.open(f"{name}.zarr", mode="w", shape=VOLUME.shape, chunks=(4, 4, 4), dtype="f4",
                          compressor=None, fill_value=value, **V2)
        array[:4, :4, 4:8] = VOLUME[:4, :4, 4:8]
        values = numpy.full(VOLUME.shape, 0 if value is None else value, "f4")
        values[:4, :4, 4:8] = VOLUME[:4, :4, 4:8]
        same(f"{name}.zarr", values)


def groups():
    group = zarr.open_group("group.zarr", mode="w", **V2)
    how = {"shape": VOLUME.shape, "chunks": (4, 4, 4), "dtype": "f4"}
    array = (group.create_array("volume", compressors=None, **how) if THREE else
             group.create_dataset("volume", compressor=None, **how))
    array[...] = VOLUME
    zarr.consolidate_metadata("group.zarr", **V2 if THREE else {})
    same("group.zarr/volume", VOLUME)
    refused("group.zarr", "name one of its arrays")


def version_three():
    if not THREE:
        return
    how = {"shape": VOLUME.shape, "chunks": (4, 4, 4), "dtype": "f4"}
    group = zarr.open_group("three.zarr", mode="w", zarr_format=3)
    group.create_array("0", **how)[...] = VOLUME
    zarr.create_array(store="shards.zarr", **{**how, "shards": (8, 8, 8)})[...] = VOLUME
    for name in ("three.zarr", "three.zarr/0", "shards.zarr"):
        refused(name, "Zarr version 3", "zarr_format=2 and compressor=None", "numpy.save")


for test in (types, shapes, codings, chunks_that_are_not_there, groups, version_three):
    test()
print(f"zarr {zarr.__version__}, arrays of others:", f"{len(failures)} failures" if failures else "passed")
sys.exit(1 if failures else 0)
