"""One volume in every output format, opened with the reader that its users have: spacing, origin,
orientation, values and the place of an off-centre ball must be the same in all of them.

Places are compared in the patient's coordinates LPS, in mm, as each reader tells them.
"""

import json
import os
import struct
import subprocess
import sys

import h5py
import nibabel
import nrrd
import numpy
import SimpleITK
import tifffile

FBP, SPARSE_TIFF = sys.argv[1:]
N = numpy.array([40, 36, 30])  # x, y, z
VOXEL = numpy.array([1.0, 1.25, 1.5])
CENTRE = numpy.array([3.0, -2.0, 5.0])
ORIGIN = CENTRE - (N - 1) / 2 * VOXEL
BALL = numpy.array([7.0, -9.0, 11.0])  # radius 5, 0.02 / mm
LO, HI = -0.005, 0.03
failures = []


def check(true, what):
    if not true:
        failures.append(what)
        print("FAILED:", what)


def same(a, b, what, within=1e-6):
    a, b = numpy.asarray(a, float), numpy.asarray(b, float)
    check(a.shape == b.shape and numpy.all(numpy.abs(a - b) <= within), f"{what}: {a}, not {b}")


def fbp(*args):
    done = subprocess.run([FBP, *map(str, args)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"fbp {args}: {done.stderr}")
    return done.stdout


def info(path):
    return json.loads(fbp("info", path, "--json"))


def make_scan():
    with open("ball.txt", "w") as f:
        f.write("7 -9 11 5 5 5 0 0.02\n-8 4 -3 9 6 4 0 0.01\n")
    fbp("simulate", "--phantom", "ball.txt", "--size", 64, "--views", 90, "--voxel", 1,
        "-o", "full.json", "-q")
    scan = json.load(open("full.json"))
    scan["volume"] = {"size": N.tolist(), "voxel_mm": VOXEL.tolist(), "centre_mm": CENTRE.tolist()}
    json.dump(scan, open("scan.json", "w"))


def recon(output, kind, *more):
    ranged = [] if kind == "float32" else ["--output-type", kind, f"--output-range={LO},{HI}"]
    fbp("recon", "scan.json", "-o", output, *ranged, *more, "-q")


# Each reader: values [z][y][x], and the 3 x 4 matrix from (x, y, z) of a voxel to LPS, or None.

def by_itk(path):
    image = SimpleITK.ReadImage(path)
    at = [image.TransformIndexToPhysicalPoint(i) for i in ([0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1])]
    at = numpy.array(at)
    values = SimpleITK.GetArrayFromImage(image)
    return values, numpy.column_stack([at[1] - at[0], at[2] - at[0], at[3] - at[0], at[0]])


def by_nibabel(path):
    image = nibabel.load(path)
    for form in (image.get_sform(), image.get_qform()):
        same(form, image.affine, f"{path}: s-form and q-form", 1e-5)
    check(image.header.get_xyzt_units()[0] == "mm", f"{path}: unit of the spacing")
    return image.get_fdata().transpose(2, 1, 0), numpy.diag([-1.0, -1, 1, 1])[:3, :3] @ image.affine[:3]


def by_nrrd(path):
    values, header = nrrd.read(path, index_order="C")
    check(header["space"] == "left-posterior-superior", f"{path}: space {header['space']}")
    check(header["space units"] == ["mm"] * 3, f"{path}: unit of the spacing")
    if "fbp scale" in header:
        values = values * float(header["fbp scale"]) + float(header["fbp offset"])
    return values, numpy.column_stack([header["space directions"].T, header["space origin"]])


def imagej_place(tif, path):
    """As ImageJ takes it: pixels a unit by the resolutions, the unit, the depth, the origin."""
    page, told = tif.pages[0], tif.imagej_metadata
    check(told["unit"] == "mm" and page.tags["ResolutionUnit"].value == 1, f"{path}: unit")
    per = [page.tags[t].value for t in ("XResolution", "YResolution")]
    spacing = numpy.array([per[0][1] / per[0][0], per[1][1] / per[1][0], told["spacing"]])
    origin = -spacing * [told[k] for k in ("xorigin", "yorigin", "zorigin")]
    return numpy.column_stack([numpy.diag(spacing), origin])


def imagej_values(tif, values):
    told = tif.imagej_metadata
    return values * told["c1"] + told["c0"] if told.get("cf") == 0 else values


def by_tifffile(path):
    with tifffile.TiffFile(path) as tif:
        check(tif.is_imagej, f"{path}: no description of ImageJ")
        told = tif.imagej_metadata
        check(told["images"] == told["slices"] == N[2] == len(tif.pages), f"{path}: slices")
        check(told["vunit"] == "1/mm", f"{path}: unit of the values")
        return imagej_values(tif, tif.asarray()), imagej_place(tif, path)


def by_tiff_files(pattern):
    slices, places = [], []
    for z in range(N[2]):
        with tifffile.TiffFile(pattern % z) as tif:
            slices.append(imagej_values(tif, tif.asarray()))
            places.append(imagej_place(tif, pattern % z))
    for z, place in enumerate(places):
        same(place[:, 3], ORIGIN + [0, 0, z * VOXEL[2]], f"{pattern % z}: its place")
    return numpy.stack(slices), places[0]


def png_description(path):
    raw, at = open(path, "rb").read(), 8
    while at < len(raw):
        size, kind = struct.unpack(">I4s", raw[at:at + 8])
        if kind == b"tEXt" and raw[at + 8:].startswith(b"Description\0"):
            return json.loads(raw[at + 20:at + 8 + size])
        check(kind != b"tIME", f"{path}: has a time")
        at += 12 + size
    sys.exit(f"{path}: no description")


def by_png_files(pattern):
    values = numpy.stack([SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(pattern % z))
                          for z in range(N[2])])
    told = png_description(pattern % 0)
    return (values * told["scale"] + told["offset"],
            numpy.column_stack([numpy.diag(told["spacing_mm"]), told["origin_mm"]]))


def by_h5py(path, name="volume"):
    with h5py.File(path) as f:
        data = f[name]
        told = data.attrs
        values = data[()] * told.get("scale_factor", 1) + told.get("add_offset", 0)
        check(told["axes"] == b"z:y:x" and told["unit"] == b"1/mm", f"{path}: axes or unit")
        return values, numpy.column_stack([numpy.diag(told["voxel_mm"]), told["origin_mm"]])


def described(path, values):
    """What .npy and .raw have no place for is in a .json beside integers."""
    if not os.path.exists(path + ".json"):
        return values, None
    told = json.load(open(path + ".json"))
    return (values * told["scale"] + told["offset"],
            numpy.column_stack([numpy.diag(told["spacing_mm"]), told["origin_mm"]]))


def by_numpy(path):
    return described(path, numpy.load(path))


def by_raw(path):
    size = os.path.getsize(path) // int(numpy.prod(N))
    values = numpy.fromfile(path, {1: "u1", 2: "<u2", 4: "<f4"}[size])
    return described(path, values.reshape(N[::-1]))


def metaimage_scaled(path):
    """ITK takes the numbers of a MetaImage as they are; the header says what they stand for."""
    values, place = by_itk(path)
    told = dict(line.split(" = ", 1) for line in
                open(path, "rb").read(2000).split(b"ElementDataFile")[0].decode().splitlines())
    slope = float(told.get("ElementToIntensityFunctionSlope", 1))
    return values * slope + float(told.get("ElementToIntensityFunctionOffset", 0)), place


READERS = [  # output, options, reader, does it take float32
    ("v.mha", [], metaimage_scaled, True),
    ("packed.mha", ["--compress"], metaimage_scaled, True),
    ("v.mhd", [], metaimage_scaled, True),
    ("packed.mhd", ["--compress"], metaimage_scaled, True),
    ("v.nrrd", [], by_nrrd, True),
    ("packed.nrrd", ["--compress"], by_nrrd, True),
    ("v.nhdr", [], by_nrrd, True),
    ("packed.nhdr", ["--compress"], by_nrrd, True),
    ("v.nii", [], by_nibabel, True),
    ("packed.nii.gz", [], by_nibabel, True),
    ("v.tif", [], by_tifffile, True),
    ("tiffs/%03d.tif", [], by_tiff_files, True),
    ("pngs/%03d.png", [], by_png_files, False),
    ("v.h5", [], by_h5py, True),
    ("v.npy", [], by_numpy, True),
    ("v.raw", [], by_raw, True),
]


def check_volume(what, values, place, truth, within):
    if place is not None:
        same(place, numpy.column_stack([numpy.diag(VOXEL), ORIGIN]), f"{what}: place", 2e-6)
    if values.shape != tuple(N[::-1]):
        check(False, f"{what}: shape {values.shape}")
        return
    worst = numpy.abs(values - truth).max()
    check(worst <= within, f"{what}: values differ by {worst}")
    at = numpy.argwhere(values > 0.014)[:, ::-1].mean(axis=0)
    step, origin = (place[:, :3], place[:, 3]) if place is not None else (numpy.diag(VOXEL), ORIGIN)
    same(origin + step @ at, BALL, f"{what}: the ball", 0.2)


def every_format():
    truth = None
    for kind in ("float32", "uint16", "uint8"):
        half = {"float32": 0, "uint16": (HI - LO) / 65535, "uint8": (HI - LO) / 255}[kind] / 2
        for output, more, reader, floats in READERS:
            if kind == "float32" and not floats:
                continue
            output = f"{kind}-{output}"
            recon(output, kind, *more)
            values, place = reader(output)
            truth = values if truth is None else truth
            check_volume(output, values, place, truth, half * 1.001 + (1e-9 if half else 0))
    return truth


def medical_programs(truth):
    """ITK, on which 3D Slicer is built, opens MetaImage, NRRD, NIfTI and TIFF alike."""
    for output in ("v.mhd", "v.nrrd", "packed.nhdr", "v.nii", "packed.nii.gz"):
        check_volume(f"ITK: {output}", *by_itk(f"float32-{output}"), truth, 0)
    for output in ("v.nii", "packed.nii.gz"):
        check_volume(f"ITK: uint16-{output}", *by_itk(f"uint16-{output}"), truth, 3e-7)
    # ITK takes no spacing from a TIFF whose resolution is ImageJ's: the values are where they are.
    check_volume("ITK: float32-v.tif", by_itk("float32-v.tif")[0], None, truth, 0)


def inside_hdf5(truth):
    recon("deep.h5:/a/b/c", "float32")
    check_volume("deep.h5", *by_h5py("deep.h5", "a/b/c"), truth, 0)


def read_back():
    """fbp tells the same of what it wrote, and of what others wrote of it."""
    image = SimpleITK.ReadImage("float32-v.mha")
    for end in ("mha", "nrrd", "nii", "nii.gz"):
        SimpleITK.WriteImage(image, f"itk.{end}")
    nifti = nibabel.load("float32-v.nii")
    nibabel.save(nibabel.Nifti2Image(nifti.get_fdata(dtype="f4"), nifti.affine), "two.nii")
    with tifffile.TiffFile("float32-v.tif") as tif:
        told = {k: tif.imagej_metadata[k] for k in ("unit", "spacing", "xorigin", "yorigin", "zorigin")}
        tifffile.imwrite("again.tif", tif.asarray(), imagej=True, metadata=told,
                         resolution=(1 / VOXEL[0], 1 / VOXEL[1]))
    files = [f"float32-{o}" for o, _, _, _ in READERS if o.split(".")[-1] in
             ("mha", "mhd", "nrrd", "nhdr", "nii", "gz", "h5") or o == "v.tif"]
    for path in files + ["itk.mha", "itk.nrrd", "itk.nii", "itk.nii.gz", "two.nii", "again.tif"]:
        told = info(path)
        same(told["spacing_mm"], VOXEL, f"fbp info {path}: spacing", 2e-6)
        same(told["origin_mm"], ORIGIN, f"fbp info {path}: origin", 1e-5)
        fbp("compare", "float32-v.mha", path, "--tolerance", 0)


def turned():
    """A grid that is turned lies at one place, whichever format tells it."""
    image = SimpleITK.ReadImage("float32-v.mha")
    c, s = numpy.cos(0.3), numpy.sin(0.3)
    image.SetDirection((c, -s, 0, s, c, 0, 0, 0, 1))
    image.SetOrigin((1, 2, 3))
    along = numpy.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ [1, 2, 3]
    for end in ("mha", "mhd", "nrrd", "nii"):
        SimpleITK.WriteImage(image, f"turned.{end}")
        told = info(f"turned.{end}")
        same(told["spacing_mm"], VOXEL, f"turned.{end}: spacing", 1e-5)
        same(told["origin_mm"], along, f"turned.{end}: origin along its axes", 1e-5)


def beyond_4_gib():
    subprocess.run([SPARSE_TIFF, "large.tif"], check=True)
    with tifffile.TiffFile("large.tif") as tif:
        told = tif.imagej_metadata
        check(tif.is_bigtiff and len(tif.pages) == 1100, "large.tif: pages")
        check(tif.series[0].shape == (1100, 1024, 1024), f"large.tif: {tif.series[0].shape}")
        check(told["slices"] == 1100, "large.tif: slices")
        same(imagej_place(tif, "large.tif"), [[0.1, 0, 0, -51], [0, 0.3, 0, 20], [0, 0, 0.25, 10]],
             "large.tif: place")
        last = tif.pages[1099].asarray()
        check(last[7, 9] == 1.5 and last.sum() == 1.5, "large.tif: the last slice")
        check(tif.asarray(key=1099)[7, 9] == 1.5, "large.tif: the last slice by its number")
    reader = SimpleITK.ImageFileReader()
    reader.SetFileName("large.tif")
    reader.ReadImageInformation()
    check(reader.GetSize() == (1024, 1024, 1100), f"ITK: large.tif: {reader.GetSize()}")
    os.remove("large.tif")


make_scan()
volume = every_format()
medical_programs(volume)
inside_hdf5(volume)
read_back()
turned()
beyond_4_gib()
print(f"{len(failures)} failures" if failures else "passed")
sys.exit(1 if failures else 0)
