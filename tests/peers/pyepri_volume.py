"""pyepri_volume.py FBP DATA WORK_DIR [PAIRS]: fbp and PyEPRI on one measurement of a pasta helix.

PyEPRI's eprfbp3d() divides discrete transforms, as if spectra were periodic (--periodic), by the
running sum of the reference, which stands half a sample late: the reference that fbp gets is moved
by as much.  Its weights are the sines of the polar angles times (30/31)^2, as it takes the range of
31 angles from the first to the last; fbp gets the sines, and the factor is taken out.

With PAIRS it also times the two in turn: eprfbp3d() alone, and the whole command from its start to
the written file.
"""
import os
import subprocess
import sys
import time
import types

import numpy as np

# What it draws with is not needed, and large (VTK): empty modules stand in.
for drawing in ("matplotlib", "matplotlib.pyplot", "pyepri.displayers"):
    sys.modules[drawing] = types.ModuleType(drawing)

import pyepri.backends
import pyepri.processing

SIZE, VOXEL_CM, CUTOFF = (50, 100, 50), 0.05, 0.1
MOST = 0.005  # of the rms; measured: 0.0028

fbp, data, work = sys.argv[1:4]
pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 0
name = os.path.join(data, "fusillo-20091002-")
proj, fgrad, field, h = (
    np.load(name + part + ".npy").astype(float) for part in ("proj", "fgrad", "B", "h")
)
grids = [(np.arange(n) - (n - 1) / 2) * VOXEL_CM for n in SIZE]
backend = pyepri.backends.create_numpy_backend()


def interp(xp, fp, x):
    return np.interp(x.ravel(), xp.ravel(), fp.ravel(), left=0.0, right=0.0)


def theirs():
    return pyepri.processing.eprfbp3d(
        proj, fgrad, h, field, *grids, interp, backend=backend, frequency_cutoff=CUTOFF
    )


def prepare():
    step = (field[1] - field[0]) / np.linalg.norm(fgrad[:, 0]) * 10
    k = np.arange(len(h) // 2 + 1)
    late = np.fft.irfft(np.fft.rfft(h) * np.exp(1j * np.pi * k / len(h)), n=len(h))
    weights = np.sin(np.arccos(fgrad[2] / np.linalg.norm(fgrad, axis=0)))
    np.savetxt(os.path.join(work, "late.csv"), late, fmt="%.17g")
    np.savetxt(os.path.join(work, "weights.csv"), weights * (np.pi / 31) ** 2, fmt="%.17g")
    np.savetxt(os.path.join(work, "gradients.csv"), fgrad.T, fmt="%.9g", delimiter=",")
    with open(os.path.join(work, "helix.json"), "w") as f:
        f.write(
            '{"fbp_scan": 1, "kind": "planes", "projections": "%s",\n'
            ' "gradients": "gradients.csv", "spacing_mm": %.12g, "reference": "late.csv",\n'
            ' "weights": "weights.csv",\n'
            ' "volume": {"size": [%d, %d, %d], "voxel_mm": [%g, %g, %g]}}\n'
            % ((os.path.abspath(name + "proj.DSC:sinogram"), step) + SIZE + (VOXEL_CM * 10,) * 3)
        )


def ours(*options):
    out = os.path.join(work, "helix.npy")
    command = [fbp, "recon", os.path.join(work, "helix.json"), "-o", out, "-q", "--force"]
    subprocess.run(command + ["--cutoff", str(CUTOFF), *options], check=True)
    return np.load(out)


def time_pairs(n):
    ratios = []
    for _ in range(n):
        start = time.perf_counter()
        theirs()
        middle = time.perf_counter()
        ours("--periodic", "--device", "cpu")
        end = time.perf_counter()
        ratios.append((middle - start) / (end - middle))
        print("eprfbp3d %.2f s, fbp %.3f s: %.1f times" % (middle - start, end - middle, ratios[-1]))
    print("median %.1f times" % np.median(ratios))


prepare()
# [y][x][z] in 1/cm^3; fbp has [z][y][x] in 1/mm^3.
wanted = theirs().transpose(2, 0, 1) / (30 / 31) ** 2 / 1000
failed = False
for options, most in (
    (("--periodic", "--device", "cpu"), MOST),
    (("--periodic", "--device", "ref"), MOST),
    (("--device", "cpu"), np.inf),
):
    volume = ours(*options).astype(float)
    error = np.linalg.norm(volume - wanted) / np.linalg.norm(wanted)
    scale = (volume * wanted).sum() / (volume * volume).sum()
    print("%-24s differs by %.4f of the rms; scale %.4f" % (" ".join(options), error, scale))
    failed = failed or not error <= most
time_pairs(pairs) if pairs else None
sys.exit("FAILED: more than %g of the rms" % MOST if failed else 0)
