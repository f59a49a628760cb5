"""CUDA tensors of CuPy and Torch as views and volumes.  Skipped without a card or without both."""

import contextlib
import threading
import time

import numpy as np
import pytest

import libfbp as fbp
from conftest import CONE

if not any(d.usable and d.name.startswith("cuda") for d in fbp.devices()):
    pytest.skip("there is no card", allow_module_level=True)

SIZE = {"size": (64, 61, 40), "voxel": 0.6}


class OfCupy:
    """What the tests want of CuPy."""

    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        if self.cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("CuPy has no card")
        self.get = self.cupy.asnumpy

    def put(self, values):
        out = self.cupy.asarray(values)
        self.cupy.cuda.get_current_stream().synchronize()
        return out

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def wait_a_little(self):
        """In the current stream."""
        self.cupy.cuda.get_current_stream().launch_host_func(lambda _: time.sleep(0.05), None)

    def free(self):
        return self.cupy.cuda.Device().mem_info[0]


class OfTorch:
    """The same of Torch."""

    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("Torch has no card")

    def get(self, tensor):
        return tensor.cpu().numpy()

    def put(self, values):
        out = self.torch.from_numpy(np.array(values)).cuda()
        self.torch.cuda.synchronize()
        return out

    def stream(self):
        return self.torch.cuda.stream(self.torch.cuda.Stream())

    def wait_a_little(self):
        self.torch.cuda._sleep(10**8)

    def free(self):
        return self.torch.cuda.mem_get_info()[0]


@pytest.fixture(params=[OfCupy, OfTorch])
def lib(request):
    return request.param()


@pytest.fixture(scope="module")
def geometry():
    return fbp.Scan.cone(None, fbp.angles(90), shape=(64, 72), **CONE)


@pytest.fixture(scope="module")
def views(geometry):
    return fbp.simulate(geometry, "ellipsoids", noise=1e4).views


def nothing(lib, plan):
    return lib.put(np.full(plan.shape, np.nan, np.float32))


@pytest.mark.parametrize("precision", ["exact", "fast", "half"])
def test_bits_are_those_of_host_arrays(lib, geometry, views, precision):
    want = fbp.recon(geometry.with_views(views), device="cuda", precision=precision, **SIZE).array
    plan = fbp.Plan(geometry.with_views(lib.put(views)), precision=precision, **SIZE)
    assert plan.summary.backend == "cuda"
    out = nothing(lib, plan)
    volume = plan.run(out=out)
    assert volume.array is out
    np.testing.assert_array_equal(lib.get(out), want)
    np.testing.assert_array_equal(plan.run().array, want)
    np.testing.assert_array_equal(np.asarray(volume), want)


def test_counts(lib, geometry, views):
    counts = np.round(60000 * np.exp(-views / views.max())).astype("uint16")
    want, got = (
        fbp.recon(geometry.with_views(v).with_counts(i0=60000), device="cuda", **SIZE).array
        for v in (counts, lib.put(counts))
    )
    np.testing.assert_array_equal(got, want)


def test_the_current_stream_is_awaited(lib, geometry, views):
    plan = fbp.Plan(geometry.with_views(views), device="cuda", **SIZE)
    want = plan.run().array
    given, right = lib.put(np.zeros_like(views)), lib.put(views)
    for _ in range(5):
        out = nothing(lib, plan)
        given[...] = 0
        with lib.stream():
            lib.wait_a_little()
            given[...] = right
            plan.run(given, out)
        np.testing.assert_array_equal(lib.get(out), want)  # by another stream


def test_two_threads_with_streams_of_their_own(lib, geometry, views):
    found = []

    def work(factor):
        with lib.stream():
            given = lib.put(np.float32(factor) * views)
            plan = fbp.Plan(geometry.with_views(given), **SIZE)
            want = fbp.recon(
                geometry.with_views(np.float32(factor) * views), device="cuda", **SIZE
            ).array
            out = nothing(lib, plan)
            for _ in range(20):
                out[...] = 0
                plan.run(out=out)
                found.append(np.array_equal(lib.get(out), want))

    threads = [threading.Thread(target=work, args=(f,)) for f in (1, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 40


def test_calls_do_not_grow(lib, geometry, views):
    given = lib.put(views)
    plan = fbp.Plan(geometry.with_views(given), **SIZE)
    out = nothing(lib, plan)
    plan.run(given, out)
    before = lib.free()
    for _ in range(300):
        plan.run(given, out)
    assert lib.free() >= before


def test_refused(lib, geometry, views):
    given = lib.put(views)
    scan = geometry.with_views(given)
    with pytest.raises(fbp.InvalidError, match="lies in the memory of cuda:0.* computes on cpu"):
        fbp.Plan(scan, device="cpu", **SIZE)
    with pytest.raises(fbp.InvalidError, match="out: has shape"):
        fbp.recon(scan, out=given, **SIZE)
    with pytest.raises(fbp.InvalidError, match="views: an array in device memory .* C order"):
        geometry.with_views(lib.put(np.ascontiguousarray(views.transpose(0, 2, 1))).swapaxes(1, 2))
    with pytest.raises(fbp.InvalidError, match="views: elements of type"):
        geometry.with_views(lib.put(views.astype("float16")))


def test_torch_that_follows_gradients(geometry, views):
    tensor = OfTorch().put(views).requires_grad_()
    with pytest.raises(fbp.InvalidError, match="views: cannot be accessed through DLPack: .*detach"):
        geometry.with_views(tensor)
    geometry.with_views(tensor.detach())


class Interface:
    """An array of CuPy's without DLPack."""

    def __init__(self, values):
        self.values = values

    @property
    def __cuda_array_interface__(self):
        return self.values.__cuda_array_interface__


def test_cuda_array_interface(geometry, views):
    lib = OfCupy()
    given, right = lib.put(np.zeros_like(views)), lib.put(views)
    plan = fbp.Plan(geometry.with_views(Interface(given)), **SIZE)
    want = fbp.recon(geometry.with_views(views), device="cuda", **SIZE).array
    out = nothing(lib, plan)
    with lib.stream():
        lib.wait_a_little()
        given[...] = right
        plan.run(out=Interface(out))
    np.testing.assert_array_equal(lib.get(out), want)


def test_managed_memory(geometry, views):
    lib = OfCupy()
    with lib.cupy.cuda.using_allocator(lib.cupy.cuda.MemoryPool(lib.cupy.cuda.malloc_managed).malloc):
        given = lib.put(views)
        plan = fbp.Plan(geometry.with_views(given), **SIZE)
        out = nothing(lib, plan)
    plan.run(out=out)
    want = fbp.recon(geometry.with_views(views), device="cuda", **SIZE).array
    np.testing.assert_array_equal(lib.get(out), want)


def test_the_current_device_stays(geometry, views):
    cupy = OfCupy().cupy
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one card")
    with cupy.cuda.Device(1):
        given = cupy.asarray(views)
    plan = fbp.Plan(geometry.with_views(given), **SIZE)
    got = plan.run().array
    np.testing.assert_array_equal(
        got, fbp.recon(geometry.with_views(views), device="cuda:1", **SIZE).array
    )
    with contextlib.suppress(fbp.InvalidError):
        plan.run(cupy.asarray(views))
        raise AssertionError("views on another card")
    del plan
    assert cupy.cuda.runtime.getDevice() == 0
