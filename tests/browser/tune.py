"""The page of fbp tune in Chromium and Firefox: slices follow the controls, also with the keyboard alone.
Arguments: the program fbp, a folder to work in.  Exit status 77: no browser."""
import os
import shutil
import subprocess
import sys

import devtools
import firefox

fbp, folder = sys.argv[1], sys.argv[2]
failures = 0


def check(true, *words):
    global failures
    if not true:
        failures += 1
        print("FAILED:", *words)


def settled(b):
    b.wait("rows[0].done && !busy && (!state.other || rows[1].done)")


def sharpness(b, row=0):
    """Mean square difference of neighbours in the slice xy: least blurred edges have the greatest."""
    return b.value("(() => {const p = rows[%d].planes[0]; let sum = 0; for (let k = 1; k < p.values.length; k++) "
                   "sum += (p.values[k] - p.values[k - 1]) ** 2; return sum;})()" % row)


def focused(b):
    return b.value("document.activeElement.dataset.key || document.activeElement.id || "
                   "document.activeElement.tagName")


def tab_to(b, key, back=False):
    for _ in range(80):
        if focused(b) == key:
            return
        b.key("Tab", shift=back)
    check(False, "Tab does not reach", key, "but", focused(b))


def check_keys(b, name):
    """Correct the axis, compare, undo, save and run, with the keyboard alone."""
    settled(b)
    blurred = sharpness(b)
    tab_to(b, "column")
    for _ in range(30):
        b.key("ArrowRight")
    b.wait("Math.abs(state.values.column - 3) < 0.06")
    settled(b)
    sharp = sharpness(b)
    check(sharp > 1.2 * blurred, name, "the slice is not sharper:", blurred, sharp)
    check("column=3" in b.value("location.hash"), "address", b.value("location.hash"))
    b.key("z", ctrl=True)
    b.wait("state.values.column === 0")
    settled(b)
    check(abs(sharpness(b) - blurred) < 1e-9 * blurred, "undo", sharpness(b), blurred)
    b.key("y")
    b.wait("state.values.column !== 0")
    settled(b)
    b.key("c")
    b.wait("!document.getElementById('b').hidden")
    b.key("u")
    settled(b)
    check(abs(sharpness(b) - blurred) < 1e-9 * blurred and abs(sharpness(b, 1) - sharp) < 1e-9 * sharp, "A and B",
          sharpness(b), sharpness(b, 1))
    b.picture(f"{name}-compare.png", whole=True)
    b.key("x")
    settled(b)
    check(abs(sharpness(b) - sharp) < 1e-9 * sharp and abs(sharpness(b, 1) - blurred) < 1e-9 * blurred, "exchanged")
    b.key("c")
    b.wait("document.getElementById('b').hidden")
    b.key("a")
    width = b.value("state.hi - state.lo")
    b.key("w")
    check(b.value("state.hi - state.lo") < 0.95 * width, "w does not narrow the window")
    b.key("a")
    check(b.value("state.hi - state.lo") == width, "a does not restore the window")
    tab_to(b, "CANVAS")
    at = b.value("state.at")
    b.key("PageUp")
    b.key("ArrowLeft", shift=True)
    settled(b)
    check(b.value("state.at") == [at[0] - 10, at[1], at[2] + 1], "keys in a slice", at, b.value("state.at"))
    b.key("?", shift=True)
    check(b.value("document.getElementById('help').open"), "no help")
    b.key("Escape")
    check(not b.value("document.getElementById('help').open"), "the help stays")
    tab_to(b, "reverse", back=True)
    if name == "devtools":
        b.key(" ")
    else:  # a space from WebDriver BiDi presses no control, on any page
        b.value("document.activeElement.click()")
    b.wait("state.values.reverse === 1")
    settled(b)
    check(sharpness(b) < sharp, "the opposite rotation is as sharp")
    b.key("u")
    b.wait("state.values.reverse === 0")
    settled(b)
    b.key("s")
    b.wait("!document.getElementById('command').hidden")
    check(b.value("document.getElementById('command').textContent") == "fbp recon tuned.json -o tuned.mha", "command")
    check(os.path.exists("tuned.json"), "no scan file")
    got = subprocess.run([fbp, "geometry", "check", "tuned.json"], capture_output=True, text=True)
    check(got.returncode == 0, "the saved scan file", got.stderr)
    b.key("r")
    b.wait("location.pathname.endsWith('/view/') && typeof state !== 'undefined' && "
           "document.getElementById('desk') && !document.getElementById('desk').hidden")
    check(os.path.exists("tuned.mha"), "no volume")
    check(b.value("meta.size.join()") == "48,48,48", "the viewer", b.value("meta.size.join()"))
    check(not b.said, "said:", b.said)


def check_page(b, address):
    """Numbers, lists, refusals, a reload, and a server that has ended."""
    b.open(address + "#at=20,21,22&roll=1.5&filter=4")
    b.wait("typeof rows !== 'undefined' && rows[0].done")
    check(b.value("[state.at.join(), state.values.roll, state.values.filter].join(' ')") == "20,21,22 1.5 4",
          "settings of the address")
    check(b.value("settings.get('roll').controls[1].value") == "1.5", "the number of the roll")
    b.value("setValues({...initial(), rings: 1, 'ring-width': 101})")
    b.wait("!document.getElementById('problem').hidden")
    check("ring" in b.value("document.getElementById('problem').textContent"), "a refusal is not shown",
          b.value("document.getElementById('problem').textContent"))
    b.value("setValues(initial())")
    settled(b)
    check(b.value("document.getElementById('problem').hidden"), "the refusal stays")
    b.said = []
    for name, width in (("wide", 1400), ("narrow", 420)):
        b.size(width, 900)
        b.value("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))")
        check(b.value("document.documentElement.scrollWidth <= innerWidth"), name, "scrolls sideways")
        b.picture(f"tune-{name}.png", whole=True)
    b.size(1200, 800)
    check(not b.said, "said:", b.said)


def with_browser(module):
    program = module.find()
    if not program:
        print(f"no {module.__name__}")
        return False
    b = module.Browser(program)
    server = subprocess.Popen([fbp, "tune", "scan.json", "--force", "-q"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip()
    try:
        b.open(address)
        b.wait("typeof rows !== 'undefined' && rows[0].done")
        check_keys(b, module.__name__)
        check_page(b, address)
        server.terminate()
        server.wait(20)
        b.value("setValues({...initial(), roll: 1})")
        b.wait("document.getElementById('problem').textContent.includes('Is it still running?')")
    finally:
        server.kill()
        b.close()
    return True


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
subprocess.run([fbp, "simulate", "--size", "48", "--views", "120", "--offset", "-24,0", "--scale", "0.02", "-o",
                "right.json", "-q"], check=True)
subprocess.run([fbp, "geometry", "convert", "right.json", "-o", "scan.json", "--offset", "0", "--force"], check=True)
done = [with_browser(module) for module in (devtools, firefox)]
sys.exit(1 if failures else 0 if any(done) else 77)
