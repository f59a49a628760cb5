#!/usr/bin/env python3
"""Values and times of libfbp.adapters beside the packages that they are for: the tables of docs/adapters.md.

usage: bench/peers/adapters.py [NAME…] [--runs 3]       NAME: astra, rtk, cil (default: all of them)

Needs numpy, libfbp and the packages; those that are not installed are left out, with a message.  Times
are those of the shortest run of each, from arrays to an array, in one process, without the loading of
libraries; in parentheses the time of all processors together, which others on the machine disturb less.
Errors are RMSE against the phantom in the middle of the volume (densities are about 1), and
"difference" is that of the two results; "scale" is the factor that makes theirs most like fbp's.
"""
import argparse
import importlib
import os
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "peers"))
NAMES = ("astra", "rtk", "cil")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], default=[], metavar="NAME")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    from adapters_util import HEAD, row

    print(HEAD)
    for name in given.names or NAMES:
        try:
            module = importlib.import_module(f"adapters_{name}")
        except ImportError as e:
            print(f"{name}: left out: {e}", file=sys.stderr)
            continue
        for case in module.cases(*module.BENCH):
            row(case, given.runs)


if __name__ == "__main__":
    main()
