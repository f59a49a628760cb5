#!/usr/bin/env python3
"""How a reconstruction grows faster with ranks: processes of some cores each, or of a GPU each.

usage: ranks.py [--fbp build/release/bin/fbp] [--ranks 1,2,4] [--cores 4] [--view-ranks 1,2,4]
                [--size 512] [--views 360] [--output file|null] [--launcher team|mpirun]
                [--gpus N [--gpu-ranks 1,2,4] [--gpu-options=...]] [--no-cpu] [--no-apart]
                [--runs 3] [--dir DIR] [--json FILE] [--options="--kernel matrix"]

Simulates a scan of SIZE x SIZE pixels whose views are described by matrices (the path of a C-arm), and
reconstructs SIZE^3 voxels from it by R ranks of CORES cores each, in grids of slabs of slices x ranks
that share views.  With --gpus, one process with n devices, n ranks with a device each, and n ranks
that share one device follow.  All rows are run in turns, RUNS times; the best and the median are
printed, the speed-up beside one rank, and whether the volume has the bits of one rank.  Where views
are shared, its difference (rmse, as a part of the peak) is printed instead.

Rows "apart" are what the machine allows: as many processes as ranks do the whole job each, at the same
time, on their own cores, and know nothing of each other.  Their speed-up is that of volumes an hour,
and the slowest of them counts.

Seconds are those that the program tells: from the opened plan to the published volume.  "wall" has
also the start of the processes, their plans and their end; "processor" is the time of all cores.
Beside each row stands what the program's model of such ranks (fbp bench predict --model) foretells, and the
difference from the median: the model is given the rates that one rank had, how much slower processes
that work apart are at the same time, and how fast two processes of this host exchange messages, which
is measured without the program.

A rank keeps to its cores (CPUs of one core of the processor stay together).  Launcher "team" needs no
MPI; "mpirun" is Open MPI's, which binds by itself (--bind-to core --map-by slot:PE=CORES).  Needs
only Python.  Libraries in ../lib and ../deps beside the program are found.
"""
import argparse
import glob
import json
import multiprocessing
import os
import platform
import resource
import shlex
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time


def siblings():
    """CPUs that this process may use; those of one core follow each other."""
    def place(cpu):
        at = f"/sys/devices/system/cpu/cpu{cpu}/topology/"
        try:
            return [int(open(at + name).read()) for name in ("physical_package_id", "core_id")] + [cpu]
        except (OSError, ValueError):
            return [0, cpu, cpu]
    return sorted(os.sched_getaffinity(0), key=place)


def processor():
    with open("/proc/cpuinfo") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return names[0] if names else platform.machine()


def children_seconds():
    """Processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def exchange(cpus, seconds=0.5):
    """Bytes a second that two processes, each on its own CPUs, give each other at the same time."""
    ends = socket.socketpair()
    counts = multiprocessing.Array("d", 2)

    def play(rank):
        os.sched_setaffinity(0, cpus[rank])
        end, message, room, got = ends[rank], bytes(1 << 16), bytearray(1 << 16), 0
        until = time.monotonic() + seconds

        def give():
            while time.monotonic() < until:
                end.sendall(message)
            end.shutdown(socket.SHUT_WR)
        giver = threading.Thread(target=give)
        giver.start()
        while n := end.recv_into(room):
            got += n
        giver.join()
        counts[rank] = got

    players = [multiprocessing.Process(target=play, args=(rank,)) for rank in range(2)]
    for p in players:
        p.start()
    for end in ends:
        end.close()
    for p in players:
        p.join()
    return min(counts) / seconds


class Row:
    """Some ranks, and what they took."""

    def __init__(self, kind, ranks, view_ranks, cores, devices, apart=False):
        self.apart = apart
        self.kind, self.ranks, self.view_ranks, self.cores, self.devices = kind, ranks, view_ranks, cores, devices
        self.cpu, self.model_cpu = [], None
        self.seconds, self.wall, self.same, self.rmse, self.stages, self.model, self.failed = [], [], None, None, {}, None, None

    def name(self):
        if self.kind == "cpu":
            return f"{self.ranks} x {self.cores} cores" + (", apart" if self.apart else "")
        if self.ranks == 1:
            return f"1 process, {self.devices} GPU{'s' if self.devices > 1 else ''}"
        return f"{self.ranks} ranks, {self.devices} GPU{'s' if self.devices > 1 else ''}"

    def grid(self):
        return f"{self.ranks // self.view_ranks} x {self.view_ranks}"


class Bench:
    def __init__(self, args):
        self.args = args
        self.cpus = siblings()
        self.dir = tempfile.mkdtemp(prefix="fbp-ranks-", dir=args.dir)
        self.env = dict(os.environ)
        beside = os.path.dirname(os.path.dirname(args.fbp))
        found = [d for d in (os.path.join(beside, "lib"), os.path.join(beside, "deps")) if os.path.isdir(d)]
        self.env["LD_LIBRARY_PATH"] = ":".join(found + [d for d in [os.environ.get("LD_LIBRARY_PATH")] if d])

    def path(self, name):
        return os.path.join(self.dir, name)

    def call(self, *arguments):
        done = subprocess.run([self.args.fbp, *arguments], env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"fbp {' '.join(arguments)}: {(done.stdout + done.stderr).strip()}")
        return done.stdout

    def simulate(self):
        n = str(self.args.size)
        self.call("simulate", "--size", n, "--views", str(self.args.views), "--detector", f"{n}x{n}",
                  "--trajectory", "c-arm", "--arc", "360", "-o", self.path("scan.json"), "-q")

    def command(self, row, out):
        null = row.apart or self.args.output == "null" and out == "team.mha"
        to = "null:" if null else self.path(out)
        command = [self.args.fbp, "recon", self.path("scan.json"), "-o", to, "--json", "-q", "--force"]
        if row.kind == "cpu":
            return command + ["--device", "cpu", "--threads", str(row.cores)] + self.shares(row) + \
                shlex.split(self.args.options)
        several = row.ranks == 1 and row.devices > 1
        device = f"cuda:{','.join(map(str, range(row.devices)))}" if several else \
            "cuda:0" if row.devices == 1 else "cuda"
        return command + ["--device", device] + self.shares(row) + shlex.split(self.args.gpu_options)

    def shares(self, row):
        return ["--view-ranks", str(row.view_ranks)] if row.ranks > 1 and not row.apart else []

    def start_team(self, row, command):
        """One process a rank; all outputs, the first rank's first."""
        folder = tempfile.mkdtemp(dir=self.dir)
        running = []
        for rank in range(row.ranks):
            env = dict(self.env)
            if row.ranks > 1 and not row.apart:
                # Sockets: the module that the tests of several processes are run with.
                env.setdefault("FBP_TEAM_MODULE", os.path.join(os.path.dirname(os.path.realpath(command[0])),
                                                               "../lib/libfbp_test_team.so"))
                env["FBP_TEAM"] = f"{rank}/{row.ranks}:{folder}"
            own = self.cpus[rank * row.cores:(rank + 1) * row.cores] if row.cores else self.cpus
            running.append(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                            preexec_fn=lambda cpus=own: os.sched_setaffinity(0, cpus)))
        ended = [p.communicate() + (p.returncode,) for p in running]
        shutil.rmtree(folder, ignore_errors=True)
        return ended

    def start_mpirun(self, row, command):
        env = dict(self.env, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        bind = ["--bind-to", "core", "--map-by", f"slot:PE={row.cores}"] if row.cores else ["--bind-to", "none"]
        done = subprocess.run(["mpirun", "-n", str(row.ranks), *bind, *command], env=env, capture_output=True, text=True)
        return [(done.stdout, done.stderr, done.returncode)]

    def run(self, row, out="team.mha"):
        command = self.command(row, out)
        begin, used = time.monotonic(), children_seconds()
        by_mpirun = self.args.launcher == "mpirun" and row.ranks > 1 and not row.apart
        start = self.start_mpirun if by_mpirun else self.start_team
        ended = start(row, command)
        wall = time.monotonic() - begin
        row.cpu.append(children_seconds() - used)
        for text, err, rc in ended:
            if rc:
                raise RuntimeError(f"{row.name()}, {row.grid()}: {(text + err).strip()}")
        reports = [json.loads(text) for text, _, _ in (ended if row.apart else ended[:1])]
        return max(reports, key=lambda r: r["seconds"]["total"]), wall

    def compare(self, row):
        """The volume of a row beside that of one rank."""
        found = json.loads(self.call("compare", self.path("team.mha"), self.path("one.mha"), "--json"))
        info = json.loads(self.call("info", self.path("one.mha"), "--json")) if row.view_ranks > 1 else {}
        peak = max(abs(info.get("max", 1)), abs(info.get("min", 1)))
        with open(self.path("team.mha"), "rb") as a, open(self.path("one.mha"), "rb") as b:
            row.same = all(x == y for x, y in zip(iter(lambda: a.read(1 << 24), b""), iter(lambda: b.read(1 << 24), b"")))
        row.rmse = found["rmse"] / peak

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def rows_of(args, cpus):
    rows = []
    for ranks in args.ranks if args.cpu else []:
        if ranks * args.cores > len(cpus):
            print(f"left out: {ranks} ranks of {args.cores} cores: there are {len(cpus)}", file=sys.stderr)
            continue
        rows += [Row("cpu", ranks, share, args.cores, 0) for share in args.view_ranks if ranks % share == 0]
        if ranks > 1 and args.apart:
            rows.append(Row("cpu", ranks, 1, args.cores, 0, apart=True))
    for n in args.gpu_ranks if args.gpus else []:
        if n <= args.gpus:
            rows.append(Row("gpu", 1, 1, 0, n))
        if 1 < n <= args.gpus:
            rows += [Row("gpu", n, share, 0, n) for share in args.view_ranks if n % share == 0]
        if n > 1:
            rows.append(Row("gpu", n, 1, 0, 1))
    return rows


def references(rows):
    """The first row of each kind: what others are compared with."""
    first = {}
    for row in rows:
        first.setdefault(row.kind, row)
    return first


class Model:
    """What `fbp bench predict --model` foretells of ranks, from what one rank took.

    Filter and backprojection share the cores of a rank, each half of them while both work: half of
    the filter's seconds are its own, and the backprojection has what is left of the whole: as much as
    lets the model be right for one rank.  Both are slower beside other ranks by as much as processes
    that work apart are.  Nothing is taken from rows of several ranks."""

    def __init__(self, bench, one, whole, slower, net):
        s, size, views = one.stages, bench.args.size, bench.args.views
        self.bench, self.slower, self.net = bench, slower, net
        self.reads = size * size * views * 4 / max(s["read"], 1e-3)
        self.writes = size**3 * 4 / max(s["write"], 1e-3) if bench.args.output == "file" else 1e13
        self.filter = self.gups = 1
        unit = self.ask(1, 1)
        own = s["filter"] / 2
        self.filter = unit["filter"] / own if own > 0 else 1e6
        left = max(whole - own, 1e-3)
        for _ in range(4):  # what does not overlap is not the backprojection's
            self.gups = unit["backproject"] / left
            left = max(left + whole - self.ask(1, 1)["total"], 1e-3)

    def ask(self, ranks, share):
        slower = self.slower.get(ranks, 1)
        words = [f"nodes={ranks}", "gpus=0", f"cores={self.bench.args.cores}", f"gups={self.gups / slower:.5g}", f"filter={self.filter / slower:.5g}",
                 f"net={self.net * 1e-9:.5g}GB/s", f"read={min(self.reads, 1e13) * 1e-9:.5g}GB/s",
                 f"write={min(self.writes, 1e13) * 1e-9:.5g}GB/s"]  # each rank writes its own slices
        text = self.bench.call("bench", "predict", self.bench.path("scan.json"), "--json", "-q", "--view-ranks", str(share),
                               "--kernel", "matrix", "--model", ",".join(words))
        return json.loads(text)["cluster"][0]

    def foretell(self, row):
        return self.ask(row.ranks, row.view_ranks)["total"]


def foretell(bench, one, rows):
    """What the model says of the seconds of each row, and, of ranks of one core, of the seconds that
    the cores worked: others on this machine do not change these."""
    cores, whole, net = bench.args.cores, statistics.median(one.seconds), 1e12
    slower = {r.ranks: statistics.median(r.seconds) / whole for r in rows if r.kind == "cpu" and r.apart and r.seconds}
    if len(bench.cpus) >= 2 * cores:
        net = exchange([bench.cpus[:cores], bench.cpus[cores:2 * cores]])
        print(f"  two processes give each other {net * 1e-9:.2f} GB/s", file=sys.stderr)
    model = Model(bench, one, whole, slower, net)
    work = Model(bench, one, statistics.median(one.cpu), {}, net) if cores == 1 else None
    for row in rows:
        if row.kind == "cpu" and row.seconds and not row.apart:
            row.model = model.foretell(row)
            row.model_cpu = row.ranks * work.foretell(row) if work else None


def measure(bench, rows):
    first = references(rows)
    for turn in range(bench.args.runs):
        for row in rows:
            if row.failed:
                continue
            try:
                report, wall = bench.run(row)
                if bench.args.output == "file" and turn == 0 and not row.apart:
                    if row is first[row.kind]:
                        os.replace(bench.path("team.mha"), bench.path("one.mha"))
                    else:
                        bench.compare(row)
            except RuntimeError as e:
                row.failed = str(e)
                print(f"failed: {e}", file=sys.stderr)
                continue
            if not row.seconds or report["seconds"]["total"] < min(row.seconds):
                row.stages = report["seconds"]
                row.kernel = " ".join(str(report.get(k, "")) for k in ("kernel", "isa"))
            row.seconds.append(report["seconds"]["total"])
            row.wall.append(wall)
            print(f"  {row.name()}, grid {row.grid()}: {report['seconds']['total']:.3f} s, wall {wall:.3f} s",
                  file=sys.stderr)
            if os.path.exists(bench.path("team.mha")):
                os.remove(bench.path("team.mha"))
    one = first.get("cpu")
    if one and one.seconds and one.ranks == 1:
        try:
            foretell(bench, one, rows)
        except (RuntimeError, KeyError) as e:
            print(f"no model: {e}", file=sys.stderr)
    return first


def values(row):
    if row.same is None:
        return "-"
    return "same bits" if row.same else f"{row.rmse:.1e}"


def beside(model, measured):
    """What the model says, and how far that is from the median."""
    return f"{model:.3f} ({100 * (model / statistics.median(measured) - 1):+.0f} %)" if model else "-"


def table(rows, first):
    lines = ["| | slabs x views | best [s] | median [s] | wall [s] | processor [s] | speed-up | of linear | values | model [s] | of processor [s] |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        if row.failed or not row.seconds:
            lines.append(f"| {row.name()} | {row.grid()} | failed | | | | | | | | |")
            continue
        one = first[row.kind]
        faster = min(one.seconds) / min(row.seconds) * (row.ranks if row.apart else 1) if one.seconds else 0
        linear = faster / (row.ranks if row.kind == "cpu" else max(row.devices, 1))
        model, work = beside(row.model, row.seconds), beside(row.model_cpu, row.cpu)
        lines.append(f"| {row.name()} | {row.grid()} | {min(row.seconds):.3f} | {statistics.median(row.seconds):.3f} | "
                     f"{min(row.wall):.3f} | {statistics.median(row.cpu):.2f} | {faster:.2f} | {linear:.2f} | {values(row)} | {model} | {work} |")
    return "\n".join(lines)


def result(args, rows, first, cpus):
    def one(row):
        return {"kind": row.kind, "apart": row.apart, "ranks": row.ranks, "view_ranks": row.view_ranks, "cores": row.cores,
                "gpus": row.devices, "seconds": row.seconds, "wall": row.wall, "processor_seconds": row.cpu, "stages": row.stages,
                "same_bits": row.same, "rmse_of_peak": row.rmse, "model_seconds": row.model, "model_processor_seconds": row.model_cpu, "failed": row.failed}
    return {"processor": processor(), "cpus": len(cpus), "size": args.size, "views": args.views,
            "output": args.output, "launcher": args.launcher, "runs": args.runs,
            "kernels": {k: getattr(r, "kernel", None) for k, r in first.items()}, "rows": [one(r) for r in rows]}


def numbers(text):
    return [int(n) for n in text.split(",")]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "fbp")))
    p.add_argument("--fbp", default=beside[0] if beside else "build/release/bin/fbp")
    p.add_argument("--ranks", type=numbers, default=[1, 2, 4])
    p.add_argument("--cores", type=int, default=4)
    p.add_argument("--view-ranks", type=numbers, default=[1, 2, 4])
    p.add_argument("--size", type=int, default=512)
    p.add_argument("--views", type=int, default=360)
    p.add_argument("--output", choices=("file", "null"), default="file")
    p.add_argument("--launcher", choices=("team", "mpirun"), default="team")
    p.add_argument("--options", default="", help="more options of fbp recon, for rows of CPUs")
    p.add_argument("--gpus", type=int, default=0)
    p.add_argument("--gpu-ranks", type=numbers, default=[1, 2, 4])
    p.add_argument("--gpu-options", default="", help="more options of fbp recon, for rows of GPUs")
    p.add_argument("--no-apart", dest="apart", action="store_false", help="without processes that work apart")
    p.add_argument("--no-cpu", dest="cpu", action="store_false", help="rows of GPUs alone")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--dir", default=None, help="where files are written; /dev/shm is memory")
    p.add_argument("--json", default=None)
    args = p.parse_args()
    args.fbp = os.path.abspath(args.fbp)
    if not os.access(args.fbp, os.X_OK):
        p.error(f"{args.fbp} is no program: give --fbp")
    if min(args.ranks + args.gpu_ranks + args.view_ranks + [args.cores, args.size, args.views, args.runs]) < 1:
        p.error("numbers begin at 1")
    return args


def main():
    args = arguments()
    bench = Bench(args)
    try:
        bench.simulate()
        rows = rows_of(args, bench.cpus)
        if not rows:
            sys.exit("no rows: give --ranks and --cores that this machine has")
        first = measure(bench, rows)
    except RuntimeError as e:
        sys.exit(str(e))
    finally:
        bench.close()
    print(f"{args.size}^3 voxels from {args.views} matrices, {processor()}, {len(bench.cpus)} CPUs, output: {args.output}, "
          f"launcher: {args.launcher}, kernel: {', '.join(getattr(r, 'kernel', '?') for r in first.values())}\n")
    print(table(rows, first))
    if args.json:
        with open(args.json, "w") as f:
            json.dump(result(args, rows, first, bench.cpus), f, indent=1)
    sys.exit(1 if any(r.failed for r in rows) else 0)


if __name__ == "__main__":
    main()
