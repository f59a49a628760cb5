"""Volumes: voxels, and where they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _arguments as arguments
from . import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._report import Report


@dataclass(eq=False)
class Volume:
    """Voxels and where they are.

    ``array`` is (z, y, x), of several frames (frame, z, y, x); ``spacing`` and ``origin`` are along
    x, y, z in mm: voxel ``array[k, j, i]`` has its centre at ``origin + (i, j, k) * spacing``.
    """

    array: NDArray[Any]
    """the voxels; what was given as `out`, if it was an array or a tensor"""
    spacing: tuple[float, float, float]
    """size of a voxel along x, y, z [mm]"""
    origin: tuple[float, float, float]
    """centre of voxel (0, 0, 0) along x, y, z [mm]"""
    unit: str = "1/mm"
    """"1/mm", of plane integrals "1/mm^3", or "HU" """
    report: Report | None = field(default=None, repr=False)
    """times, and what was found, of the run that made it"""
    path: str | None = None
    """the file, if it lies in one; then `array` is read from it when it is first asked for"""

    def __post_init__(self) -> None:
        if self.array is None and self.path is not None:
            del self.array  # read by __getattr__

    if not TYPE_CHECKING:  # a checker knows the fields

        def __getattr__(self, name: str) -> Any:
            if name != "array" or self.__dict__.get("path") is None:
                raise AttributeError(f"Volume has no attribute {name!r}")
            found = read(self.__dict__["path"]).array
            self.array = found
            return found

    @property
    def shape(self) -> tuple[int, ...]:
        """(z, y, x)"""
        return tuple(self.array.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = in_host(self.array)
        if dtype is not None and found.dtype != dtype:
            return found.astype(dtype)
        return found.copy() if copy else found

    def coordinates(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the positions of the voxel centres as three arrays, along x, y and z [mm]."""
        import numpy as np

        n = self.shape[:-4:-1]
        x, y, z = (
            o + d * np.arange(m, dtype=np.float64) for o, d, m in zip(self.origin, self.spacing, n, strict=True)
        )
        return x, y, z

    def save(self, path: Any, *, compress: bool = False) -> None:
        """Write it to a file, in the format of the name: .mha, .nii.gz, .npy, .h5, .tif, .nrrd, .ome.zarr …

        The file appears under its name when it is complete.  NPY and raw files store neither
        spacing nor origin nor unit.  A .png cannot store floating-point values: use
        ``fbp.view(volume).save("slices.png")``, or `output_type` of :func:`libfbp.recon`.
        """
        whole = in_host(self.array)
        frames = whole.shape[0] if whole.ndim == 4 else 1
        _core.save(
            arguments.path(path, "path"),
            whole.reshape((-1, *whole.shape[-2:])),
            list(self.spacing),
            list(self.origin),
            self.unit,
            frames,
            compress,
        )

    def _repr_png_(self) -> bytes:
        from ._tools import view

        return view(self).png

    def __repr__(self) -> str:
        where = f" in {self.path}" if self.path else ""
        size = "" if "array" not in self.__dict__ else " x ".join(map(str, self.shape)) + " voxels of "
        mm = " x ".join(f"{d:g}" for d in self.spacing)
        return f"<libfbp.Volume{where}: {size}{mm} mm, {self.unit}>"


def in_host(array: Any) -> NDArray[Any]:
    """An array as one of NumPy's; of the memory of a device it is copied."""
    import numpy as np

    return np.asarray(_core.to_host(array) if _core.is_elsewhere(array) else array)


def read(path: Any) -> Volume:
    """Read an array of any format that ``fbp`` reads (docs/formats.md) as a volume.

    Values are float32, or float64 if the file has that or 32-bit integers; scaled as the file says.
    If the file stores no spacing, as NPY, spacing is (1, 1, 1) and origin (0, 0, 0).
    """
    import numpy as np

    name = arguments.path(path, "path")
    file = _core.File(name)
    info = file.info
    nx, ny, nz = info["size"]
    wide = info["dtype"] in ("float64", "int32", "uint32") and not info["scaled"]
    out = np.empty((nz, ny, nx), np.float64 if wide else np.float32)
    file.read(out)
    if info["frames"] > 1:
        out = out.reshape((info["frames"], -1, ny, nx))
    spacing = info["spacing"] or (1.0, 1.0, 1.0)
    return Volume(out, spacing, info["origin"], info["unit"], None, name)
