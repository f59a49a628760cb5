"""Scans: views, and how they were measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from . import _arguments as arguments
from . import _core, _images
from ._errors import InvalidError
from ._facts import Facts
from ._panel import (
    check_count,
    check_lengths,
    distances,
    open_views,
    pair,
    panel,
    shape_of,
    turns,
    warn_of_radians,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

_COUNTS = ("i0", *_images.NAMES)


class Scan:
    """Views and their geometry.

    Made by :func:`libfbp.load` or one of the class methods.  Lengths are in mm, angles in degrees.
    A scan does not change: methods that change something return another one.  It borrows arrays, it
    does not copy them: what is written to them later is what later runs read.
    """

    __slots__ = ("_core", "_views", "views")

    def __init__(self, core: _core.Scan, views: _core.Views | None, given: Any) -> None:
        self._core = core
        self._views = views
        self.views = given
        """the views as they were given; None: those of a file, or a geometry alone"""

    # Ways to make one.

    @classmethod
    def cone(
        cls,
        views: Any,
        angles: Sequence[float] | NDArray[np.floating],
        *,
        sod: float | Sequence[float],
        sdd: float | Sequence[float],
        pixel: float | Sequence[float],
        offset: float | Sequence[float] = 0.0,
        centre: float | None = None,
        tilt: float | Sequence[float] = (0.0, 0.0, 0.0),
        skew: float = 0.0,
        shape: tuple[int, int] | None = None,
        dtype: Any = "float32",
        row_order: str | None = None,
        **more: Any,
    ) -> Scan:
        """A cone beam on a circle.

        :param views: (views, rows, columns), any stride and byte order, float32, float64 or integers
            of 8, 16 or 32 bits; a CUDA tensor in C order, which stays on its GPU; a list of views;
            a path; a function of the view's number; an iterator that gives the views one after
            another while they are measured; None: a geometry alone.  Values are line integrals, or
            counts with `i0`, `dark` and `flat`.
        :param angles: [degrees] of each view.  The source stands at
            (sod cos a, sod sin a, 0), and the column index grows along
            u = (-sin a, cos a, 0).
        :param sod: from source to rotation axis [mm]; one number, or one a view
        :param sdd: from source to detector [mm]; one number, or one a view
        :param pixel: distance of pixels [mm], or (along rows, along columns)
        :param offset: of the panel's centre along its rows [mm], or (along rows, along columns)
        :param centre: column that the axis falls on, from 0; instead of `offset` along rows
        :param tilt: turns of the panel [degrees] about its rows, columns and normal; one number: in
            its plane
        :param skew: deviation of rows and columns from a right angle [degrees]
        :param shape: (rows, columns); needed for functions, iterators and None
        :param dtype: what views of functions and iterators are kept as
        :param row_order: "bottom-up": row 0 is the lowest, or "top-down"; default: bottom-up, and of
            files what their format means
        :param more: `i0`, `dark`, `flat`, `bad_pixels`: see :meth:`with_counts`
        """
        return cls._circle(
            "cone", views, angles, sod, sdd, pixel, offset, centre, tilt, skew, shape, dtype,
            row_order, more,
        )

    @classmethod
    def fan(
        cls,
        views: Any,
        angles: Sequence[float] | NDArray[np.floating],
        *,
        sod: float | Sequence[float],
        sdd: float | Sequence[float],
        pixel: float,
        offset: float = 0.0,
        centre: float | None = None,
        columns: int | None = None,
        dtype: Any = "float32",
        **more: Any,
    ) -> Scan:
        """A fan beam: a cone beam with one row; views (views, columns).  See :meth:`cone`."""
        shape = None if columns is None else (1, arguments.whole(columns, "columns", 1))
        return cls._circle(
            "cone", views, angles, sod, sdd, pixel, offset, centre, 0.0, 0.0, shape, dtype,
            None, more,
        )

    @classmethod
    def parallel(
        cls,
        views: Any,
        angles: Sequence[float] | NDArray[np.floating],
        *,
        pixel: float | Sequence[float],
        offset: float | Sequence[float] = 0.0,
        centre: float | None = None,
        tilt: float | Sequence[float] = (0.0, 0.0, 0.0),
        skew: float = 0.0,
        shape: tuple[int, int] | None = None,
        dtype: Any = "float32",
        row_order: str | None = None,
        **more: Any,
    ) -> Scan:
        """A parallel beam; views (views, rows, columns), or (views, columns).  See :meth:`cone`."""
        return cls._circle(
            "parallel", views, angles, 1.0, 1.0, pixel, offset, centre, tilt, skew, shape, dtype,
            row_order, more,
        )

    @classmethod
    def from_matrices(
        cls,
        views: Any,
        matrices: Sequence[Any] | NDArray[np.floating],
        *,
        pixel: float = 1.0,
        shape: tuple[int, int] | None = None,
        dtype: Any = "float32",
        row_order: str | None = None,
        **more: Any,
    ) -> Scan:
        """Cone beams of any orbit, by a 3x4 projection matrix each.

        :param matrices: (views, 3, 4): (column, row, 1) w = P (x, y, z, 1), x, y, z in mm, the
            centre of the first pixel at (0, 0).  Any scale and sign.
        :param pixel: distance of columns [mm], the one length that a matrix does not have
        """
        given = arguments.nested(matrices, "matrices", 12, "(views, 3, 4)")
        n = len(given) // 12
        kept, file = open_views(views, n, shape, dtype, row_order)
        rows, columns = panel(kept, file, shape)
        check_count(kept, file, n, "matrices")
        pitch = arguments.number(pixel, "pixel", positive=True)
        core = _core.scan_matrices(given, pitch, rows, columns)
        return cls(core, kept, views)._completed(file, row_order, more)

    @classmethod
    def from_vectors(
        cls,
        views: Any,
        vectors: Sequence[Any] | NDArray[np.floating],
        *,
        kind: str = "cone",
        shape: tuple[int, int] | None = None,
        dtype: Any = "float32",
        row_order: str | None = None,
        **more: Any,
    ) -> Scan:
        """Views of any orbit and panel, by twelve numbers each, as :attr:`vectors` has them.

        :param vectors: (views, 4, 3): source (of parallel beams the direction towards it, of any
            length), centre of the panel, steps from column to column and from row to row [mm]
        :param kind: "cone" or "parallel"
        """
        if kind not in ("cone", "parallel"):
            raise InvalidError(f'kind: found "{kind}", expected "cone" or "parallel"')
        given = arguments.nested(vectors, "vectors", 12, "(views, 4, 3)")
        n = len(given) // 12
        kept, file = open_views(views, n, shape, dtype, row_order)
        rows, columns = panel(kept, file, shape)
        check_count(kept, file, n, "vectors")
        core = _core.scan_vectors(kind, given, rows, columns)
        return cls(core, kept, views)._completed(file, row_order, more)

    @classmethod
    def planes(
        cls,
        views: Any,
        directions: Sequence[Any] | NDArray[np.floating],
        *,
        spacing: float,
        first: float | None = None,
        shape: tuple[int, int] | None = None,
        dtype: Any = "float32",
        quadrature: str | None = None,
    ) -> Scan:
        """Plane integrals (EPR imaging) along directions of any order, from any half sphere.

        :param views: (directions, samples), or (directions, frames, samples)
        :param directions: (directions, 3), of any length
        :param spacing: distance of samples [mm]
        :param first: t of the first sample [mm]; default: samples are centred on 0
        :param quadrature: weights: "auto", "bands", "voronoi", "harmonics"
        """
        given = arguments.nested(directions, "directions", 3, "(directions, 3)")
        check_lengths(given)
        n = len(given) // 3
        kept, file = open_views(views, n, shape, dtype, None)
        frames, samples = panel(kept, file, shape)
        check_count(kept, file, n, "directions")
        step = arguments.number(spacing, "spacing", positive=True)
        start = -(samples - 1) / 2 * step if first is None else arguments.number(first, "first")
        core = _core.scan_planes(given, step, start, frames, samples)
        if quadrature is not None:
            core.set_quadrature(quadrature)
        return cls(core, kept, views)._completed(file, None, {})

    @classmethod
    def _circle(
        cls, kind: str, views: Any, angles: Any, sod: Any, sdd: Any, pixel: Any, offset: Any,
        centre: float | None, tilt: Any, skew: float, shape: tuple[int, int] | None, dtype: Any,
        row_order: str | None, more: dict[str, Any],
    ) -> Scan:  # fmt: skip
        degrees = arguments.listed(angles, "angles")
        n = len(degrees)
        kept, file = open_views(views, n, shape, dtype, row_order)
        rows, columns = panel(kept, file, shape)
        check_count(kept, file, n, "angles")
        warn_of_radians(degrees)
        turned = turns(tilt)
        shift = pair(offset, "offset", both=False)
        if centre is not None and shift[0] != 0:
            raise InvalidError(
                "centre and offset both set the position of the panel along its rows; give only "
                "one of them"
            )
        core = _core.scan_circle(
            kind,
            [a * math.pi / 180 for a in degrees],
            distances(sod, "sod", n),
            distances(sdd, "sdd", n),
            pair(pixel, "pixel", both=True),
            shift,
            turned,
            arguments.number(skew, "skew") * math.pi / 180,
            rows,
            columns,
        )
        if centre is not None:
            core.adjust("centre", arguments.number(centre, "centre"))
        return cls(core, kept, views)._completed(file, row_order, more)

    def _completed(self, file: str | None, row_order: str | None, more: dict[str, Any]) -> Scan:
        self._core.set_projections(file)
        if row_order is not None:
            self._core.set_row_order(row_order)
        for name in more:
            if name not in _COUNTS:
                near = arguments.nearest(name, _COUNTS)
                raise TypeError(f'unknown keyword "{name}"{near}')
        return self.with_counts(**more) if more else self

    # The same, but for something.

    def with_views(
        self, views: Any, *, dtype: Any = "float32", row_order: str | None = None
    ) -> Scan:
        """The same geometry with other views, in any form that :meth:`cone` takes."""
        core = self._core.copy()
        n, rows, columns = self.shape
        kept, file = open_views(views, n, (rows, columns), dtype, row_order)
        if panel(kept, file, (rows, columns)) != (rows, columns):
            raise InvalidError(f"views: found shape {shape_of(kept, file)}, expected {self.shape}")
        check_count(kept, file, n, "the scan")
        return Scan(core, kept, views)._completed(file, row_order, {})

    def with_counts(
        self,
        *,
        i0: float | None = None,
        dark: Any = None,
        flat: Any = None,
        bad_pixels: Any = None,
    ) -> Scan:
        """The same scan of counts (intensities), of which the logarithm is taken.

        :param i0: counts without an object
        :param dark: a picture without the beam: an array (rows, columns), several (pictures, rows,
            columns), which are averaged, or the path of a file of either.  Arrays are copied; their
            rows run as those of the views, as in files.
        :param flat: one or several without the object, in the same way
        :param bad_pixels: a mask, True or not 0 where pixels are bad; or "auto": the views are
            searched for dead, stuck, hot and saturated pixels
        """
        core = self._core.copy()
        if i0 is not None:
            core.set_i0(arguments.number(i0, "i0", positive=True))
        for name, picture in zip(_images.NAMES, (dark, flat, bad_pixels), strict=True):
            if picture is not None:
                _images.use(core, name, picture)
        return Scan(core, self._views, self.views)

    def adjusted(
        self,
        *,
        centre: float | None = None,
        offset: float | None = None,
        tilt: float | None = None,
        sod: float | None = None,
        sdd: float | None = None,
        flip_u: bool = False,
        flip_v: bool = False,
        reverse: bool = False,
    ) -> Scan:
        """The same scan with another geometry, as the keywords of :func:`libfbp.recon` say."""
        core = self._core.copy()
        core.flip(flip_u, flip_v, reverse)
        if centre is not None and offset is not None:
            raise InvalidError(
                "centre and offset both set the position of the panel; give only one of them"
            )
        given = {"sod": sod, "sdd": sdd, "tilt": tilt, "offset": offset, "centre": centre}
        for name, value in given.items():  # distances first, as the others count on the panel
            if value is not None:
                core.adjust(name, arguments.number(value, name))
        return Scan(core, self._views, self.views)

    # What it is.

    @property
    def kind(self) -> str:
        """ "cone", "parallel" or "planes" """
        return self._core.kind

    @property
    def shape(self) -> tuple[int, int, int]:
        """(views, rows, columns)"""
        return self._core.n_views, self._core.n_rows, self._core.n_columns

    @property
    def facts(self) -> Facts:
        """What follows from the geometry: coverage, field of view, remarks."""
        return Facts(**self._core.facts(None))

    @property
    def matrices(self) -> NDArray[np.float64]:
        """(views, 3, 4) projection matrices: (column, row, 1) w = P (x, y, z, 1), mm"""
        import numpy as np

        return np.array(self._core.matrices()).reshape((-1, 3, 4))

    @property
    def vectors(self) -> NDArray[np.float64]:
        """(views, 4, 3): source (or the direction towards it), centre of the panel, steps from
        column to column and from row to row [mm]"""
        import numpy as np

        return np.array(self._core.vectors()).reshape((-1, 4, 3))

    @property
    def assumed(self) -> list[tuple[str, str | None, str]]:
        """What its file only guesses: (key, value, why)."""
        return list(self._core.assumed)

    @property
    def note(self) -> str | None:
        """A sentence about what its file leaves open, or None."""
        return self._core.note

    @property
    def path(self) -> str | None:
        """The file that it was loaded from."""
        return self._core.path

    def save(self, path: Any) -> None:
        """Write a scan file; its projections are those of a file, or are to be added to it."""
        self._core.save(arguments.path(path, "path"))

    def draw(self, path: Any) -> None:
        """Draw the geometry as an SVG."""
        _core.geometry_draw(self._core, arguments.path(path, "path"), None)

    def __copy__(self) -> Scan:
        return Scan(self._core.copy(), self._views, self.views)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a libfbp.Scan borrows its views and cannot be pickled or copied with them; make one "
            "where it is needed, from scan.vectors (Scan.from_vectors), or save() it to a file"
        )

    def __repr__(self) -> str:
        views, rows, columns = self.shape
        return f"<libfbp.Scan: {self.kind}, {views} views of {rows} x {columns}>"
