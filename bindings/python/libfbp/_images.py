"""Pictures that counts are corrected by: dark, flat, bad pixels."""

from __future__ import annotations

from typing import Any

from . import _arguments as arguments
from . import _core
from ._errors import InvalidError

NAMES = ("dark", "flat", "bad_pixels")


def use(core: _core.Scan, name: str, picture: Any) -> None:
    """Take it from an array, which is averaged and copied now, or from the file of this path."""
    if name == "bad_pixels":
        search = isinstance(picture, str) and picture == "auto"
        _core.scan_find_bad_pixels(core, search)
        if search:
            return
    arguments.check_unmasked(picture, name)
    if arguments.is_path(picture):
        _core.scan_use_file(core, name, arguments.path(picture, name))
    else:
        _core.scan_use_array(core, name, _lent(picture, name))


def _lent(picture: Any, name: str) -> Any:
    """What lends its samples: the array itself, or what a data set or a list of arrays holds."""
    is_mask = str(getattr(picture, "dtype", "")).endswith("bool")
    if not is_mask and (_core.is_array(picture) or hasattr(picture, "__cuda_array_interface__")):
        return picture
    import numpy as np

    if callable(picture) or not hasattr(picture, "__len__"):
        raise InvalidError(
            f"{name}: found {type(picture).__name__}, expected an array (rows, columns), or "
            "(images, rows, columns), or a path"
        )
    try:
        array = np.asarray(picture)
    except ValueError as e:  # a list of arrays of several sizes
        raise InvalidError(f"{name}: not an array (rows, columns), nor several: {e}") from None
    return array.view("uint8") if array.dtype == bool else array
