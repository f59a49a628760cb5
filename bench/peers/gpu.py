#!/usr/bin/env python3
"""Times and errors of fbp and of other programs on one NVIDIA GPU: cone beams, the same simulated scans.

usage: bench/peers/gpu.py [NAME…] [--fbp build/release/bin/fbp] [--jobs J1,J2,J3] [--runs 5] [--json]

Names: kernelkit, astra, leap, diffct, tigre, and copies (the transfers alone); default: all of them.
Needs numpy and PyTorch with CUDA (from PyPI), and an fbp with CUDA.  A program that cannot be imported
is left out, with a message.  To install them:
  kernelkit  the repository adriaangraas/astra-kernelkit on GitHub; needs cupy, jinja2, transforms3d, tqdm
  astra      astra-toolbox (PyPI)
  leap       the repository LLNL/LEAP on GitHub; needs imageio
  tigre      the repository CERN/TIGRE on GitHub; needs matplotlib, scipy, h5py, tqdm
  diffct     diffct (PyPI); needs numba-cuda

The jobs are those of fbp bench: full circles, SOD 750 mm, SDD 1200 mm, Shepp-Logan phantom of 0.02/mm;
J1: 512^3 voxels from 360 views of 512x512; J2: 512^3 from 496 of 1248x960; J3: 1024^3 from those of J2.

Backprojection: the views are weighted, filtered and on the card.  "ms" is the median of the calls of the
program's function by CUDA events, after one call that is not counted.  It includes what the function
does each time, such as copying the views to textures.  "kernel" is the speed of the backprojection
kernels alone, by CUPTI.  TIGRE takes views only from the host: it has "kernel" alone, and "ms" is the
time of its kernels.  For fbp it is fbp bench kernel.
Whole: weights, filter, backprojection and both transfers, from a numpy array to a numpy array in
pageable memory, by the host's clock; arrays have the program's own order of axes.  For fbp it is
fbp bench host, in pinned memory.

Errors are measured about the axis, where all views see the voxel, in up to 16 slices:
"HU" is the rms difference from fbp's kernel matrix in precision exact (1000 HU are 0.02/mm), "RMSE" that
from the voxel means of the phantom in 1/mm.  Values are multiplied by "scale" before, the factor that
makes them most like fbp's; this can only lower the errors.  fbp's own errors are not scaled.
"""
import argparse
import importlib
import importlib.metadata
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

import numpy as np

from peers import read_mha

JOBS = {"J1": (360, 512, 512, 512, 0.8, 0.5), "J2": (496, 1248, 960, 512, 0.32, 0.5),
        "J3": (496, 1248, 960, 1024, 0.32, 0.25)}
SOD, SDD, WATER, RADIUS = 750.0, 1200.0, 0.02, 115.0
HU = 1000 / WATER
FBP_KERNELS = (("matrix", "exact"), ("matrix", "fast"), ("matrix", "half"), ("rot90", "exact"), ("rot90", "half"))
FBP_WHOLE = (("matrix", "fast"), (None, "exact"), (None, "half"))
KERNELS = re.compile("cone_bp|dev_cone_BP|[bB]ackproject", re.ASCII)


class Job:
    """A scan, its views, and the voxels to compare.  Files lie in `folder`."""

    def __init__(self, name, folder, divide=1):
        self.name, self.folder = name, folder
        k, c, r, n, pitch, voxel = JOBS[name]
        self.views, self.columns, self.rows, self.size = (int(a / divide) for a in (k, c, r, n))
        self.pitch, self.voxel = pitch * divide, voxel * divide
        self.updates = self.size**3 * self.views * 1e-9
        self.samples = self.views * self.columns * self.rows
        self.angles = 2 * np.pi * np.arange(self.views) / self.views
        # Half the height that all views see at the radius of the comparison.
        seen = 0.5 * self.rows * self.pitch * (SOD - RADIUS) / SDD
        height = min(0.95 * seen, 0.48 * self.size * self.voxel)
        up = sorted({int(h / self.voxel) for h in np.linspace(0.02, 1, 8) * height})
        self.slices = [self.size // 2 - 1 - k for k in reversed(up)] + [self.size // 2 + k for k in up]
        c = (np.arange(self.size) - (self.size - 1) / 2) * self.voxel
        self.inside = np.add.outer(c**2, c**2) <= RADIUS**2

    def path(self, name):
        return os.path.join(self.folder, f"{self.name}-{name}")

    def vectors(self):
        """Source, centre of the detector, and unit vectors along its rows and columns, of each view."""
        e = np.stack([np.cos(self.angles), np.sin(self.angles), 0 * self.angles], axis=1)
        u = np.stack([-np.sin(self.angles), np.cos(self.angles), 0 * self.angles], axis=1)
        return SOD * e, (SOD - SDD) * e, u, np.tile([0.0, 0.0, 1.0], (self.views, 1))

    def raw(self):
        """Line integrals [view][row][column], in pageable memory of their own."""
        return np.array(read_mha(self.path("scan.mha"))[1])

    def filtered(self, device="cuda"):
        """Views as a tensor [view][row][column], weighted and filtered so that the sum of the samples
        times (SOD / distance along the central ray)^2 is the density in 1/mm."""
        import torch

        views = torch.from_numpy(self.raw()).to(device)
        u = (torch.arange(self.columns, dtype=torch.float64) - (self.columns - 1) / 2) * self.pitch
        v = (torch.arange(self.rows, dtype=torch.float64) - (self.rows - 1) / 2) * self.pitch
        weight = (SDD / (SDD**2 + u[None, :] ** 2 + v[:, None] ** 2).sqrt()).float().to(device)
        length = 1 << (2 * self.columns - 1).bit_length()
        lag = torch.arange(length)
        lag = torch.minimum(lag, length - lag).double()
        ramp = torch.where(lag % 2 == 1, -1 / (np.pi * lag.clamp(min=1)) ** 2, torch.zeros_like(lag))
        ramp[0] = 0.25
        scale = np.pi / self.views * SDD / (SOD * self.pitch)
        ramp = (scale * torch.fft.rfft(ramp).real).float().to(device)
        for some in views.split(16):
            spectrum = torch.fft.rfft(some * weight, n=length, dim=2)
            some.copy_(torch.fft.irfft(spectrum * ramp, n=length, dim=2)[:, :, : self.columns])
        return views

    def chosen(self, volume):
        """The compared slices of a volume [z][y][x]: a numpy array, or what a tensor can be made of."""
        if isinstance(volume, np.ndarray):
            return np.array(volume[self.slices])
        return volume[self.slices].float().cpu().numpy()

    def compare(self, volume, scaled=True):
        """Errors of a volume [z][y][x], as a dict."""
        got, want = self.chosen(volume), self.chosen(read_mha(self.path("reference.mha"))[1])
        truth = self.chosen(read_mha(self.path("truth.mha"))[1])[:, self.inside]
        a, b = (v[:, self.inside].astype(np.float64) for v in (got, want))
        scale = float((a * b).sum() / (a * a).sum()) if scaled else 1.0
        row = {"scale": scale, "correlation": float(np.corrcoef(a.ravel(), b.ravel())[0, 1]),
               "hu": HU * rms(scale * a - b), "rmse": rms(scale * a - truth)}
        if row["correlation"] < 0.9999:
            better = most_alike(got, want, self.inside)
            if better:
                row["warning"] = f"another geometry; more alike: {better}"
        return row


def rms(a):
    return float(np.sqrt(np.mean(np.square(a))))


def most_alike(got, want, inside):
    """The flips and exchanges of axes after which `got` is most like `want`; None: it is as it is."""
    found = []
    for swap in (False, True):
        v = got.swapaxes(1, 2) if swap else got
        for mask in range(8):
            axes = [a for a in range(3) if mask >> a & 1]
            a, b = np.flip(v, axes)[:, inside].ravel(), want[:, inside].ravel()
            name = ("x and y exchanged, " if swap else "") + "flipped " + ("".join("zyx"[a] for a in axes) or "none")
            found.append((float(np.corrcoef(a[::7], b[::7])[0, 1]), swap or mask > 0, name))
    correlation, differs, name = max(found)
    return f"{name} ({correlation:.5f})" if differs or correlation < 0.99 else None


# The programs.  Each is a generator of (part, function, set_up).  set_up() returns call and volume:
# call() computes, and volume(result of call) is the volume [z][y][x].  Part "card" has its views on the
# card, "host" takes filtered views from the host, "whole" is from memory to memory.


def kernelkit(job):
    import cupy
    import kernelkit as kk
    import torch

    detector = kk.Detector(job.rows, job.columns, job.pitch, job.pitch)
    geometry = [kk.ProjectionGeometry(s, d, detector, u, v) for s, d, u, v in zip(*job.vectors())]
    grid = kk.resolve_volume_geometry(shape=[job.size] * 3, voxel_size=job.voxel)

    def on_card(texture, axes):
        project = kk.projector.BackProjector(texture_type=texture, volume_axes=axes)
        project.volume_geometry = grid
        project.projection_geometry = geometry
        project.projections = cupy.asarray(job.filtered())
        project.volume = volume = cupy.zeros([job.size] * 3, cupy.float32)
        order = (2, 1, 0) if axes == (0, 1, 2) else (0, 1, 2)
        return project, lambda _: torch.as_tensor(volume, device="cuda").permute(order)

    def whole():
        raw = job.raw()
        return lambda: kk.fdk(raw, geometry, grid), lambda v: v.transpose(2, 1, 0)

    for texture in ("layered", "array", "array2d"):
        for order, axes in (("xyz", (0, 1, 2)), ("zyx", (2, 1, 0))):
            yield "card", f"BackProjector, {texture}, {order}", lambda: on_card(texture, axes)
    yield "whole", "fdk", whole


def astra(job):
    import astra
    import torch

    half = job.size * job.voxel / 2
    grid = astra.create_vol_geom(*[job.size] * 3, *[-half, half] * 3)
    geometry = astra.create_proj_geom("cone", job.pitch, job.pitch, job.rows, job.columns,
                                      job.angles + np.pi / 2, SOD, SDD - SOD)

    def on_card():
        views = job.filtered().permute(1, 0, 2).contiguous()
        volume = torch.zeros([job.size] * 3, device="cuda")
        projector = astra.create_projector("cuda3d", geometry, grid)
        return lambda: astra.projector3d.direct_BP(projector, views, out=volume), lambda _: volume

    def whole():
        raw = torch.from_numpy(job.raw()).cuda().permute(1, 0, 2).contiguous().cpu().numpy()
        out = np.zeros([job.size] * 3, np.float32)
        config = astra.astra_dict("FDK_CUDA")
        config["ProjectionDataId"] = astra.data3d.link("-sino", geometry, raw)
        config["ReconstructionDataId"] = astra.data3d.link("-vol", grid, out)
        algorithm = astra.algorithm.create(config)
        return lambda: astra.algorithm.run(algorithm), lambda _: out

    yield "card", "direct_BP", on_card
    yield "whole", "FDK_CUDA", whole


def leap(job):
    import leapctype
    import torch

    def model(projector):
        m = leapctype.tomographicModels()
        m.set_gpu(0)
        angles = np.degrees(job.angles + np.pi / 2).astype(np.float32)
        m.set_conebeam(job.views, job.rows, job.columns, job.pitch, job.pitch, (job.rows - 1) / 2,
                       (job.columns - 1) / 2, angles, SOD, SDD)
        m.set_volume(*[job.size] * 3, job.voxel, job.voxel)
        m.set_diameterFOV(1e6)  # no circular mask
        m.set_rampFilter(12)  # Ram-Lak
        m.set_projector(projector)
        return m

    def on_card(projector):
        of, views = model(projector), torch.from_numpy(job.raw()).cuda()
        of.filterProjections(views)  # LEAP's backprojection needs weights of its own
        volume = torch.zeros([job.size] * 3, device="cuda")
        return lambda: of.weightedBackproject(views, volume), lambda _: volume

    def whole(projector):
        of, raw, out = model(projector), job.raw(), np.zeros([job.size] * 3, np.float32)
        return lambda: of.FBP(raw, out), lambda _: out

    for projector in ("VD", "SF"):
        yield "card", f"weightedBackproject, {projector}", lambda: on_card(projector)
        yield "whole", f"FBP, {projector}", lambda: whole(projector)


def tigre(job):
    import tigre

    geometry = tigre.geometry(mode="cone")
    geometry.mode, geometry.DSD, geometry.DSO = "cone", SDD, SOD
    geometry.nDetector = np.array([job.rows, job.columns])
    geometry.dDetector = np.array([job.pitch, job.pitch])
    geometry.sDetector = geometry.nDetector * geometry.dDetector
    geometry.nVoxel, geometry.dVoxel = np.array([job.size] * 3), np.array([job.voxel] * 3)
    geometry.sVoxel = geometry.nVoxel * geometry.dVoxel
    geometry.offOrigin, geometry.offDetector = np.zeros(3), np.zeros(2)
    geometry.rotDetector = np.zeros(3)
    angles = job.angles.astype(np.float32)

    def from_host():
        views = job.filtered().cpu().numpy()
        return lambda: tigre.Atb(views, geometry, angles, backprojection_type="FDK"), lambda v: v

    def whole():
        raw = job.raw()
        return lambda: tigre.algorithms.fdk(raw, geometry, angles), lambda v: v

    yield "host", "Atb, FDK", from_host
    yield "whole", "fdk", whole


def diffct(job):
    import diffct
    import torch

    path = tuple(torch.tensor(a, dtype=torch.float32, device="cuda") for a in job.vectors())
    shape, angles = (job.size,) * 3, torch.tensor(job.angles)

    def on_card():
        views = job.filtered().permute(0, 2, 1).contiguous()
        return (lambda: diffct.cone_weighted_backproject(views, *path, *shape, job.pitch, job.pitch, job.voxel),
                lambda v: v)

    def whole():
        raw = torch.from_numpy(job.raw()).cuda().permute(0, 2, 1).contiguous().cpu()
        return (lambda: diffct.fdk(raw.cuda(), path, shape, angles, detector_spacing=job.pitch,
                                   voxel_spacing=job.voxel).cpu().numpy(), lambda v: v)

    yield "card", "cone_weighted_backproject", on_card
    yield "whole", "fdk", whole


def copies(job):
    """Not a program: the transfers alone, from and to pageable memory."""
    import torch

    def whole():
        raw, volume = torch.from_numpy(job.raw()), torch.ones([job.size] * 3, device="cuda")
        on_card, out = torch.empty_like(raw, device="cuda"), torch.zeros([job.size] * 3)
        return lambda: (on_card.copy_(raw), out.copy_(volume)), None

    yield "whole", "transfers alone", whole


# Generator, Python module, and distribution of each program.
PEERS = {"kernelkit": (kernelkit, "kernelkit", "astra-kernelkit"), "astra": (astra, "astra", "astra-toolbox"),
         "leap": (leap, "leapctype", "leapct"), "diffct": (diffct, "diffct", "diffct"),
         "tigre": (tigre, "tigre", "tigre"), "copies": (copies, "torch", "torch")}


def version_of(module, package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(module, "__version__", "unknown version"))


def kernel_seconds(call):
    """Seconds of the backprojection kernels of a call, and their names; None if CUPTI is not usable."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as found:
        call()
        torch.cuda.synchronize()
    times = {e.key: getattr(e, "self_device_time_total", 0) * 1e-6 for e in found.key_averages()}
    used = {k: t for k, t in times.items() if KERNELS.search(k) and t > 0}
    return (sum(used.values()), sorted(used)) if used else (None, sorted(times))


def timed_by_events(call):
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3


def timed_by_host(call):
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    result = call()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def measure(job, part, call, volume, args):
    """One row: times until args.runs are done or args.patience seconds have passed, and errors."""
    first, result = timed_by_host(call)
    row = {"first": first}
    if volume:
        row.update(job.compare(volume(result)))
    times, start = [], time.perf_counter()
    while part != "host" and len(times) < args.runs and time.perf_counter() - start < args.patience:
        if part == "whole":
            result = None
            t, result = timed_by_host(call)
            times.append(t)
        else:
            times.append(timed_by_events(call))
    if part in ("card", "host"):
        row["kernel_seconds"], row["kernels"] = kernel_seconds(call)
    if part == "host":
        times = [row["kernel_seconds"]] if row["kernel_seconds"] else []
    if times:
        row.update(seconds=statistics.median(times), min=min(times), max=max(times), runs=len(times),
                   gups=job.updates / statistics.median(times))
    if row.get("kernel_seconds"):
        row["kernel_gups"] = job.updates / row["kernel_seconds"]
    return row


def child(name, args):
    """Measure one program; append a JSON object per row to args.rows."""
    generator, module, package = PEERS[name]

    def add(**row):
        with open(args.rows, "a") as f:
            f.write(json.dumps({"bench": "peers-gpu", "program": name, **row}) + "\n")

    try:
        module = importlib.import_module(module)
    except Exception as e:  # a library that is missing is not an ImportError everywhere
        add(missing=f"{type(e).__name__}: {e}")
        return
    version = version_of(module, package)
    pace = 0.0  # seconds of a whole reconstruction per sample, of the job before
    for job in (Job(j, args.dir, args.divide) for j in args.jobs):
        try:
            for part, function, set_up in generator(job):
                head = {"version": version, "case": job.name, "part": part, "function": function}
                if part == "whole" and pace * job.samples > args.longest:
                    add(**head, skipped=f"would take about {pace * job.samples:.0f} s")
                    continue
                try:
                    row = measure(job, part, *set_up(), args)
                except Exception:
                    row = {"failed": traceback.format_exc(limit=-3)}
                if part == "whole" and "seconds" in row:
                    pace = row["seconds"] / job.samples
                add(**head, **row)
        except Exception:
            add(version=version, case=job.name, failed=traceback.format_exc(limit=-3))


class Bench:
    def __init__(self, args):
        self.args, self.device = args, ""

    def fbp(self, *arguments):
        done = subprocess.run([self.args.fbp, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"fbp {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def prepare(self, job):
        """Views, voxel means of the phantom, and fbp's volume to compare with."""
        a = self.args
        self.fbp("simulate", "--phantom", "shepp-logan", "--scale", str(WATER), "--size", str(job.size), "--voxel",
                 str(job.voxel), "--views", str(job.views), "--detector", f"{job.columns}x{job.rows}", "--pitch",
                 str(job.pitch), "-o", job.path("scan.json"), "--truth", job.path("truth.mha"), "-q")
        self.recon(job, "matrix", "exact", "reference.mha")
        a.said(f"{job.name}: simulated")

    def recon(self, job, kernel, precision, name):
        self.fbp("recon", job.path("scan.json"), "-o", job.path(name), "--device", self.args.device, "--kernel",
                 kernel, "--precision", precision, "-q")

    def measurements(self, *arguments):
        a = self.args
        out = self.fbp("bench", *arguments, "--device", a.device, "--divide", str(a.divide), "--json")
        return [m for line in out.splitlines() if line for m in json.loads(line)["measurements"]]

    def errors_of_fbp(self, job):
        """Errors of each kernel and precision that the device has for this scan."""
        errors = {FBP_KERNELS[0]: job.compare(read_mha(job.path("reference.mha"))[1], scaled=False)}
        for kernel, precision in FBP_KERNELS[1:]:
            try:
                self.recon(job, kernel, precision, "other.mha")
            except RuntimeError as e:
                print(e, file=sys.stderr)
                continue
            errors[kernel, precision] = job.compare(read_mha(job.path("other.mha"))[1], scaled=False)
            os.remove(job.path("other.mha"))
        return errors

    def rows_of_fbp(self, job):
        errors = self.errors_of_fbp(job)
        for kernel in dict.fromkeys(kernel for kernel, _ in errors):
            for m in self.measurements("kernel", "--job", job.name, "--kernel", kernel):
                self.device = f"{m['device_text']}, driver {m['driver']}; fbp {m['commit']}"
                key = kernel, m["precision"]
                if key in errors:
                    yield {"part": "card", "function": ", ".join(key), "seconds": m["seconds"], "min": m["best"],
                           "max": m["worst"], "gups": m["gups"], **errors[key]}
        for kernel, precision in FBP_WHOLE:
            more = ("--kernel", kernel) if kernel else ()
            for m in self.measurements("host", "--job", job.name, "--precision", precision, "--runs",
                                       str(self.args.runs), *more):
                yield {"part": "whole", "function": f"{m['kernel']}, {precision}", "seconds": m["seconds"],
                       "min": m["best"], "max": m["worst"], "gups": m["gups"],
                       **errors.get((m["kernel"], precision), {})}

    def rows_of(self, name):
        a = self.args
        rows = os.path.join(a.dir, f"{name}.jsonl")
        command = [sys.executable, os.path.abspath(__file__), "--child", name, "--dir", a.dir, "--rows", rows,
                   "--jobs", ",".join(a.jobs), "--divide", str(a.divide), "--runs", str(a.runs), "--patience",
                   str(a.patience), "--longest", str(a.longest)]
        open(rows, "w").close()
        start = time.perf_counter()
        with open(rows) as f, tempfile.TemporaryFile("w+", errors="replace") as said:
            process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
            while process.poll() is None and time.perf_counter() - start < a.limit:
                time.sleep(0.2)
                yield from self.finished(f)
            stopped = process.poll() is None
            if stopped:
                process.kill()
            process.wait()
            yield from self.finished(f)
            said.seek(0)
            if stopped:
                print(f"{name}: stopped after {a.limit:.0f} s (--limit)", file=sys.stderr)
            elif process.returncode:
                print(f"{name}: ended with status {process.returncode}: {said.read()[-2000:]}", file=sys.stderr)

    @staticmethod
    def finished(rows):
        """The rows whose lines are complete."""
        while True:
            at, line = rows.tell(), rows.readline()
            if not line.endswith("\n"):
                rows.seek(at)
                return
            yield json.loads(line)


def print_row(r):
    if "missing" in r:
        print(f"{r['program']}: left out: {r['missing']}", file=sys.stderr)
    elif "failed" in r or "skipped" in r:
        why = r.get("failed") or r["skipped"]
        print(f"{r['program']}, {r['case']}: {r.get('function', '')} {why}", file=sys.stderr)
    else:
        number = lambda key, form, by=1: format(by * r[key], form) if r.get(key) is not None else "-"
        what = {"card": "backproj.", "host": "backproj.", "whole": "whole"}[r["part"]]
        print(f"{r['case']:3} {what:9} {r['program']:9} {r['function']:33} {number('seconds', '9.2f', 1e3):>9} "
              f"{number('gups', '7.1f'):>7} {number('kernel_gups', '7.1f'):>7} {number('scale', '10.4g'):>10} "
              f"{number('hu', '8.3f'):>8} {number('rmse', '9.6f'):>9} {number('correlation', '.6f'):>8}"
              f"{'  ' + r['warning'] if 'warning' in r else ''}")
    sys.stdout.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("names", nargs="*", choices=[[], *PEERS], default=[], metavar="NAME")
    p.add_argument("--fbp", default="build/release/bin/fbp")
    p.add_argument("--device", default="cuda", help="fbp's device")
    p.add_argument("--jobs", default=",".join(JOBS))
    p.add_argument("--divide", type=int, default=1, help="a small job, to try it: divides sizes and views")
    p.add_argument("--runs", type=int, default=5, help="greatest number of runs that count")
    p.add_argument("--patience", type=float, default=3, help="seconds after which no further run starts")
    p.add_argument("--longest", type=float, default=15, help="seconds of the longest whole reconstruction")
    p.add_argument("--limit", type=float, default=300, help="seconds of one program, for all jobs")
    p.add_argument("--dir", default=None, help="folder of the scans; J3 takes 15 GB")
    p.add_argument("--no-fbp", action="store_true", help="leave out the times of fbp")
    p.add_argument("--json", action="store_true")
    p.add_argument("--child", help=argparse.SUPPRESS)
    p.add_argument("--rows", help=argparse.SUPPRESS)
    args = p.parse_args()
    args.jobs = args.jobs.split(",")
    if args.child:
        child(args.child, args)
        return
    start = time.perf_counter()
    args.said = lambda text: print(f"  {time.perf_counter() - start:5.0f} s: {text}", file=sys.stderr, flush=True)
    args.fbp = os.path.abspath(args.fbp)
    args.dir = tempfile.mkdtemp(prefix="fbp-peers-", dir=args.dir)
    show = (lambda r: print(json.dumps(r), flush=True)) if args.json else print_row
    bench = Bench(args)
    try:
        jobs = [Job(name, args.dir, args.divide) for name in args.jobs]
        if not args.json:
            print(f"{'job':3} {'part':9} {'program':9} {'function':33} {'ms':>9} {'GUPS':>7} {'kernel':>7} "
                  f"{'scale':>10} {'HU':>8} {'RMSE':>9} correlation")
        for job in jobs:
            bench.prepare(job)
            for row in () if args.no_fbp else bench.rows_of_fbp(job):
                show({"bench": "peers-gpu", "program": "fbp", "case": job.name, **row})
        args.said("fbp done" + (f"; {bench.device}" if bench.device else ""))
        for name in args.names or PEERS:
            for row in bench.rows_of(name):
                show(row)
            args.said(f"{name} done")
    finally:
        shutil.rmtree(args.dir)


if __name__ == "__main__":
    main()
