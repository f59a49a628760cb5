#!/usr/bin/env python3
"""pictures.py FOLDER: are the pictures of the gallery what docs/gallery.md says of them?"""

import struct
import sys
import zlib
from pathlib import Path

folder = Path(sys.argv[1])
failures = 0


def check(true, *words):
    global failures
    if not true:
        failures += 1
        print("FAILED:", *words)


def unfiltered(kind, line, above, step):
    """A line of a PNG as it was before its filter; step: bytes of a pixel."""
    if kind == 0:
        return bytes(line)
    if kind == 2:
        return bytes((x + b) % 256 for x, b in zip(line, above))
    out = bytearray(line)
    for i, x in enumerate(line):
        a, c = (out[i - step], above[i - step]) if i >= step else (0, 0)
        b = above[i]
        if kind == 1:
            near_by = a
        elif kind == 3:
            near_by = (a + b) // 2
        else:
            to_a, to_b, to_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            near_by = a if to_a <= to_b and to_a <= to_c else b if to_b <= to_c else c
        out[i] = (x + near_by) % 256
    return bytes(out)


def picture(name):
    """Width, height and lines of an 8-bit PNG."""
    data = (folder / name).read_bytes()
    check(data.startswith(b"\x89PNG\r\n\x1a\n"), name, "is no PNG")
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    check(depth == 8, name, "has", depth, "bits")
    at, packed = 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + n] if kind == b"IDAT" else b""
        at += 12 + n
    step = {0: 1, 2: 3}[colour]
    raw, lines, above = zlib.decompress(packed), [], bytes(width * step)
    for k in range(height):
        start = k * (width * step + 1)
        above = unfiltered(raw[start], raw[start + 1 : start + 1 + width * step], above, step)
        lines.append(above)
    return width, height, lines


def difference(a, b):
    """Root mean square of the difference of two pictures of one size."""
    pairs = [(x, y) for p, q in zip(a[2], b[2]) for x, y in zip(p, q)]
    return (sum((x - y) ** 2 for x, y in pairs) / len(pairs)) ** 0.5


def near(value, wanted, by):
    return abs(value - wanted) <= by


pictures = {path.name: picture(path.name) for path in sorted(folder.glob("*.png"))}
check(len(pictures) >= 15, "only", len(pictures), "pictures")
for name, (width, height, lines) in pictures.items():
    values = b"".join(lines)
    mean = sum(values) / len(values)
    check(width >= 250 and height >= 250, name, "is small:", width, height)
    check(max(values) - min(values) > 60 and 0.5 < mean < 254, name, "is blank")

# Slices are twice as large as voxels: pixel (2 i, 2 (159 - j)) of the first is voxel (i, j, 80).
lines = pictures["head-slices.png"][2]
check(near(lines[2 * 30][2 * 80], 0.2 * 255, 4), "brain of 0.2 x 0.02/mm:", lines[2 * 30][2 * 80])
check(lines[4][4] < 8, "air:", lines[4][4])
check(max(lines[16]) == 255 or max(lines[18]) == 255, "skull of 0.02/mm:", max(lines[16]), max(lines[18]))

check(difference(pictures["few-views.png"], pictures["all-views.png"]) > 10, "30 views show no streaks")
noise = [pictures[f"noisy-{name}.png"] for name in ("ramp", "hann", "hann-half")]
rough = [sum(abs(line[k] - line[k - 1]) for line in p[2] for k in range(1, 320)) for p in noise]
check(rough[0] > rough[1] > rough[2], "noise does not fall:", rough)
before, after = pictures["rings-before.png"], pictures["rings-after.png"]
check(difference(before, after) > 5, "--rings changes nothing")
check(difference(pictures["wide.png"], pictures["wide-pad.png"]) > 5, "--pad changes nothing")
truth = pictures["disks-truth.png"][2]
column = [line[260 + 2 * 64] for line in truth]  # the second slice: z runs up
edges = sum((a > 127) != (b > 127) for a, b in zip(column, column[1:]))
check(edges == 14, "not seven disks, but edges:", edges)
outside = pictures["region.png"][2][2]
check(max(outside[:300]) == 0, "something outside the region:", max(outside[:300]))
print(f"{len(pictures)} pictures, {failures} failures")
sys.exit(failures > 0)
