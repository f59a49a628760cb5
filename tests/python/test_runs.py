"""How runs behave: Ctrl-C, threads, functions of the user's, memory that does not grow."""

import gc
import os
import queue
import signal
import threading
import sys
import time
import types

import numpy as np
import pytest

import libfbp as fbp

# A second of work on any machine: the reference computes in double, in one thread.
LONG = {"device": "ref", "size": 160}


def interrupt_after(seconds):
    """Ctrl-C, and when it was pressed."""
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, press)
    timer.start()
    return pressed


def expect_interrupt(call, seconds=0.15):
    pressed = interrupt_after(seconds)
    with pytest.raises(KeyboardInterrupt):
        call()
    late = time.perf_counter() - pressed[0]
    print(f"Ctrl-C took {1e3 * late:.0f} ms")  # not judged: a busy machine is no error


def test_interrupt_a_run(scan, want, tmp_path):
    plan = fbp.Plan(scan, **LONG)
    before = set(os.listdir(tmp_path))
    expect_interrupt(plan.run)
    expect_interrupt(lambda: plan.run(out=tmp_path / "v.mha"))
    assert set(os.listdir(tmp_path)) == before  # nothing half-written
    usable = fbp.Plan(scan, size=20, device="ref")
    for _ in range(3):
        expect_interrupt(plan.run, 0.05)
    small = usable.run()
    np.testing.assert_array_equal(small.array, usable.run().array)


def test_a_plan_is_usable_after_an_interrupt(scan):
    plan = fbp.Plan(scan, size=48, device="ref")
    want = plan.run().array
    for seconds in (0.01, 0.05, 0.1, 0.2):
        timer = interrupt_after(seconds)
        try:
            while not timer:
                plan.run()
            time.sleep(0.05)
        except KeyboardInterrupt:
            pass
        np.testing.assert_array_equal(plan.run().array, want)


def test_interrupt_without_a_plan(geometry):
    fine = fbp.Scan.cone(
        None, fbp.angles(200), sod=100, sdd=160, pixel=0.1, shape=(600, 800)
    )
    expect_interrupt(lambda: fbp.simulate(fine, "shepp-logan", threads=1))
    n = 700
    room = fbp.Volume(np.empty((n, n, n), np.float32), (0.05,) * 3, (0.0,) * 3)
    expect_interrupt(lambda: fbp.truth(room, geometry, "ellipsoids"))


def test_interrupt_a_function(scan, views):
    def slow(k):
        time.sleep(60)
        return views[k]

    expect_interrupt(lambda: fbp.recon(scan.with_views(slow), size=20))
    endless = queue.Queue()
    expect_interrupt(lambda: fbp.recon(scan.with_views(iter(endless.get, None)), size=20))

    def sink(z, slices):
        time.sleep(60)

    expect_interrupt(lambda: fbp.recon(scan, size=20, out=sink))


def test_stop_after_a_run_that_failed(geometry, views):
    """It is meant for the next run, whatever the one before has left."""
    broken = [True]

    def view(k):
        if broken[0] and k == 20:
            raise ZeroDivisionError
        return views[k]

    plan = fbp.Plan(geometry.with_views(view), size=16)
    for _ in range(3):
        broken[0] = True
        with pytest.raises(ZeroDivisionError):
            plan.run()
        broken[0] = False
        plan.stop()
        with pytest.raises(fbp.CancelledError):
            plan.run()
        plan.run()
        broken[0] = True
        with pytest.raises(ZeroDivisionError):
            plan.run()
        broken[0] = False
        plan.run()


def test_stop(scan):
    plan = fbp.Plan(scan, **LONG)
    threading.Timer(0.1, plan.stop).start()
    with pytest.raises(fbp.CancelledError):
        plan.run()
    with pytest.raises(RuntimeError):  # the next run, if none is there
        plan.stop()
        plan.run()


def test_two_plans_in_two_threads(scan, want):
    found, errors = {}, []

    def work(i):
        try:
            plan = fbp.Plan(scan, size=20, threads=1)
            for _ in range(5):
                found[i] = plan.run().array
        except BaseException as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    for i in range(3):
        np.testing.assert_array_equal(found[i], want)


def test_other_threads_run_meanwhile(scan):
    """The interpreter is free while the library computes."""
    steps, plan = [], fbp.Plan(scan, **LONG)

    def count():
        while not done.is_set():
            steps.append(time.perf_counter())
            time.sleep(0.001)

    done = threading.Event()
    other = threading.Thread(target=count)
    other.start()
    threading.Timer(0.5, plan.stop).start()
    with pytest.raises(fbp.CancelledError):
        plan.run()
    done.set()
    other.join()
    assert len(steps) > 20


def test_one_plan_in_two_threads(scan):
    plan = fbp.Plan(scan, **LONG)
    said = []

    def also():
        try:
            plan.run()
        except RuntimeError as e:
            said.append(str(e))
        finally:
            plan.stop()

    threading.Timer(0.1, also).start()
    with pytest.raises(fbp.CancelledError):
        plan.run()
    assert said and "already running" in said[0]


def test_functions_run_in_the_thread_that_called(scan, views, want):
    threads = set()

    def give(k):
        threads.add(threading.get_ident())
        return views[k]

    got = np.zeros_like(want)
    seen = []

    def take(z, slices):
        threads.add(threading.get_ident())
        assert slices.shape[1:] == want.shape[1:] and slices.dtype == np.float32
        got[z : z + len(slices)] = slices
        seen.extend(range(z, z + len(slices)))

    tells = []
    volume = fbp.recon(
        scan.with_views(give), size=20, out=take,
        progress=lambda p: (tells.append(p), threads.add(threading.get_ident())),
    )  # fmt: skip
    assert volume.array is None
    np.testing.assert_array_equal(got, want)
    assert sorted(seen) == list(range(20))  # each once
    assert threads == {threading.get_ident()}
    assert tells and tells[-1].fraction <= 1


def test_slices_can_be_kept(scan, want):
    kept = {}
    fbp.recon(scan, size=20, out=lambda z, slices: kept.__setitem__(z, slices))
    gc.collect()
    np.testing.assert_array_equal(np.concatenate([kept[z] for z in sorted(kept)]), want)


class Mine(Exception):
    pass


def raise_mine(*_):
    raise Mine("the detector is on fire")


def test_exceptions_of_functions(scan, views):
    def generator():
        yield views[0]
        raise_mine()

    for call in (
        lambda: fbp.recon(scan.with_views(raise_mine), size=20),
        lambda: fbp.recon(scan.with_views(generator()), size=20),
        lambda: fbp.recon(scan, size=20, out=raise_mine),
        lambda: fbp.recon(scan, progress=raise_mine, **LONG),
    ):
        with pytest.raises(Mine, match="on fire"):
            call()


def test_live_views(scan, views):
    """Views are taken while the generator waits for the next one: the run follows them."""
    waits = []

    def measure():
        for k in range(len(views)):
            time.sleep(0.002)
            yield views[k]

    live = fbp.Plan(scan.with_views(measure()), size=20)
    assert live.summary.follows
    got = live.run(progress=lambda p: waits.append(p.waiting_for))
    np.testing.assert_array_equal(got.array, fbp.recon(scan, size=20, kernel="column").array)
    np.testing.assert_array_equal(live.run().array, got.array)  # they are kept


def test_awaited_views(scan, views):
    """What does not follow waits until a generator has given all views."""
    plan = fbp.Plan(scan, size=20)
    want = plan.run().array
    np.testing.assert_array_equal(plan.run((v for v in views)).array, want)
    rings = fbp.recon(scan.with_views(v for v in views), size=20, rings="sorting:5")
    np.testing.assert_array_equal(rings.array, fbp.recon(scan, size=20, rings="sorting:5").array)


@pytest.mark.parametrize("how", ["rings", "phases"])
def test_stop_while_views_are_awaited(scan, views, how):
    """... of a generator, by what wants all of them first: Ctrl-C, and Plan.stop() at the next view."""
    more = {"rings": "sorting:5"} if how == "rings" else {"paganin": (100, 20)}
    given = []

    def measure(seconds):
        for k in range(len(views)):
            given.append(k)
            time.sleep(seconds if k == 3 else 0.1 if k > 3 else 0)
            yield views[k]

    def stop(plan):
        while len(given) < 5:
            time.sleep(0.01)
        plan.stop()

    expect_interrupt(lambda: fbp.recon(scan.with_views(measure(60)), size=20, **more))
    assert len(given) == 4
    given.clear()
    plan = fbp.Plan(scan.with_views(measure(0)), size=20, **more)
    threading.Thread(target=stop, args=(plan,)).start()
    with pytest.raises(fbp.CancelledError):
        plan.run()
    assert len(given) < len(views)


class Tqdm:
    """A bar as tqdm's, which notes what it is told."""

    made = []

    def __init__(self, **keywords):
        self.n, self.total, self.closed = 0, keywords["total"], False
        self.made.append(self)

    def set_postfix_str(self, text, refresh):
        assert text == "" and not refresh

    def update(self, n):
        self.n += n

    def close(self):
        self.closed = True


def test_progress_by_tqdm(scan, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Tqdm))
    plan = fbp.Plan(scan, size=64, progress=True)
    for _ in range(2):
        plan.run()
    assert len(Tqdm.made) == 2 and capsys.readouterr().err == ""
    assert all(bar.closed and bar.n == bar.total == plan.summary.updates for bar in Tqdm.made)


def test_progress_by_real_tqdm(scan, capsys):
    pytest.importorskip("tqdm")
    fbp.recon(scan, size=64, progress=True)
    assert "updates/s" in capsys.readouterr().err


def test_progress_bar(scan, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    fbp.recon(scan, size=64, progress=True)
    shown = capsys.readouterr().err
    assert "%" in shown and shown.endswith("\r")
    with pytest.raises(TypeError, match="progress"):
        fbp.recon(scan, progress=3)


def test_memory_limit(scan):
    with pytest.raises(fbp.OutOfMemoryError, match="memory|limit"):
        fbp.recon(scan, memory="1M")
    assert issubclass(fbp.OutOfMemoryError, MemoryError)


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grows(call, times, warm=60):
    """Bytes that the process grows by."""
    for _ in range(warm):
        call()
    gc.collect()
    before = resident()
    for _ in range(times):
        call()
    gc.collect()
    return resident() - before


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the sanitizer keeps what is freed")
def test_nothing_leaks(geometry, views):
    """A thousand calls of each sort: what one of them would lose is more than these limits."""
    small = views[:, ::4, ::4]
    coarse = fbp.Scan.cone(
        small, fbp.angles(len(views)), sod=100, sdd=160, pixel=4.0
    )
    plan = fbp.Plan(coarse, size=8)
    out = np.empty(plan.shape, plan.dtype)

    def refused():
        with pytest.raises(fbp.InvalidError):
            fbp.recon(coarse, filter="no")

    def failing():
        with pytest.raises(Mine):
            plan.run(lambda k: raise_mine(), out)

    for name, call, times in (
        ("run", lambda: plan.run(None, out), 1000),
        ("views", lambda: plan.run(small, out), 1000),
        ("function", lambda: plan.run(lambda k: small[k], out), 300),
        ("sink", lambda: plan.run(None, lambda z, s: None), 300),
        ("recon", lambda: fbp.recon(coarse, size=8), 300),
        ("refused", refused, 1000),
        ("failing", failing, 300),
        ("scan", lambda: coarse.adjusted(centre=4).matrices, 1000),
        ("simulate", lambda: fbp.simulate(coarse, "ball"), 300),
    ):
        more = grows(call, times)
        print(f"{name}: {more / times:.0f} bytes a call")
        assert more < 4 << 20, name
