"""Dark, flat and bad pixels: from arrays as from files, or a sentence that says what is wrong."""

import numpy as np
import pytest

import libfbp as fbp
from conftest import COLUMNS, CONE, ROWS, VIEWS
from far import Far


@pytest.fixture(scope="module")
def counts(views):
    """Of a panel whose pixels differ in offset and gain, one of which is dead."""
    rng = np.random.default_rng(3)
    dark = rng.uniform(90, 110, (2, ROWS, COLUMNS)).astype("float32")
    flat = rng.uniform(4000, 6000, (3, ROWS, COLUMNS)).astype("uint16")
    bad = np.zeros((ROWS, COLUMNS), bool)
    bad[5, 7] = True
    span = flat.mean(axis=0) - dark.mean(axis=0)
    measured = np.round(dark.mean(axis=0) + span * np.exp(-views / 10)).astype("uint16")
    measured[:, 5, 7] = 0
    return {"views": measured, "dark": dark, "flat": flat, "bad_pixels": bad}


@pytest.fixture(scope="module")
def pictures(counts):
    return {name: counts[name] for name in ("dark", "flat", "bad_pixels")}


@pytest.fixture(scope="module")
def files(pictures, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    for name, picture in pictures.items():
        np.save(folder / f"{name}.npy", picture.astype("uint8") if picture.dtype == bool else picture)
    return {name: folder / f"{name}.npy" for name in pictures}


def cone(views, **more):
    return fbp.Scan.cone(views, fbp.angles(VIEWS), **CONE, **more)


def volume(scan):
    return fbp.recon(scan, size=20).array


@pytest.fixture(scope="module")
def of_files(counts, files):
    return volume(cone(counts["views"], **files))


def test_right(of_files, want):
    assert np.abs(of_files * 10 - want).max() < 0.05 * want.max()  # counts are whole numbers


@pytest.mark.parametrize(
    "lend",
    [
        lambda a: a,
        list,
        lambda a: a.astype(a.dtype.newbyteorder()),
        lambda a: np.asfortranarray(a),
        lambda a: np.flip(np.flip(a, 1).copy(), 1),
        lambda a: type("InFile", (), {k: getattr(a, k) for k in ("dtype", "shape", "__len__", "__array__")})(),
    ],
    ids=["array", "list", "big endian", "columns first", "negative strides", "data set"],
)
def test_the_bits_of_files(counts, pictures, of_files, lend):
    given = {name: picture if name == "bad_pixels" else lend(picture) for name, picture in pictures.items()}
    np.testing.assert_array_equal(volume(cone(counts["views"], **given)), of_files)


def test_mean_of_one(counts, files, pictures, tmp_path):
    one = pictures["flat"][1]
    np.save(tmp_path / "one.npy", one)
    by_file = volume(cone(counts["views"], flat=tmp_path / "one.npy"))
    for given in (one, one[None], [one], one.astype("int32")):
        np.testing.assert_array_equal(volume(cone(counts["views"], flat=given)), by_file)


def test_rows_run_as_those_of_the_views(counts, pictures, of_files):
    turned = {name: np.flip(picture, -2) for name, picture in pictures.items()}
    scan = cone(np.flip(counts["views"], 1), row_order="top-down", **turned)
    np.testing.assert_array_equal(volume(scan), of_files)


def test_of_larger_pixels(counts, files, pictures):
    by_file, by_array = (
        fbp.recon(cone(counts["views"], **given), size=20, bin=2, every=2).array
        for given in (files, pictures)
    )
    np.testing.assert_array_equal(by_array, by_file)


def test_they_stay_with_the_scan(counts, files, pictures, of_files):
    """Copied when they are given; a file replaces an array, an array a file."""
    mine = {name: picture.copy() for name, picture in pictures.items()}
    scan = cone(counts["views"], **mine)
    for picture in mine.values():
        picture[...] = 1
    np.testing.assert_array_equal(volume(scan), of_files)
    np.testing.assert_array_equal(volume(scan.with_views(counts["views"])), of_files)
    other = scan.with_counts(flat=2 * pictures["flat"])
    assert not np.array_equal(volume(other), of_files)
    np.testing.assert_array_equal(volume(other.with_counts(**files)), of_files)
    np.testing.assert_array_equal(volume(other.with_counts(**files).with_counts(**pictures)), of_files)
    np.testing.assert_array_equal(volume(scan), of_files)


def test_of_a_loaded_scan(counts, files, pictures, geometry, tmp_path):
    np.save(tmp_path / "views.npy", counts["views"])
    geometry.with_views(tmp_path / "views.npy").save(tmp_path / "scan.json")
    scan = fbp.load(tmp_path / "scan.json", **pictures)
    by_file = fbp.load(tmp_path / "scan.json", **files)
    np.testing.assert_array_equal(volume(scan), volume(by_file))
    with pytest.raises(fbp.UnsupportedError, match="dark is an image in memory.*write it to"):
        scan.save(tmp_path / "again.json")
    assert not (tmp_path / "again.json").exists()


def test_a_fan(counts, pictures):
    """Of one row, pictures may come without it."""
    sinogram, flat = counts["views"][:, 12], pictures["flat"][:, 12]
    make = lambda f: volume(fbp.Scan.fan(sinogram, fbp.angles(VIEWS), **CONE, flat=f))  # noqa: E731
    want = make(flat[:, None])
    np.testing.assert_array_equal(make(flat), want)
    assert np.isfinite(make(flat[0])).all()


def test_on_a_device(counts, pictures):
    flat = pictures["flat"].astype("float32")
    want = volume(cone(counts["views"], flat=flat))
    np.testing.assert_array_equal(volume(cone(counts["views"], flat=Far(flat))), want)


def test_axis_is_found(counts, files, pictures):
    columns = [fbp.find_centre(cone(counts["views"], **given)).column for given in (files, pictures)]
    assert columns[0] == columns[1]


WRONG = [
    (lambda s, p: s.with_counts(flat=p["flat"][:, 1:]), "flat: the image has 40 columns and 23 rows, but the views have 40 and 24"),
    (lambda s, p: s.with_counts(dark=p["dark"][0, 0]), r"dark: has shape \(40,\), expected \(24, 40\)"),
    (lambda s, p: s.with_counts(dark=p["dark"][None]), r"dark: has shape \(1, 2, 24, 40\)"),
    (lambda s, p: s.with_counts(dark=p["dark"][:0]), "dark: .*no elements|dark: has shape"),
    (lambda s, p: s.with_counts(dark=p["dark"].astype("float16")), r"dark: .*astype\(\"float32\"\)"),
    (lambda s, p: s.with_counts(dark=p["dark"].astype("complex64")), "dark: "),
    (lambda s, p: s.with_counts(dark=[p["dark"][0], p["dark"][0, 1:]]), "dark: not an array"),
    (lambda s, p: s.with_counts(flat=60000), "flat: found int, expected an array"),
    (lambda s, p: s.with_counts(flat=lambda k: p["flat"]), "flat: found function"),
    (lambda s, p: s.with_counts(flat="none.npy"), None),
    (lambda s, p: fbp.recon(s.with_counts(dark=p["dark"])), '"flat" or "i0"'),
]  # fmt: skip


@pytest.mark.parametrize("make, sentence", WRONG)
def test_wrong_pictures(counts, pictures, make, sentence):
    scan = cone(counts["views"])
    if sentence is None:  # files are opened when they are needed
        with pytest.raises(OSError, match="none.npy"):
            fbp.recon(make(scan, pictures))
        return
    with pytest.raises(fbp.InvalidError, match=sentence):
        make(scan, pictures)


def test_unknown_keywords(counts, pictures):
    with pytest.raises(TypeError, match='"flats"; did you mean "flat"'):
        cone(counts["views"], flats=pictures["flat"])
