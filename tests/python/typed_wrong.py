"""Mistakes that a type checker finds; each stands in one line."""

import libfbp as fbp

scan = fbp.load("scan.json", pixle=0.2)  # WRONG
fbp.recon(scan, filter=3)  # WRONG
fbp.recon(scan, fliter="hann")  # WRONG
fbp.recon(scan, progress="yes")  # WRONG
plan = fbp.Plan(scan, threads="all")  # WRONG
fbp.recon(scan).reprot  # WRONG
n: int = fbp.recon(scan).unit  # WRONG
fbp.Scan.cone(None, [0.0], sod=1, pixel=1)  # WRONG
fbp.view(scan, window=3)  # WRONG
