"""Arrays in the memory of the pretended device "mock": what CuPy and Torch hand out of a card, by
addresses that end the program if the host uses them.  Its streams are flags: not 0 is busy."""

from __future__ import annotations

import ctypes
import threading
import time

import numpy as np

import libfbp as fbp  # which has the library loaded

EXTENSION, CUDA, ROCM = 12, 2, 10  # DLPack's types of devices; the first one is for tests
CODES = {"i": 0, "u": 1, "f": 2, "c": 5}
DEVICE = b"mock:0"
assert fbp

with open("/proc/self/maps") as _maps:
    _path = next(line.split(maxsplit=5)[5].strip() for line in _maps if "/libfbp.so" in line)
_library = ctypes.CDLL(_path)


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("number", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    ]  # fmt: skip


_drop = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("drop", _drop)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("drop", _drop), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    ]  # fmt: skip


_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _drop]
_api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
NAMES = (b"dltensor", b"dltensor_versioned")
lent: dict[int, tuple[object, ...]] = {}  # what capsules hold, by its address, until it is dropped


@_drop
def _dropped(managed: int) -> None:
    del lent[managed]


@_drop
def _unused(capsule: int) -> None:
    """A capsule goes that nobody took the tensor from."""
    for name in NAMES:
        if _api.PyCapsule_IsValid(capsule, name):
            _dropped(_api.PyCapsule_GetPointer(capsule, name))


class Memory:
    """Bytes on the device."""

    def __init__(self, values: np.ndarray) -> None:
        address = ctypes.c_void_p()
        assert _library.fbp_test_memory_alloc(
            DEVICE, ctypes.c_size_t(values.nbytes + 64), ctypes.byref(address)
        ) == 0  # fmt: skip
        self.address: int = address.value
        self.put(values)

    def __del__(self) -> None:
        _library.fbp_test_memory_release(DEVICE, ctypes.c_void_p(self.address))

    def put(self, values: np.ndarray) -> None:
        dense = np.ascontiguousarray(values)
        self._copy(self.address, dense.ctypes.data, dense.nbytes)

    def get(self, like: np.ndarray) -> np.ndarray:
        out = np.empty_like(like, order="C")
        self._copy(out.ctypes.data, self.address, out.nbytes)
        return out

    def _copy(self, to: int, source: int, n: int) -> None:
        assert _library.fbp_test_memory_copy(
            DEVICE, ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(n)
        ) == 0  # fmt: skip


class Far:
    """An array there, which DLPack lends."""

    def __init__(self, values, *, device=(EXTENSION, 0), old=False, flags=0, major=1) -> None:
        self._like = np.asarray(values)
        self.memory = Memory(self._like)
        self._device, self._old, self._flags, self._major = device, old, flags, major
        self.streams: list[int] = []
        self._then = None

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, *, stream=None, **more):
        if self._old and more:
            raise TypeError("unexpected keyword argument")
        self.streams.append(stream)
        self._work(stream)
        a = self._like
        ints = ctypes.c_int64 * max(a.ndim, 1)
        shape, strides = ints(*a.shape), ints(*(s // a.itemsize for s in a.strides))
        tensor = _Tensor(
            self.memory.address, *self._device, a.ndim, CODES.get(a.dtype.kind, 4),
            8 * a.itemsize, 1, shape, strides, 0,
        )  # fmt: skip
        if self._old:
            made, name = _Managed(tensor, None, _dropped), NAMES[0]
        else:
            made = _Versioned(self._major, 0, None, _dropped, self._flags, tensor)
            name = NAMES[1]
        lent[ctypes.addressof(made)] = (made, shape, strides, self)
        return _api.PyCapsule_New(ctypes.addressof(made), name, _unused)

    def later(self, work) -> None:
        """Do this in the next stream that is told, which is busy until it is done."""
        self._then = work

    def _work(self, stream: int) -> None:
        work, self._then = self._then, None
        if work is None:
            return
        busy = ctypes.c_bool.from_address(stream)
        busy.value = True

        def run() -> None:
            time.sleep(0.05)
            work()
            busy.value = False

        threading.Thread(target=run).start()

    def get(self) -> np.ndarray:
        return self.memory.get(self._like)


class Interface:
    """An array there of a library without DLPack, such as Numba."""

    def __init__(self, values, *, read_only=False, stream=None, **more) -> None:
        self._like, self.asked = np.asarray(values), 0
        self.memory = Memory(self._like)
        self._told = {"data": (self.memory.address, read_only), "stream": stream, **more}

    @property
    def __cuda_array_interface__(self):
        self.asked += 1
        a = self._like
        return {"shape": a.shape, "typestr": a.dtype.str, "version": 3, **self._told}

    def get(self) -> np.ndarray:
        return self.memory.get(self._like)
