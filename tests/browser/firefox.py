"""A headless Firefox, driven over a WebSocket (WebDriver BiDi), with the standard library alone.  The methods
are those of devtools.Browser that several browsers are tested with."""
import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile

import devtools

KEYS = {"Tab": "\uE004", "Escape": "\uE00C", "PageUp": "\uE00E", "PageDown": "\uE00F", "ArrowLeft": "\uE012",
        "ArrowUp": "\uE013", "ArrowRight": "\uE014", "ArrowDown": "\uE015", "Enter": "\uE007", " ": "\uE00D"}


def find():
    """The program's name, or None."""
    for name in ("firefox-esr", "firefox"):
        if shutil.which(name):
            return name
    return None


class Browser:
    """One browser with one page.  `said`: errors and warnings of scripts."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="fbp-firefox-")
        command = [program, "--headless", "--no-remote", "--profile", self.folder, "--remote-debugging-port", "0"]
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": self.folder})
        self.said, self.number, self.read = [], 0, b""
        for line in self.child.stderr:
            found = re.search(r"BiDi listening on ws://([^:]+):(\d+)", line)
            if found:
                break
        else:
            raise ConnectionError("Firefox has ended")
        self.link = socket.create_connection((found[1], int(found[2])), 60)
        self.link.sendall((f"GET /session HTTP/1.1\r\nHost: {found[1]}:{found[2]}\r\nUpgrade: websocket\r\n"
                           "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                           f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.read:
            self.read += self.link.recv(4096)
        self.read = self.read.split(b"\r\n\r\n", 1)[1]
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def _take(self, n):
        while len(self.read) < n:
            more = self.link.recv(1 << 16)
            if not more:
                raise ConnectionError("Firefox has ended")
            self.read += more
        out, self.read = self.read[:n], self.read[n:]
        return out

    def _receive(self):
        text = b""
        while True:
            head = self._take(2)
            n = head[1] & 127
            if n > 125:
                n = struct.unpack(">H" if n == 126 else ">Q", self._take(2 if n == 126 else 8))[0]
            text += self._take(n)
            if head[0] & 128:
                return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        text = json.dumps({"id": self.number, "method": method, "params": params}).encode()
        mask, n = os.urandom(4), len(text)
        size = bytes([128 | n]) if n < 126 else struct.pack(">BH", 254, n) if n < 65536 else struct.pack(">BQ", 255, n)
        self.link.sendall(b"\x81" + size + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(text)))
        while True:
            got = self._receive()
            if got.get("id") == self.number:
                if got["type"] == "error":
                    raise RuntimeError(f"{method}: {got['error']}: {got['message']}")
                return got["result"]
            if got.get("method") == "log.entryAdded" and got["params"]["level"] in ("error", "warn"):
                self.said.append(got["params"]["text"])

    def value(self, expression):
        """Evaluate an expression of the page, which may be a promise."""
        got = self.call("script.evaluate", target={"context": self.context}, awaitPromise=True,
                        expression=f"Promise.resolve({expression}).then((v) => JSON.stringify(v ?? null))")
        if got["type"] != "success":
            raise RuntimeError(f"{expression}: {got['exceptionDetails']['text']}")
        return json.loads(got["result"]["value"])

    wait = devtools.Browser.wait

    def open(self, url):
        self.said = []
        self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def size(self, width, height):
        self.call("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def key(self, key, shift=False, ctrl=False):
        held = ["\uE008"] * shift + ["\uE009"] * ctrl
        keys = [("keyDown", k) for k in held] + [(kind, KEYS.get(key, key)) for kind in ("keyDown", "keyUp")] + \
            [("keyUp", k) for k in held]
        self.call("input.performActions", context=self.context, actions=[
            {"type": "key", "id": "keys", "actions": [{"type": kind, "value": k} for kind, k in keys]}])

    def picture(self, path, whole=False):
        data = self.call("browsingContext.captureScreenshot", context=self.context,
                         origin="document" if whole else "viewport")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.link.close()
        self.child.terminate()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)
