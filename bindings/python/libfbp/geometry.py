"""Geometry files of other programs: RTK, ASTRA, TIGRE, LEAP, plastimatch …"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _arguments as arguments
from . import _core
from ._panel import pair
from ._scan import Scan

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Format", "convert", "formats", "load", "save"]


@dataclass(frozen=True)
class Format:
    """A format of geometry files."""

    name: str
    about: str
    reads: bool
    writes: bool


def formats() -> list[Format]:
    """All formats that there are."""
    return [Format(*f) for f in _core.geometry_formats()]


def load(
    path: Any,
    *,
    format: str | None = None,
    shape: tuple[int, int] | None = None,
    pixel: float | Sequence[float] | None = None,
    n_views: int = 0,
    corner: bool = False,
) -> Scan:
    """Read a geometry: a scan without views; ``scan.with_views(views)`` adds them.

    :param format: its name; None: by its content
    :param shape: (rows, columns) of the detector, if the file does not say it
    :param pixel: distance of pixels [mm], or (along rows, along columns), if the file does not
    :param n_views: number of views, if the file does not say it
    :param corner: 3x4 matrices: (0, 0) is the corner of the first pixel, not its centre
    """
    rows, columns = (0, 0) if shape is None else arguments.wholes(shape, "shape", 2, 1)
    core = _core.geometry_load(
        arguments.path(path, "path"),
        format,
        (columns, rows),
        (0.0, 0.0) if pixel is None else pair(pixel, "pixel", both=True),
        arguments.whole(n_views, "n_views"),
        corner,
    )
    return Scan(core, None, None)


def save(scan: Scan, path: Any, *, format: str | None = None) -> None:
    """Write the geometry of a scan; the format follows from the name unless it is given."""
    _core.geometry_save(scan._core, arguments.path(path, "path"), format)


def convert(source: Any, target: Any, *, to: str | None = None, **known: Any) -> Scan:
    """Read one geometry file and write another; `known` is as in :func:`load`."""
    scan = load(source, **known)
    save(scan, target, format=to)
    return scan
