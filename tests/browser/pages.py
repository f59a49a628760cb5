#!/usr/bin/env python3
"""pages.py FBP FOLDER: pages of fbp view in a headless browser.  They run without an error, without a
violation of their policy and without a request; sliders, keys and the mouse change what they show; values
are those of the volume.  Exit status 77: no browser here."""
import os
import shutil
import struct
import subprocess
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import devtools  # noqa: E402

fbp, work = os.path.abspath(sys.argv[1]), sys.argv[2]
failures = 0


def check(true, *words):
    global failures
    if not true:
        failures += 1
        print("FAILED:", *words)


def run(*arguments):
    subprocess.run([fbp, *arguments], check=True, stdin=subprocess.DEVNULL)


def write_mha(path, size, values, spacing=(1, 1, 1), offset=(0, 0, 0)):
    with open(path, "wb") as f:
        f.write(f"""ObjectType = Image
NDims = {len(size)}
DimSize = {' '.join(map(str, size))}
ElementSpacing = {' '.join(map(str, spacing))}
Offset = {' '.join(map(str, offset))}
ElementType = MET_FLOAT
ElementByteOrderMSB = False
ElementDataFile = LOCAL
""".encode())
        f.write(struct.pack(f"<{len(values)}f", *values))


# Each voxel has its own value, which a float holds exactly.
N = (12, 10, 8)


def voxel(x, y, z):
    return x + 100 * y + 10000 * z


def shown(b):
    """The value and the texts at the cross-hair, when the page has come to rest."""
    b.value("new Promise((ok) => requestAnimationFrame(() => requestAnimationFrame(ok)))")
    return (float(b.value("document.getElementById('value').dataset.value")),
            b.value("document.getElementById('place').textContent"),
            b.value("document.getElementById('voxel').textContent"))


def becomes(get, want, *words, again=None):
    """Events of a busy machine come late, or get lost: what they lead to is waited for.  again():
    sends the event once more, every two seconds."""
    begin, sent = time.monotonic(), 0
    while (got := get()) != want and (past := time.monotonic() - begin) < 30:
        if again and past > 2 * (sent + 1):
            again()
            sent += 1
        time.sleep(0.02)
    check(got == want, *words, "gives", got, "instead of", want)


def open_page(b, path, fragment=""):
    b.open("file://" + os.path.abspath(path) + fragment)
    b.wait("!document.getElementById('desk').hidden || !document.getElementById('problem').hidden")
    check(b.value("document.getElementById('problem').hidden"),
          path, b.value("document.getElementById('problem').textContent"))


def check_quiet(b, what):
    check(not b.said, what, "said:", b.said)
    outside = [u for u in b.requests if not u.startswith(("file://", "data:", "blob:", "about:"))]
    check(not outside, what, "asked for", outside)


def check_values(b):
    open_page(b, "v.html", "#x=3&y=4&z=5")
    check(shown(b) == (voxel(3, 4, 5), "11.5, 28, 107.5", "3, 4, 5"), "fragment:", shown(b))
    keys = [("ArrowRight", (4, 4, 5)), ("ArrowUp", (4, 5, 5)), ("PageUp", (4, 5, 6)),
            ("2", (4, 5, 6)), ("ArrowUp", (4, 5, 7)), ("ArrowUp", (4, 5, 7)), ("PageDown", (4, 4, 7)),
            ("3", (4, 4, 7)), ("PageUp", (5, 4, 7)), ("ArrowLeft", (5, 3, 7)), ("h", (6, 5, 4))]
    for key, at in keys:
        b.key(key)
        becomes(lambda: shown(b)[0], voxel(*at), "key", key)
    for i, axis in enumerate(("z", "y", "x")):
        b.value(f"""(() => {{ const s = document.querySelectorAll('.plane input')[{i}];
                    s.value = 1; s.dispatchEvent(new Event('input')); }})()""")
        becomes(lambda: f"{axis} = 1 of" in b.value(f"document.querySelectorAll('.where')[{i}].textContent"),
                True, "slider", axis)
    check(shown(b)[0] == voxel(1, 1, 1), "sliders", shown(b))
    b.wait("location.hash.startsWith('#x=1&y=1&z=1&')")  # all timers are over
    b.value("location.hash = '#x=11&y=9&z=7'")
    b.wait("document.getElementById('voxel').textContent === '11, 9, 7'")
    check(shown(b)[0] == voxel(11, 9, 7), "hashchange", shown(b))
    b.wait("location.hash.startsWith('#x=11&y=9&z=7&')")
    b.value("location.hash = '#x=nonsense&y=1e99&z=-4&lo=NaN'")
    b.wait("document.getElementById('voxel').textContent === '11, 9, 0'")


def box_of(b, plane):
    return b.value(f"""(() => {{ const r = document.querySelectorAll('.plane canvas')[{plane}]
                       .getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; }})()""")


def check_mouse(b):
    open_page(b, "v.html", "#x=0&y=0&z=0")
    for plane, (right, up) in enumerate(((0, 1), (0, 2), (1, 2))):
        at = [3, 4, 5]
        now = b.value("[...state.at]")
        now[right], now[up] = at[right], at[up]

        def send(*kinds, **more):
            left, top, w, h = box_of(b, plane)
            for kind in kinds:
                b.mouse(kind, left + (at[right] + 0.5) / N[right] * w,
                        top + h - (at[up] + 0.5) / N[up] * h, **more)

        def click():
            send("mousePressed", "mouseReleased", button="left", clickCount=1)

        send("mouseMoved")
        becomes(lambda: b.value("document.getElementById('pointer-value').dataset.value"),
                str(voxel(*now)), "pointer on plane", plane, again=lambda: send("mouseMoved"))
        click()
        becomes(lambda: shown(b)[0], voxel(*now), "click on plane", plane, again=click)
    left, top, w, h = box_of(b, 0)
    before = shown(b)
    b.mouse("mouseWheel", left + w / 2, top + h / 2, deltaX=0, deltaY=-100)
    b.wait("state.at[2] === 6")
    check(shown(b)[0] == before[0] + 10000, "wheel", before, shown(b))
    window = b.value("[state.lo, state.hi]")
    b.mouse("mousePressed", left + w / 2, top + h / 2, button="left", clickCount=1, modifiers=8)
    b.mouse("mouseMoved", left + w / 2 + 60, top + h / 2 - 30, button="left", buttons=1, modifiers=8)
    b.mouse("mouseReleased", left + w / 2 + 60, top + h / 2 - 30, button="left", modifiers=8)
    becomes(lambda: b.value(f"""state.hi - state.lo > 1.2 * {window[1] - window[0]} &&
        state.lo + state.hi > {sum(window)}"""), True, "dragging with Shift")


def pixel(b, plane, part_x, part_y):
    return b.value(f"""(() => {{ const c = document.querySelectorAll('.plane canvas')[{plane}];
        const one = document.createElement('canvas').getContext('2d', {{willReadFrequently: true}});
        one.drawImage(c, -Math.floor(c.width * {part_x}), -Math.floor(c.height * {part_y}));
        return one.getImageData(0, 0, 1, 1).data[0]; }})()""")


def check_grey(b):
    """Pixels are the window's greys, up is up."""
    lo, hi = 0, 80000
    open_page(b, "v.html", f"#x=0&y=0&z=0&lo={lo}&hi={hi}")
    shown(b)
    for plane, (right, up) in enumerate(((0, 1), (0, 2), (1, 2))):
        at = [0, 0, 0]
        at[right], at[up] = N[right] - 2, N[up] - 2
        want = round(255 * (voxel(*at) - lo) / (hi - lo))
        got = pixel(b, plane, (at[right] + 0.5) / N[right], 1 - (at[up] + 0.5) / N[up])
        check(abs(got - want) <= 1, "grey of plane", plane, got, want)
    b.key("i")
    becomes(lambda: b.value("document.getElementById('invert').getAttribute('aria-pressed')"), "true", "key i")
    check(abs(pixel(b, 2, 8.5 / 10, 1.5 / 8) - (255 - round(255 * voxel(0, 8, 6) / hi))) <= 1, "inverted")
    b.key("f")
    becomes(lambda: b.value("[state.lo, state.hi]"), [0, voxel(11, 9, 7)], "key f")
    b.key("m")
    becomes(lambda: b.value("document.getElementById('mip').getAttribute('aria-pressed')"), "true", "key m")
    check("greatest value along z" in b.value("document.querySelector('.where').textContent"), "MIP's caption")
    left, top, w, h = box_of(b, 0)
    b.mouse("mouseMoved", left + 2.5 / 12 * w, top + h - 3.5 / 10 * h)
    becomes(lambda: round(float(b.value("document.getElementById('pointer-value').dataset.value"))),
            voxel(2, 3, 7), "pointer in MIP")
    b.key("?")
    becomes(lambda: b.value("document.getElementById('help').open"), True, "key ?")
    b.key("Escape")
    b.wait("!document.getElementById('help').open")
    b.value("document.getElementById('lo').focus()")
    b.key("m")
    check(b.value("state.mip"), "a key typed into a number changed the view")


def check_series(b):
    open_page(b, "series.html", "#frame=1&x=1&y=2&z=0")
    check(shown(b)[0] == 1000 + 9, "frame 1:", shown(b))
    b.key(".")
    becomes(lambda: shown(b)[0], 2000 + 9, "key .")
    b.key(".")
    check(shown(b)[0] == 2000 + 9, "beyond the last frame:", shown(b))
    check(not b.value("document.getElementById('frame-label').hidden"), "no slider of frames")


def check_looks(b):
    """Whatever the width, nothing is wider than the screen; planes stand beside or below each other."""
    for name, width, height, ratio in (("wide", 1500, 900, 1), ("narrow", 400, 800, 2)):
        for scheme in ("light", "dark"):
            b.size(width, height, ratio)
            b.scheme(scheme)
            open_page(b, "reduced.html")
            shown(b)
            check(b.value("document.documentElement.scrollWidth <= innerWidth"), name, "scrolls sideways")
            tops = b.value("[...document.querySelectorAll('.plane')].map((p) => p.getBoundingClientRect().top)")
            check((len(set(tops)) == 1) == (name == "wide"), name, "planes at", tops)
            back = b.value("getComputedStyle(document.body).backgroundColor")
            check((sum(map(int, back[4:-1].split(","))) < 380) == (scheme == "dark"), scheme, back)
            check(b.value("document.querySelector('.plane canvas').width / "
                          "parseFloat(document.querySelector('.plane canvas').style.width)") == ratio, "ratio")
            b.picture(f"{name}-{scheme}.png", whole=True)
            check_quiet(b, f"{name} {scheme}")
    b.size(1200, 800)


def check_odd_shapes(b):
    """One slice, a line, planes larger than any picture of a browser, values that are no numbers."""
    open_page(b, "slice.html", "#x=5&y=1")
    check(shown(b)[0] == 5 + 12, "one slice:", shown(b))
    check(b.value("[...document.querySelectorAll('.plane')].map((p) => p.hidden).join()") == "false,true,true",
          "planes of one slice")
    b.key("3")
    check(b.value("state.active") == 0, "a plane that is not there was chosen")
    open_page(b, "long.html", "#z=99999")
    check(shown(b)[0] == 99999, "a line:", shown(b))
    b.key("m")  # without the cross-hair
    becomes(lambda: b.value("document.getElementById('mip').getAttribute('aria-pressed')"), "true", "key m")
    check(pixel(b, 1, 0.5, 0.01) > 240 and pixel(b, 1, 0.5, 0.9) < 40, "grey of a line",
          pixel(b, 1, 0.5, 0.01), pixel(b, 1, 0.5, 0.9))
    open_page(b, "none.html")
    shown(b)
    check(b.value("document.getElementById('value').textContent") == "not a number", "NaN is called",
          b.value("document.getElementById('value').textContent"))
    check("of which 8 are no numbers" in b.value("document.getElementById('count').textContent"), "count of NaN")


def check_report(b):
    open_page(b, "report.html")
    check(b.value("[...document.images].length === 2 && [...document.images].every((i) => i.complete && "
                  "i.naturalWidth > 100)"), "drawings of the report")
    check(b.value("document.querySelector('main > section').getAttribute('aria-label')") == "Warnings",
          "warnings are not first")
    check(b.value("[...document.querySelectorAll('.warnings li')]"
                  ".filter(e => !e.textContent.includes('FDK is exact')).length") == 1, "warnings")
    for name, width, scheme in (("wide", 1400, "light"), ("narrow", 420, "dark")):
        b.size(width, 900)
        b.scheme(scheme)
        shown(b)
        check(b.value("document.documentElement.scrollWidth <= innerWidth"), "the report scrolls sideways")
        b.picture(f"report-{name}.png", whole=True)
    b.size(1200, 800)
    open_page(b, "report.html", "#x=3")
    check(shown(b)[2].startswith("3,"), "the report's viewer", shown(b))
    b.open("file://" + os.path.abspath("no-volume.html"))
    check(b.value("!document.getElementById('viewer') && document.scripts.length === 0"), "a viewer of nothing")


def check_server(b):
    """The page of a server shows voxels where the page alone has means; it asks nobody else."""
    server = subprocess.Popen([fbp, "view", "big.mha", "--serve", "--page-size", "256K", "-q"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip()
    try:
        b.open(address + "#x=41&y=7&z=33")
        b.wait("typeof state !== 'undefined' && !document.getElementById('desk').hidden")
        check(b.value("meta.join.some((k) => k > 1)"), "the page of a server is not reduced")
        b.wait("planes.every((p, i) => fullPlane(i))")
        want = struct.unpack("<f", struct.pack("<f", big(41, 7, 33)))[0]
        check(abs(shown(b)[0] - want) < 1e-6, "in full:", shown(b), want)
        check(b.value("document.getElementById('value').textContent").find("mean") < 0, "called a mean")
        check(shown(b)[2] == "41, 7, 33", "index in full:", shown(b))
        b.key("PageUp")
        b.wait("state.at[2] === 34 && fullPlane(0) !== null")
        check(abs(shown(b)[0] - big(41, 7, 34)) < 1e-4, "next slice in full:", shown(b))
        outside = [u for u in b.requests if not u.startswith(address) and not u.startswith("data:")]
        check(not outside and len(b.requests) > 3, "it asked", outside, "of", len(b.requests))
        check(not b.said, "said:", b.said)
        b.picture("served.png")
    finally:
        server.terminate()
        server.wait(20)
    check(server.returncode == 0, "the server's exit status", server.returncode)
    b.key("PageUp")
    b.wait("!document.getElementById('problem').hidden")
    asked = len(b.requests)
    time.sleep(0.7)
    b.value("0")
    check(len(b.requests) - asked < 4, "it asks again and again:", len(b.requests) - asked)
    check("Is fbp view --serve still running" in b.value("document.getElementById('problem').textContent"),
          "a server that has gone")
    b.said = []


def check_frame_of_server():
    """Of one frame that was chosen, slices are its own."""
    server = subprocess.Popen([fbp, "view", "series.mha", "--frame", "2", "--serve", "-q"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip()
    try:
        for z in range(2):
            with urllib.request.urlopen(f"{address}slice?plane=0&index={z}&frame=0") as answer:
                got = struct.unpack("<12f", answer.read())
            check(got == tuple(2000 + 12 * z + i for i in range(12)), "slice", z, "of frame 2:", got)
    finally:
        server.terminate()
        server.wait(20)


def big(x, y, z):
    return ((x * 7 + y * 13 + z * 29) % 97) / 4 + x


def make_files():
    values = [voxel(x, y, z) for z in range(N[2]) for y in range(N[1]) for x in range(N[0])]
    write_mha("v.mha", N, values, (0.5, 2, 1.5), (10, 20, 100))
    run("view", "v.mha", "-o", "v.html", "-q")
    frames = [1000 * t + x + 4 * y + 12 * z for t in range(3) for z in range(2) for y in range(3)
              for x in range(4)]
    write_mha("series.mha", (4, 3, 2, 3), frames, (1, 1, 1, 1), (0, 0, 0, 0))
    run("view", "series.mha", "-o", "series.html", "-q")
    run("simulate", "--size", "96", "--views", "8", "--truth", "truth.mha", "-o", "s.json", "-q")
    with open("assumed.json", "w") as f:
        f.write('{"fbp_scan": 1, "geometry": "s.json", "projections": "s.mha", "assumed": '
                '{"geometry": "a guess"}}')
    run("recon", "assumed.json", "-o", "recon.mha", "--size", "48", "--report", "report.html", "-q")
    run("recon", "assumed.json", "-o", "null:", "--size", "8", "--report", "no-volume.html", "-q")
    write_mha("slice.mha", (12, 10, 1), [x + 12 * y for y in range(10) for x in range(12)])
    write_mha("long.mha", (1, 1, 100000), range(100000))
    write_mha("none.mha", (2, 2, 2), [float("nan")] * 8)
    for name in ("slice", "long", "none"):
        run("view", name + ".mha", "-o", name + ".html", "-q")
    n = 64
    write_mha("big.mha", (n, n, n), [big(x, y, z) for z in range(n) for y in range(n) for x in range(n)])
    name = "<script>alert(1)<.mha"
    os.rename("truth.mha", name)
    run("view", name, "-o", "reduced.html", "--page-size", "600K", "-q")


def main():
    program = devtools.find()
    if not program:
        print("skipped: no chromium on the path")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    os.chdir(work)
    make_files()
    b = devtools.Browser(program)
    try:
        b.size(1200, 800)
        for part in (check_values, check_mouse, check_grey, check_series, check_odd_shapes, check_report):
            part(b)
            check_quiet(b, part.__name__)
        check_looks(b)
        check_server(b)
        check_frame_of_server()
        open_page(b, "reduced.html")
        check(b.value("document.title") == "<script>alert(1)<.mha", "the name as the title")
    finally:
        b.close()
    print("passed" if failures == 0 else f"{failures} failures")
    return 1 if failures else 0


sys.exit(main())
