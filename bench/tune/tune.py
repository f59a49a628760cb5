#!/usr/bin/env python3
"""Time of the answers of fbp tune: from the request to the last byte, for one change after another.
usage: tune.py [--fbp PROGRAM] SCAN [options of fbp tune].  Needs the standard library alone.

For each change: milliseconds and number of views in the slices, for each answer until all views are in."""
import argparse
import json
import socket
import struct
import subprocess
import time
import urllib.request

CHANGES = (("first slices", ""), ("axis", "column=1.5"), ("axis", "column=1.7"), ("axis", "column=1.8"),
           ("roll", "roll=0.5"), ("tilt", "pitch=0.5"), ("source to panel", "sdd*1.004"), ("filter", "filter=4"),
           ("cut-off", "cutoff=0.7"), ("beam hardening", "hardening=0.05"), ("arc", "arc*1.004"),
           ("direction", "reverse=1"), ("rings", "rings=1"))


class Client:
    def __init__(self, address):
        self.host, self.port = address.split("/")[2].split(":")
        self.path = "/" + address.split("/", 3)[3]
        self.memory = memoryview(bytearray(64 << 20))

    def get(self, path):
        """Seconds, and the body of the answer."""
        n, begin = 0, time.perf_counter()
        with socket.create_connection((self.host, int(self.port))) as c:
            c.sendall(f"GET {self.path}{path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n".encode())
            while got := c.recv_into(self.memory[n:]):
                n += got
        seconds = time.perf_counter() - begin
        head, body = bytes(self.memory[:n]).split(b"\r\n\r\n", 1)
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(body.decode())
        return seconds, body

    def show(self, query):
        """[milliseconds, views] of each answer, and the facts of the last."""
        times = []
        while True:
            seconds, body = self.get(query)
            facts = json.loads(body[4:4 + struct.unpack("<I", body[:4])[0]])
            times.append((round(1000 * seconds), facts["views"]))
            if facts["views"] == facts["all"]:
                return times, facts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fbp", default="fbp")
    parser.add_argument("scan")
    args, more = parser.parse_known_args()
    server = subprocess.Popen([args.fbp, "tune", args.scan, "--force", "-q", *more], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        page = urllib.request.urlopen(address).read().decode()
        meta = json.loads(page.split('id="meta">')[1].split("</script>")[0])
        values = {s["key"]: s["value"] for s in meta["settings"]}
        at = ",".join(str(n // 2) for n in meta["size"])
        client = Client(address)
        print("slices through a volume of", " x ".join(map(str, meta["size"])))
        for name, change in CHANGES:
            key, number = change.replace("*", "=").split("=") if change else ("", "")
            if key and key not in values:
                continue
            if "*" in change:
                change = f"{key}={values[key] * float(number):.6f}"
            times, facts = client.show(f"slices?at={at}&{change}")
            note = ", views read" if facts["read"] else ", views filtered" if facts["filtered"] else ""
            print(f"{name:16} {' '.join(f'{ms}:{views}' for ms, views in times)} of {facts['all']}{note}")
    finally:
        server.terminate()
        server.wait()


main()
