"""TIGRE: its geometry object, angles and arrays.  Lengths in mm, angles in radians."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._errors import InvalidError
from ._foreign import fill, filter_name, from_dictionary, with_views

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._scan import Scan

__all__ = ["fbp", "fdk", "scan"]

_ATTRIBUTES = (
    "mode", "nVoxel", "sVoxel", "dVoxel", "nDetector", "sDetector", "dDetector", "DSO", "DSD", "COR",
    "offOrigin", "offDetector", "rotDetector",
)  # fmt: skip
_FILTERS = {
    "ram-lak": "ram-lak", "shepp-logan": "shepp-logan", "cosine": "cosine", "hamming": "hamming",
    "hann": "hann",
}  # fmt: skip


def scan(proj: Any, geo: Any, angles: Any) -> Scan:
    """A scan of TIGRE's; :func:`libfbp.recon` makes the volume of `geo` of it.

    :param proj: (views, rows, columns), or None
    :param geo: a ``tigre.geometry()``, or any object with its attributes; ``DSD``, ``DSO``, ``COR``,
        ``offOrigin``, ``offDetector`` and ``rotDetector`` are those of all views, or one a view
    :param angles: (views), or (views, 3): rotations about z, y and z
    """
    given = {name: _value(geo, name) for name in _ATTRIBUTES}
    if given["nDetector"] is None:
        raise InvalidError("geo: has no nDetector; give a complete tigre.geometry()")
    given["angles"] = angles
    kept = {name: value for name, value in given.items() if value is not None}
    core = from_dictionary(kept, "tigre", "geo")
    return with_views(core, proj, "vrc", ("views", "rows", "columns"))


def fdk(proj: Any, geo: Any, angles: Any, *, filter: str | None = None, **options: Any) -> NDArray[Any]:
    """As ``tigre.algorithms.fdk(proj, geo, angles)``: a volume (z, y, x) in single precision.

    :param filter: by TIGRE's name or by that of :func:`libfbp.recon`
    :param options: those of :func:`libfbp.recon`, without those of the volume
    """
    import numpy as np

    of = scan(proj, geo, angles)
    if proj is None:
        raise InvalidError("proj: missing")
    if _value(geo, "nVoxel") is None:
        raise InvalidError("geo: has no nVoxel; give a complete tigre.geometry()")
    if filter is not None:
        options["filter"] = filter_name(filter, _FILTERS, "TIGRE's")
    volume = np.empty([int(n) for n in geo.nVoxel], np.float32)
    fill(of, volume, options)
    return volume


def fbp(proj: Any, geo: Any, angles: Any, *, filter: str | None = None, **options: Any) -> NDArray[Any]:
    """As ``tigre.algorithms.fbp(proj, geo, angles)``, of parallel beams; see :func:`fdk`."""
    if _value(geo, "mode") != "parallel":
        raise InvalidError("geo: mode is not parallel; use fdk() for cone beams")
    return fdk(proj, geo, angles, filter=filter, **options)


def _value(geo: Any, name: str) -> Any:
    """An attribute; None where it is missing, or has the zeros of a new object."""
    import numpy as np

    value = getattr(geo, name, None)
    if value is None or isinstance(value, str):
        return value
    array = np.asarray(value)
    if name[0] in "nsd" and not array.any():
        return None
    if name == "offDetector":
        return array[..., :2]  # TIGRE takes a third number, which it does not use
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
