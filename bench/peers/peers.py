#!/usr/bin/env python3
"""Times and errors of fbp, RTK and plastimatch, in turns on the same simulated scans.

usage: bench/peers/peers.py [--fbp build/release/bin/fbp] [--sizes 128,256,512] [--runs 3]
                            [--warm-ups 1] [--threads N] [--dir DIR] [--json]

Needs numpy and itk-rtk (from PyPI) and plastimatch (Debian package).  A program that is not installed
is left out, with a message.  Shepp-Logan phantom, SOD 750 mm, SDD 1200 mm, N^3 voxels of 256/N mm:
128^3 from 90, 256^3 from 180, 512^3 from 360 views of 1.5 N x 1.5 N pixels.

Times are from file to file, with the input in the page cache.  For fbp and plastimatch they are those
of the whole process (plastimatch's input is converted to its own format beforehand).  For RTK they run
from the first read to the end of the write inside its process, without the loading of libraries.

fbp syncs its volume to disk before it ends; the others leave this to the system.  Therefore the file is
synced after them.  "seconds" is the time until the volume is on disk, "unsynced" the time without this
(for fbp: without the last stage, sync and rename).

The error is the RMSE against the voxel means of the phantom within 115 mm of the axis.  plastimatch
does not return 1/mm: a line is fitted to its values first, which can only lower its error.
Peak memory is the resident set of the tool's process; RTK's includes Python and its libraries.
512^3 takes 4 GB of disk and, for RTK, 8 GiB of memory.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

VIEWS = {64: 45, 128: 90, 256: 180, 512: 360}
RTK_SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rtk_fdk.py")


def read_mha(path):
    """Header as a dict and samples [z][y][x] of an uncompressed float MHA."""
    head = {}
    with open(path, "rb") as f:
        while True:
            key, value = f.readline().decode("latin-1").split("=", 1)
            head[key.strip()] = value.strip()
            if key.strip() == "ElementDataFile":
                break
        size = [int(n) for n in head["DimSize"].split()]
        data = np.memmap(path, dtype="<f4", mode="r", offset=f.tell(), shape=tuple(size[::-1]))
    return head, data


def views_of(scan):
    """Angle and 3x4 matrix in plastimatch's frame (rows run down) of every view."""
    det = scan["detector"]
    nc, nr, (du, dv) = det["columns"], det["rows"], det["pitch_mm"]
    sod, sdd = scan["source_to_axis_mm"], scan["source_to_detector_mm"]
    start, step = scan["angles_deg"]["start"], scan["angles_deg"]["step"]
    count = read_mha_header(scan["projections"])[2]
    centre = ((nc - 1) / 2, (nr - 1) / 2)
    for k in range(count):
        t = np.deg2rad(start + k * step)
        s = sod * np.array([np.cos(t), np.sin(t), 0])
        e, u, v = -s / sod, np.array([-np.sin(t), np.cos(t), 0]), np.array([0, 0, 1.0])
        rows = np.zeros((3, 4))
        rows[0, :3], rows[1, :3], rows[2, :3] = u / du, -v / dv, e / sdd
        rows[2, 3] = sod / sdd
        yield centre, rows, sod, sdd, e


def read_mha_header(path):
    with open(path, "rb") as f:
        for line in iter(f.readline, b""):
            if line.startswith(b"DimSize"):
                return [int(n) for n in line.split(b"=")[1].split()]
    raise ValueError(path)


def write_plastimatch(scan, folder):
    _, p = read_mha(scan["projections"])
    for k, (centre, m, sad, sid, normal) in enumerate(views_of(scan)):
        name = os.path.join(folder, f"img_{k:04d}")
        with open(name + ".pfm", "wb") as f:
            f.write(f"Pf\n{p.shape[2]} {p.shape[1]}\n-1\n".encode())
            f.write(np.ascontiguousarray(p[k, ::-1]).tobytes())
        with open(name + ".txt", "w") as f:
            f.write("%.10e %.10e\n" % centre)
            for row in m:
                f.write(" ".join("%.10e" % a for a in row) + "\n")
            f.write("%.10e\n%.10e\n" % (sad, sid) + " ".join("%.10e" % a for a in normal) + "\n")


def timed(command, env=None):
    """Seconds, standard output and peak resident set [bytes] of a process."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text = out.read()
        if process.returncode:
            raise RuntimeError(f"{command[0]}: {err.read().strip() or text.strip()}")
    return seconds, text, usage.ru_maxrss * 1024


def synced(path):
    """Seconds that it takes to bring a file to disk."""
    start = time.perf_counter()
    with open(path, "rb") as f:
        os.fsync(f.fileno())
    return time.perf_counter() - start


def error(v, truth, voxel, fit=False):
    """RMSE about the axis, slice by slice; after a least-squares line from v to truth if `fit`."""
    n = truth.shape[0]
    c = (np.arange(n) - (n - 1) / 2) * voxel
    inside = np.add.outer(c**2, c**2) <= 115.0**2
    pairs = lambda: ((v[z][inside].astype(np.float64), truth[z][inside].astype(np.float64))
                     for z in range(n))
    count = n * np.count_nonzero(inside)
    slope, offset = 1.0, 0.0
    if fit:
        sums = np.sum([(a.sum(), b.sum(), (a * a).sum(), (a * b).sum()) for a, b in pairs()], axis=0)
        mean_a, mean_b = sums[0] / count, sums[1] / count
        slope = (sums[3] / count - mean_a * mean_b) / (sums[2] / count - mean_a**2)
        offset = mean_b - slope * mean_a
    return float(np.sqrt(sum(((slope * a + offset - b) ** 2).sum() for a, b in pairs()) / count))


class Peers:
    def __init__(self, args, n, folder):
        self.n, self.folder, self.args = n, folder, args
        self.voxel = 256.0 / n
        path = lambda name: os.path.join(folder, name)
        self.scan, self.out = path("scan.json"), {k: path(k + ".mha") for k in ("fbp", "rtk", "plm")}
        timed([args.fbp, "simulate", "--phantom", "shepp-logan", "--scale", "0.02", "--size", str(n),
               "--views", str(VIEWS[n]), "-o", self.scan, "--truth", path("truth.mha"), "-q"])
        self.truth = read_mha(path("truth.mha"))[1]
        with open(self.scan) as f:
            self.description = json.load(f)
        self.description["projections"] = path(self.description["projections"])
        self.env = dict(os.environ, OMP_NUM_THREADS=str(args.threads),
                        ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS=str(args.threads))
        self.commands = {"fbp": self.fbp}
        if shutil.which("plastimatch"):
            os.mkdir(path("plm"))
            write_plastimatch(self.description, path("plm"))
            self.commands["plastimatch"] = self.plastimatch
        if subprocess.run([sys.executable, "-c", "import itk; itk.RTK"], capture_output=True).returncode == 0:
            self.commands["rtk"] = self.rtk

    # Each returns seconds until the volume is on disk, seconds without the sync, RMSE, peak bytes.
    def fbp(self):
        s, out, peak = timed([self.args.fbp, "recon", self.scan, "-o", self.out["fbp"], "--threads",
                              str(self.args.threads), "-q", "--json"])
        rmse = error(read_mha(self.out["fbp"])[1], self.truth, self.voxel)
        return s, s - json.loads(out)["seconds"]["finish"], rmse, peak

    def plastimatch(self):
        n = self.n
        s, _, peak = timed(["plastimatch", "fdk", "-I", os.path.join(self.folder, "plm"), "-O",
                      self.out["plm"], "-r", f"{n} {n} {n}", "-z", "256 256 256", "-a",
                      f"0 {VIEWS[n] - 1}"], self.env)
        on_disk = s + synced(self.out["plm"])
        return on_disk, s, error(read_mha(self.out["plm"])[1], self.truth, self.voxel, fit=True), peak

    def rtk(self):
        _, out, peak = timed([sys.executable, RTK_SCRIPT, json.dumps(self.description), str(self.n),
                              str(self.voxel), self.out["rtk"]], self.env)
        s = float(out.strip().splitlines()[-1])
        on_disk = s + synced(self.out["rtk"])
        # RTK's axis is y: (x, y, z) = (x, -z, y) of theirs.
        ours = np.transpose(read_mha(self.out["rtk"])[1], (1, 0, 2))[:, ::-1, :]
        return on_disk, s, error(ours, self.truth, self.voxel), peak


def measure(args, n):
    folder = tempfile.mkdtemp(prefix="fbp-peers-", dir=args.dir)
    rows = []
    try:
        peers = Peers(args, n, folder)
        done = {k: [] for k in peers.commands}
        for turn in range(-args.warm_ups, args.runs):  # those below 0 warm the caches
            for name, run in peers.commands.items():
                done[name].append(run())
                print(f"  {n}^3, run {turn}, {name}: {done[name][-1][0]:.3f} s", file=sys.stderr, flush=True)
        ours = statistics.median(r[0] for r in done["fbp"][args.warm_ups:])
        for name, runs in done.items():
            counted = runs[args.warm_ups:]
            t = [r[0] for r in counted]
            s = statistics.median(t)
            rows.append({"bench": "peers", "case": f"{n}^3/{VIEWS[n]}", "tool": name,
                         "threads": args.threads, "seconds": s, "min": min(t), "max": max(t),
                         "unsynced": statistics.median(r[1] for r in counted),
                         "gups": n**3 * VIEWS[n] / s * 1e-9, "rmse": runs[-1][2],
                         "memory_peak_bytes": max(r[3] for r in runs), "times_fbp": s / ours})
    finally:
        shutil.rmtree(folder)
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--fbp", default="build/release/bin/fbp")
    p.add_argument("--sizes", default="128,256,512")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--warm-ups", type=int, default=1, help="runs before those that count")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--dir", default=None)
    p.add_argument("--json", action="store_true")
    args = p.parse_args()
    args.fbp = os.path.abspath(args.fbp)
    if not args.json:
        print(f"{'case':10} {'tool':12} {'seconds':>9} {'(min .. max)':>20} {'unsynced':>9} "
              f"{'GUPS':>7} {'RMSE [1/mm]':>12} {'MiB':>6} {'x fbp':>7}")
    for n in (int(s) for s in args.sizes.split(",")):
        for r in measure(args, n):
            if args.json:
                print(json.dumps(r), flush=True)
            else:
                span = f"({r['min']:.2f} .. {r['max']:.2f})"
                print(f"{r['case']:10} {r['tool']:12} {r['seconds']:9.3f} {span:>20} {r['unsynced']:9.3f} "
                      f"{r['gups']:7.3f} {r['rmse']:12.6f} {r['memory_peak_bytes'] / 2**20:6.0f} "
                      f"{r['times_fbp']:7.1f}", flush=True)


if __name__ == "__main__":
    main()
