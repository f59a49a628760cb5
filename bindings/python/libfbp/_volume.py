"""Volumes: voxels, and where they are."""

from __future__ import annotations

import html
import importlib
import math
import operator
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _arguments as arguments
from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from ._report import Report


@dataclass(eq=False)
class Volume:
    """Voxels and where they are.

    A volume can be used as an array: ``volume[k]``, ``volume * 2``, ``volume.mean()`` and functions
    of NumPy use ``array``, and return NumPy arrays and numbers.  Only == and != compare objects.
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

    @property
    def ndim(self) -> int:
        """3; of several frames 4"""
        return len(self.shape)

    @property
    def size(self) -> int:
        """number of voxels, of all frames"""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """type of the voxels"""
        return in_host(self.array).dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        return in_host(self.array)[key]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter(in_host(self.array))

    def mean(self, axis: Any = None, **keywords: Any) -> Any:
        """Mean of the voxels; arguments as of numpy.mean()."""
        return in_host(self.array).mean(axis, **keywords)

    def std(self, axis: Any = None, **keywords: Any) -> Any:
        """Standard deviation of the voxels; arguments as of numpy.std()."""
        return in_host(self.array).std(axis, **keywords)

    def sum(self, axis: Any = None, **keywords: Any) -> Any:
        """Sum of the voxels; arguments as of numpy.sum()."""
        return in_host(self.array).sum(axis, **keywords)

    def min(self, axis: Any = None, **keywords: Any) -> Any:
        """Least voxel; arguments as of numpy.min()."""
        return in_host(self.array).min(axis, **keywords)

    def max(self, axis: Any = None, **keywords: Any) -> Any:
        """Greatest voxel; arguments as of numpy.max()."""
        return in_host(self.array).max(axis, **keywords)

    def _with(self, function: Callable[..., Any], other: Any, swapped: bool = False) -> Any:
        """The function of the voxels and of another array, number or volume."""
        import numpy as np

        if not isinstance(other, Volume) and isinstance(other, (str, bytes, dict, list, set)):
            return NotImplemented
        mine, second = in_host(self.array), np.asarray(other) if isinstance(other, Volume) else other
        return function(second, mine) if swapped else function(mine, second)

    def __add__(self, other: Any) -> Any:
        return self._with(operator.add, other)

    def __radd__(self, other: Any) -> Any:
        return self._with(operator.add, other, True)

    def __sub__(self, other: Any) -> Any:
        return self._with(operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with(operator.sub, other, True)

    def __mul__(self, other: Any) -> Any:
        return self._with(operator.mul, other)

    def __rmul__(self, other: Any) -> Any:
        return self._with(operator.mul, other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, other, True)

    def __pow__(self, other: Any) -> Any:
        return self._with(operator.pow, other)

    def __lt__(self, other: Any) -> Any:
        return self._with(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._with(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._with(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._with(operator.ge, other)

    def __neg__(self) -> Any:
        return -in_host(self.array)

    def __abs__(self) -> Any:
        return abs(in_host(self.array))

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

    def to_napari(self, viewer: Any = None, **layer: Any) -> Any:
        """Show the volume in napari, with its spacing and origin, and return the viewer.

        :param viewer: a napari.Viewer that gets the volume as a layer; None: a new viewer
        :param layer: keywords of napari.Viewer.add_image(), such as name="bone"
        """
        if viewer is None:
            try:
                napari = importlib.import_module("napari")
            except ImportError as e:
                raise ImportError(
                    'to_napari: napari cannot be imported; pip install "napari[all]", or save the '
                    "volume as .ome.zarr and open that"
                ) from e
            viewer = napari.Viewer()
        found = in_host(self.array)
        frames = found.ndim - 3
        keywords = {
            "scale": (1.0,) * frames + self.spacing[::-1],
            "translate": (0.0,) * frames + self.origin[::-1],
            "name": os.path.basename(self.path) if self.path else "volume",
        }
        viewer.add_image(found, **{**keywords, **layer})
        return viewer

    def _repr_html_(self) -> str:
        import base64

        from ._tools import view

        picture = view(self)
        low, high = picture.window
        text = html.escape(f"{self!r}, {low:.4g} (black) to {high:.4g} (white)")
        png = base64.b64encode(picture.png).decode("ascii")
        return (
            f'<figure><img src="data:image/png;base64,{png}" alt="slices xy, xz, yz">'
            f"<figcaption>{text}</figcaption></figure>"
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
