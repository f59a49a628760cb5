"""CIL: its data and geometries, reconstructors like those of ``cil.recon``, and a processor like those
of ``cil.plugins``.

CIL's geometries have a unit for their names alone: lengths are taken as mm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._errors import InvalidError, UnsupportedError
from ._foreign import fill, filter_name, set_volume, with_views, zyx

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._scan import Scan

__all__ = ["FBP", "FDK", "Processor", "ProjectionOperator", "scan", "use"]

_OF_DATA = {"angle": "v", "projection": "v", "vertical": "r", "horizontal": "c"}
_OF_IMAGES = {"vertical": "z", "horizontal_y": "y", "horizontal_x": "x"}
_FILTERS = {name: name for name in ("ram-lak", "shepp-logan", "cosine", "hamming", "hann")}


def scan(data: Any, image_geometry: Any = None) -> Scan:
    """A scan of CIL's.

    :param data: an AcquisitionData of one channel, whose axes stand in any order; or an
        AcquisitionGeometry, for a scan without views
    :param image_geometry: the volume that :func:`libfbp.recon` makes of it; default: CIL's,
        ``geometry.get_ImageGeometry()``
    """
    geometry = getattr(data, "geometry", data)
    if not hasattr(geometry, "config"):
        raise InvalidError(
            f"data: found {type(data).__name__}, expected an AcquisitionData or AcquisitionGeometry"
        )
    if geometry.channels > 1:
        raise UnsupportedError("data: has several channels; give one, data.get_slice(channel=0)")
    kind, vectors = _vectors(geometry)
    columns, rows = (int(n) for n in geometry.config.panel.num_pixels)
    core = _core.scan_vectors(kind, vectors.ravel().tolist(), max(rows, 1), columns)
    _set_volume(core, geometry, image_geometry or geometry.get_ImageGeometry())
    views = None if geometry is data else data.array
    names = [str(label) for label in geometry.dimension_labels]
    return with_views(core, views, "".join(_OF_DATA[name] for name in names), names)


class _Recon:
    """What FBP and FDK have in common: the interface of ``cil.recon.Reconstructor``."""

    kind = ""
    preset_filters = tuple(_FILTERS)

    def __init__(
        self, input: Any, image_geometry: Any = None, filter: str = "ram-lak", **options: Any
    ) -> None:
        """
        :param input: an AcquisitionData
        :param image_geometry: default: CIL's
        :param filter: one of `preset_filters`
        :param options: those of :func:`libfbp.recon`, without those of the volume
        """
        if not hasattr(input, "geometry"):
            raise InvalidError(f"input: found {type(input).__name__}, expected an AcquisitionData")
        if _kind(input.geometry) != self.kind:
            raise InvalidError(
                f"input: its beam is {_kind(input.geometry)}: "
                f"{'FBP' if self.kind == 'cone' else 'FDK'} is for that"
            )
        self.acquisition_geometry = input.geometry.copy()
        self.options = options
        self.set_input(input)
        self.set_image_geometry(image_geometry)
        self.set_filter(filter)

    def set_input(self, input: Any) -> None:
        """Other data of the same geometry."""
        if input.geometry != self.acquisition_geometry:
            raise InvalidError("input: has another geometry: make a new reconstructor for it")
        self.input = input

    def set_image_geometry(self, image_geometry: Any = None) -> None:
        """Another volume; None: CIL's default."""
        given = image_geometry or self.acquisition_geometry.get_ImageGeometry()
        self.image_geometry = given.copy()

    def set_filter(self, filter: str = "ram-lak", cutoff: float = 1.0) -> None:
        """One of `preset_filters`; `cutoff` is a fraction of the Nyquist frequency."""
        if not isinstance(filter, str):
            raise UnsupportedError(
                "filter: is an array; pass it to cil.recon.FDK or FBP, and that to "
                "libfbp.adapters.cil.use()"
            )
        self.filter = filter_name(filter, _FILTERS, "CIL's")
        self.cutoff = cutoff

    def reset(self) -> None:
        """The default volume and filter."""
        self.set_image_geometry()
        self.set_filter()

    def run(self, out: Any = None, verbose: int = 1) -> Any:
        """Reconstruct.

        :param out: an ImageData to fill; then nothing is returned
        :param verbose: 0: print nothing
        """
        if verbose:
            print(self)
        given = {"filter": self.filter, "cutoff": self.cutoff, **self.options}
        made = _image(scan(self.input, self.image_geometry), self.image_geometry, out, given)
        return None if out is not None else made

    def __str__(self) -> str:
        sizes = (
            " x ".join(str(n) for n in geometry.shape)
            for geometry in (self.acquisition_geometry, self.image_geometry)
        )
        return "{} by libfbp: {} samples to {} voxels, filter {}".format(
            type(self).__name__, *sizes, self.filter
        )


class FDK(_Recon):
    """Of cone beams, as ``cil.recon.FDK``: ``FDK(data, image_geometry).run()`` is an ImageData."""

    kind = "cone"


class FBP(_Recon):
    """Of parallel beams, as ``cil.recon.FBP``: ``FBP(data, image_geometry).run()``."""

    kind = "parallel"


class Processor:
    """As the class FBP of ``cil.plugins.tigre`` and ``cil.plugins.astra``: made of two geometries and
    called with data."""

    def __init__(
        self, image_geometry: Any = None, acquisition_geometry: Any = None, **options: Any
    ) -> None:
        if acquisition_geometry is None:
            raise InvalidError("acquisition_geometry: missing")
        self.acquisition_geometry = acquisition_geometry
        self.image_geometry = image_geometry or acquisition_geometry.get_ImageGeometry()
        self.options = options
        self._input: Any = None

    def set_input(self, dataset: Any) -> None:
        """The AcquisitionData, of the geometry that the processor was made of."""
        if getattr(dataset, "geometry", None) != self.acquisition_geometry:
            raise InvalidError("dataset: has another geometry than the processor")
        self._input = dataset

    def get_input(self) -> Any:
        """What set_input() has taken, or None."""
        return self._input

    def get_output(self, out: Any = None) -> Any:
        """The ImageData; `out`: one to fill."""
        if self._input is None:
            raise InvalidError("dataset: missing: set_input() takes it")
        return _image(scan(self._input, self.image_geometry), self.image_geometry, out, self.options)

    def __call__(self, dataset: Any, out: Any = None) -> Any:
        self.set_input(dataset)
        return self.get_output(out)


class ProjectionOperator:
    """The backprojection that ``cil.recon`` calls with views which it has weighted and filtered."""

    def __init__(self, image_geometry: Any, acquisition_geometry: Any, **unused: Any) -> None:
        self.image_geometry = image_geometry
        self.acquisition_geometry = acquisition_geometry

    def adjoint(self, x: Any, out: Any = None) -> Any:
        """The sum over all views of their values / w²; w is 1 at the iso-centre."""
        of = scan(x, self.image_geometry)
        of._core.set_filtered()
        return _image(of, self.image_geometry, out, {})


def use(reconstructor: Any) -> Any:
    """Let a ``cil.recon.FDK`` or ``cil.recon.FBP`` backproject by libfbp; its filter, which may be an
    array, stays CIL's.

    >>> image = libfbp.adapters.cil.use(cil.recon.FDK(data)).run()
    """
    if not hasattr(reconstructor, "_PO_class"):
        raise InvalidError(
            f"reconstructor: found {type(reconstructor).__name__}, expected a cil.recon.FDK or FBP"
        )
    reconstructor._PO_class = ProjectionOperator
    reconstructor._backend = "libfbp"
    return reconstructor


def _image(of: Scan, image_geometry: Any, out: Any, options: dict[str, Any]) -> Any:
    """The volume of a scan as an ImageData."""
    import numpy as np

    labels = [str(label) for label in image_geometry.dimension_labels]
    if out is not None and (
        [str(label) for label in out.dimension_labels] != labels or out.shape != image_geometry.shape
    ):
        raise InvalidError("out: has another geometry than the volume")
    image = out
    if out is None or out.array.dtype != np.float32:
        image = image_geometry.allocate(None, dtype=np.float32)
    order = "".join(_OF_IMAGES[label] for label in labels)
    fill(of, zyx(image.array, order), options)
    if out is not None and image is not out:
        out.fill(image.array)
    return image if out is None else out


def _kind(geometry: Any) -> str:
    for kind in ("cone", "parallel"):
        if geometry.geom_type == kind:
            return kind
    return "cone"  # cone_flex, a source and a panel for each view


def _vectors(geometry: Any) -> tuple[str, NDArray[np.float64]]:
    """ "cone" or "parallel", and source, panel's centre, steps of each view (views, 4, 3)."""
    import numpy as np

    config = geometry.copy().config
    system, panel = config.system, config.panel
    if isinstance(getattr(system, "source", None), (list, tuple)):
        pairs = zip(system.source, system.detector, strict=True)
        views = np.stack([_view(source.position, detector, panel) for source, detector in pairs])
        return "cone", views
    system.align_reference_frame("cil")
    kind = _kind(geometry)
    towards = system.source.position if kind == "cone" else -system.ray.direction
    still = _view(towards, system.detector, panel)
    angle = np.asarray(config.angles.angle_data, np.float64) + config.angles.initial_angle
    if config.angles.angle_unit == "degree":
        angle = np.radians(angle)
    turn = np.zeros((len(angle), 3, 3))  # the object turns by these: source and panel the other way
    turn[:, 0, 0] = turn[:, 1, 1] = np.cos(angle)
    turn[:, 0, 1] = -np.sin(angle)
    turn[:, 1, 0] = np.sin(angle)
    turn[:, 2, 2] = 1
    turned: NDArray[np.float64] = still @ turn
    return kind, turned


def _view(source: Any, detector: Any, panel: Any) -> NDArray[np.float64]:
    """(4, 3) of one view; of geometries in a plane, the one row is as high as columns are wide."""
    import numpy as np

    out = np.zeros((4, 3))
    out[0, : len(source)] = source
    out[1, : len(source)] = detector.position
    out[2, : len(source)] = panel.pixel_size[0] * np.asarray(detector.direction_x)
    if len(source) == 3:
        out[3] = panel.pixel_size[1] * np.asarray(detector.direction_y)
    else:
        out[3, 2] = panel.pixel_size[0]
    out[2] *= -1 if "right" in panel.origin else 1
    out[3] *= -1 if "top" in panel.origin else 1
    return out


def _set_volume(core: _core.Scan, geometry: Any, image: Any) -> None:
    if image.channels > 1:
        raise UnsupportedError("image_geometry: has several channels, expected one")
    flat = image.voxel_num_z == 0
    centre = [image.center_x, image.center_y, 0.0 if flat else image.center_z]
    moved = getattr(geometry.config.system, "volume_centre", None)
    if moved is not None:
        centre = [c + float(d) for c, d in zip(centre, moved.position, strict=True)]
    set_volume(
        core,
        (image.voxel_num_x, image.voxel_num_y, max(image.voxel_num_z, 1)),
        (
            image.voxel_size_x,
            image.voxel_size_y,
            image.voxel_size_x if flat else image.voxel_size_z,
        ),
        centre,
    )
