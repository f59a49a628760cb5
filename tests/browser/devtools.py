"""A headless Chromium, driven over its pipe (the DevTools protocol), with the standard library alone."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The program's name, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    return None


class Browser:
    """One browser with one page.  `said`: errors of scripts, of policies, of loading."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="fbp-browser-")
        to_child, self.to = os.pipe()
        self.of, of_child = os.pipe()
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--remote-debugging-pipe", "--no-first-run", "--disable-dev-shm-usage",
                   "--user-data-dir=" + self.folder, "about:blank"]

        def place():
            a, b = os.dup(to_child), os.dup(of_child)  # the pipes may be 3 and 4 already
            os.dup2(a, 3)
            os.dup2(b, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.child = subprocess.Popen(command, preexec_fn=place, close_fds=False,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(of_child)
        self.number, self.read, self.session = 0, b"", None
        self.said, self.requests, self.events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def _receive(self, until):
        while b"\0" not in self.read:
            ready, _, _ = select.select([self.of], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.of, 1 << 20)
            if not more:
                raise ConnectionError("the browser has ended")
            self.read += more
        line, self.read = self.read.split(b"\0", 1)
        message = json.loads(line)
        if "method" in message:
            self._note(message["method"], message["params"])
        return message

    def _note(self, method, p):
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.said.append(p["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.said.append(str([a.get("value", a.get("description")) for a in p["args"]]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.said.append(p["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 120
        while True:
            got = self._receive(until)
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]

    def value(self, expression):
        """Evaluate an expression in the page, await it if it is a promise, and return its value."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def wait(self, expression):
        """Evaluate an expression again and again until it is true, for at most 90 s."""
        until = time.monotonic() + 90
        while not self.value(expression):
            if time.monotonic() > until:
                raise TimeoutError(f"never true: {expression}; said: {self.said}")
            time.sleep(0.03)

    def open(self, url):
        self.said, self.requests = [], []
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")
        # Pointers that come before a page's first frame are dropped.
        self.value("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))")

    def size(self, width, height, ratio=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=ratio, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])

    def key(self, key, shift=False, ctrl=False):
        text = "" if ctrl or len(key) > 1 else key
        common = {"key": key, "modifiers": 8 * shift + 2 * ctrl}
        codes = {"Escape": 27, "Tab": 9, "Enter": 13, "PageUp": 33, "PageDown": 34, "ArrowLeft": 37, "ArrowUp": 38,
                 "ArrowRight": 39, "ArrowDown": 40}
        if key in codes:
            common["windowsVirtualKeyCode"] = codes[key]
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self, path, whole=False):
        import base64
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, RuntimeError, TimeoutError):
            pass
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        os.close(self.to)
        os.close(self.of)
        shutil.rmtree(self.folder, ignore_errors=True)
