"""The command ``fbp`` of an installed package."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Become the program ``fbp`` that lies in the package."""
    program = os.path.join(os.path.dirname(__file__), "bin", "fbp")
    if not os.path.exists(program):
        sys.exit("fbp: the package was installed without the command")
    os.execv(program, ["fbp", *sys.argv[1:]])


if __name__ == "__main__":
    main()
