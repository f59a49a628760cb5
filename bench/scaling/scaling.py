#!/usr/bin/env python3
"""How the time of a reconstruction grows with the volume's side N and the number of views K.

usage: bench/scaling/scaling.py [--fbp build/release/bin/fbp] [--case fft] [--threads N] [--out DIR]
                                [--sizes 64,128,256,512,1024] [--at-views 64]
                                [--views 32,64,128,256,512] [--at-size 256] [--seconds 10] [--dir DIR]

Runs `fbp bench S0` from file to file, with N^3 voxels from K views of N x N pixels; the best of several
runs counts.  Fits log t = log a + p log N + q log K by least squares, to the seconds of the
backprojection alone and to those of the whole job.  Prints a table and the fit as Markdown, and draws
both sweeps into DIR/scaling.svg.  Needs only Python; 1024^3 takes 9 GiB of memory and 5 GB of disk.
"""
import argparse
import json
import math
import os
import subprocess
import sys


def measure(args, size, views, expected):
    """The best of as many runs as fit into the seconds asked for; a run does the job twice."""
    runs = max(1, min(20, math.ceil(args.seconds / (2 * expected)))) if expected else 20
    command = [args.fbp, "bench", "S0", "--case", args.case, "--size", str(size), "--views", str(views),
               "--runs", str(runs), "--json", "-q"]
    command += ["--threads", str(args.threads)] if args.threads else []
    command += ["--dir", args.dir] if args.dir else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    r = json.loads(done.stdout)["measurements"][0]
    return {"n": size, "k": views, "updates": size**3 * views, "backproject": r["stages"]["backproject"],
            "whole": r["seconds"], "kernel": r["kernel"], "isa": r["isa"], "threads": r["threads"]}


def sweep(args, pairs):
    """Measurements of all (N, K); what is known so far tells how long the next one will take."""
    rate, out = None, {}
    for size, views in sorted(set(pairs), key=lambda p: p[0]**3 * p[1]):
        r = measure(args, size, views, rate and size**3 * views * rate)
        rate = r["whole"] / r["updates"]
        out[size, views] = r
        print(f"  {size}^3 from {views}: {r['backproject']:.4f} s of {r['whole']:.4f} s", file=sys.stderr)
    return out


def solve(a, b):
    """Gauss with pivoting; a is square."""
    n = len(b)
    m = [row[:] + [v] for row, v in zip(a, b)]
    for i in range(n):
        m[i:] = sorted(m[i:], key=lambda row: -abs(row[i]))
        for j in range(i + 1, n):
            f = m[j][i] / m[i][i]
            m[j] = [x - f * y for x, y in zip(m[j], m[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x


def fit(points, key):
    """(log a, p, q) of t = a N^p K^q, and the greatest factor between a point and the fit."""
    rows = [(1.0, math.log(p["n"]), math.log(p["k"])) for p in points]
    y = [math.log(p[key]) for p in points]
    a = [[sum(r[i] * r[j] for r in rows) for j in range(3)] for i in range(3)]
    x = solve(a, [sum(r[i] * v for r, v in zip(rows, y)) for i in range(3)])
    worst = max(abs(v - sum(c * d for c, d in zip(x, r))) for r, v in zip(rows, y))
    return x, math.exp(worst)


def slope(points, axis, key):
    """Least-squares slope of log t over log N or log K."""
    x = [math.log(p[axis]) for p in points]
    y = [math.log(p[key]) for p in points]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx)**2 for a in x)


def table(points):
    lines = ["| N | K | backprojection [s] | GUPS | whole [s] | GUPS |", "|---|---|---|---|---|---|"]
    for p in points:
        rate = [p["updates"] / p[key] * 1e-9 for key in ("backproject", "whole")]
        lines.append(f"| {p['n']} | {p['k']} | {p['backproject']:.4f} | {rate[0]:.2f} "
                     f"| {p['whole']:.4f} | {rate[1]:.2f} |")
    return lines


def report(by_size, by_views, points):
    first = points[0]
    lines = [f"N^3 voxels from K views of N x N, kernel {first['kernel']}, {first['isa']}, "
             f"{first['threads']} threads:", ""]
    lines += table(by_size) + [""] + table(by_views) + [""]
    for key, name in (("backproject", "Backprojection"), ("whole", "Whole job")):
        (log_a, p, q), worst = fit(points, key)
        large = [r for r in by_size if r["n"] >= 128] or by_size
        lines.append(f"{name}: t = {math.exp(log_a):.3g} s N^{p:.3f} K^{q:.3f}, every point within a "
                     f"factor of {worst:.2f}; over N alone slope {slope(by_size, 'n', key):.3f} (from "
                     f"{large[0]['n']} on {slope(large, 'n', key):.3f}), over K alone "
                     f"{slope(by_views, 'k', key):.3f}.")
    return "\n".join(lines)


class Panel:
    """A log-log diagram in an SVG: side by side, one a sweep."""
    WIDTH, HEIGHT, LEFT, TOP = 330, 300, 70, 40
    COLOURS = {"backproject": "#1f5fa8", "whole": "#c4561b"}

    def __init__(self, index, points, axis, title):
        self.points, self.axis, self.title = points, axis, title
        self.x0 = self.LEFT + index * (self.WIDTH + 100)
        x = [p[axis] for p in points]
        t = [p[key] for p in points for key in self.COLOURS]
        self.x_range = (math.log10(min(x)) - 0.08, math.log10(max(x)) + 0.08)
        self.t_range = (math.floor(math.log10(min(t))), math.ceil(math.log10(max(t))))

    def at(self, x, t):
        f = (math.log10(x) - self.x_range[0]) / (self.x_range[1] - self.x_range[0])
        g = (math.log10(t) - self.t_range[0]) / (self.t_range[1] - self.t_range[0])
        return self.x0 + f * self.WIDTH, self.TOP + (1 - g) * self.HEIGHT

    def frame(self):
        bottom = self.TOP + self.HEIGHT
        yield (f'<rect x="{self.x0}" y="{self.TOP}" width="{self.WIDTH}" height="{self.HEIGHT}" '
               'fill="none" stroke="#444"/>')
        yield f'<text x="{self.x0}" y="{self.TOP - 14}">{self.title}</text>'
        for x in (p[self.axis] for p in self.points):
            px = self.at(x, 1)[0]
            yield f'<path d="M{px:.1f} {bottom}v5" stroke="#444"/>'
            yield f'<text x="{px:.1f}" y="{bottom + 18}" text-anchor="middle">{x}</text>'
        for e in range(self.t_range[0], self.t_range[1] + 1):
            py = self.at(self.points[0][self.axis], 10.0**e)[1]
            yield f'<path d="M{self.x0} {py:.1f}h{self.WIDTH}" stroke="#ddd"/>'
            yield f'<text x="{self.x0 - 6}" y="{py + 4:.1f}" text-anchor="end">{10.0**e:g} s</text>'
        yield (f'<text x="{self.x0 + self.WIDTH / 2}" y="{bottom + 36}" text-anchor="middle">'
               f'{self.axis.upper()}</text>')

    def curve(self, index, key, name):
        colour, line = self.COLOURS[key], slope(self.points, self.axis, key)
        x = [math.log(p[self.axis]) for p in self.points]
        mean = sum(math.log(p[key]) for p in self.points) / len(x)
        ends = [(math.exp(e), math.exp(mean + line * (e - sum(x) / len(x)))) for e in (x[0], x[-1])]
        (x1, y1), (x2, y2) = (self.at(*e) for e in ends)
        yield f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-dasharray="4 3"/>'
        for p in self.points:
            px, py = self.at(p[self.axis], p[key])
            yield f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{colour}"/>'
        y = self.TOP + 18 + 16 * index
        yield (f'<text x="{self.x0 + 10}" y="{y}" fill="{colour}">{name}: slope {line:.2f}</text>')

    def draw(self):
        yield from self.frame()
        yield from self.curve(0, "backproject", "backprojection")
        yield from self.curve(1, "whole", "whole job")


def write_svg(path, panels):
    width, height = Panel.LEFT + 2 * (Panel.WIDTH + 100), Panel.TOP + Panel.HEIGHT + 50
    with open(path, "w") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="#fff"/>\n')
        for panel in panels:
            f.write("\n".join(panel.draw()) + "\n")
        f.write("</svg>\n")


def numbers(text):
    return sorted(int(n) for n in text.split(","))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--fbp", default="build/release/bin/fbp")
    p.add_argument("--case", default="fft", choices=("fft", "spatial", "matrix"))
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--sizes", type=numbers, default="64,128,256,512,1024")
    p.add_argument("--at-views", type=int, default=64)
    p.add_argument("--views", type=numbers, default="32,64,128,256,512")
    p.add_argument("--at-size", type=int, default=256)
    p.add_argument("--seconds", type=float, default=10, help="spent on a point, one run at least")
    p.add_argument("--out", default=".")
    p.add_argument("--dir", default=None)
    args = p.parse_args()
    if len(args.sizes) < 2 or len(args.views) < 2:
        p.error("--sizes and --views: expected at least two numbers each")
    args.fbp = os.path.abspath(args.fbp)
    over_size = [(n, args.at_views) for n in args.sizes]
    over_views = [(args.at_size, k) for k in args.views]
    found = sweep(args, over_size + over_views)
    by_size, by_views = [found[x] for x in over_size], [found[x] for x in over_views]
    print(report(by_size, by_views, list(found.values())), flush=True)
    write_svg(os.path.join(args.out, "scaling.svg"),
              [Panel(0, by_size, "n", f"N, K = {args.at_views} views"),
               Panel(1, by_views, "k", f"K, N = {args.at_size}")])


if __name__ == "__main__":
    main()
