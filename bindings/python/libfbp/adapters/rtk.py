"""RTK: its circular geometry (``itk.RTK.ThreeDCircularProjectionGeometry``) and images of ITK.

RTK turns about y: its point (x, y, z) is (x, -z, y) of a :class:`libfbp.Scan`.  Images are given and
returned in RTK's axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _arguments as arguments
from .. import _core
from .._errors import InvalidError, UnsupportedError
from .._scan import Scan
from ._foreign import fill, set_volume, zyx

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["fdk", "scan"]


def scan(
    projections: Any,
    geometry: Any,
    like: Any = None,
    *,
    shape: tuple[int, int] | None = None,
    spacing: tuple[float, float] | None = None,
    origin: tuple[float, float] | None = None,
) -> Scan:
    """A scan of RTK's, about the axis z.

    :param projections: an itk.Image of all views, or what has one as output, which is borrowed; or an
        array (views, rows, columns), or None, with `spacing`
    :param geometry: an ``itk.RTK.ThreeDCircularProjectionGeometry``
    :param like: an itk.Image whose size, spacing, origin and direction are those of the volume
    :param shape: (rows, columns), if `projections` is None
    :param spacing: distance of pixels [mm] (along rows, along columns), of an array
    :param origin: place of the first pixel in RTK's detector plane [mm], of an array; default:
        centred
    """
    if not hasattr(projections, "GetSpacing") and not hasattr(projections, "GetOutput"):
        panel = _panel_of_array(projections, shape, spacing, origin)
        views = projections
    else:
        image = _itk().output(projections)
        image.Update()
        panel = _panel_of_image(image)
        views = _itk().array_view_from_image(image)
    vectors, parallel = _vectors(geometry, panel)
    core = _core.scan_vectors(
        "parallel" if parallel else "cone", vectors.ravel().tolist(), panel.n[1], panel.n[0]
    )
    if like is not None:
        grid = _Grid.of(like)
        set_volume(core, grid.size, grid.voxel, grid.centre)
    of = Scan(core, None, None)
    return of if views is None else of.with_views(views)


def fdk(
    projections: Any,
    geometry: Any,
    like: Any,
    *,
    spacing: tuple[float, float] | None = None,
    origin: tuple[float, float] | None = None,
    **options: Any,
) -> Any:
    """As RTK's ``FDKConeBeamReconstructionFilter``: an itk.Image of float.

    :param projections: with `geometry`, `spacing` and `origin` as in :func:`scan`
    :param like: an itk.Image, or what has one as output, such as a ``ConstantImageSource``: the
        volume has its size, spacing, origin and direction
    :param options: those of :func:`libfbp.recon`, without those of the volume
    """
    itk = _itk()
    of = scan(projections, geometry, like, spacing=spacing, origin=origin)
    if of.views is None:
        raise InvalidError("projections: missing")
    grid = _Grid.of(like)
    image = itk.Image[itk.F, 3].New()
    image.CopyInformation(itk.output(like))
    image.SetRegions(itk.output(like).GetLargestPossibleRegion())
    image.Allocate()
    fill(of, zyx(itk.array_view_from_image(image), grid.order, grid.backwards), options)
    return image


def _itk() -> Any:
    from importlib import import_module

    return import_module("itk")


@dataclass(frozen=True)
class _Panel:
    """Pixels in RTK's detector plane (U, V) [mm]."""

    n: tuple[int, int]
    """columns, rows"""
    centre: NDArray[np.float64]
    steps: NDArray[np.float64]
    """[0]: from column to column, [1]: from row to row"""


def _panel_of_array(array: Any, shape: Any, spacing: Any, origin: Any) -> _Panel:
    import numpy as np

    if array is not None:
        shape = array.shape[-2:]
        if len(array.shape) != 3:
            raise InvalidError(
                f"projections: has shape {tuple(array.shape)}, expected (views, rows, columns)"
            )
    if shape is None or spacing is None:
        raise InvalidError(
            "spacing: missing in RTK's geometry; give (along rows, along columns) "
            "in mm, and shape=(rows, columns) without projections, or an itk.Image"
        )
    rows, columns = arguments.wholes(shape, "shape", 2, 1)
    pitch = arguments.numbers(spacing, "spacing", 2, positive=True)
    steps = np.diag(pitch)
    middle = (np.array([columns, rows]) - 1) / 2 @ steps
    first = -middle if origin is None else np.array(arguments.numbers(origin, "origin", 2))
    return _Panel((columns, rows), first + middle, steps)


def _panel_of_image(image: Any) -> _Panel:
    import numpy as np

    first, steps, n = _axes(image, "projections")
    if np.abs(steps[2, :2]).max() > 1e-9 * np.abs(steps).max():
        raise UnsupportedError(
            "projections: their direction turns rows or columns out of the detector plane, which "
            "RTK does not support; set the direction to the identity"
        )
    middle = first + steps[:, :2] @ (n[:2] - 1) / 2
    return _Panel((int(n[0]), int(n[1])), middle[:2], steps[:2, :2].T)


def _axes(image: Any, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Place of the first sample, steps along the axes as columns, and number of samples."""
    import numpy as np

    region = image.GetLargestPossibleRegion()
    n = np.array([int(k) for k in region.GetSize()])
    if len(n) != 3:
        raise InvalidError(f"{name}: is an image of {len(n)} dimensions, expected 3")
    if n.min() < 1:
        raise InvalidError(f"{name}: is an empty image: does the filter that makes it still exist?")
    first = np.array(list(image.TransformIndexToPhysicalPoint(region.GetIndex())))
    direction = np.asarray(_itk().array_from_matrix(image.GetDirection()))
    return first, direction * np.array(list(image.GetSpacing())), n


def _vectors(geometry: Any, panel: _Panel) -> tuple[NDArray[np.float64], bool]:
    """Source, panel's centre, steps of each view (views, 4, 3), and whether beams are parallel."""
    import numpy as np

    try:
        sid, sdd, sx, sy, px, py, gantry, out_of_plane, in_plane = (
            np.array(list(getattr(geometry, "Get" + name)()), np.float64)
            for name in (
                "SourceToIsocenterDistances", "SourceToDetectorDistances", "SourceOffsetsX",
                "SourceOffsetsY", "ProjectionOffsetsX", "ProjectionOffsetsY", "GantryAngles",
                "OutOfPlaneAngles", "InPlaneAngles",
            )
        )  # fmt: skip
    except AttributeError as e:
        raise InvalidError(
            f"geometry: {e}: expected an itk.RTK.ThreeDCircularProjectionGeometry"
        ) from None
    n = len(sid)
    if n == 0:
        raise InvalidError("geometry: has no views: AddProjection() adds one")
    parallel = bool(sdd[0] == 0)  # RTK does not mix the two
    if float(geometry.GetRadiusCylindricalDetector()) != 0:
        raise UnsupportedError("geometry: its detector is a cylinder, only flat ones are supported")
    turn = _about(2, -in_plane) @ _about(0, -out_of_plane) @ _about(1, -gantry)
    seen = np.zeros((n, 4, 3))  # in the axes of the turned gantry
    if parallel:
        seen[:, 0, 2] = 1
    else:
        seen[:, 0] = np.stack([sx, sy, sid], 1)
        seen[:, 1, 2] = sid - sdd
    seen[:, 1, :2] = np.stack([px, py], 1) + panel.centre
    seen[:, 2:, :2] = panel.steps
    return _to_fbp(seen @ turn), parallel


def _about(axis: int, angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrices (n, 3, 3) of turns about x, y or z."""
    import numpy as np

    i, j = (axis + 1) % 3, (axis + 2) % 3
    out = np.zeros((len(angle), 3, 3))
    out[:, axis, axis] = 1
    out[:, i, i] = out[:, j, j] = np.cos(angle)
    out[:, j, i] = np.sin(angle)
    out[:, i, j] = -np.sin(angle)
    return out


def _to_fbp(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """RTK's (x, y, z) as (x, -z, y)."""
    out: NDArray[np.float64] = points[..., [0, 2, 1]] * (1, -1, 1)
    return out


@dataclass(frozen=True)
class _Grid:
    """A volume of RTK's in the axes of a scan."""

    size: list[int]
    voxel: list[float]
    centre: list[float]
    order: str
    """axes of its array, as :func:`zyx` takes them"""
    backwards: str

    @classmethod
    def of(cls, like: Any) -> _Grid:
        import numpy as np

        image = _itk().output(like)
        image.UpdateOutputInformation()
        first, steps, n = _axes(image, "like")
        rows = _to_fbp(steps.T)  # step along each of the image's axes
        along = np.abs(rows).argmax(1)
        length = rows[np.arange(3), along]
        if sorted(along) != [0, 1, 2] or np.abs(np.abs(rows).sum(1) / np.abs(length) - 1).max() > 1e-9:
            raise UnsupportedError(
                "like: its direction is oblique; give a volume along RTK's axes, and resample it"
            )
        of_axis = np.argsort(along)
        middle = _to_fbp(first + steps @ (n - 1) / 2)
        return cls(
            [int(n[k]) for k in of_axis],
            [float(abs(length[k])) for k in of_axis],
            middle.tolist(),
            "".join("xyz"[a] for a in along[::-1]),
            "".join("xyz"[a] for a, d in zip(along, length, strict=True) if d < 0),
        )
