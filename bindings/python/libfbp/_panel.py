"""Views, their sizes and places, as arguments of scans."""

from __future__ import annotations

import math
import warnings
from typing import Any

from . import _arguments as arguments
from . import _core, _views
from ._errors import InvalidError, ScanWarning
from ._progress import callers_level


def open_views(
    views: Any, n: int, shape: Any, dtype: Any, row_order: str | None
) -> tuple[_core.Views | None, str | None]:
    """Views of the caller's, or the path of a file."""
    if n == 0:
        raise InvalidError("views: there is no view; give at least three")
    if row_order not in (None, "bottom-up", "top-down"):
        raise InvalidError(f'row_order: found "{row_order}", expected "bottom-up" or "top-down"')
    if views is None:
        return None, None
    if arguments.is_path(views):
        return None, arguments.path(views, "views")
    return _views.of(views, n, shape, dtype, row_order or "bottom-up"), None


def shape_of(kept: _core.Views | None, file: str | None) -> tuple[int, int, int] | None:
    if kept is not None:
        return kept.shape
    if file is not None:
        columns, rows, views = _core.File(file).info["size"]
        return views, rows, columns
    return None


def panel(
    kept: _core.Views | None, file: str | None, shape: tuple[int, int] | None
) -> tuple[int, int]:
    found = shape_of(kept, file)
    if found is not None:
        return found[1], found[2]
    if shape is None:
        raise InvalidError("shape: missing; a scan without views needs shape=(rows, columns)")
    rows, columns = arguments.wholes(shape, "shape", 2, 1)
    return rows, columns


def check_count(kept: _core.Views | None, file: str | None, n: int, what: str) -> None:
    found = shape_of(kept, file)
    if found is not None and found[0] != n:
        raise InvalidError(
            f"{what}: {n} for {found[0]} views of shape {found}; give one for each view"
        )


def check_lengths(directions: list[float]) -> None:
    for k in range(0, len(directions), 3):
        if math.hypot(*directions[k : k + 3]) == 0:
            raise InvalidError(f"directions[{k // 3}]: has length 0; give a direction")


def distances(values: Any, name: str, n: int) -> list[float]:
    found = arguments.numbers(values, name, n, positive=True)
    return found[:1] if len(set(found)) == 1 else found


def pair(values: Any, name: str, *, both: bool) -> tuple[float, float]:
    """(along rows, along columns); of one number, both or the first."""
    try:
        if both:
            u, v = arguments.numbers(values, name, 2, positive=True)
        elif hasattr(values, "__len__"):
            u, v = arguments.numbers(values, name, 2)
        else:
            u, v = arguments.number(values, name), 0.0
    except InvalidError as e:
        raise InvalidError(f"{e} (along rows, along columns) [mm]") from None
    return u, v


def warn_of_radians(angles: list[float]) -> None:
    """Degrees of a whole or half turn in radians: few scans cover so little, and just that."""
    if len(angles) < 3:
        return
    arc = max(angles) - min(angles)
    step = arc / (len(angles) - 1)
    if any(min(abs(a - arc), abs(a - step - arc)) < 1e-6 * a for a in (math.pi, 2 * math.pi)):
        warnings.warn(
            f"angles: from {min(angles):.6g} to {max(angles):.6g} are used as degrees; for radians "
            "give numpy.degrees(angles)",
            ScanWarning,
            stacklevel=callers_level(),
        )


def turns(tilt: Any) -> list[float]:
    if hasattr(tilt, "__len__"):
        return [a * math.pi / 180 for a in arguments.numbers(tilt, "tilt", 3)]
    return [0.0, 0.0, arguments.number(tilt, "tilt") * math.pi / 180]
