#!/usr/bin/env python3
"""calibrations.py [--beads] [--cases N] [--first K] [--jobs J] [--threads T] [--photons FACTOR] [--list CASES] [--fbp PATH]
[--work DIR]: `fbp calibrate` on simulated scans with planted errors of the geometry. Each case has a random object, noise, and
errors that the scan file does not contain; a few classes add rings, few views, an object longer or wider than the panel, a
panel off centre.
--beads: `fbp calibrate --beads` on phantoms of beads instead.
Prints one line per case and a table per class: greatest errors, and how often the 95 % intervals contain the truth.
Needs Python 3.8 and its standard library only."""
import argparse
import array
import json
import math
import multiprocessing
import operator
import os
import random
import subprocess
import sys

from objects import ellipsoids

parser = argparse.ArgumentParser()
parser.add_argument('--cases', type=int, default=200)
parser.add_argument('--beads', action='store_true', help='phantoms of beads, instead of random objects')
parser.add_argument('--first', type=int, default=0)
parser.add_argument('--fbp', default='build/release/bin/fbp')
parser.add_argument('--work', default='/tmp/calibrations')
parser.add_argument('--jobs', type=int, default=1, help='number of cases at the same time')
parser.add_argument('--threads', type=int, default=2, help='threads of each fbp')
parser.add_argument('--photons', type=float, default=1, help='factor of the number of photons: 1000 leaves hardly any noise')
parser.add_argument('--only', help='run one class only')
parser.add_argument('--list', help='run these cases only, such as 3,17')
parser.add_argument('--keep', action='store_true', help='keep the simulated scans, and use those of an earlier run')
args = parser.parse_args()
os.makedirs(args.work, exist_ok=True)

CLASSES = (['full turn'] * 50 + ['short scan'] * 25 + ['long object'] * 20 + ['rings'] * 20 + ['few views'] * 15 +
           ['off centre'] * 20 + ['wide object'] * 15 + ['parallel'] * 35)
if args.beads:
    CLASSES = ['16 beads', '8 beads', '4 beads', 'short arc', 'beads off centre', 'truncated', 'overlapping', 'small beads']


def beads(rng, kind):
    """Lines of a phantom of beads in and on a cylinder, at random positions."""
    count = {'16 beads': 16, '4 beads': 4}.get(kind, 8)
    radius, size = rng.uniform(40, 60), rng.uniform(1.5, 2) if kind == 'small beads' else rng.uniform(2.5, 4.5)
    lines = [f'0 0 0 {radius:.3f} {radius:.3f} 400 0 {10 ** rng.uniform(-2.8, -2):.4f}']
    for i in range(count):
        level = i // 2 * 2 + .5 if kind == 'overlapping' else i # pairs at one height pass one another
        z = (-70 + 140 * (level + rng.uniform(.2, .8)) / count) * (1.4 if kind == 'truncated' else 1)
        r, a = radius * rng.uniform(.5, 1) - size, rng.uniform(0, 2 * math.pi)
        lines.append(f'{r * math.cos(a):.3f} {r * math.sin(a):.3f} {z:.3f} {size:.3f} {size:.3f} {size:.3f} 0 0.15')
    return lines


def make(case, kind):
    """Simulate the scan of a case; returns the path of its scan file and the planted truth."""
    rng = random.Random(case)
    n = rng.choice([160, 192, 256])
    parallel = kind == 'parallel'
    pitch, sod, sdd = 200 / n, rng.uniform(350, 600), 0
    sdd = sod * rng.uniform(1.3, 2.2)
    mag = 1 if parallel else sdd / sod
    pitch *= mag
    lines = ellipsoids(rng, 78, kind == 'long object', 1.6 if kind == 'wide object' else 1)
    if args.beads:
        n = rng.choice([160, 192, 224])
        pitch, lines = 200 / n * mag, beads(rng, kind)
    base = f'{args.work}/case{case}'
    with open(base + '.txt', 'w') as f:
        f.write('\n'.join(lines) + '\n')
    arc = 360
    if kind in ('short scan', 'short arc'):
        arc = rng.choice([1, -1]) * rng.uniform(215, 240)
    elif parallel:
        arc = rng.choice([180, -180, 360])
    elif rng.random() < .4:
        arc = -360
    views = rng.randint(50, 90) if kind == 'few views' else rng.choice([100, 120] if args.beads else [120, 180, 240, 360])
    noise = args.photons * 10 ** rng.uniform(4, 5.7)
    small = 1 if rng.random() < .5 else 0
    truth = {'column': rng.uniform(-8, 8), 'row': 0 if parallel else rng.uniform(-2, 2) * rng.choice([1, 1, 1, 6]), 'roll': rng.uniform(-1.2, 1.2),
             'pitch': 0, 'yaw': 0, 'sdd': 0}
    if not parallel and small:
        truth |= {'pitch': rng.uniform(-.5, .5), 'yaw': rng.uniform(-.5, .5), 'sdd': rng.uniform(-.01, .01) * sdd}
    offset = rng.choice([-1, 1]) * rng.uniform(.12, .25) * n if 'off centre' in kind else 0
    command = [args.fbp, 'simulate', '--phantom', base + '.txt', '--size', str(n), '--voxel', str(200 / n), '--views',
               str(views), '--arc', str(arc), '--detector', f'{2 * n}x{2 * n}', '--pitch', str(pitch / 2), '--noise', str(noise / 4),
               '--seed', str(case), '--tilt', f'{truth["pitch"]},{truth["yaw"]},{truth["roll"]}', '--offset',
               f'{(truth["column"] + offset) * pitch},{truth["row"] * pitch}', '-q', '-o', base + '.json',
               '--threads', str(args.threads)]
    if parallel:
        command += ['--kind', 'parallel']
    else:
        command += ['--sod', str(sod), '--sdd', str(sdd + truth['sdd'])]
    rings = kind == 'rings'
    kept = base + ('-rings.mha' if rings else '-joined.mha')
    if not os.path.exists(kept):
        subprocess.run(command, check=True)
        noisy = random.Random(-1 - case)
        pattern = [noisy.gauss(0, .005) for _ in range(n)] * n if rings else None
        for i in range(n * n if rings else 0):
            pattern[i] += noisy.gauss(0, .01)
        join(base + '.mha', kept, views, n, pattern)
        os.unlink(base + '.mha')
    with open(base + '.json') as f:
        scan = json.load(f)
    along = sdd + truth['sdd'] # along the ray through the iso-centre
    if 'matrices' in scan: # of the pixels that are joined
        c = mean([[(m[3] / m[11] - .5) / 2, (m[7] / m[11] - .5) / 2] for m in scan['matrices']])
        along = sod / mean([[m[11]] for m in scan['matrices']])[0]
    elif 'views' in scan:
        c = mean([project(v, n, pitch) for v in scan['views']])
    else:
        o = scan['detector']['offset_mm']
        c = [(n - 1) / 2 - o[0] / pitch, (n - 1) / 2 - o[1] / pitch]
    reversed_ = not parallel and rng.random() < .2
    step = arc / views
    arc_error = rng.choice([0, 0, 0, rng.uniform(-.006, .006)]) if kind == 'full turn' or args.beads else 0
    step /= 1 + arc_error # the file's angles are wrong by this factor
    nominal = {'fbp_scan': 1, 'kind': scan['kind'], 'projections': os.path.basename(kept),
               'detector': {'columns': n, 'rows': n, 'pitch_mm': [pitch, pitch], 'offset_mm': [offset, 0],
                            'row_order': 'bottom-up'},
               'angles_deg': {'start': 0, 'step': -step if reversed_ else step}, 'volume': scan['volume']}
    if not parallel:
        nominal |= {'source_to_axis_mm': sod, 'source_to_detector_mm': sdd}
    path = base + '-nominal.json'
    with open(path, 'w') as f:
        json.dump(nominal, f)
    return path, {'column': c[0], 'row': c[1], 'roll': truth['roll'], 'pitch': truth['pitch'], 'yaw': truth['yaw'],
                  'sdd': along, 'arc': abs(arc / views * (views - 1)), 'arc_error': arc_error, 'reversed': reversed_, 'sdd_nominal': sdd, 'noise': noise, 'views': views, 'n': n}


def mean(rows):
    return [sum(column) / len(rows) for column in zip(*rows)]


def join(path, to, views, n, pattern):
    """Join 2 x 2 pixels of a file of projections to one: means of the transmissions, as a detector measures them.
    pattern: errors of the n x n joined pixels, the same in all views."""
    with open(path, 'rb') as f, open(to + '.part', 'wb') as out:
        at = os.path.getsize(path) - 16 * n * n * views
        header = f.read(at).decode()
        size = f'DimSize = {2 * n} {2 * n} {views}'
        assert size in header
        out.write(header.replace(size, f'DimSize = {n} {n} {views}').encode())
        for _ in range(views):
            view = array.array('f')
            view.fromfile(f, 4 * n * n)
            t = list(map(math.exp, map(operator.neg, view)))
            columns = list(map(operator.add, t[::2], t[1::2]))
            joined = []
            for r in range(0, 2 * n * n, 2 * n):
                joined += map(operator.add, columns[r:r + n], columns[r + n:r + 2 * n])
            values = map(operator.sub, [math.log(4)] * len(joined), map(math.log, joined))
            array.array('f', map(operator.add, values, pattern) if pattern else values).tofile(out)
    os.rename(to + '.part', to)


def project(view, n, pitch):
    """Column and row of the projected iso-centre of a parallel view (s, d, u, v), in pixels of the given pitch."""
    s, d, u, v = (view[i:i + 3] for i in (0, 3, 6, 9))

    def det(a, b, c):
        return sum(a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3]) for i in range(3))

    return [(n - 1) / 2 - det(d, v, s) / det(u, v, s) * math.hypot(*u) / pitch,
            (n - 1) / 2 - det(u, d, s) / det(u, v, s) * math.hypot(*v) / pitch]


def calibrate(case):
    """Simulate and calibrate a case; returns its row, with differences from the truth, and a line of text."""
    kind = kind_of(case)
    path, truth = make(case, kind)
    run = subprocess.run([args.fbp, 'calibrate', path, '--json', '-q', '--threads', str(args.threads)] + ['--beads'] * args.beads,
                         capture_output=True, text=True)
    if not args.keep:
        for name in os.listdir(args.work):
            if name.startswith(f'case{case}-') and name.endswith('.mha'):
                os.unlink(f'{args.work}/{name}')
    try:
        found, note = json.loads(run.stdout), ''
    except ValueError:
        found, note = {}, run.stderr.strip()
    row = {'case': case, 'kind': kind, 'reliable': found.get('reliable', False), 'seconds': found.get('seconds', math.nan),
           'sense': ('reversed' not in found) or found['reversed'] == truth['reversed'],
           'sense_known': 'reversed' in found}
    for name in NAMES:
        value = found.get(name, {})
        row[name] = value['value'] - truth[name] if value.get('observable') else math.nan
        row['u_' + name] = value.get('uncertainty') or math.nan
    return row, (f'{case:3d} {kind:12s} {truth["n"]} {truth["views"]:3d} {truth["noise"]:8.0f} {row["seconds"]:5.1f} s '
                 f'roll {truth["roll"]:+.2f} pitch {truth["pitch"]:+.2f} yaw {truth["yaw"]:+.2f} sdd {truth["sdd"] - truth["sdd_nominal"]:+.1f} '
                 f'arc {360 * truth["arc_error"]:+.2f}: '
                 f'{"" if good(row) else "FAIL "}{"" if row["sense"] else "WRONG SENSE "}{"" if row["reliable"] else "doubtful "}'
                 + ' '.join(f'{name} {row[name]:+.4f} ({row["u_" + name]:.4f})' for name in NAMES if not math.isnan(row[name])) + note)


def kind_of(case):
    return CLASSES[case * 83 % len(CLASSES)] # spread the classes: both lengths have no factor in common with 83


def greatest(rows, name):
    return max([abs(r[name]) for r in rows if not math.isnan(r[name])] + [0])


def good(row):
    if args.beads:
        return abs(row['column']) <= .02 and abs(row['row']) <= .02 and abs(row['roll']) <= .005 and not abs(row['yaw']) > .05
    return abs(row['column']) <= .1 and abs(row['roll']) <= .02


NAMES = ('column', 'roll', 'row', 'pitch', 'yaw', 'sdd', 'arc')
cases = [int(c) for c in args.list.split(',')] if args.list else range(args.first, args.first + args.cases)
results = []
with multiprocessing.Pool(args.jobs) as pool:
    for row, text in pool.imap(calibrate, [c for c in cases if not args.only or kind_of(c) == args.only], 1):
        results.append(row)
        print(text, flush=True)

limits = 'column, row <= .02, roll <= .005, yaw <= .05' if args.beads else 'column <= .1, roll <= .02'
print(f'\n| class | cases | {limits} | stated reliable | greatest column, row, roll, yaw | column, roll, row, yaw, sdd, arc in the 95 % '
      'interval | sense right |')
print('|---|---|---|---|---|---|---|')
for kind in dict.fromkeys(CLASSES):
    rows = [r for r in results if r['kind'] == kind]
    if not rows:
        continue
    inside = []
    for k in ('column', 'roll', 'row', 'yaw', 'sdd', 'arc'):
        known = [r for r in rows if not math.isnan(r[k])]
        inside.append(f'{sum(abs(r[k]) <= r["u_" + k] for r in known)}/{len(known)}')
    print(f'| {kind} | {len(rows)} | {sum(map(good, rows))} | {sum(r["reliable"] for r in rows)} | '
          f'{", ".join(f"{greatest(rows, k):.3f}" for k in ("column", "row", "roll", "yaw"))} | '
          f'{", ".join(inside)} | {sum(r["sense"] for r in rows)} |')
