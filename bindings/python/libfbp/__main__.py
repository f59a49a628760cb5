"""``python -m libfbp`` is the command ``fbp``."""

from ._command import main

main()
