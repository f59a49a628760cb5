"""What people try who have not read the manual: it works, or a sentence says what to do instead."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import libfbp as fbp
from conftest import CONE, VIEWS

ANGLES = fbp.angles(VIEWS)


def cone(views, angles=ANGLES, **more):
    return fbp.Scan.cone(views, angles, **CONE, **more)


class Table:
    """Such as pandas' and xarray's: names around an array, which it gives when it is asked."""

    def __init__(self, values, **more):
        self.values = values
        self.__dict__.update(more)

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, k):
        return Table(self.values[k])


def test_what_gives_an_array_when_asked(views, want):
    labelled = Table(views, shape=views.shape, dtype=views.dtype)
    for given in (Table(views), labelled):
        np.testing.assert_array_equal(fbp.recon(cone(given), size=20).array, want)


REFUSED = [
    (lambda v: np.ma.masked_less(v, 0.1), r"masked array.*views.filled\(float\(\"nan\"\)\)"),
    (lambda v: {"views": v}, "found dict, expected an array"),
    (lambda v: {1, 2}, "found set, expected an array"),
    (lambda v: 3.0, "found float, expected an array"),
    (lambda v: v.tolist(), "the list contains list, expected one array for each view"),
    (lambda v: v[0], r"angles: 48 for 24 views of shape \(24, 1, 40\)"),
    (lambda v: np.full_like(v, np.nan), "no sample of the 48 views is a number"),
    (lambda v: "", "views: is empty"),
]


@pytest.mark.parametrize("make, sentence", REFUSED)
def test_odd_views(views, make, sentence):
    with pytest.raises(fbp.InvalidError, match=sentence):
        fbp.recon(cone(make(views)), size=16)


def test_masked_elsewhere(scan):
    masked = np.ma.zeros((20, 20, 20), "float32")
    with pytest.raises(fbp.InvalidError, match="out: is a masked array"):
        fbp.recon(scan, size=20, out=masked)
    with pytest.raises(fbp.InvalidError, match="flat: is a masked array"):
        scan.with_counts(flat=masked[0])


def test_views_instead_of_a_scan(views):
    with pytest.raises(TypeError, match="found ndarray.*Scan.cone"):
        fbp.recon(views)
    with pytest.raises(fbp.InvalidError, match="path: is empty"):
        fbp.load("")


def test_radians(views):
    for arc in (360, 180):
        for n in (VIEWS, VIEWS + 1):  # with and without the last angle
            turn = np.deg2rad(np.arange(VIEWS) * arc / (n - 1))
            with pytest.warns(fbp.ScanWarning, match=r"numpy.degrees\(angles\)") as told:
                cone(views, turn)
            assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cone(views, np.linspace(0, 6, VIEWS))  # a narrow scan
        cone(views)


def test_out_in_the_memory_of_the_views(geometry, views):
    room = np.zeros(VIEWS * 24 * 40 + 8000, "float32")
    mine = room[: views.size].reshape(views.shape)
    mine[...] = views
    scan = geometry.with_views(mine)
    for first in (0, views.size - 1):
        out = room[first : first + 8000].reshape(20, 20, 20)
        with pytest.raises(fbp.InvalidError, match="out: shares memory with the views"):
            fbp.recon(scan, size=20, out=out)
        with pytest.raises(fbp.InvalidError, match="out: shares memory with the views"):
            fbp.Plan(geometry.with_views(views), size=20).run(mine[:, ::-1], out[::-1])
    np.testing.assert_array_equal(mine, views)
    behind = room[views.size :].reshape(20, 20, 20)
    np.testing.assert_array_equal(
        fbp.recon(scan, size=20, out=behind).array, fbp.recon(geometry.with_views(views), size=20).array
    )


def test_iterators(views):
    scan = cone(iter(views), shape=views.shape[1:])
    fbp.recon(scan, size=16)
    with pytest.raises(fbp.InvalidError, match="an earlier run has used it up"):
        fbp.recon(scan, size=16)
    with pytest.raises(fbp.InvalidError, match=r"view 0: has shape \(5, 40\), expected \(24, 40\)"):
        fbp.recon(cone((v[:5] for v in views), shape=views.shape[1:]), size=16)


def test_copies(scan, want):
    np.testing.assert_array_equal(fbp.recon(copy.copy(scan), size=20).array, want)
    volume = fbp.recon(scan, size=20)
    for other in (copy.deepcopy(volume), pickle.loads(pickle.dumps(volume))):
        np.testing.assert_array_equal(other.array, want)
        assert other.spacing == volume.spacing and other.report == volume.report
    assert pickle.loads(pickle.dumps(scan.facts)) == scan.facts
    for what in (scan, fbp.Plan(scan, size=20)):
        for how in (copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="libfbp.*make one"):
                how(what)


def test_forks(scan, want):
    """A child reconstructs; a plan that its parent has opened says that it cannot."""
    plan = fbp.Plan(scan, size=20)
    plan.run()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            same = np.array_equal(fbp.recon(scan, size=20).array, want)
            try:
                plan.run()
            except fbp.InvalidError as e:
                code = 0 if same and "forked" in str(e) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_array_equal(plan.run().array, want)


def end_of(program, *arguments):
    """Exit status and output of a Python program that uses the package."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )
    return done.returncode, done.stdout, done.stderr


SCAN = """
import sys, threading, time
import libfbp as fbp
geometry = fbp.Scan.cone(None, fbp.angles(48), shape=(24, 40), sod=100, sdd=160, pixel=1)
scan = fbp.simulate(geometry, "ball")
"""

DAEMON = SCAN + """
started = threading.Event()
long = {"device": "ref", "size": 160, "progress": lambda p: started.set()}

def view(k):
    started.set()
    return scan.views[k]

def sleep(k):
    started.set()
    time.sleep(100)

def simulate():
    started.set()
    fbp.simulate(geometry, "ball")

calls = {
    "array": lambda: fbp.recon(scan, **long),
    "file": lambda: fbp.recon(scan, sys.argv[2], **long),
    "out": lambda: fbp.recon(scan, out=lambda z, slices: None, **long),
    "function": lambda: fbp.recon(geometry.with_views(view), **long),
    "iterator": lambda: fbp.recon(geometry.with_views(view(k) for k in range(48)), **long),
    "sleep": lambda: fbp.recon(geometry.with_views(sleep), **long),
    "simulate": simulate,
}

def work():
    while True:
        try:
            calls[sys.argv[1]]()
        except BaseException as error:
            print(error)

threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.1)
print("end")
"""


@pytest.mark.parametrize(
    "call", ["array", "file", "out", "function", "iterator", "sleep", "simulate"]
)
def test_exit_with_a_daemon_thread_in_a_call(tmp_path, call):
    """The call is stopped; a Python function that does not return ("sleep") is not awaited."""
    assert end_of(DAEMON, call, str(tmp_path / "v.mha")) == (0, "end\n", "")
    assert os.listdir(tmp_path) == []


SUBINTERPRETER = SCAN + """
try:
    import _interpreters as interpreters
    other = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    other = interpreters.create(isolated=False)
interpreters.run_string(other, f'''
import sys
sys.path[:] = {sys.path}
try:
    import libfbp
except ImportError as error:
    print(error)
''')
interpreters.destroy(other)
assert fbp.recon(scan, size=8).array.max() > 0
"""


def test_subinterpreters_are_refused():
    """In those with a GIL in common, as of mod_wsgi, which Python itself does not check."""
    status, output, errors = end_of(SUBINTERPRETER)
    assert (status, errors) == (0, "")
    assert output.startswith("libfbp: imported in a subinterpreter, which is not supported")


def test_no_leak_is_reported_at_exit():
    """A cycle that exists until the program ends."""
    program = SCAN + "cycle = geometry.with_views(lambda k: cycle)\nplan = fbp.Plan(cycle, size=8)\n"
    assert end_of(program) == (0, "", "")


def test_a_signal_while_views_are_awaited(views):
    """Ctrl-C while a function of the user's sleeps."""
    def slow(k):
        time.sleep(0.2 if k < 3 else 0)
        return views[k]

    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        fbp.recon(cone(slow, shape=views.shape[1:]), size=16)
        time.sleep(5)


def test_everything_has_a_name(scan):
    volume = fbp.recon(scan, size=16)
    for what in (scan, volume, fbp.Plan(scan, size=16), fbp.view(volume), scan.facts, volume.report):
        assert "object at 0x" not in repr(what) and len(repr(what)) > 10
    for name in fbp.__all__:
        thing = getattr(fbp, name)
        assert name == "__version__" or thing.__doc__, name
