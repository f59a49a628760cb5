"""bench_cuda.py: what calls with arrays of CuPy cost on a card, and whether they grow.  Run by
scripts/cuda-check.  FBP_BENCH_SIZE=32 tries it out with a small job."""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time

import numpy as np

import libfbp as fbp

try:
    import cupy
except ImportError:
    print("skipped: there is no CuPy")
    sys.exit(77)

SIZE = int(os.environ.get("FBP_BENCH_SIZE", "512"))
SMALL, CALLS = (128, 1000) if SIZE == 512 else (16, 60)
HOW = ({"precision": "half"}, {"precision": "fast"}, {"precision": "fast", "kernel": "matrix"},
       {"precision": "exact"})  # fmt: skip
wrong: list[str] = []


def check(good: bool, what: str) -> None:
    print("right:" if good else "WRONG:", what, flush=True)
    if not good:
        wrong.append(what)


def resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def free_on_card() -> int:
    return cupy.cuda.runtime.memGetInfo()[0]


def job(size: int, n_views: int) -> tuple[fbp.Scan, dict]:
    """J1 of ``fbp bench``, or one with larger pixels and voxels."""
    geometry = fbp.Scan.cone(
        None, fbp.angles(n_views), sod=750, sdd=1200, pixel=0.8 * 512 / size, shape=(size, size)
    )
    return geometry, {"size": size, "voxel": 0.5 * 512 / size}


def timed(plan: fbp.Plan, n: int, views: object, out: object) -> str:
    """Calls after three that warm up; what the library says of the middle one."""
    for _ in range(3):
        plan.run(views, out)
    calls = []
    for _ in range(n):
        at = time.perf_counter()
        report = plan.run(views, out).report
        calls.append((time.perf_counter() - at, report))
    seconds = [s for s, _ in calls]
    r = sorted(calls, key=lambda c: c[0])[n // 2][1]
    stages = ", ".join(
        f"{name} {1e3 * getattr(r, name):.2f}"
        for name in ("total", "open", "read", "filter", "backproject", "write")
    )
    return (
        f"median {1e3 * statistics.median(seconds):.2f} ms of {n} calls "
        f"({1e3 * min(seconds):.2f} to {1e3 * max(seconds):.2f}); in the library: {stages}"
    )


def whole_job() -> None:
    geometry, volume = job(SIZE, 360)
    views = fbp.simulate(geometry, "shepp-logan").views
    given, out = cupy.asarray(views), cupy.empty((SIZE,) * 3, cupy.float32)
    host = np.empty((SIZE,) * 3, np.float32)
    for how in HOW:
        plan = fbp.Plan(geometry.with_views(given), **how, **volume)
        plan.open()
        name = f"J1 {' '.join(how.values())} ({plan.summary.kernel})"
        out.fill(cupy.nan)
        print(f"{name}, CuPy: {timed(plan, 20, given, out)}", flush=True)
        print(f"{name}, the scan's: {timed(plan, 20, None, out)}", flush=True)
        print(f"{name}, NumPy: {timed(plan, 3, views, host)}", flush=True)
        check(np.array_equal(cupy.asnumpy(out), host), f"{name}: the bits of NumPy arrays")


def many_calls(geometry: fbp.Scan, views: np.ndarray, volume: dict) -> None:
    given, out = cupy.asarray(views), cupy.empty((SMALL,) * 3, cupy.float32)
    plan = fbp.Plan(geometry.with_views(given), **volume)
    for _ in range(50):
        plan.run(given, out)
    before = resident(), free_on_card()
    at = time.perf_counter()
    for _ in range(CALLS):
        plan.run(given, out)
    seconds = time.perf_counter() - at
    grown, taken = resident() - before[0], before[1] - free_on_card()
    print(f"{CALLS} calls of {SMALL}^3: {seconds:.2f} s, the process + {grown >> 10} KiB, the card "
          f"+ {taken >> 10} KiB")  # fmt: skip
    check(grown < CALLS << 12, "the process grows by less than 4 KiB a call")
    check(taken <= 0, "nothing is left on the card")
    before = resident(), free_on_card()
    for _ in range(20):
        fbp.recon(geometry.with_views(given), out=out, **volume)
    check(free_on_card() >= before[1], "20 scans and plans leave nothing on the card")


def two_threads(geometry: fbp.Scan, views: np.ndarray, volume: dict) -> None:
    """Views come late in a stream of each thread's, which goes on behind the run."""
    found = []

    def work(factor: float) -> None:
        with cupy.cuda.Stream(non_blocking=True) as stream:
            source = cupy.asarray(np.float32(factor) * views)
            given, out = cupy.zeros_like(source), cupy.empty((SMALL,) * 3, cupy.float32)
            plan = fbp.Plan(geometry.with_views(given), **volume)
            right = plan.run(np.float32(factor) * views).array
            for i in range(60):
                given.fill(0)
                if i % 10 == 0:
                    stream.launch_host_func(lambda _: time.sleep(0.01), None)
                given[...] = source
                plan.run(out=out)
                given.fill(7)
                found.append(np.array_equal(cupy.asnumpy(out), right))

    threads = [threading.Thread(target=work, args=(f,)) for f in (1.0, 3.0)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(found == [True] * 120, f"two threads, a stream each: {sum(found)} of 120 runs are right")


if __name__ == "__main__":
    whole_job()
    geometry, volume = job(SMALL, 90)
    views = fbp.simulate(geometry, "shepp-logan").views
    many_calls(geometry, views, volume)
    two_threads(geometry, views, volume)
    sys.exit(bool(wrong))
