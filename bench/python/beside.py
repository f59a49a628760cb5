#!/usr/bin/env python3
"""What the way through Python costs: runs of libfbp.Plan, NumPy to NumPy, beside `fbp bench host`.

usage: PYTHONPATH=build/release/python bench/python/beside.py [--fbp build/release/bin/fbp] [--divide 2]
                                                              [--rounds 15] [--runs 3] [--threads N]

Both do the job J1 (512^3 voxels from 360 views of 512 x 512), views, rows, columns and voxels a side
divided by N, on the CPU, with views of noise, as whole runs of an open plan.  They take turns, each in a
process of its own, so that other work on the machine meets both alike.  Of each turn the best and the
median run are taken, and the ratio of the two ways in each round.  Needs NumPy and libfbp.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time


def in_python(args):
    import numpy as np

    import libfbp as fbp

    n = args.divide
    views = np.random.default_rng(1).random((360 // n, 512 // n, 512 // n), dtype=np.float32) - 0.5
    angles = np.arange(len(views)) * (360 / len(views))
    scan = fbp.Scan.cone(views, angles, sod=750, sdd=1200, pixel=0.8 * n)
    plan = fbp.Plan(scan, size=512 // n, voxel=0.5 * n, device="cpu", threads=args.threads)
    plan.open()
    out = np.empty(plan.shape, np.float32)
    plan.run(out=out)
    seconds, outside = [], []
    for _ in range(args.runs):
        begin = time.perf_counter()
        volume = plan.run(out=out)
        seconds.append(time.perf_counter() - begin)
        outside.append(seconds[-1] - volume.report.total)
    print(json.dumps({"best": min(seconds), "median": statistics.median(seconds), "outside": min(outside)}))


def in_c(args):
    command = [args.fbp, "bench", "host", "--job", "J1", "--divide", str(args.divide), "--device", "cpu", "--runs",
               str(args.runs), "--json"] + (["--threads", str(args.threads)] if args.threads else [])
    m = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["measurements"][0]
    return {"best": m["best"], "median": m["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fbp", default="build/release/bin/fbp")
    parser.add_argument("--divide", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--in-python", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.in_python:
        return in_python(args)
    again = [sys.executable, *sys.argv, "--in-python"]
    rounds = []
    for i in range(args.rounds):
        turns = [lambda: in_c(args), lambda: json.loads(subprocess.run(again, capture_output=True, check=True).stdout)]
        first, second = turns if i % 2 == 0 else turns[::-1]
        a, b = first(), second()
        rounds.append((a, b) if i % 2 == 0 else (b, a))
    for way, k in (("fbp bench host", 0), ("plan.run(out=out)", 1)):
        for what in ("best", "median"):
            ms = [1e3 * r[k][what] for r in rounds]
            print(f"{way:18} {what:6} {statistics.median(ms):9.2f} ms ({min(ms):.2f} to {max(ms):.2f})")
    for what in ("best", "median"):
        ratios = sorted(b[what] / a[what] for a, b in rounds)
        quarter = len(ratios) // 4
        print(f"ratio of {what:6} {statistics.median(ratios):7.4f} (half of the rounds: {ratios[quarter]:.4f} to "
              f"{ratios[-1 - quarter]:.4f})")
    print(f"outside the library {1e3 * min(r[1]['outside'] for r in rounds):.2f} ms a call")


if __name__ == "__main__":
    main()
