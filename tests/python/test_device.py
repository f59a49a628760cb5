"""Views and volumes in the memory of a device: the same bits, in order with what the program has
given to the device, or a sentence that says the way out.  The device is a pretended one (far.py),
whose memory the host cannot use."""

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest

import far
import libfbp as fbp
from conftest import CONE
from far import CUDA, ROCM, Far, Interface

DIRECTIONS = fbp.directions(6)
MATRICES = fbp.Scan.cone(None, fbp.angles(48), shape=(24, 40), **CONE).matrices
KINDS = {
    "cone": lambda v: fbp.Scan.cone(v, fbp.angles(48), **CONE),
    "parallel": lambda v: fbp.Scan.parallel(v, fbp.angles(48, 180), pixel=1),
    "matrices": lambda v: fbp.Scan.from_matrices(v, MATRICES),
}


@pytest.fixture()
def on_mock(geometry, views):
    """What the scan gives on that device, from host memory."""
    return fbp.recon(geometry.with_views(views), size=20, device="mock").array


def blank(like):
    return Far(np.full(like.shape, np.nan, np.float32))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lend", [Far, lambda v: Far(v, old=True), Interface])
def test_views_and_volume(views, kind, lend):
    want = fbp.recon(KINDS[kind](views), size=20, device="mock").array
    given, out = lend(views), lend(np.full(want.shape, np.nan, np.float32))
    scan = KINDS[kind](given)
    volume = fbp.recon(scan, size=20, out=out)  # which takes the device of its views
    assert volume.array is out and scan.views is given
    np.testing.assert_array_equal(out.get(), want)


def test_fans_and_planes(views):
    sinogram = np.ascontiguousarray(views[:, 12])
    planes = np.ascontiguousarray(views[: len(DIRECTIONS), 12:13])
    for make, given in (
        (lambda v: fbp.Scan.fan(v, fbp.angles(48), **CONE), sinogram),
        (lambda v: fbp.Scan.planes(v, DIRECTIONS, spacing=0.5), planes),
        (lambda v: fbp.Scan.planes(v, DIRECTIONS, spacing=0.5), planes[:, 0]),
    ):
        want = fbp.recon(make(given), size=16, device="mock").array
        out = blank(want)
        fbp.recon(make(Far(given)), size=16, out=out)
        np.testing.assert_array_equal(out.get(), want)


def test_plans(geometry, views, on_mock):
    plan = fbp.Plan(geometry.with_views(views), device="mock", size=20)
    out = blank(on_mock)
    for factor in (1, 2):  # no device is named: that of the tensors
        plan.run(Far(factor * views), out)
        np.testing.assert_array_equal(out.get(), factor * on_mock)
    np.testing.assert_array_equal(plan.run(Far(views)).array, on_mock)  # a NumPy array
    plan.run(views, out)  # from the host
    np.testing.assert_array_equal(out.get(), on_mock)
    np.testing.assert_array_equal(fbp.recon(geometry.with_views(Far(views)), size=20).array, on_mock)


@pytest.mark.parametrize("device", [None, "auto", "mock", "mock:0", "mock:1,0", "mock:all"])
def test_the_device_is_that_of_the_tensors(geometry, views, on_mock, device):
    plan = fbp.Plan(geometry.with_views(Far(views)), device=device, size=20)
    assert plan.summary.backend == "mock"
    np.testing.assert_array_equal(plan.run().array, on_mock)
    out = blank(on_mock)
    fbp.recon(geometry.with_views(views), size=20, device=device, out=out)
    np.testing.assert_array_equal(out.get(), on_mock)


def test_files_and_functions(geometry, views, on_mock, tmp_path):
    scan = geometry.with_views(Far(views))
    np.testing.assert_array_equal(fbp.recon(scan, tmp_path / "v.npy", size=20).array, on_mock)
    got = np.empty_like(on_mock)

    def keep(z, slices):
        got[z : z + len(slices)] = slices

    fbp.recon(scan, size=20, out=keep)
    np.testing.assert_array_equal(got, on_mock)


@pytest.mark.parametrize("dtype", ["float64", "uint8", "int16", "uint16", "int32"])
def test_other_types(geometry, views, dtype):
    counts = np.round(120 * np.exp(-views / 10)).astype(dtype)
    want, got = (
        fbp.recon(geometry.with_views(v).with_counts(i0=120), size=20, device="mock").array
        for v in (counts, Far(counts))
    )
    np.testing.assert_array_equal(got, want)


def test_doubles(views):
    make = lambda v: fbp.Scan.planes(v, DIRECTIONS, spacing=0.5)  # noqa: E731
    planes = np.ascontiguousarray(views[: len(DIRECTIONS), 12]).astype("float64")
    want = fbp.recon(make(planes), size=16, precision="double", device="ref").array
    assert want.dtype == np.float64
    got = fbp.recon(make(planes), size=16, precision="double", device="ref", out=np.empty_like(want))
    np.testing.assert_array_equal(got.array, want)
    out = Far(np.empty_like(want))
    with pytest.raises(fbp.InvalidError, match="the plan computes on ref"):
        fbp.recon(make(planes), size=16, precision="double", device="ref", out=out)


def test_rows_that_run_down(geometry, views, on_mock):
    turned = Far(np.ascontiguousarray(views[:, ::-1]))
    scan = geometry.with_views(turned, row_order="top-down")
    np.testing.assert_array_equal(fbp.recon(scan, size=20).array, on_mock)


def test_reduced_masked_and_looked_for(geometry, views, on_mock):
    here, there = (geometry.with_views(v) for v in (views, Far(views)))
    for more in ({"every": 2, "bin": 2}, {"mask": -1.0}, {"roi": "3:15,2:9,4:12"}):
        want = fbp.recon(here, size=20, device="mock", **more).array
        out = blank(want)
        fbp.recon(there, size=20, out=out, **more)
        np.testing.assert_array_equal(out.get(), want)
    assert fbp.find_centre(there).column == fbp.find_centre(here, device="mock").column
    fbp.recon(there, size=20, centre="auto")


def test_what_is_done_with_a_volume(geometry, views, on_mock, tmp_path):
    volume = fbp.recon(geometry.with_views(Far(views)), size=20, out=blank(on_mock))
    np.testing.assert_array_equal(np.asarray(volume.array.get()), on_mock)
    np.testing.assert_array_equal(np.asarray(volume), on_mock)
    volume.save(tmp_path / "v.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), on_mock)
    here = fbp.Volume(on_mock, volume.spacing, volume.origin)
    assert fbp.view(volume).png == fbp.view(here).png
    assert fbp.compare(volume.array, tmp_path / "v.npy").max == 0
    wide = Far(on_mock.astype("float64"))
    np.testing.assert_array_equal(np.asarray(fbp.Volume(wide, (1, 1, 1), (0, 0, 0))), on_mock)


# What the program has given to the device, and does with the tensors afterwards.


def test_the_producer_is_awaited(geometry, views, on_mock):
    """Its threads need the interpreter, which must be free meanwhile."""
    given, out = Far(np.zeros_like(views)), blank(on_mock)
    given.later(lambda: given.memory.put(views))  # while the scan is made
    scan = geometry.with_views(given)
    plan = fbp.Plan(scan, size=20)
    np.testing.assert_array_equal(plan.run().array, on_mock)
    given.later(lambda: given.memory.put(2 * views))  # before a later run
    plan.run(out=out)
    np.testing.assert_array_equal(out.get(), 2 * on_mock)
    read = []
    out.later(lambda: read.append(out.get()))
    given.memory.put(views)
    plan.run(out=out)
    np.testing.assert_array_equal(out.get(), on_mock)
    np.testing.assert_array_equal(read[0], 2 * on_mock)  # nothing was written before it was read
    assert 0 not in given.streams and None not in given.streams
    given.later(lambda: given.memory.put(views))
    out.later(lambda: None)
    fbp.Plan(geometry.with_views(views), device="mock", size=20).run(given, out)
    np.testing.assert_array_equal(out.get(), on_mock)


def test_streams_of_interfaces_are_awaited(geometry, views, on_mock):
    busy = ctypes.c_bool(True)
    given = Interface(np.zeros_like(views), stream=ctypes.addressof(busy))

    def work():
        given.memory.put(views)
        busy.value = False

    threading.Timer(0.05, work).start()
    scan = geometry.with_views(given)
    assert not busy.value
    np.testing.assert_array_equal(fbp.recon(scan, size=20).array, on_mock)
    plan = fbp.Plan(scan, size=20)
    busy.value = True
    threading.Timer(0.05, lambda: (given.memory.put(2 * views), setattr(busy, "value", False))).start()
    np.testing.assert_array_equal(plan.run().array, 2 * on_mock)


def test_threads(geometry, views, on_mock):
    found = []

    def work(factor):
        given, out = Far(np.zeros_like(views)), blank(on_mock)
        given.later(lambda: given.memory.put(factor * views))
        plan = fbp.Plan(geometry.with_views(views), device="mock", size=20)
        for _ in range(5):
            plan.run(given, out)
            found.append(np.array_equal(out.get(), factor * on_mock))

    threads = [threading.Thread(target=work, args=(f,)) for f in (1, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 10


def test_lifetime(geometry, views, on_mock):
    gc.collect()
    before = len(far.lent)
    given, out = Far(views), blank(on_mock)
    gone = weakref.ref(given), weakref.ref(out)
    plan = fbp.Plan(geometry.with_views(given), size=20)
    del given
    gc.collect()
    assert gone[0]() is not None  # the plan borrows it
    for _ in range(100):
        plan.run(out=out)
        assert len(far.lent) <= before + 3
    np.testing.assert_array_equal(out.get(), on_mock)
    volume = plan.run(out=out)
    del out
    gc.collect()
    assert gone[1]() is not None
    del plan, volume
    gc.collect()
    assert gone[0]() is None and gone[1]() is None
    assert len(far.lent) == before


def test_a_run_that_ends_early(geometry, views, on_mock):
    given, out = Far(views), blank(on_mock)
    plan = fbp.Plan(geometry.with_views(given), size=20, batch=8, slab=4)

    def no(now):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        plan.run(out=out, progress=no)
    plan.stop()
    with pytest.raises(fbp.CancelledError):
        plan.run(out=out)
    plan.run(out=out)
    np.testing.assert_array_equal(out.get(), on_mock)


# Refused.


def test_other_devices(geometry, views, on_mock):
    scan, here, out = geometry.with_views(Far(views)), geometry.with_views(views), blank(on_mock)
    for device in ("cpu", "ref", "mock:1"):
        for what, run in (
            ("views", lambda d: fbp.Plan(scan, size=20, device=d)),
            ("out", lambda d: fbp.recon(here, size=20, device=d, out=out)),
            ("views", lambda d: fbp.Plan(here, size=20, device=d).run(Far(views))),
        ):
            with pytest.raises(
                fbp.InvalidError,
                match=f'{what}: lies in the memory of mock:0, and the plan computes on {device}; '
                'make the plan with device="mock:0", or copy it',
            ):
                run(device)
    for place in (ROCM, 8, 99):
        with pytest.raises(
            fbp.InvalidError, match=rf"views: .*DLPack's type {place}\), but only CUDA memory is supported; copy it"
        ):
            geometry.with_views(Far(views, device=(place, 0)))
        with pytest.raises(fbp.InvalidError, match=f"out: .*DLPack's type {place}"):
            fbp.recon(geometry.with_views(views), size=20, out=Far(on_mock, device=(place, 0)))


def test_cuda_that_is_not_there(geometry, views):
    """An address of nobody's, on a machine with cards, too."""
    for given in (Far(views, device=(CUDA, 0)), Nowhere(views)):
        with pytest.raises(fbp.Error, match="views: lies in the memory of a GPU.*copy it"):
            geometry.with_views(given)
        with pytest.raises(fbp.Error, match="out: lies in the memory of a GPU.*copy it"):
            fbp.recon(geometry.with_views(views), size=20, out=given)


class Nowhere(Interface):
    def __init__(self, values):
        super().__init__(values)
        self._told["data"] = (8, False)


ODD = [
    (lambda v: Far(v.transpose(0, 2, 1)), "views: an array in device memory .* C order.*tensor.contiguous"),
    (lambda v: Far(v[:, ::2]), "views: an array in device memory .* C order"),
    (lambda v: Interface(v, strides=(960 * 4, 4, 24 * 4)), "views: an array in device memory .* C order"),
    (lambda v: Far(v.astype("float16")), "views: elements of type float16 are not supported; .*astype"),
    (lambda v: Far(v.astype("complex64")), "views: elements of type complex64 .*real"),
    (lambda v: Far(v.astype("int64")), "views: elements of type .*astype"),
    (lambda v: Interface(v.astype(">f4")), "views: elements of type .>f4.*astype"),
    (lambda v: Interface(v.astype("complex64")), "views: elements of type .<c8.*astype"),
    (lambda v: Interface(v, mask=v), "views: has a mask"),
    (lambda v: Far(v[:-1]), "the scan: 48 for 47 views"),
    (lambda v: Far(v[:, :-1].copy()), r"views: found shape \(48, 23, 40\)"),
    (lambda v: Far(v[:0]), "without elements"),
    (lambda v: Far(v[0, 0, 0]), "views: has no dimensions"),
    (lambda v: Far(v, major=2), "views: was exported by version 2 of DLPack"),
    (lambda v: [Far(v[0]), Far(v[1])], "views: the list contains arrays in GPU memory.*stack"),
]


@pytest.mark.parametrize("make, sentence", ODD)
def test_views_refused(geometry, views, make, sentence):
    with pytest.raises(fbp.InvalidError, match=sentence):
        geometry.with_views(make(views.copy()))


OUTS = [
    (lambda v: Far(v[:-1]), r"out: has shape \(19, 20, 20\), the volume \(20, 20, 20\)"),
    (lambda v: Far(v.astype("float64")), "out: is float64, the volume float32"),
    (lambda v: Far(v, flags=1), "out: is read-only"),
    (lambda v: Interface(v, read_only=True), "out: is read-only"),
    (lambda v: Far(v.transpose()), "out: an array in device memory .* C order"),
]


@pytest.mark.parametrize("make, sentence", OUTS)
def test_outs_refused(geometry, views, on_mock, make, sentence):
    with pytest.raises(fbp.InvalidError, match=sentence):
        fbp.recon(geometry.with_views(Far(views)), size=20, out=make(on_mock))


def test_views_of_functions_are_the_hosts(geometry, views):
    scan = geometry.with_views(lambda k: Far(views[k]))
    with pytest.raises(fbp.InvalidError, match=r"view \d+: lies in GPU memory, but must be in host memory here"):
        fbp.recon(scan, size=20)


class Stubborn(Far):
    error: BaseException = BufferError("call detach() first")

    def __dlpack__(self, **more):
        raise self.error


def test_what_the_maker_says(geometry, views):
    with pytest.raises(fbp.InvalidError, match=r"views: cannot be accessed through DLPack: call detach\(\) first"):
        geometry.with_views(Stubborn(views))
    given = Stubborn(views)
    given.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        geometry.with_views(given)


def test_samples_that_have_moved(geometry, views):
    for given in (Far(views), Interface(views)):
        plan = fbp.Plan(geometry.with_views(given), size=20)
        other = far.Memory(views)
        if isinstance(given, Far):
            given.memory, other = other, given.memory
        else:
            given._told["data"] = (other.address, False)
        with pytest.raises(fbp.InvalidError, match="views: the array's memory has moved"):
            plan.run()
