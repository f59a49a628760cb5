"""What all adapters need: geometries from dictionaries, and arrays of any order of axes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .. import _core
from .._errors import Error, InvalidError, UnsupportedError
from .._plan import Plan
from .._scan import Scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_OF_THE_VOLUME = ("size", "voxel", "volume_centre", "slice", "roi")


def from_dictionary(given: Mapping[str, Any], format: str, name: str) -> _core.Scan:
    """The geometry that the library's reader of a format finds in a dictionary, called `name`."""
    import json
    import tempfile

    try:
        text = json.dumps(given, default=_plain, allow_nan=False)
    except TypeError as e:
        raise InvalidError(f"{name}: {e}, expected numbers and arrays of numbers") from None
    except ValueError:
        raise InvalidError(f"{name}: contains a number that is not finite; correct it") from None
    with tempfile.TemporaryDirectory(prefix="libfbp-") as folder:
        path = os.path.join(folder, "geometry.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        try:
            return _core.geometry_load(path, format, (0, 0), (0.0, 0.0), 0, False)
        except Error as e:
            raise type(e)(str(e).replace(path, name)) from None


def _plain(value: Any) -> Any:
    """Arrays and numbers of NumPy as JSON has them."""
    tolist = getattr(value, "tolist", None)
    if tolist is None:
        raise TypeError(f"found {type(value).__name__}")
    return tolist()


def zyx(array: Any, order: str, backwards: str = "") -> NDArray[Any]:
    """A view of an array as (z, y, x).

    :param order: its axes, such as "zyx" or "yx"; one that is missing has one element
    :param backwards: those that run against x, y, z
    """
    found = array.transpose([order.index(axis) for axis in "zyx" if axis in order])
    step = {axis: slice(None, None, -1 if axis in backwards else 1) for axis in order}
    view: NDArray[Any] = found[tuple(step.get(axis) for axis in "zyx")]
    return view


def with_views(core: _core.Scan, views: Any, order: str, names: Sequence[str]) -> Scan:
    """A scan of views whose axes stand in another order.

    :param order: the axes of `views`, "v" for views, "r" for rows, "c" for columns
    :param names: what these axes are called, for messages
    """
    import numpy as np

    scan = Scan(core, None, None)
    if views is None:
        return scan
    array = np.asarray(views) if isinstance(views, (list, tuple)) else views
    n = dict(zip("vrc", scan.shape, strict=True))
    wanted = tuple(n[axis] for axis in order)
    if tuple(getattr(array, "shape", ())) != wanted:
        found = getattr(array, "shape", type(array).__name__)
        raise InvalidError(f"views: found {found}, expected {wanted}: {', '.join(names)}")
    axes = [order.index(axis) for axis in "vrc" if axis in order]
    if axes == sorted(axes):
        return scan.with_views(array)
    permute = getattr(array, "permute", None) or getattr(array, "transpose", None)  # tensors, arrays
    if permute is None:
        raise InvalidError(
            f"views: are a {type(array).__name__}, whose axes cannot be exchanged; give an array, "
            "numpy.asarray(views)"
        )
    return scan.with_views(permute(axes))


def set_volume(
    core: _core.Scan, size: Sequence[int], voxel: Sequence[float], centre: Sequence[float]
) -> None:
    """The volume that a scan is reconstructed to, along x, y, z."""
    core.set_volume({"size": tuple(size), "voxel": tuple(voxel), "centre": tuple(centre)})


def fill(scan: Scan, out: NDArray[Any], options: dict[str, Any]) -> None:
    """Reconstruct into an array (z, y, x) of any stride, whose volume the scan has."""
    for name in _OF_THE_VOLUME:
        if options.get(name) is not None:
            raise InvalidError(f"{name}: follows from the geometry of the volume; omit {name}")
    Plan(scan, **options).run(out=out)


def filter_name(name: Any, known: Mapping[str, str], whose: str) -> str:
    """The library's name for a filter of another package's."""
    wanted = str(name).lower().replace("_", "-")
    if wanted in known:
        return known[wanted]
    raise UnsupportedError(
        f'filter: found "{name}", expected one of {", ".join(known)}: {whose} others have no '
        "equal here"
    )
