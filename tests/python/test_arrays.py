"""Arrays of any form: the same volume, or a sentence that names the argument, the fact, the remedy."""

import array as plain_array
import contextlib
import gc
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import libfbp as fbp

COUNT_TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32"]


def volume_of(geometry, views, **more):
    return fbp.recon(geometry.with_views(views, **more), size=20).array


def strided(values, order, steps, flips, offset):
    """The same values with gaps, turned axes and another order of axes in memory."""
    shape = [n * s for n, s in zip(values.shape, steps)]
    room = np.full([shape[a] for a in order], 77, values.dtype)
    view = room.transpose(np.argsort(order))
    index = tuple(
        slice(offset % s, None, s) if not f else slice(n - 1 - (offset % s), None, -s)
        for n, s, f in zip(shape, steps, flips)
    )
    view = view[index]
    view[...] = values
    return view


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    order=st.permutations([0, 1, 2]),
    steps=st.tuples(*[st.integers(1, 3)] * 3),
    flips=st.tuples(*[st.booleans()] * 3),
    offset=st.integers(0, 2),
    swapped=st.booleans(),
    dtype=st.sampled_from(["float32", "float64", "uint16", "int32"]),
)
def test_any_stride_and_byte_order(geometry, views, order, steps, flips, offset, swapped, dtype):
    scaled = np.round(views * 100) if dtype in ("uint16", "int32") else views
    plain = np.ascontiguousarray(scaled.astype(dtype))
    kind = np.dtype(dtype).newbyteorder(">" if swapped else "<")
    odd = strided(plain.astype(kind), order, steps, flips, offset)
    np.testing.assert_array_equal(odd, plain)
    with pytest.warns(fbp.ScanWarning) if dtype in ("uint16", "int32") else contextlib.nullcontext():
        np.testing.assert_array_equal(volume_of(geometry, odd), volume_of(geometry, plain))


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    order=st.permutations([0, 1, 2]),
    steps=st.tuples(*[st.integers(1, 3)] * 3),
    flips=st.tuples(*[st.booleans()] * 3),
    swapped=st.booleans(),
)
def test_out_of_any_stride(scan, want, order, steps, flips, swapped):
    kind = np.dtype(">f4" if swapped else "<f4")
    out = strided(np.zeros(want.shape, kind), order, steps, flips, 0)
    got = fbp.recon(scan, size=20, out=out)
    assert got.array is out
    np.testing.assert_array_equal(out, want)
    base = out
    while base.base is not None:
        base = base.base
    assert (base == 77).sum() == base.size - out.size  # nothing beside it


@pytest.mark.parametrize("dtype", COUNT_TYPES)
def test_counts_of_all_types(geometry, views, dtype):
    most = 120 if dtype == "int8" else 250
    counts = np.round(most * np.exp(-views / 10)).clip(1, most)
    as_float = fbp.recon(geometry.with_views(counts.astype("float32")).with_counts(i0=most), size=20)
    as_counts = fbp.recon(geometry.with_views(counts.astype(dtype)).with_counts(i0=most), size=20)
    np.testing.assert_array_equal(as_counts.array, as_float.array)


def test_unaligned_and_buffers(geometry, views, want):
    raw = bytearray(views.nbytes + 1)
    odd = np.frombuffer(raw, np.uint8, offset=1).view(np.uint8)[: views.nbytes]
    odd[:] = np.frombuffer(views.tobytes(), np.uint8)
    unaligned = np.ndarray(views.shape, np.float32, raw, 1)
    assert not unaligned.flags.aligned
    np.testing.assert_array_equal(volume_of(geometry, unaligned), want)
    np.testing.assert_array_equal(volume_of(geometry, memoryview(views)), want)


def test_row_order(geometry, views, want):
    turned = np.ascontiguousarray(views[:, ::-1])
    np.testing.assert_array_equal(volume_of(geometry, turned, row_order="top-down"), want)
    np.testing.assert_array_equal(volume_of(geometry, views[:, ::-1][:, ::-1]), want)


def test_lists_functions_and_iterators(geometry, views, want):
    asked = []

    def give(k):
        asked.append(k)
        return views[k]

    shape = views.shape[1:]
    np.testing.assert_array_equal(volume_of(geometry, list(views)), want)
    np.testing.assert_array_equal(volume_of(geometry, give), want)
    assert set(asked) == set(range(len(views)))
    as_double = fbp.Scan.cone(
        lambda k: views[k].astype(">f8")[::1], fbp.angles(len(views)), shape=shape,
        sod=100, sdd=160, pixel=1,
    )  # fmt: skip
    np.testing.assert_array_equal(fbp.recon(as_double, size=20).array, want)
    live = fbp.recon(geometry.with_views(iter(views)), size=20)  # in their order: another kernel
    assert live.report.n_batches > 0
    plain = fbp.recon(geometry.with_views(views), size=20, kernel="column")
    np.testing.assert_array_equal(live.array, plain.array)


def test_data_set_in_a_file(geometry, views, want):
    class DataSet:  # as those of h5py and zarr: read when asked for
        shape, dtype = views.shape, views.dtype

        def __getitem__(self, k):
            assert isinstance(k, int)
            return views[k]

        def __array__(self):
            raise AssertionError("all of it was read")

    np.testing.assert_array_equal(volume_of(geometry, DataSet()), want)


def test_torch(geometry, views, want):
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(volume_of(geometry, torch.from_numpy(views.copy())), want)
    out = torch.zeros(want.shape)
    fbp.recon(geometry.with_views(views), size=20, out=out)
    np.testing.assert_array_equal(out.numpy(), want)


class Tensor:
    """What DLPack shows of a tensor of Torch or JAX, without either."""

    def __init__(self, values, device=(1, 0)):
        self.values, self.device = values, device

    def __dlpack__(self, **more):
        assert self.device[0] == 1
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def test_dlpack(geometry, views, want):
    values = views.copy()
    np.testing.assert_array_equal(volume_of(geometry, Tensor(values)), want)
    turned = Tensor(np.asfortranarray(values))
    np.testing.assert_array_equal(volume_of(geometry, turned), want)
    out = np.zeros_like(want)
    fbp.recon(geometry.with_views(values), size=20, out=Tensor(out))
    np.testing.assert_array_equal(out, want)


def test_torch_refused(geometry, views):
    torch = pytest.importorskip("torch")
    for kind in ("float16", "bfloat16", "int64", "bool"):
        tensor = torch.from_numpy(views.copy()).to(getattr(torch, kind))
        with pytest.raises(fbp.InvalidError, match=kind + r" are not supported; .*views\.float\(\) of Torch"):
            geometry.with_views(tensor)


def test_jax(geometry, views, want):
    """JAX lends its arrays by DLPack, and never to be written into."""
    jnp = pytest.importorskip("jax.numpy")
    given = jnp.asarray(views)
    np.testing.assert_array_equal(volume_of(geometry, given), want)
    np.testing.assert_array_equal(volume_of(geometry, list(given)), want)
    with pytest.raises(fbp.InvalidError, match=r"bfloat16 are not supported; .*astype"):
        geometry.with_views(given.astype("bfloat16"))
    with pytest.raises(fbp.InvalidError, match="out: is read-only"):
        fbp.recon(geometry.with_views(given), size=20, out=jnp.zeros(want.shape, want.dtype))


REFUSED = [
    (lambda v: v.astype("float16"), r"type float16 are not supported; .*views.astype\(\"float32\"\)"),
    (lambda v: v.astype("int64"), "type int64 .*astype"),
    (lambda v: v.astype("uint64"), "type uint64 .*astype"),
    (lambda v: v.astype("complex64"), "type complex64 are not supported; .*views.real"),
    (lambda v: v > 0, "type bool .*astype"),
    (lambda v: v.astype(object), "type object "),
    (lambda v: v[:0], r"views: has shape \(0, 24, 40\), without elements"),
    (lambda v: v[:, :0], r"views: has shape \(48, 0, 40\), without elements"),
    (lambda v: v[0, 0, 0], "views: has no dimensions"),
    (lambda v: v[0, 0], r"views: has shape \(40,\), expected \(views, rows, columns\)"),
    (lambda v: v[None], r"views: has shape \(1, 48, 24, 40\)"),
    (lambda v: v[:-1], r"the scan: 48 for 47 views of shape \(47, 24, 40\); give one for each"),
    (lambda v: v[:, :-1], r"views: found shape \(48, 23, 40\), expected \(48, 24, 40\)"),
    (lambda v: 5, "views: found int, expected an array"),
    (lambda v: "", "."),
    (lambda v: "no/such.npy", "no/such.npy: "),
    (lambda v: [], "views: the list is empty"),
    (lambda v: [1, 2], "views: the list contains int, expected one array for each view"),
    (lambda v: [k.tobytes() for k in v], "views: the list contains bytes, expected one array for each"),
    (lambda v: plain_array.array("f", [1, 2]), r"views: has shape \(2,\)"),
    (lambda v: v.astype([("a", "f4")]), "views: .*astype"),
    (lambda v: v.astype("datetime64[s]"), "views: "),
]


@pytest.mark.parametrize("make, sentence", REFUSED)
def test_refused(geometry, views, make, sentence):
    with pytest.raises((ValueError, OSError), match=sentence) as caught:
        geometry.with_views(make(views.copy()))
    assert isinstance(caught.value, fbp.Error)


OUTS = [
    (lambda v: v[:-1], r"out: has shape \(19, 20, 20\), the volume \(20, 20, 20\).*np.empty"),
    (lambda v: v.astype("float64"), "out: is float64, the volume float32"),
    (lambda v: v.astype("uint8"), "out: is uint8, the volume float32"),
    (lambda v: np.broadcast_to(v, v.shape), "out: is read-only"),
    (lambda v: 7, "out: expected an array, a function or a path"),
]


@pytest.mark.parametrize("make, sentence", OUTS)
def test_outs_refused(scan, want, make, sentence):
    with pytest.raises(fbp.InvalidError, match=sentence):
        fbp.recon(scan, size=20, out=make(np.zeros_like(want)))


def test_views_of_functions_are_checked(geometry, views):
    with pytest.raises(fbp.InvalidError, match=r"view \d+: has shape \(23, 40\)"):
        volume_of(geometry, lambda k: views[k, 1:])
    with pytest.raises(fbp.InvalidError, match="ended after 5 views, the scan has 48"):
        volume_of(geometry, iter(views[:5]))
    with pytest.raises(ZeroDivisionError):
        volume_of(geometry, lambda k: views[k] / (1 // 0))
    with pytest.raises(fbp.InvalidError, match="shape: missing"):
        fbp.Scan.cone(iter(views), fbp.angles(48), sod=1, sdd=2, pixel=1)


def test_not_a_number(geometry, views):
    broken = views.copy()
    broken[3, 4, 5] = np.nan
    broken[7, 2, 30:] = np.inf
    with pytest.warns(fbp.ScanWarning, match=r"samples that are not numbers.*: \d+, .* % of 48 views of 40 x 24"):
        got = fbp.recon(geometry.with_views(broken), size=20)
    assert got.report.not_finite > 0
    assert np.isfinite(got.array).all()


class Labelled(np.ndarray):
    """An array with attributes."""


def cycle_of_function(geometry, views, mark):
    held = []
    scan = geometry.with_views(lambda k: views[k] if held and mark else None)
    held.append(scan)
    return scan


def cycle_of_iterator(geometry, views, mark):
    held = []
    scan = geometry.with_views(view for view in views if held and mark)
    held.append(scan)
    return scan


def cycle_of_array(geometry, views, mark):
    labelled = views.copy().view(Labelled)
    scan = geometry.with_views(labelled)
    labelled.label = scan, mark
    return scan


@pytest.mark.parametrize("make", [cycle_of_function, cycle_of_iterator, cycle_of_array])
@pytest.mark.parametrize("of_plan", [False, True])
def test_cycles_are_collected(geometry, views, make, of_plan):
    """Functions, iterators and arrays that refer to the scan or plan that they were given to."""

    class Mark:
        plan = None

    mark = Mark()
    gone = weakref.ref(mark)
    scan = make(geometry, views, mark)
    if of_plan:
        mark.plan = fbp.Plan(scan, size=8)
        mark.plan.run()
    del mark
    gc.collect()
    assert gone() is not None
    del scan
    gc.collect()
    assert gone() is None


def test_lifetime(geometry, views, want):
    lent = views.copy()
    gone = weakref.ref(lent)
    plan = fbp.Plan(geometry.with_views(lent), size=20)
    del lent
    gc.collect()
    assert gone() is not None  # the plan borrows it
    np.testing.assert_array_equal(plan.run().array, want)
    del plan
    gc.collect()
    assert gone() is None
    with pytest.raises(BufferError):  # NumPy does not move what is lent
        lent = bytearray(views.tobytes())
        kept = geometry.with_views(np.frombuffer(lent, np.float32).reshape(views.shape))
        lent.extend(b"1")
    del kept
