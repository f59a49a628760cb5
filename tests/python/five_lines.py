"""Five lines to a volume, and is it right?  Run by Pythons into which the package was installed."""

import libfbp as fbp

geometry = fbp.Scan.cone(None, fbp.angles(120), sod=100, sdd=200, pixel=0.8, shape=(64, 64))
scan = fbp.simulate(geometry, "ball", scale=0.02)
volume = fbp.recon(scan, filter="hann")

middle = float(volume.array[32, 32, 32])
assert abs(middle / 0.02 - 1) < 0.02, middle
print(f"{volume}: {middle:.5f} in the middle of a ball of 0.02; libfbp {fbp.__version__}")
