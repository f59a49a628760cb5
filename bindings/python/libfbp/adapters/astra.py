"""ASTRA: geometries as ``astra.create_proj_geom()`` and ``astra.create_vol_geom()`` make them.

ASTRA has no units: lengths are taken as mm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _arguments as arguments
from .._errors import InvalidError
from ._foreign import fill, from_dictionary, set_volume, with_views, zyx

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from .. import _core
    from .._scan import Scan

__all__ = ["recon", "scan"]


def scan(
    proj_geom: Mapping[str, Any],
    sinogram: Any = None,
    vol_geom: Mapping[str, Any] | None = None,
) -> Scan:
    """A scan of ASTRA's.

    :param proj_geom: of type parallel, parallel_vec, fanflat, fanflat_vec, parallel3d,
        parallel3d_vec, cone or cone_vec
    :param sinogram: (rows, views, columns), of geometries in a plane (views, columns)
    :param vol_geom: the volume that :func:`libfbp.recon` makes of it; its array is (z, y, x), with y
        upwards: in a plane ``volume.array[0, ::-1]`` is ASTRA's image
    """
    if not isinstance(proj_geom, dict):
        raise InvalidError(
            f"proj_geom: found {type(proj_geom).__name__}, expected the result of "
            "astra.create_proj_geom()"
        )
    core = from_dictionary(proj_geom, "astra", "proj_geom")
    flat = _is_flat(proj_geom)
    if vol_geom is not None:
        _set_volume(core, vol_geom, flat)
    if flat:
        return with_views(core, sinogram, "vc", ("views", "columns"))
    return with_views(core, sinogram, "rvc", ("rows", "views", "columns"))


def recon(
    proj_geom: Mapping[str, Any], vol_geom: Mapping[str, Any], sinogram: Any, **options: Any
) -> NDArray[Any]:
    """Reconstruct, with ASTRA's arrays: (slices, rows, columns), or (rows, columns) in a plane.

    :param options: those of :func:`libfbp.recon`, without those of the volume
    :return: the image in 1/(unit of length), in single precision
    """
    import numpy as np

    of = scan(proj_geom, sinogram, vol_geom)
    if sinogram is None:
        raise InvalidError("sinogram: missing")
    shape = [vol_geom["GridRowCount"], vol_geom["GridColCount"]]
    if _is_flat(proj_geom):
        image = np.empty(shape, np.float32)
        fill(of, zyx(image, "yx", backwards="y"), options)
    else:
        image = np.empty([vol_geom["GridSliceCount"], *shape], np.float32)
        fill(of, image, options)
    return image


def _is_flat(proj_geom: Mapping[str, Any]) -> bool:
    return "DetectorCount" in proj_geom


def _set_volume(core: _core.Scan, vol_geom: Mapping[str, Any], flat: bool) -> None:
    if flat != ("GridSliceCount" not in vol_geom):
        a, b = ("a plane", "a volume") if flat else ("space", "an image")
        raise InvalidError(f"vol_geom: is of {b}, but proj_geom of {a}; give both of the same kind")
    columns = _span(vol_geom, "GridColCount", "X")
    rows = _span(vol_geom, "GridRowCount", "Y")
    slices = (1, columns[1], 0.0) if flat else _span(vol_geom, "GridSliceCount", "Z")
    spans = (columns, rows, slices)
    set_volume(core, [n for n, _, _ in spans], [d for _, d, _ in spans], [c for _, _, c in spans])


def _span(vol_geom: Mapping[str, Any], count: str, axis: str) -> tuple[int, float, float]:
    """Number of voxels, their size, and their middle; windows are edges of voxels."""
    try:
        n = arguments.whole(vol_geom[count], f"vol_geom: {count}", 1)
        window = vol_geom["option"]
        low, high = (
            arguments.number(window[key], f"vol_geom: {key}")
            for key in (f"WindowMin{axis}", f"WindowMax{axis}")
        )
    except (KeyError, TypeError) as e:
        raise InvalidError(
            f"vol_geom: {e} is missing; give the result of astra.create_vol_geom()"
        ) from None
    if not low < high:
        raise InvalidError(f"vol_geom: WindowMin{axis} {low:g} is not below WindowMax{axis} {high:g}")
    return n, (high - low) / n, (low + high) / 2
