"""Adapters without the packages that they are for: dictionaries and objects as those publish them.
tests/peers compares with the packages themselves."""

import types

import numpy as np
import pytest

import libfbp as fbp

VIEWS = 60
ANGLES = np.linspace(0, 2 * np.pi, VIEWS, endpoint=False)


def disc(x, y, r, t):
    """Integrals over lines at distance t(view, column) from a disc's middle."""
    return 2 * np.sqrt(np.maximum(r * r - t * t, 0)).astype(np.float32)


def middle(array):
    """Where the weight of an array is, in voxels."""
    weight = np.where(array > array.max() / 2, array, 0).astype(float)
    return [float((i * weight).sum() / weight.sum()) for i in np.indices(array.shape)]


# Vectors.


@pytest.mark.parametrize("kind", ["cone", "parallel"])
def test_vectors_come_back(kind):
    more = {"sod": 100.0, "sdd": 150.0} if kind == "cone" else {}
    make = getattr(fbp.Scan, kind)
    scan = make(None, np.degrees(ANGLES), pixel=0.5, shape=(8, 40), tilt=(1, 2, 3), **more)
    again = fbp.Scan.from_vectors(None, scan.vectors, kind=kind, shape=(8, 40))
    np.testing.assert_array_equal(again.vectors, scan.vectors)
    made = fbp.simulate(scan, "ellipsoids", half=3)
    a, b = (fbp.recon(s.with_views(made.views), size=12).array for s in (scan, again))
    np.testing.assert_array_equal(a, b)


# ASTRA: dictionaries.


def astra_parallel(**more):
    return {"type": "parallel", "DetectorWidth": 0.5, "DetectorCount": 100, "ProjectionAngles": ANGLES,
            **more}  # fmt: skip


def astra_cone(**more):
    return {
        "type": "cone", "DetectorSpacingX": 0.5, "DetectorSpacingY": 0.25, "DetectorRowCount": 24,
        "DetectorColCount": 60, "ProjectionAngles": ANGLES, "DistanceOriginSource": 100,
        "DistanceOriginDetector": 50, **more,
    }  # fmt: skip


def astra_window(rows, columns, slices=None, **window):
    found = {"GridRowCount": rows, "GridColCount": columns, "option": window}
    return found if slices is None else found | {"GridSliceCount": slices}


PLANE = astra_window(40, 50, WindowMinX=-10, WindowMaxX=15, WindowMinY=-12, WindowMaxY=8)
SPACE = astra_window(
    40, 50, 20, WindowMinX=-10, WindowMaxX=15, WindowMinY=-12, WindowMaxY=8, WindowMinZ=-2, WindowMaxZ=3
)


def test_astra_image_has_y_upwards():
    columns = (np.arange(100) - 49.5) * 0.5
    t = columns[None] - (7 * np.cos(ANGLES) + 3 * np.sin(ANGLES))[:, None]  # a disc at (7, 3)
    image = fbp.adapters.astra.recon(astra_parallel(), PLANE, disc(7, 3, 2, t))
    assert image.shape == (40, 50) and image.dtype == np.float32
    row, column = middle(image)
    assert abs(row - ((8 - 3) / 0.5 - 0.5)) < 0.1 and abs(column - ((7 + 10) / 0.5 - 0.5)) < 0.1
    assert abs(image.max() - 1) < 0.2


def test_astra_cone_is_that_of_this_program():
    scan = fbp.adapters.astra.scan(astra_cone(), None, SPACE)
    same = fbp.Scan.cone(
        None, np.degrees(ANGLES) - 90, sod=100, sdd=150, pixel=(0.5, 0.25), shape=(24, 60)
    )
    np.testing.assert_allclose(scan.vectors, same.vectors, atol=1e-12)
    views = fbp.simulate(same, "ellipsoids", half=2).views
    grid = {"size": (50, 40, 20), "voxel": (0.5, 0.5, 0.25), "volume_centre": (2.5, -2, 0.5)}
    with pytest.warns(fbp.ScanWarning):  # of the slices at its ends
        want = fbp.recon(scan.with_views(views), **grid).array
        found = fbp.adapters.astra.recon(astra_cone(), SPACE, views.transpose(1, 0, 2))
    np.testing.assert_array_equal(found, want)


class Tensor(np.ndarray):
    """As in Torch: transpose() takes two axes."""

    def permute(self, order):
        return np.ndarray.transpose(self.view(np.ndarray), order)

    def transpose(self, a, b):
        raise AssertionError


def test_tensors_are_turned_by_permute():
    scan = fbp.adapters.astra.scan(astra_cone(), np.zeros((24, VIEWS, 60), np.float32).view(Tensor))
    assert scan.shape == (VIEWS, 24, 60)


class InFile:
    """As a data set of h5py: views are read when they are wanted."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __getitem__(self, k):
        return self.values[k]


def test_data_sets_in_files():
    geo = tigre_geometry()
    values = np.random.default_rng(1).random((VIEWS, 24, 60), np.float32)
    a, b = (fbp.adapters.tigre.fdk(v, geo, ANGLES, mask=0, pad="ellipse") for v in (values, InFile(values)))
    np.testing.assert_array_equal(a, b)
    with pytest.raises(fbp.InvalidError, match="numpy.asarray"):
        fbp.adapters.astra.scan(astra_cone(), InFile(values.transpose(1, 0, 2)))
    flat = {"type": "parallel", "DetectorCount": 60, "DetectorWidth": 1.0, "ProjectionAngles": ANGLES}
    a, b = (fbp.recon(fbp.adapters.astra.scan(flat, v), mask=0).array for v in (values[:, 0], InFile(values[:, 0])))
    np.testing.assert_array_equal(a, b)


def test_astra_vectors_of_a_plane():
    ray = np.stack([np.sin(ANGLES), -np.cos(ANGLES)], 1)
    along = np.stack([np.cos(ANGLES), np.sin(ANGLES)], 1)
    flat = np.concatenate([ray, 2 * along, 0.5 * along], 1)
    given = {"type": "parallel_vec", "DetectorCount": 100, "Vectors": flat}
    found = fbp.adapters.astra.scan(given).vectors
    np.testing.assert_allclose(found[:, 1, :2], 2 * along)
    np.testing.assert_allclose(found[:, 2, :2], 0.5 * along)
    np.testing.assert_allclose(found[:, 3], np.tile([0, 0, 0.5], (VIEWS, 1)), atol=1e-15)


# TIGRE: an object with the attributes of its geometry.


def tigre_geometry(**more):
    geo = types.SimpleNamespace(
        mode="cone", DSD=150.0, DSO=100.0, nDetector=np.array((24, 60)), dDetector=np.array((0.25, 0.5)),
        nVoxel=np.array((10, 40, 50)), dVoxel=np.array((0.3, 0.5, 0.4)), offOrigin=np.array((0.2, 1, -2)),
        offDetector=np.array((0, 0)), accuracy=0.5, n_proj=None, filter=None,
    )  # fmt: skip
    geo.sDetector = geo.nDetector * geo.dDetector
    geo.sVoxel = geo.nVoxel * geo.dVoxel
    geo.__dict__.update(more)
    return geo


def test_tigre_is_that_of_this_program():
    geo = tigre_geometry()
    same = fbp.Scan.cone(None, np.degrees(ANGLES), sod=100, sdd=150, pixel=(0.5, 0.25), shape=(24, 60))
    np.testing.assert_allclose(
        fbp.adapters.tigre.scan(None, geo, ANGLES).vectors, same.vectors, atol=1e-12
    )
    views = fbp.simulate(same, "ellipsoids", half=1.5).views
    grid = {"size": (50, 40, 10), "voxel": (0.4, 0.5, 0.3), "volume_centre": (-2, 1, 0.2)}
    with pytest.warns(fbp.ScanWarning, match="field of view"):
        want = fbp.recon(same.with_views(views), filter="hann", **grid).array
        found = fbp.adapters.tigre.fdk(views, geo, ANGLES, filter="hann")
    np.testing.assert_allclose(found, want, atol=1e-6 * np.abs(want).max())
    with pytest.warns(fbp.ScanWarning, match="field of view") as warned:
        fbp.adapters.tigre.fdk(views, geo, ANGLES, filter="ram_lak")
    assert warned[0].filename == __file__  # not that of an adapter


def test_tigre_has_numbers_for_each_view():
    shift = np.linspace(-1, 1, VIEWS)
    geo = tigre_geometry(
        DSO=100 + shift, DSD=np.full((VIEWS, 1), 150.0), COR=0.1 * shift,
        offDetector=np.stack([shift, 2 * shift], 1),
    )  # fmt: skip
    s, d, u, v = np.moveaxis(fbp.adapters.tigre.scan(None, geo, ANGLES).vectors, 1, 0)
    towards = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], 1)
    along = np.stack([-np.sin(ANGLES), np.cos(ANGLES), 0 * ANGLES], 1)
    part = lambda x: x[:, None]  # noqa: E731
    np.testing.assert_allclose(s, part(100 + shift) * towards + part(0.1 * shift) * along, atol=1e-9)
    want = part(shift - 50) * towards + part(2.1 * shift) * along + part(shift) * [[0, 0, 1]]
    np.testing.assert_allclose(d, want, atol=1e-9)
    np.testing.assert_allclose(u, 0.5 * along, atol=1e-12)
    np.testing.assert_allclose(v, np.tile([0, 0, 0.25], (VIEWS, 1)), atol=1e-12)


def test_tigre_parallel():
    geo = tigre_geometry(mode="parallel")
    columns, rows = (np.arange(60) - 29.5) * 0.5, (np.arange(24) - 11.5) * 0.25
    # A ball at (-4, 3, 0.8), of radius 1: u is along (-sin, cos).
    t = columns[None] - (4 * np.sin(ANGLES) + 3 * np.cos(ANGLES))[:, None]
    views = disc(0, 0, 1, np.hypot(t[:, None], (rows - 0.8)[None, :, None]))
    place = middle(fbp.adapters.tigre.fbp(views, geo, ANGLES))
    want = [(o - c) / d + (n - 1) / 2
            for o, c, d, n in zip((0.8, 3, -4), geo.offOrigin, geo.dVoxel, geo.nVoxel)]  # fmt: skip
    np.testing.assert_allclose(place, want, atol=0.2)


# CIL: objects with the attributes of its geometries.


class Labelled(types.SimpleNamespace):
    def copy(self):
        return Labelled(**self.__dict__)


def cil_geometry(kind="cone", labels=("angle", "vertical", "horizontal"), origin="bottom-left"):
    system = types.SimpleNamespace(align_reference_frame=lambda name: None)
    system.detector = types.SimpleNamespace(
        position=np.array([0, 50.0, 0]), direction_x=np.array([1.0, 0, 0]), direction_y=np.array([0, 0, 1.0])
    )
    if kind == "cone":
        system.source = types.SimpleNamespace(position=np.array([0, -100.0, 0]))
    else:
        system.ray = types.SimpleNamespace(direction=np.array([0, 1.0, 0]))
    panel = types.SimpleNamespace(num_pixels=(60, 24), pixel_size=(0.5, 0.25), origin=origin)
    angles = types.SimpleNamespace(
        angle_data=np.degrees(ANGLES), initial_angle=20.0, angle_unit="degree"
    )
    config = types.SimpleNamespace(system=system, panel=panel, angles=angles)
    return Labelled(geom_type=kind, channels=1, config=config, dimension_labels=labels)


def cil_volume(labels):
    n = {"vertical": 10, "horizontal_y": 40, "horizontal_x": 50}
    volume = Labelled(
        voxel_num_x=50, voxel_num_y=40, voxel_num_z=10, voxel_size_x=0.4, voxel_size_y=0.5,
        voxel_size_z=0.3, center_x=-2, center_y=1, center_z=0.2, channels=1, dimension_labels=labels,
        shape=tuple(n[name] for name in labels),
    )  # fmt: skip
    volume.allocate = lambda value, dtype: types.SimpleNamespace(array=np.empty(volume.shape, dtype))
    return volume


@pytest.mark.parametrize("origin", ["bottom-left", "top-left", "bottom-right", "top-right"])
@pytest.mark.parametrize("kind", ["cone", "parallel"])
def test_cil_turns_the_object(kind, origin):
    s, d, u, v = fbp.adapters.cil.scan(cil_geometry(kind, origin=origin), cil_volume(())).vectors[0]
    a = np.radians(20)  # the source moves clockwise
    towards, along = np.array([-np.sin(a), -np.cos(a), 0]), np.array([np.cos(a), -np.sin(a), 0])
    np.testing.assert_allclose(s, (100 if kind == "cone" else 1) * towards, atol=1e-12)
    np.testing.assert_allclose(d, -50 * towards, atol=1e-12)
    np.testing.assert_allclose(u, 0.5 * along * (-1 if "right" in origin else 1), atol=1e-12)
    np.testing.assert_allclose(v, [0, 0, -0.25 if "top" in origin else 0.25], atol=1e-12)


@pytest.mark.parametrize("kind", ["cone", "parallel"])
def test_cil_axes_in_any_order(kind):
    usual = ("vertical", "horizontal_y", "horizontal_x")
    scan = fbp.adapters.cil.scan(cil_geometry(kind), cil_volume(usual))
    views = fbp.simulate(scan, "ellipsoids", half=1.5).views
    want = fbp.recon(scan.with_views(views), mask=0).array
    geometry = cil_geometry(kind, ("horizontal", "angle", "vertical"))
    data = types.SimpleNamespace(geometry=geometry, array=views.transpose(2, 0, 1))
    recon = fbp.adapters.cil.FDK if kind == "cone" else fbp.adapters.cil.FBP
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        volume = cil_volume(tuple(usual[k] for k in order))
        found = recon(data, volume, mask=0).run(verbose=0).array
        np.testing.assert_array_equal(found, want.transpose(order))
        made = fbp.adapters.cil.Processor(volume, geometry, mask=0)(data).array
        np.testing.assert_array_equal(made, found)


# What is wrong.

ASTRA, TIGRE, CIL, RTK = (getattr(fbp.adapters, n) for n in ("astra", "tigre", "cil", "rtk"))
SINOGRAM = np.zeros((VIEWS, 100), np.float32)
DATA = types.SimpleNamespace(geometry=cil_geometry(), array=np.zeros((VIEWS, 24, 60), np.float32))
LABELS = ("vertical", "horizontal_y", "horizontal_x")


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: ASTRA.scan([1]), "create_proj_geom"),
        (lambda: ASTRA.scan({}), "type is missing"),
        (lambda: ASTRA.scan(astra_parallel(type="sparse_matrix")), 'found "sparse_matrix"'),
        (lambda: ASTRA.scan(astra_parallel(ProjectionAngles=[np.nan])), "not finite"),
        (lambda: ASTRA.scan(astra_parallel(ProjectionAngles=object())), "found object"),
        (lambda: ASTRA.scan(astra_parallel(), SINOGRAM.T), "(60, 100): views, columns"),
        (lambda: ASTRA.scan(astra_parallel(), None, SPACE), "vol_geom: is of a volume"),
        (lambda: ASTRA.scan(astra_cone(), None, PLANE), "vol_geom: is of an image"),
        (lambda: ASTRA.scan(astra_parallel(), None, {"GridColCount": 3}), "'option' is missing"),
        (lambda: ASTRA.recon(astra_parallel(), PLANE, None), "sinogram: missing"),
        (lambda: ASTRA.recon(astra_parallel(), PLANE, SINOGRAM, size=3), "size: follows from the geometry"),
        (lambda: ASTRA.recon(astra_parallel(), PLANE | {"GridColCount": 2.5}, SINOGRAM), "2.5"),
        (lambda: ASTRA.recon(
            astra_parallel(), astra_window(4, 5, WindowMinX=1, WindowMaxX=1, WindowMinY=0, WindowMaxY=1),
            SINOGRAM), "not below WindowMaxX"),
        (lambda: TIGRE.scan(None, object(), ANGLES), "has no nDetector"),
        (lambda: TIGRE.scan(None, tigre_geometry(mode="fan"), ANGLES), 'found "fan"'),
        (lambda: TIGRE.scan(None, tigre_geometry(DSD=None), ANGLES), "DSD is missing"),
        (lambda: TIGRE.scan(None, tigre_geometry(DSD=np.ones(7)), ANGLES), "7 entries, but angles has 60"),
        (lambda: TIGRE.scan(None, tigre_geometry(COR=1.0, rotDetector=np.ones(3)), ANGLES), "ambiguous"),
        (lambda: TIGRE.scan(np.zeros((VIEWS, 60, 24)), tigre_geometry(), ANGLES), "views, rows, columns"),
        (lambda: TIGRE.fdk(None, tigre_geometry(), ANGLES), "proj: missing"),
        (lambda: TIGRE.fdk(np.zeros((VIEWS, 24, 60)), tigre_geometry(nVoxel=None), ANGLES), "no nVoxel"),
        (lambda: TIGRE.fdk(np.zeros((VIEWS, 24, 60)), tigre_geometry(), ANGLES, filter="ramp"), "ramp"),
        (lambda: TIGRE.fbp(None, tigre_geometry(), ANGLES), "use fdk() for cone beams"),
        (lambda: CIL.scan(3), "AcquisitionData"),
        (lambda: CIL.scan(cil_geometry().__class__(config=1, channels=2)), "several channels"),
        (lambda: CIL.FBP(DATA, cil_volume(LABELS)), "FDK is for that"),
        (lambda: CIL.FDK(None), "AcquisitionData"),
        (lambda: CIL.FDK(DATA, cil_volume(LABELS), np.ones(8)), "use()"),
        (lambda: CIL.Processor(cil_volume(LABELS)), "acquisition_geometry: missing"),
        (lambda: CIL.Processor(cil_volume(LABELS), DATA.geometry).get_output(), "dataset: missing"),
        (lambda: CIL.use(3), "cil.recon.FDK"),
        (lambda: RTK.scan(None, None), "spacing: missing"),
        (lambda: RTK.scan(SINOGRAM, None, spacing=(1, 1)), "(views, rows, columns)"),
        (lambda: RTK.scan(None, 3, shape=(4, 5), spacing=(1, 1)), "ThreeDCircularProjectionGeometry"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(call, words):
    with pytest.raises(fbp.Error) as e:
        call()
    assert words in str(e.value) and "\n" not in str(e.value) and "/tmp" not in str(e.value)
