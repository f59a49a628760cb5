"""What the comparisons of adapters with other people's packages share."""

import sys
import time
import typing

import numpy as np

failures = 0


def check(what, value, most):
    global failures
    good = value <= most
    print(f"{'' if good else 'FAILED: '}{what}: {value:.3g}, allowed {most:g}")
    failures += not good


def check_true(what, good):
    global failures
    print(f"{'' if good else 'FAILED: '}{what}")
    failures += not good


def done():
    sys.exit(1 if failures else 0)


def rmse(a, b):
    return float(np.sqrt(np.mean((np.asarray(a, float) - b) ** 2)))


def scale(a, b):
    """The factor that makes b most like a."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return float((a * b).sum() / (b * b).sum())


class Case(typing.NamedTuple):
    """One reconstruction by both: arrays of one shape; `theirs` may be None."""

    name: str
    theirs: typing.Callable | None
    ours: typing.Callable
    truth: np.ndarray
    part: tuple  # of the arrays, that is compared


def timed(call):
    """The result, seconds, and seconds of all processors together."""
    start, start_cpu = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - start, time.process_time() - start_cpu


def least(times):
    """The shortest run as text: seconds, and in parentheses those of processors."""
    seconds, cpu = min(times)
    return f"{seconds:.2g} ({cpu:.2g})"


def row(case, runs):
    """Values and times of one case, run in turns, as a line of a table in Markdown."""
    part, truth = case.part, case.truth
    our_times, their_times, ours, theirs = [], [], None, None
    for _ in range(runs):
        ours, *times = timed(case.ours)
        our_times.append(times)
        if case.theirs is not None:
            theirs, *times = timed(case.theirs)
            their_times.append(times)
    cells = ["", f"{rmse(ours[part], truth[part]):.4f}", "", "", "", least(our_times)]
    if theirs is not None:
        cells[0] = f"{rmse(theirs[part], truth[part]):.4f}"
        cells[2] = f"{rmse(ours[part], theirs[part]):.1e}"
        cells[3] = f"{scale(ours[part], theirs[part]):.4f}"
        cells[4] = least(their_times)
    print(f"| {case.name} | {' | '.join(cells)} |", flush=True)
    return ours, theirs


HEAD = """| case | error, theirs | error, fbp | difference | scale | theirs [s] | fbp [s] |
|---|---|---|---|---|---|---|"""


def is_the_right_way_round(name, ours, truth, error):
    """Is the image far worse when it is mirrored or turned?"""
    axes = range(ours.ndim)
    turned = [np.flip(ours, a) for a in axes] + [
        np.swapaxes(ours, a, b) for a in axes for b in axes if a < b and ours.shape[a] == ours.shape[b]
    ]
    worst = min(rmse(t, truth) for t in turned)
    check_true(f"{name}: mirrored or turned {worst:.3g}, as it is {error:.3g}", worst > 3 * error)
