"""What the package computes: the command's volumes, bit for bit; every option; every object."""

import inspect
import json
import math
import pathlib
import pickle
import re

import numpy as np
import pytest

import libfbp as fbp
from libfbp._options import _ALIASES, NAMES

# Options of the command that are no keywords, and what there is instead.
NOT_KEYWORDS = {
    "help_all": "help(fbp.recon)",
    "output": "recon(scan, output)",
    "bad_pixels": "Scan(…, bad_pixels=…)",
    "preview": "view(volume)",
    "sweep": "a loop over Plan",
    "score": "with --sweep",
    "curve": "with --sweep",
    "plan": "Plan(scan).summary",
    "json": "volume.report",
    "quiet": "warnings.filterwarnings",
    "help": "help(recon)",
    "report": "the command, which writes a page",
    "view_ranks": "the command, which mpirun starts",
    "hu_from_roi": "recon(scan, hu=…) with a mean of recon(scan)",
}


def saved(folder, views, **keys):
    """A scan file for the command, with the keys of docs/scan.md."""
    np.save(folder / "views.npy", views)
    keys = {"fbp_scan": 1, "projections": "views.npy", **keys}
    (folder / "scan.json").write_text(json.dumps(keys))
    return folder / "scan.json"


def saved_cone(folder, views):
    return saved(
        folder, views, source_to_axis_mm=100, source_to_detector_mm=160,
        detector={"pitch_mm": 1, "row_order": "bottom-up"},
        angles_deg=fbp.angles(len(views)).tolist(),
    )  # fmt: skip


def read(path):
    return fbp.read(path).array


def test_ball():
    geometry = fbp.Scan.cone(None, fbp.angles(120), sod=100, sdd=200, pixel=0.8, shape=(64, 64))
    scan = fbp.simulate(geometry, "ball", scale=0.02)
    volume = fbp.recon(scan)
    truth = fbp.truth(volume, geometry, "ball", scale=0.02)
    assert volume.array.dtype == np.float32 and volume.unit == "1/mm"
    inside = np.zeros(volume.shape, bool)
    inside[24:40, 24:40, 24:40] = True
    assert abs(volume.array[inside].mean() / truth.array[inside].mean() - 1) < 0.01
    assert fbp.compare(volume, truth).psnr_db > 25


WAYS = [
    ({}, []),
    ({"size": 20, "filter": "hann", "cutoff": 0.7}, ["--size", "20", "--filter", "hann", "--cutoff", "0.7"]),
    ({"voxel": (1.5, 1.5, 2)}, ["--voxel", "1.5x1.5x2"]),
    ({"size": (24, 22, 18), "roi": "3:9,:,5:14"}, ["--size", "24x22x18", "--roi", "3:9,:,5:14"]),
    ({"slice": 7}, ["--slice", "7"]),
    ({"slice": range(4, 9)}, ["--slice", "4:9"]),
    ({"every": 2, "bin": 2}, ["--every", "2", "--bin", "2"]),
    ({"centre": 20.25, "tilt": 0.5}, ["--centre", "20.25", "--tilt", "0.5"]),
    ({"sod": 110, "sdd": 170, "offset": 0.4}, ["--sod", "110", "--sdd", "170", "--offset", "0.4"]),
    ({"flip_u": True, "flip_v": True, "reverse": True}, ["--flip-u", "--flip-v", "--reverse"]),
    ({"hu": 0.02, "mask": math.nan}, ["--hu", "0.02", "--mask", "nan"]),
    ({"region": "cylinder:5", "mask": -1}, ["--region", "cylinder:5", "--mask", "-1"]),
    ({"refine": 2}, ["--refine", "2"]),
    ({"refine": "auto"}, ["--refine", "auto"]),
    ({"cutoff_v": 0.5, "pad": "ellipse"}, ["--cutoff-v", "0.5", "--pad", "ellipse"]),
    ({"half_width": 6, "unit": "cm"}, ["--half-width", "6", "--unit", "cm"]),
    ({"beam_hardening": (1, 0.02)}, ["--beam-hardening", "1,0.02"]),
    ({"rings": "sorting:5"}, ["--rings", "sorting:5"]),
    ({"rings": "sorting:5", "beam_hardening": (1, 0.02)}, ["--rings", "sorting:5", "--beam-hardening", "1,0.02"]),
    ({"rings": "fluctuating:5"}, ["--rings", "fluctuating:5"]),
    ({"zingers": 6}, ["--zingers", "6"]),
    ({"paganin": (2000, 20)}, ["--paganin", "2000,20"]),
    ({"angular_weights": "equal", "kernel": "matrix"}, ["--angular-weights", "equal", "--kernel", "matrix"]),
    ({"device": "ref", "size": 12}, ["--device", "ref", "--size", "12"]),
    ({"threads": 1, "slab": 3, "batch": 8, "memory": "300M"}, []),
    ({"volume_centre": (1, -2, 0.5), "size": 16}, ["--volume-centre", "1,-2,0.5", "--size", "16"]),
]  # fmt: skip


@pytest.mark.parametrize("keywords, options", WAYS)
def test_bits_of_the_command(command, tmp_path, geometry, views, keywords, options):
    path = saved_cone(tmp_path, views)
    command(tmp_path, "recon", str(path), "-o", "command.npy", "-q", *options)
    want = np.load(tmp_path / "command.npy").astype("<f4")
    for scan in (geometry.with_views(views), path, fbp.load(path)):
        np.testing.assert_array_equal(fbp.recon(scan, **keywords).array, want)


def test_bits_of_other_kinds(command, tmp_path):
    half, full = fbp.angles(40, 180), fbp.angles(60)
    cone = fbp.Scan.cone(None, fbp.angles(30), sod=90, sdd=150, pixel=1, shape=(16, 32))
    vectors = fbp.directions(8)
    bottom = {"row_order": "bottom-up"}
    ways = [
        (
            fbp.Scan.parallel(None, half, pixel=0.5, shape=(12, 48)),
            {"kind": "parallel", "detector": {"pitch_mm": 0.5, **bottom}, "angles_deg": half.tolist()},
        ),
        (
            fbp.Scan.fan(None, full, sod=80, sdd=120, pixel=0.7, columns=60),
            {
                "source_to_axis_mm": 80, "source_to_detector_mm": 120, "angles_deg": full.tolist(),
                "detector": {"pitch_mm": 0.7, **bottom},
            },
        ),
        (
            fbp.Scan.from_matrices(None, cone.matrices, pixel=1, shape=(16, 32)),
            {"matrices": cone.matrices.reshape(-1, 12).tolist(), "detector": {"pitch_mm": 1, **bottom}},
        ),
        (
            fbp.Scan.planes(None, vectors, spacing=0.5, shape=(1, 40)),
            {"kind": "planes", "directions": vectors.tolist(), "spacing_mm": 0.5},
        ),
    ]  # fmt: skip
    for geometry, keys in ways:
        scan = fbp.simulate(geometry, "ball")
        path = saved(tmp_path, scan.views, **keys)
        command(tmp_path, "recon", str(path), "-o", "command.npy", "-q")
        got = fbp.recon(scan)
        np.testing.assert_array_equal(got.array, np.load(tmp_path / "command.npy").astype("<f4"))
        assert got.unit == ("1/mm^3" if scan.kind == "planes" else "1/mm")


def test_double(command, tmp_path):
    geometry = fbp.Scan.planes(None, fbp.directions(8), spacing=0.5, shape=(1, 40))
    scan = fbp.simulate(geometry, "ball", dtype="float64")
    assert scan.views.dtype == np.float64
    path = saved(
        tmp_path, scan.views, kind="planes", directions=fbp.directions(8).tolist(), spacing_mm=0.5
    )
    command(tmp_path, "recon", str(path), "-o", "v.npy", "--precision", "double", "-q")
    got = fbp.recon(scan, precision="double")
    assert got.array.dtype == np.float64
    np.testing.assert_array_equal(got.array, np.load(tmp_path / "v.npy"))
    seen = np.zeros_like(got.array)
    fbp.recon(scan, precision="double", out=lambda z, s: seen.__setitem__(slice(z, z + len(s)), s))
    np.testing.assert_array_equal(seen, got.array)


def test_frames():
    geometry = fbp.Scan.planes(None, fbp.directions(8), spacing=0.5, shape=(3, 40))
    scan = fbp.simulate(geometry, "ball", decay=2)
    volume = fbp.recon(scan)
    assert volume.array.ndim == 4 and len(volume.array) == 3
    one = fbp.recon(geometry_of_one(scan, 2))
    np.testing.assert_array_equal(volume.array[2], one.array)
    out = np.zeros_like(volume.array)
    fbp.recon(scan, out=out)
    np.testing.assert_array_equal(out, volume.array)


def geometry_of_one(scan, frame):
    return fbp.Scan.planes(scan.views[:, frame], fbp.directions(8), spacing=0.5)


def test_every_option_is_a_keyword(command, tmp_path):
    text = command(tmp_path, "recon", "--help-all")
    options = {o.replace("-", "_") for o in re.findall(r"^ {2,6}(?:-\w, )?--([a-z-]+)", text, re.M)}
    known = set(fbp.Options.__annotations__)
    others = set(NOT_KEYWORDS)
    assert len(options) > 40
    assert options - known - others == set(), "options of fbp recon without a keyword"
    assert known - options == {"pixel"}  # another word for pitch
    for function in (fbp.recon, fbp.Plan.__init__):
        assert known <= set(inspect.signature(function).parameters)
    listed = dict(re.findall(r"^(\w+)\n    (.+)$", fbp.Options.__doc__, re.M))
    assert set(listed) == known  # help(fbp.Options) has them with their defaults
    assert [k for k, about in listed.items() if "default: " not in about] == ["pitch"]


def test_files(tmp_path, scan, want):
    for name in ("v.mha", "v.nii.gz", "v.npy", "v.nrrd", "v.h5", "v.tif"):
        volume = fbp.recon(scan, tmp_path / name, size=20)
        assert "array" not in volume.__dict__  # not read before it is wanted
        np.testing.assert_array_equal(volume.array, want)
    again = fbp.read(tmp_path / "v.mha")
    volume = fbp.recon(scan, size=20)
    assert again.spacing == pytest.approx(volume.spacing) and again.unit == "1/mm"
    assert again.origin == pytest.approx(volume.origin)
    volume.save(tmp_path / "again.mha")
    assert (tmp_path / "again.mha").read_bytes() == (tmp_path / "v.mha").read_bytes()
    volume.array = np.asfortranarray(volume.array).astype(">f8")
    volume.save(tmp_path / "odd.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "odd.npy"), want)
    integers = fbp.recon(scan, tmp_path / "v8.mha", output_type="uint8", output_range="auto", size=20)
    r = integers.report
    assert r.output_scale > 0
    np.testing.assert_allclose(integers.array, want, atol=r.output_scale)  # scaled by the file
    with pytest.raises(fbp.FileError):
        fbp.recon(scan, tmp_path / "no" / "v.mha", size=20)
    assert fbp.recon(scan, "hash:", size=20).report.hash != 0
    with pytest.raises(fbp.InvalidError, match="output and out"):
        fbp.recon(scan, tmp_path / "v.mha", out=want)


def test_parts(tmp_path, scan, views, want):
    path, file = tmp_path / "v.mha", fbp.load(saved_cone(tmp_path, views))
    for part, missing in (((2, 3), True), ("1/3", True), ("3/3", False)):
        volume = fbp.recon(file, path, size=20, part=part)
        assert (volume.report.slices_missing > 0) == missing == (not path.exists())
    np.testing.assert_array_equal(volume.array, want)
    for bad in ("3", "a/b", (1, 2, 3), "0/2", "4/3", 3):
        with pytest.raises(fbp.InvalidError, match="part"):
            fbp.recon(file, tmp_path / "w.mha", size=20, part=bad)
    with pytest.raises(fbp.InvalidError, match="all parts need the same complete files"):
        fbp.recon(scan, path, size=20, part="1/2")
    with pytest.raises(fbp.UnsupportedError, match="the parts of a volume are written to a common file"):
        fbp.recon(file, size=20, part="1/2")  # into memory


def test_volume(scan, want):
    volume = fbp.recon(scan, size=20, voxel=0.8)
    x, y, z = volume.coordinates()
    assert len(x) == 20 and x[0] == pytest.approx(-7.6) and z[-1] == pytest.approx(7.6)
    assert volume.origin == pytest.approx((-7.6,) * 3) and volume.spacing == (0.8,) * 3
    assert np.asarray(volume).shape == volume.shape == (20, 20, 20)
    assert "20 x 20 x 20" in repr(volume)
    assert volume._repr_png_().startswith(b"\x89PNG")
    copy = pickle.loads(pickle.dumps(volume))
    np.testing.assert_array_equal(copy.array, volume.array)


def test_views_of_a_picture(scan, want, tmp_path, command):
    volume = fbp.recon(scan, size=20)
    volume.save(tmp_path / "v.mha")
    command(tmp_path, "view", "v.mha", "-o", "v.png")
    picture = fbp.view(volume)
    assert picture.png == (tmp_path / "v.png").read_bytes()
    picture.save(tmp_path / "again.png")
    assert fbp.view(volume, window=(0, 1)).window == (0, 1)
    assert fbp.view(np.asfortranarray(want)).png.startswith(b"\x89PNG")
    for keywords in ({"mip": True, "turn": 30}, {"slice": (1, 2, 3)}):
        assert fbp.view(volume, **keywords).png != picture.png


def test_geometry(tmp_path, geometry, scan, views, want):
    assert geometry.kind == "cone" and geometry.shape == views.shape
    assert geometry.facts.coverage == "full" and geometry.facts.magnification == pytest.approx(1.6)
    fbp.geometry.save(geometry, tmp_path / "g.xml", format="rtk")
    loaded = fbp.geometry.load(tmp_path / "g.xml", shape=views.shape[1:], pixel=1)
    np.testing.assert_allclose(loaded.vectors, geometry.vectors, atol=1e-6)
    by_file = fbp.recon(loaded.with_views(views), size=20)
    np.testing.assert_allclose(by_file.array, want, atol=1e-4)
    fbp.geometry.convert(tmp_path / "g.xml", tmp_path / "g.json", shape=views.shape[1:], pixel=1)
    assert any(f.name == "rtk" and f.reads and f.writes for f in fbp.geometry.formats())
    geometry.draw(tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_text().startswith("<")
    by_matrices = fbp.Scan.from_matrices(views, geometry.matrices, pixel=1)
    np.testing.assert_allclose(by_matrices.vectors, geometry.vectors, atol=1e-9)
    np.testing.assert_allclose(fbp.recon(by_matrices, size=20).array, want, atol=1e-4)


def test_a_scan_does_not_change(scan, want):
    before = scan.vectors
    fbp.recon(scan, centre=22, tilt=1, flip_u=True, every=2, bin=2, sod=90)
    moved = scan.adjusted(centre=22)
    np.testing.assert_array_equal(scan.vectors, before)
    assert (moved.vectors != before).any() and moved.views is scan.views
    np.testing.assert_array_equal(fbp.recon(scan, size=20).array, want)
    np.testing.assert_array_equal(
        fbp.recon(moved, size=20).array, fbp.recon(scan, centre=22, size=20).array
    )


def test_centre():
    geometry = fbp.Scan.cone(
        None, fbp.angles(120), sod=100, sdd=160, pixel=1, shape=(24, 80), centre=41.3
    )
    scan = fbp.simulate(geometry, "ellipsoids")
    wrong = geometry.adjusted(centre=39.5).with_views(scan.views)
    found = fbp.find_centre(wrong)
    assert found.sure and abs(found.column - 41.3) < 0.1
    np.testing.assert_array_equal(
        fbp.recon(wrong, centre="auto").array, fbp.recon(wrong, centre=found.column).array
    )


def test_compare(want):
    equal = fbp.compare(want, want)
    assert equal.max == 0 and equal.count == want.size
    assert fbp.compare(want, want + 1).rmse == pytest.approx(1, rel=1e-5)
    with pytest.raises(fbp.InvalidError):
        fbp.compare(want, want[1:])


def test_plan(scan, views, want, tmp_path):
    plan = fbp.Plan(scan, size=20)
    assert plan.shape == (20, 20, 20) and plan.dtype == np.float32
    assert plan.summary.backend in ("cpu", "cuda", "gl") and plan.summary.n_slabs >= 1
    assert plan.estimate() > 0
    plan.open()
    out = np.zeros(plan.shape, plan.dtype)
    for _ in range(3):
        out[...] = 0
        plan.run(views, out)
        np.testing.assert_array_equal(out, want)
    twice = plan.run(np.ascontiguousarray(views[:, :, ::-1])[:, :, ::-1] * 2).array
    np.testing.assert_allclose(twice, 2 * want, atol=1e-5)
    fbp.recon(scan, size=20, timeline=tmp_path / "t.svg")
    assert (tmp_path / "t.svg").read_text().startswith("<")


WRONG = [
    ({"filter": "hamin"}, r'filter: unknown name "hamin"; choose one of ram-lak, .*, hann; did you mean "hamming"\?'),
    ({"filter": "Rom-Lak"}, r'filter: unknown name "Rom-Lak"; choose one of .*, hann; did you mean "ram-lak"\?'),
    ({"filter": ""}, r'filter: unknown name ""; choose one of [^;]*, hann$'),
    ({"pad": "elipse"}, 'pad: unknown name "elipse"; choose one of none, cosine, ellipse; did you mean "ellipse"'),
    ({"precision": "excat"}, 'precision: unknown name "excat"; choose one of .*; did you mean "exact"'),
    ({"voxel": -1}, "voxel: found -1, expected a number above 0"),
    ({"voxel": (1, 2)}, "voxel: found 2 numbers, expected one or 3"),
    ({"voxel": math.nan}, "voxel: found nan"),
    ({"size": 2.5}, "size: found 2.5, expected a whole number"),
    ({"size": 0}, "size: found 0, expected 1 or more"),
    ({"memory": "lots"}, 'memory: found "lots"'),
    ({"memory": 1}, r"memory: .* needs .*, but the limit is 1 B;"),
    ({"memory": "1M"}, r"memory: .* needs at least \d\S* MiB, but the limit is 1\.00 MiB;"),
    ({"memory": "0.5MiB", "rings": "sorting:5"}, r"memory: .* needs .*, but the limit is 512 KiB;"),
    ({"roi": "1:2,3"}, "roi: found '1:2,3', expected three ranges"),
    ({"roi": "5:2,:,:"}, "roi: found 5:2"),
    ({"slice": 99, "size": 20}, "slice 99 does not exist; the volume has slices 0 to 19"),
    ({"slice": "9:30", "size": 20}, "slice: voxels 9:30 along z are no range of the volume, which has 0:20"),
    ({"roi": ":,3:21,:", "size": 20}, "roi: voxels 3:21 along y are no range of the volume, which has 0:20"),
    ({"centre": 99}, "centre 99: the detector's columns are 0 to 39"),
    ({"centre": 3, "offset": 1}, "centre and offset both set the position of the panel"),
    ({"centre": "middle"}, 'centre: found "middle", expected a column or "auto"'),
    ({"cutoff": 7}, "cutoff"),
    ({"device": "abacus"}, "abacus"),
    ({"kernel": "column+"}, "kernel"),
    ({"quadrature": "auto"}, "quadrature: does not apply to scans of kind cone"),
    ({"pitch": 2}, r"pitch: is needed while a file is read; pass it to libfbp.load\(\)"),
    ({"threads": -2}, "threads: found -2"),
    ({"stages": 2}, "stages"),
    ({"mask": "x"}, "mask|could not convert"),
    ({"filter": 3}, "filter: found 3, expected a name, an array of factors or a function"),
    ({"filter": [1.0]}, "filter: found 1 factors, expected 2 or more"),
    ({"filter": [1.0, math.nan]}, "filter: found nan"),
    ({"filter": [[1.0, 2.0]]}, "filter: expected a list of numbers"),
    ({"filter": lambda f: 1 / (f - 0.25)}, "filter: the function is not finite at 0.25 cycles per pixel"),
    ({"filter": lambda f: "x"}, "filter: found 'x', expected a number"),
    ({"output_type": "uint61"}, 'output_type: unknown name "uint61"; choose one of .*; did you mean "uint16"'),
]


@pytest.mark.parametrize("keywords, sentence", WRONG)
def test_wrong_keywords(scan, keywords, sentence):
    with pytest.raises((ValueError, RuntimeError, MemoryError), match=sentence):
        fbp.recon(scan, **keywords)


def hann(f):
    return 0.5 + 0.5 * np.cos(2 * np.pi * f)


@pytest.mark.parametrize("device", ["cpu", "ref", "gl", "cuda"])
@pytest.mark.parametrize("more", [{}, {"pad": "ellipse"}, {"half_width": 9}])
def test_windows_of_your_own(scan, device, more):
    if not any(d.usable for d in fbp.devices() if d.name.split(":")[0] == device):
        pytest.skip(f"{device} is not usable here")
    options = {"size": 12, "device": device, **more}
    want = fbp.recon(scan, filter="hann", **options)
    for window in (hann, hann(np.linspace(0, 0.5, 5001)), lambda f: 0.5 + 0.5 * math.cos(2 * math.pi * f)):
        found = fbp.recon(scan, filter=window, **options)
        np.testing.assert_allclose(found.array, want.array, atol=1e-6 * want.max())
    ones = fbp.recon(scan, filter=lambda f: 1, **options)
    np.testing.assert_array_equal(ones.array, fbp.recon(scan, **options).array)
    box = fbp.recon(scan, filter=lambda f: 1.0 if f <= 0.25 else 0.0, **options)
    cut = fbp.recon(scan, filter=[1, 1], cutoff=0.5, **options)
    np.testing.assert_allclose(box.array, cut.array, atol=1e-5 * want.max())
    assert "times the given response" in fbp.Plan(scan, filter=hann, **options).summary.weights


def test_window_of_planes():
    scan = fbp.simulate(fbp.Scan.planes(None, fbp.directions(8), spacing=0.5, shape=(1, 40)), "ball")
    want = fbp.recon(scan, filter="hann", size=12)
    found = fbp.recon(scan, filter=hann, size=12)
    np.testing.assert_allclose(found.array, want.array, atol=2e-6 * want.max())


SAME = [
    ({"filter": "Hann"}, {"filter": "hann"}),
    ({"filter": "hanning"}, {"filter": "hann"}),
    ({"filter_name": "Ram_Lak"}, {"filter": "ram-lak"}),
    ({"window": "ramp"}, {"filter": "ram-lak"}),
    ({"filter": "shepp"}, {"filter": "shepp-logan"}),
    ({"center": 20.25, "sad": 110}, {"centre": 20.25, "sod": 110}),
    ({"pad": "Ellipse", "precision": "Exact"}, {"pad": "ellipse", "precision": "exact"}),
    ({"angular_weights": "Equal", "unit": "CM"}, {"angular_weights": "equal", "unit": "cm"}),
]


@pytest.mark.parametrize("given, usual", SAME)
def test_aliases(scan, given, usual):
    np.testing.assert_array_equal(fbp.recon(scan, size=12, **given).array, fbp.recon(scan, size=12, **usual).array)


def test_aliases_are_those_of_the_command():
    """The names of options in cli/words.c, except single letters and "shape", whose order differs."""
    table = (pathlib.Path(__file__).parents[2] / "cli/words.c").read_text().split("word_table_length")[0]
    rows = re.findall(r'\{"([^"]*)",\s*"([^"]*)"', table)
    want = {}
    for words, options in rows:
        for option in options.replace("-", "_").split():
            if option not in NAMES:
                continue
            for word in words.replace("-", "_").split():
                if len(word) > 1 and word not in NAMES and word != "shape":
                    want.setdefault(word, option)
    assert want == _ALIASES and len(want) > 100


def test_unknown_keyword(scan):
    with pytest.raises(TypeError, match='unknown keyword "fliter"; did you mean "filter"'):
        fbp.recon(scan, fliter="hann")
    with pytest.raises(TypeError, match='unknown keyword "centr"; did you mean "centre"'):
        fbp.recon(scan, centr=3)
    with pytest.raises(TypeError, match='"center" is another name of the keyword "centre"; give only one'):
        fbp.recon(scan, centre=3, center=3)
    with pytest.raises(TypeError, match='"shape"; give size, which is along x, y, z'):
        fbp.recon(scan, shape=(3, 4, 5))
    with pytest.raises(TypeError, match="scan: found ndarray, expected a libfbp.Scan or a path"):
        fbp.recon(scan.views)


SCANS = [
    (lambda v: fbp.Scan.cone(v, [1, 2], sod=1, sdd=2, pixel=1), "angles: 2 for 48 views"),
    (lambda v: fbp.Scan.cone(v, [], sod=1, sdd=2, pixel=1), "there is no view"),
    (lambda v: fbp.Scan.cone(v, 7, sod=1, sdd=2, pixel=1), "angles: expected a list of numbers"),
    (lambda v: fbp.Scan.cone(v, [math.nan] * 48, sod=1, sdd=2, pixel=1), "angles: found nan"),
    (lambda v: fbp.Scan.cone(v, range(48), sod=0, sdd=2, pixel=1), "sod: found 0, expected a number above 0"),
    (lambda v: fbp.Scan.cone(v, range(48), sod="x", sdd=2, pixel=1), "sod: found 'x', expected a number"),
    (lambda v: fbp.Scan.cone(v, range(48), sod=[1, 2], sdd=2, pixel=1), "sod: found 2 numbers"),
    (lambda v: fbp.Scan.cone(v, range(48), sod=1, sdd=2, pixel=(1, 2, 3)), "pixel: found 3 numbers"),
    (lambda v: fbp.Scan.cone(None, range(48), sod=1, sdd=2, pixel=1), "shape: missing"),
    (lambda v: fbp.Scan.cone(v, range(48), sod=1, sdd=2, pixel=1, row_order="up"), "row_order"),
    *[
        (lambda v, make=make, keys=keys: make(v, range(48), centre=9, pixel=1, **keys), "centre and offset both set")
        for make, keys in (
            (fbp.Scan.cone, {"sod": 1, "sdd": 2, "offset": (1, 0)}),
            (lambda v, *a, **k: fbp.Scan.fan(v[:, 0], *a, **k), {"sod": 1, "sdd": 2, "offset": 1}),
            (fbp.Scan.parallel, {"offset": 1}),
        )
    ],
    (lambda v: fbp.recon(fbp.Scan.cone(None, range(48), sod=9, sdd=18, pixel=1, shape=(8, 8)), size=4), "give the views in memory"),
    (lambda v: fbp.Scan.from_matrices(v, np.eye(4)), r"matrices: expected \(views, 3, 4\)"),
    (lambda v: fbp.Scan.from_matrices(v, np.zeros((48, 3, 4))), r"matrices\[0\]: "),
    (lambda v: fbp.Scan.planes(v[:, 0], np.zeros((48, 3)), spacing=1), r"directions\[0\]: has length 0"),
    (lambda v: fbp.load("nowhere.json"), "nowhere.json"),
    (lambda v: fbp.load(3), "path: found int, expected a path"),
    (lambda v: fbp.simulate(v), "scan|attribute"),
]  # fmt: skip


@pytest.mark.parametrize("make, sentence", SCANS)
def test_wrong_scans(views, make, sentence):
    with pytest.raises((ValueError, OSError, AttributeError), match=sentence):
        make(views)


def test_counts(command, tmp_path, geometry, views):
    counts = np.round(5000 * np.exp(-views / 10)).astype("uint16")
    flat = np.full(views.shape[1:], 5000, "uint16")
    dark = np.zeros(views.shape[1:], "uint16")
    np.save(tmp_path / "flat.npy", flat)
    np.save(tmp_path / "dark.npy", dark)
    scan = geometry.with_views(counts)
    by_flat = scan.with_counts(flat=tmp_path / "flat.npy", dark=tmp_path / "dark.npy")
    by_i0 = fbp.recon(scan.with_counts(i0=5000), size=20)
    np.testing.assert_allclose(fbp.recon(by_flat, size=20).array, by_i0.array, atol=1e-6)
    with pytest.warns(fbp.ScanWarning, match="neither flat nor i0"):
        warned = fbp.recon(scan, size=20)
    assert any("neither flat nor i0" in w for w in warned.report.warnings)


def test_things_that_are_listed():
    assert "hann" in fbp.names()["filter"] and "ball" in fbp.names()["phantom"]
    assert any(d.name == "cpu" and d.usable for d in fbp.devices())
    assert fbp.directions(9).shape[1] == 3
    np.testing.assert_allclose(np.linalg.norm(fbp.directions(9), axis=1), 1)
    assert re.match(r"\d+\.\d+\.\d+", fbp.__version__)
    assert all(getattr(fbp, name).__doc__ for name in fbp.__all__ if name[0] != "_")


def test_folders(command, tmp_path, geometry, views):
    """The scan in a folder, or the one that its files suggest."""
    lab = tmp_path / "lab"
    (lab / "views").mkdir(parents=True)
    for k, view in enumerate(views):
        np.save(lab / "views" / f"p_{k:03}.npy", view)
    (lab / "angles.txt").write_text(" ".join(str(a) for a in fbp.angles(len(views))))
    with pytest.raises(fbp.FileError, match="nowhere"):
        fbp.load(tmp_path / "nowhere")
    guessed = fbp.load(lab, pixel=1, sod=100, sdd=160)
    assert guessed.shape == views.shape and guessed.kind == "cone"
    assert "detector.pitch_mm" not in [key for key, _, _ in guessed.assumed]
    np.testing.assert_allclose(guessed.vectors, geometry.vectors, atol=1e-9)
    with pytest.warns(fbp.ScanWarning, match="NOT RELIABLE|assumed|guess"):
        less = fbp.recon(fbp.load(lab, pixel=1), size=8)
    assert less.report.warnings
    command(lab, "init", ".", "--pitch", "1", "--sod", "100", "--sdd", "160", "-o", "scan.json", "-q")
    command(lab, "recon", ".", "-o", "v.npy", "-q")
    np.testing.assert_array_equal(fbp.recon(guessed).array, read(lab / "v.npy"))
    np.testing.assert_array_equal(fbp.recon(lab).array, read(lab / "v.npy"))
    found = fbp.load(lab, sod=110)  # that of the file, with another number
    assert found.path and found.path.endswith("scan.json")
    assert found.facts.sod[1] == pytest.approx(110)
    (tmp_path / "empty").mkdir()
    with pytest.raises(fbp.InvalidError, match="empty: found no readable arrays in this folder"):
        fbp.load(tmp_path / "empty")
    with pytest.raises(fbp.InvalidError, match="arc: applies to folders"):
        fbp.load(lab / "scan.json", arc=360)
