#!/usr/bin/env python3
"""drift.py [--seeds N] [--first K] [--fbp PATH] [--work DIR] [--only GEOMETRY]: `fbp calibrate --drift` on simulated
scans whose panel moves between views: linear, quadratic, a jump, jitter. Prints per scan the planted movement, the
rest after the correction, how often the 95 % intervals contain the truth, and the errors of the volumes with and without
--drift. Results: bench/results/calibration.md.
Needs Python 3.8 and its standard library only."""
import argparse
import json
import math
import os
import random
import subprocess

from objects import ellipsoids

parser = argparse.ArgumentParser()
parser.add_argument('--seeds', type=int, default=1)
parser.add_argument('--first', type=int, default=1)
parser.add_argument('--size', type=int, default=128)
parser.add_argument('--views', type=int, default=180)
parser.add_argument('--photons', type=float, default=2e4)
parser.add_argument('--fbp', default='build/release/bin/fbp')
parser.add_argument('--work', default='/tmp/drift-bench')
parser.add_argument('--threads', default='2')
parser.add_argument('--only', help='one geometry only: parallel, cone or short')
args = parser.parse_args()
os.makedirs(args.work, exist_ok=True)
ARC = {'parallel': 180, 'cone': 360, 'short': 220}
KINDS = ('none', 'linear', 'quadratic', 'jump', 'jitter')
SOD, SDD = 500, 800


def fbp(*arguments):
    return subprocess.run([args.fbp, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def movement(kind, rng):
    """Planted offsets [u, v] of each view in pixels."""
    rows = []
    for k in range(args.views):
        x = k / (args.views - 1) - .5
        rows.append({'none': [0, 0], 'linear': [3 * x, 2 * x], 'quadratic': [9 * (x * x - 1 / 12), 6 * (x * x - 1 / 12)],
                     'jump': [math.copysign(.75, x), math.copysign(.5, x)],
                     'jitter': [rng.gauss(0, .5), rng.gauss(0, .5)]}[kind])
    return rows


def make(name, geometry, kind, seed):
    """Simulate a scan view by view; returns planted offsets and the scan with them."""
    rng, n = random.Random(seed), args.size
    parallel = geometry == 'parallel'
    pitch = 200 / n * (1 if parallel else SDD / SOD)
    base = f'{args.work}/{name}'
    with open(base + '.txt', 'w') as f:
        f.write('\n'.join(ellipsoids(rng, 78)) + '\n')
    planted = movement(kind, rng)
    column, row, roll = rng.uniform(-4, 4), 0 if parallel else rng.uniform(-2, 2), rng.uniform(-.8, .8)
    offsets = [[(column + u) * pitch, (row + v) * pitch] for u, v in planted]
    step, data = ARC[geometry] / args.views, b''
    distances = ['--kind', 'parallel'] if parallel else ['--sod', SOD, '--sdd', SDD]
    for k, (u, v) in enumerate(offsets):
        fbp('simulate', '--phantom', base + '.txt', '--size', n, '--voxel', 200 / n, '--detector', f'{n}x{n}', '--pitch',
            pitch, '--noise', args.photons, '--seed', 1000 * seed + k, '--views', 1, '--start', step * k, '--offset',
            f'{u},{v}', '--tilt', f'0,0,{roll}', *distances, '--threads', 1, '-q', '--force', '-o', base + '-view.json')
        with open(base + '-view.mha', 'rb') as f:
            view = f.read()
        data += view[-4 * n * n:]
    header = view[:-4 * n * n].decode().replace(f'DimSize = {n} {n} 1', f'DimSize = {n} {n} {args.views}')
    with open(base + '.mha', 'wb') as f:
        f.write(header.encode() + data)
    detector = {'columns': n, 'rows': n, 'pitch_mm': [pitch, pitch], 'row_order': 'bottom-up'}
    scan = {'fbp_scan': 1, 'kind': 'parallel' if parallel else 'cone', 'projections': f'{name}.mha',
            'detector': detector, 'angles_deg': {'start': 0, 'step': step},
            'volume': {'size': [n, n, n], 'voxel_mm': [200 / n] * 3}}
    if not parallel:
        scan.update(source_to_axis_mm=SOD, source_to_detector_mm=SDD)
    save(base + '.json', scan)
    scan['detector'] = dict(detector, offset_mm=offsets, tilt_deg=[0, 0, roll])
    return planted, scan


def save(path, scan):
    with open(path, 'w') as f:
        json.dump(scan, f)


def left_over(difference, vectors):
    """Subtract the components along vectors, which are made orthonormal."""
    basis = []
    for v in vectors:
        for b in basis:
            part = sum(x * y for x, y in zip(v, b))
            v = [x - part * y for x, y in zip(v, b)]
        norm = math.sqrt(sum(x * x for x in v))
        basis.append([x / norm for x in v])
    rest = difference
    for b in basis:
        part = sum(x * y for x, y in zip(rest, b))
        rest = [x - part * y for x, y in zip(rest, b)]
    return rest


def rms(x):
    return math.sqrt(sum(v * v for v in x) / len(x))


def whole(difference, angles):
    """Part a cos + b sin of a fit of 1, cos and sin to a difference: movement of the whole object."""
    vectors = [[1] * len(angles), list(map(math.cos, angles)), list(map(math.sin, angles))]
    rows = [[sum(map(lambda x, y: x * y, v, w)) for w in vectors + [difference]] for v in vectors]
    for i in range(3): # Gauss and Jordan
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(3):
            if k != i:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i])]
    return [rows[1][3] * c + rows[2][3] * s for c, s in zip(vectors[1], vectors[2])]


def per_view(path):
    with open(path) as f:
        offsets = json.load(f)['detector']['offset_mm']
    return offsets if isinstance(offsets[0], list) else [offsets] * args.views


def volume(path):
    fbp('recon', path, '-o', path + '.mha', '-q', '--force', '--threads', args.threads)
    return path + '.mha'


def error(path, truth, angles, height):
    """Normalised root mean square difference of the volumes of a scan file and of the planted geometry, moved by
    what no view determines: the position of the object; height: also the mean row."""
    offsets, reference = per_view(path), [list(o) for o in truth['detector']['offset_mm']]
    shift = whole([o[0] - t[0] for o, t in zip(offsets, reference)], angles)
    rise = sum(o[1] - t[1] for o, t in zip(offsets, reference)) / args.views if height else 0
    for t, x in zip(reference, shift):
        t[0] += x
        t[1] += rise
    save(path + '-reference.json', dict(truth, detector=dict(truth['detector'], offset_mm=reference)))
    a, b = volume(path), volume(path + '-reference.json')
    result = json.loads(fbp('compare', a, b, '--json'))['nrmse']
    os.unlink(a)
    os.unlink(b)
    return result


def measure(geometry, kind, seed):
    name = f'{geometry}-{kind}-{seed}'
    base = f'{args.work}/{name}'
    planted, truth = make(name, geometry, kind, seed)
    pitch = truth['detector']['pitch_mm'][0]
    found = json.loads(fbp('calibrate', base + '.json', '--drift', '-o', base + '-found.json', '--json', '--force', '-q',
                           '--threads', args.threads))
    fbp('calibrate', base + '.json', '-o', base + '-rigid.json', '--json', '--force', '-q', '--threads', args.threads)
    offsets = per_view(base + '-found.json')
    angles = [math.radians(ARC[geometry] / args.views * k) for k in range(args.views)]
    moved = [[list(map(f, angles)) for f in (lambda a: 1, math.cos, math.sin)], [[1] * args.views]]
    text = []
    for i, which in enumerate(('u', 'v')):
        difference = [(o[i] - t[i]) / pitch for o, t in zip(offsets, truth['detector']['offset_mm'])]
        rest = left_over(difference, moved[i])
        drift = found['drift_' + which]
        inside = sum(abs(x) <= drift['uncertainty'] for x in rest) / len(rest)
        text.append(f'{which}: planted {rms(left_over([p[i] for p in planted], moved[i])):.3f}, left {rms(rest):.3f}, '
                    f'+- {drift["uncertainty"]:.3f}, inside {inside:.2f}')
    still = [[o[0] - p[0] * pitch, o[1] - p[1] * pitch] for o, p in zip(truth['detector']['offset_mm'], planted)]
    save(base + '-still.json', dict(truth, detector=dict(truth['detector'], offset_mm=still)))
    volumes = []
    for height in [True] if geometry == 'parallel' else [False, True]:
        still, rigid, after = (error(f'{base}-{name}.json', truth, angles, height) for name in ('still', 'rigid', 'found'))
        volumes.append(f'without the movement {still:.4f}, calibrated without --drift {rigid:.4f}, with {after:.4f}')
    print(f'{geometry:8s} {kind:9s} {seed} {found["seconds"]:5.1f} s  {"; ".join(text)}; volume: '
          f'{"; same height: ".join(volumes)}', flush=True)
    os.unlink(base + '.mha')


for seed in range(args.first, args.first + args.seeds):
    for geometry in [args.only] if args.only else ARC:
        for kind in KINDS:
            measure(geometry, kind, seed)
