"""Filtered backprojection of cone, fan and parallel beams and of plane integrals (EPR imaging).

>>> import libfbp as fbp
>>> scan = fbp.load("scan.json")
>>> volume = fbp.recon(scan, filter="hann", voxel=0.1)
>>> volume.array.shape, volume.spacing, volume.unit

Arrays of views are (views, rows, columns), those of volumes (z, y, x).  Lengths are in mm, angles in
degrees.  docs/python.md begins with a volume in five lines.
"""

from __future__ import annotations

from . import geometry
from ._errors import (
    CancelledError,
    DeviceError,
    Error,
    FileError,
    InvalidError,
    OutOfMemoryError,
    ScanWarning,
    UnsupportedError,
)
from ._facts import Facts
from ._options import Options
from ._plan import Plan, recon
from ._progress import Progress
from ._report import Report, Summary
from ._load import load
from ._scan import Scan
from ._tools import (
    Calibration,
    Centre,
    Comparison,
    Device,
    Drift,
    Estimate,
    Picture,
    angles,
    calibrate,
    compare,
    devices,
    directions,
    find_centre,
    names,
    simulate,
    truth,
    view,
)
from ._version import __version__
from ._volume import Volume, read
from . import adapters  # after what it takes from above

__all__ = [
    "Calibration",
    "CancelledError",
    "Centre",
    "Comparison",
    "Device",
    "DeviceError",
    "Drift",
    "Error",
    "Estimate",
    "Facts",
    "FileError",
    "InvalidError",
    "Options",
    "OutOfMemoryError",
    "Picture",
    "Plan",
    "Progress",
    "Report",
    "Scan",
    "ScanWarning",
    "Summary",
    "UnsupportedError",
    "Volume",
    "__version__",
    "adapters",
    "angles",
    "calibrate",
    "compare",
    "devices",
    "directions",
    "find_centre",
    "geometry",
    "load",
    "names",
    "read",
    "recon",
    "simulate",
    "truth",
    "view",
]
