"""Scans from files and folders."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _arguments as arguments
from . import _core
from ._errors import InvalidError
from ._panel import pair
from ._progress import Listener
from ._scan import Scan

if TYPE_CHECKING:
    from collections.abc import Sequence


def load(
    path: Any,
    *,
    pixel: float | Sequence[float] | None = None,
    sod: float | None = None,
    sdd: float | None = None,
    arc: float | None = None,
    offset: float | None = None,
    centre: float | None = None,
    tilt: float | None = None,
    flip_u: bool = False,
    flip_v: bool = False,
    reverse: bool = False,
    i0: float | None = None,
    dark: Any = None,
    flat: Any = None,
    bad_pixels: Any = None,
    prepare: str | None = None,
    follow: bool = False,
) -> Scan:
    """Load a scan from a file or a folder: of headers only, samples are read when they are needed.

    :param path: a scan file (.json), a whole scan of others (.xtekct, .log, .pca, .h5 with Data
        Exchange or NXtomo, .mat, .DSC …), or a folder: the scan in it, or the one that its files suggest, as
        ``fbp init`` guesses it; ``scan.assumed`` lists what nobody has told
    :param pixel: distance of pixels [mm] instead of that in the file, or (along rows, along columns)
    :param sod: distances [mm], and so on: numbers that replace those of the file, as in
        :meth:`Scan.adjusted`
    :param i0: counts without an object; `dark`, `flat` and `bad_pixels` are pictures, as arrays or
        paths, as in :meth:`Scan.with_counts`: instead of those of the file
    :param arc: of a folder: angle that the views cover [degrees]
    :param prepare: steps before plane integrals, such as "baseline=1,phase=all" (EPR imaging)
    :param follow: the projections are still being written
    """
    name = arguments.path(path, "path")
    told = {"sod": sod, "sdd": sdd, "offset": offset, "centre": centre, "tilt": tilt}
    if os.path.isdir(name):
        core = _load_folder(name, pixel, sod, sdd, arc, prepare, follow)
        if not os.path.exists(core.path or ""):  # a guess, into which they went
            told["sod"] = told["sdd"] = None
    else:
        if arc is not None:
            raise InvalidError("arc: applies to folders without a scan file only; omit arc")
        pitch = (0.0, 0.0) if pixel is None else pair(pixel, "pixel", both=True)
        core = _core.scan_load(name, pitch, follow, prepare)
    scan = Scan(core, None, None)
    if any(v is not None for v in told.values()) or flip_u or flip_v or reverse:
        scan = scan.adjusted(**told, flip_u=flip_u, flip_v=flip_v, reverse=reverse)
    if any(v is not None for v in (i0, dark, flat, bad_pixels)):
        scan = scan.with_counts(i0=i0, dark=dark, flat=flat, bad_pixels=bad_pixels)
    return scan


def _load_folder(
    name: str,
    pixel: Any,
    sod: float | None,
    sdd: float | None,
    arc: float | None,
    prepare: str | None,
    follow: bool,
) -> _core.Scan:
    if prepare is not None or follow:
        raise InvalidError(f"{name}: is a folder; name the scan file in it")
    told = (
        0.0 if value is None else arguments.number(value, what, positive=True)
        for value, what in ((pixel, "pixel"), (sod, "sod"), (sdd, "sdd"), (arc, "arc"))
    )
    pitch, near, far, angle = told
    return _core.scan_load_folder(name, pitch, near, far, angle, Listener().on_log)
