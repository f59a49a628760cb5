"""fbp tune over HTTP: its slices are those of `fbp recon` with the same settings; it saves, runs, stops and
refuses.  Arguments: the program fbp, a folder to work in."""
import json
import os
import signal
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

fbp, folder = sys.argv[1], sys.argv[2]
failures = 0


def check(true, *words):
    global failures
    if not true:
        failures += 1
        print("FAILED:", *words)


def run(*arguments, status=0):
    got = subprocess.run([fbp, *arguments], capture_output=True, text=True)
    check(got.returncode == status, arguments, "exit status", got.returncode, got.stderr)
    return got


def read_mha(path):
    """Sizes and floats of a volume."""
    with open(path, "rb") as f:
        data = f.read()
    end = data.index(b"ElementDataFile")
    head = data[:end].decode()
    start = data.index(b"\n", end) + 1
    n = [int(v) for v in head.split("DimSize =")[1].split("\n")[0].split()]
    return n, struct.unpack(f"<{n[0] * n[1] * n[2]}f", data[start:])


class Tune:
    children = []

    def __init__(self, *arguments):
        self.child = subprocess.Popen([fbp, "tune", *arguments, "-q"], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, text=True)
        Tune.children.append(self.child)
        self.address = self.child.stdout.readline().strip()
        with urllib.request.urlopen(self.address) as page:
            text = page.read().decode()
            check("script-src 'sha256-" in page.headers["Content-Security-Policy"], "no policy")
        self.meta = json.loads(text.split('id="meta">')[1].split("</script>")[0])
        self.n = self.meta["size"]
        self.at = [min(v // 2 + 1, v - 1) for v in self.n]

    def get(self, path, status=200):
        try:
            with urllib.request.urlopen(self.address + path) as answer:
                check(answer.status == status, path, answer.status)
                return answer.read()
        except urllib.error.HTTPError as error:
            check(error.code == status, path, error.code, error.read())
            return b""

    def value(self, key):
        return [s["value"] for s in self.meta["settings"] if s["key"] == key][0]

    def slices(self, query=""):
        """Facts, and the three planes with all views."""
        times = 0
        while True:
            got = self.get("slices?x={}&y={}&z={}&{}".format(*self.at, query))
            n = struct.unpack("<I", got[:4])[0]
            facts = json.loads(got[4:4 + n])
            times += 1
            if facts["views"] == facts["all"]:
                break
        facts["times"] = times
        values = struct.unpack(f"<{(len(got) - 4 - n) // 2}H", got[4 + n:])
        nx, ny, nz = self.n
        sizes = nx * ny, nx * nz, ny * nz
        check(len(values) == sum(sizes), "size of the answer")
        planes = [values[:sizes[0]], values[sizes[0]:sizes[0] + sizes[1]], values[sizes[0] + sizes[1]:]]
        return facts, [[least + step * v for v in plane]
                       for plane, least, step in zip(planes, facts["least"], facts["step"])]

    def difference(self, planes, path):
        """To the same slices of a volume: root mean square, relative to the volume's peak."""
        n, v = read_mha(path)
        check(n == self.n, "sizes", n, self.n)
        nx, ny, nz = n
        x, y, z = self.at
        want = [[v[(z * ny + j) * nx + i] for j in range(ny) for i in range(nx)],
                [v[(k * ny + y) * nx + i] for k in range(nz) for i in range(nx)],
                [v[(k * ny + j) * nx + x] for k in range(nz) for j in range(ny)]]
        peak = max(max(map(abs, p)) for p in want)
        total = sum((a - b) ** 2 for p, q in zip(planes, want) for a, b in zip(p, q))
        return (total / sum(map(len, want))) ** 0.5 / peak

    def end(self):
        self.child.send_signal(signal.SIGINT)
        check(self.child.wait(30) == 0, "exit status after Ctrl-C", self.child.returncode)


def compare(t, query, *options, most=2e-5):
    facts, planes = t.slices(query)
    options = [o.format(**facts) for o in options]
    run("recon", "scan.json", "-o", "want.mha", "--size", "40x36x32", "--voxel", "4", "--kernel", "matrix", "-q",
        *options)
    d = t.difference(planes, "want.mha")
    print(f"{query or 'as in the scan file'}: {d:.2g} in {facts['times']}")
    check(d <= most, query, options, "differ by", d)
    return facts


def check_slices():
    t = Tune("scan.json", "--size", "40x36x32", "--voxel", "4", "-o", "out.mha", "--save", "saved.json",
             "--device", "cpu")
    first = compare(t, "")
    check(first["read"], "the first slices did not read the views")
    axis = compare(t, "column=0.3", "--centre", "{column}", most=2e-4)
    check(abs(axis["column"] - first["column"] - 0.3) < 1e-9, "column", axis["column"])
    check(not axis["filtered"] and not axis["read"], "a small shift of the axis filtered again", axis)
    compare(t, "column=2.5", "--centre", "{column}")
    compare(t, "roll=0.8", "--tilt", "0.8", most=0.02)
    compare(t, f"sod={t.value('sod') * 0.95}", "--sod", str(t.value("sod") * 0.95))
    compare(t, f"sdd={t.value('sdd') * 1.1}", "--sdd", str(t.value("sdd") * 1.1))
    for flip in ("flip-u", "flip-v", "reverse"):
        compare(t, flip + "=1", "--" + flip)
    compare(t, "filter=4&cutoff=0.7", "--filter", "hann", "--cutoff", "0.7")
    compare(t, "pad=2", "--pad", "ellipse")
    rings = compare(t, "rings=1&ring-width=9", "--rings", "sorting:9")
    check(rings["read"], "ring removal did not read again")
    compare(t, "rings=3", "--rings", "offsets")
    compare(t, "rings=4&ring-width=5", "--rings", "fluctuating:5")
    compare(t, "hardening=0.1", "--beam-hardening", "1,0.1")
    compare(t, "paganin=50&kev=40", "--paganin", "50,40")
    # a pitch, a yaw and an arc change the slices, and 0 restores them
    start = t.slices()[1]
    for change in ("pitch=2", "yaw=2", "arc=300", "row=4"):
        planes = t.slices(change)[1]
        check(max(abs(a - b) for a, b in zip(planes[1], start[1])) > 1e-3 * max(start[1]), change, "has no effect")
    check(t.slices()[1] == start, "the settings of the scan file are not restored")

    query = "column=2.5&filter=4&rings=1"
    file, command = t.get("save?" + query).decode().split("\n")[:2]
    check(file == "saved.json" and command == "fbp recon saved.json -o out.mha --filter hann", file, command)
    planes = t.slices(query)[1]
    run(*command.split()[1:], "--size", "40x36x32", "--voxel", "4", "--kernel", "matrix", "-q")
    d = t.difference(planes, "out.mha")
    check(d < 2e-4, "the saved scan file differs by", d)
    os.remove("out.mha")

    check(t.get("view/", status=404) == b"", "a viewer before the run")
    t.get("run?" + query)
    while (state := t.get("progress").decode().split()[0]) == "running":
        time.sleep(0.02)
    check(state == "finished", "the run", t.get("progress"))
    d = t.difference(planes, "out.mha")
    check(d < 0.01, "the volume of Run differs by", d)  # another kernel
    check(b"<title>out.mha" in t.get("view/"), "no viewer")
    got = t.get(f"view/slice?plane=0&index={t.at[2]}&frame=0")
    n, v = read_mha("out.mha")
    first = t.at[2] * n[0] * n[1]
    check(struct.unpack(f"<{n[0] * n[1]}f", got) == v[first:first + n[0] * n[1]], "a slice of the viewer")

    for bad in ("slices?x=1&y=2&", "slices?column=1", "slices?x=99&y=1&z=1&", "slices?x=1&y=1&z=1&column=1e9",
                "slices?x=1&y=1&z=1&column=x", "slices?x=1&y=1&z=1&column=nan", "save?column", "run?distance=5"):
        t.get(bad, status=400)
    t.get("other", status=404)
    t.get("slices?x=1&y=1&z=1&paganin=1e9", status=400)
    t.get("slices?x=1&y=1&z=1&rings=1&ring-width=101", status=500)  # wider than the detector
    check(t.slices()[1] == start, "slices after a refused setting")
    wrong = t.address.rsplit("/", 2)[0] + "/0123456789abcdef0123456789abcdef/"
    try:
        urllib.request.urlopen(wrong)
        check(False, "a wrong token was accepted")
    except urllib.error.HTTPError as error:
        check(error.code in (403, 404), "status for a wrong token", error.code)
    t.end()


def check_stop():
    t = Tune("scan.json", "--size", "400", "-o", "big.mha", "--device", "cpu")
    t.get("run?")
    t.get("run?", status=500)
    t.get("stop")
    while (text := t.get("progress").decode()).startswith("running"):
        time.sleep(0.02)
    check(text.startswith("failed") and "stopped: big.mha" in text, "after stop:", text)
    check(not any(name.startswith("big.mha") for name in os.listdir()), "left behind:", os.listdir())
    t.get("run?")
    t.end()  # while it runs
    check(not any(name.startswith("big.mha") for name in os.listdir()), "left behind:", os.listdir())


def check_others():
    child = subprocess.Popen([fbp, "tune", "scan.json", "--json"], stdout=subprocess.PIPE, text=True)
    Tune.children.append(child)
    check(json.loads(child.stdout.readline())["address"].startswith("http://127.0.0.1:"), "address in JSON")
    child.send_signal(signal.SIGINT)
    child.wait(30)
    """Fan, parallel and reduced scans."""
    run("simulate", "--kind", "parallel", "--size", "32", "--views", "40", "--arc", "180", "--detector", "48x1",
        "-o", "flat.json", "-q")
    t = Tune("flat.json", "--save", "flat-tuned.json")
    check(t.n[2] == 1 and not [s for s in t.meta["settings"] if s["key"] in ("sod", "row")], "a flat scan")
    check(t.slices("column=1")[0]["views"] == 40, "views of a flat scan")
    t.end()
    t = Tune("scan.json", "--bin", "2", "--every", "3", "--size", "20", "-o", "tuned.mha")
    check(t.slices()[0]["all"] == 20, "every third view")
    t.end()
    run("simulate", "--kind", "planes", "--directions", "solid-angle:4", "--size", "16", "-o", "planes.json", "-q")
    with open("scan.json") as f, open("lost.json", "w") as g:
        g.write(f.read().replace("scan.mha", "lost.mha"))
    for status, message, *arguments in (
            (1, "fbp tune shows scans of line integrals", "planes.json"),
            (1, "would overwrite", "scan.json", "--save", "scan.json"),
            (2, "expected a name that ends in .json", "scan.json", "--save", "x.txt"),
            (1, "missing.json", "missing.json"),
            (1, "cannot open", "lost.json"),
            (1, "too few for the slices", "scan.json", "--memory", "100K")):
        got = run("tune", *arguments, status=status)
        check(message in got.stderr, arguments, "message:", got.stderr)


os.makedirs(folder, exist_ok=True)
os.chdir(folder)
for name in os.listdir():
    os.remove(name)
run("simulate", "--size", "40", "--voxel", "4", "--views", "60", "--detector", "64x56", "--scale", "0.02", "-o",
    "scan.json", "-q")
try:
    check_slices()
    check_stop()
    check_others()
finally:
    for child in Tune.children:
        child.kill()
sys.exit(failures > 0)
