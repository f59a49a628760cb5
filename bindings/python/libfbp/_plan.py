"""Plans, and reconstruction in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

from . import _arguments as arguments
from . import _core, _options, _views
from ._errors import InvalidError
from ._options import Options
from ._progress import Listener, Progress
from ._report import Report, Summary
from ._load import load
from ._scan import Scan
from ._volume import Volume

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from typing_extensions import Unpack


class Plan:
    """A reconstruction that is ready to run, again and again.

    A plan owns memory, threads and devices.  One thread at a time may run it; different plans run
    in different threads at the same time, as the interpreter is free while they compute.
    """

    def __init__(
        self,
        scan: Scan | Any,
        *,
        output: Any = None,
        progress: bool | Callable[[Progress], Any] | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Choose device, weights, kernel and division; of files only headers are read.

        :param scan: a scan, or the path of one
        :param output: the path that :meth:`run` will be given, if it is known: of OME-Zarr, writing
            takes memory, and parts are cut between chunks
        :param progress: as in :meth:`run`, for runs that have none of their own
        :param options: the keywords of :class:`libfbp.Options`
        """
        given = _options.named(dict(options))
        self._listener = Listener.of(progress)
        self.scan = _loaded(scan, given)
        core = _options.prepared_core(self.scan, given, self._find_centre(given))
        keywords = _options.of_plan(given)
        if output is not None:
            keywords["output"] = arguments.path(output, "output")
        if self.scan._views is not None:
            keywords["device"] = _options.beside(keywords.get("device"), self.scan._views.device)
        self._in_double = keywords.get("precision") == "double"
        self._core = _core.Plan(
            core,
            self.scan._views,
            keywords,
            self._listener.on_progress(),
            self._listener.on_log,
        )
        self.summary = Summary(**self._core.info)

    @property
    def shape(self) -> tuple[int, ...]:
        """(z, y, x) of the volume; of several frames (frame, z, y, x)"""
        nx, ny, nz = self.summary.volume["size"]
        frames = self.summary.frames
        return (frames, nz, ny, nx) if frames > 1 else (nz, ny, nx)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32, or float64 with precision="double" """
        import numpy as np

        return np.dtype(np.float64 if self._in_double else np.float32)

    def run(
        self,
        views: Any = None,
        out: Any = None,
        *,
        row_order: str = "bottom-up",
        progress: bool | Callable[[Progress], Any] | None = None,
    ) -> Volume:
        """Reconstruct.

        :param views: other views of the same size and type as the scan's, in any form that
            :meth:`Scan.cone` takes; None: the scan's
        :param out: where the volume goes: None: a new NumPy array; an array (z, y, x) of `shape`
            and `dtype`, of any stride, or a tensor in the memory of the plan's device; a function,
            called with (z, slices) for slices from z on, in any order, each once; or a path
        :param progress: True: a bar on standard error; or a function that gets a
            :class:`libfbp.Progress` several times a second, and ends the run by an exception
        :return: the volume; its `array` is `out` if that is an array, None of a function.  The run
            waits for what the current streams of Torch, CuPy … still do with tensors on a device,
            and all is finished when it returns.
        """
        listener = self._listener if progress is None else Listener.of(progress)
        target, volume = self._target(out)
        try:
            found = self._core.run(
                None if views is None else self._other(views, row_order),
                target,
                listener.on_progress(),
                listener.on_log,
            )
        finally:
            listener.end()
        made = self._listener
        warned = list(dict.fromkeys(made.warnings + listener.warnings))
        notes = list(dict.fromkeys(made.notes + listener.notes))
        volume.report = Report(**found, warnings=warned, notes=notes)
        return volume

    def open(self) -> None:
        """Open the devices and allocate their memory now, not in the first run."""
        self._core.open()

    def stop(self) -> None:
        """End the run that another thread is in, or else the next one: CancelledError there.

        A function or generator of yours that the run has called comes to its end first.
        """
        self._core.stop()

    def estimate(self) -> float:
        """Seconds that a run will take, from a measurement of a few milliseconds."""
        return self._core.estimate()

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"<libfbp.Plan: {' x '.join(map(str, self.shape))} voxels on {s.backend}, kernel "
            f"{s.kernel}, {s.n_slabs} slabs>"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a libfbp.Plan cannot be sent to another process; make one in each process")

    def _find_centre(self, given: dict[str, Any]) -> Callable[[_core.Scan], float]:
        def find(core: _core.Scan) -> float:
            from ._tools import _find

            return _find(core, self.scan._views, given, self._listener).column

        return find

    def _other(self, views: Any, row_order: str) -> _core.Views:
        n, rows, columns = self.scan.shape
        dtype = "float32" if self.scan._views is None else self.scan._views.dtype
        if arguments.is_path(views):
            raise InvalidError("views: expected arrays, found a path; use scan.with_views(path)")
        return _views.of(views, n, (rows, columns), dtype, row_order)

    def _target(self, out: Any) -> tuple[Any, Volume]:
        """What the C interface writes to, and the volume that is returned."""
        import numpy as np

        arguments.check_unmasked(out, "out")
        grid = self.summary.volume
        path = arguments.path(out, "out") if arguments.is_path(out) else None
        array: Any = np.empty(self.shape, self.dtype) if out is None else None
        if out is not None and path is None and _core.is_array(out):
            array = out
        origin = [
            c - (n - 1) / 2 * d
            for c, n, d in zip(grid["centre"], grid["size"], grid["voxel"], strict=True)
        ]
        volume = Volume(
            array, tuple(grid["voxel"]), (origin[0], origin[1], origin[2]), self.summary.unit
        )
        if path not in (None, "null:", "hash:"):
            volume.path = path
            del volume.array
        return path if path is not None else out if array is None else array, volume


def recon(
    scan: Scan | Any,
    output: Any = None,
    *,
    out: Any = None,
    progress: bool | Callable[[Progress], Any] | None = None,
    **options: Unpack[Options],
) -> Volume:
    """Reconstruct a volume by filtered backprojection (FDK for cone beams).

    :param scan: a :class:`Scan`, or the path of one
    :param output: a file to write; the array is then read from it when it is asked for
    :param out: an array (z, y, x) to fill, which may be a CUDA tensor, or a function of
        (z, slices); instead of `output`
    :param progress: True: a bar; or a function that gets a :class:`Progress`
    :param options: the keywords of :class:`Options`: filter="hann", voxel=0.1, roi="…",
        memory="8G", device="cuda" …
    :return: the volume in 1/mm, of plane integrals 1/mm^3, or HU; the values are those of the
        command ``fbp recon``, bit for bit
    """
    given = cast(Options, _options.named(dict(options)))
    if output is not None and out is not None:
        raise InvalidError("output and out: the volume has only one destination; omit one of them")
    if output is not None:
        out = arguments.path(output, "output")
    views = scan._views if isinstance(scan, Scan) else None
    if (views is None or views.device is None) and _core.is_elsewhere(out):
        given["device"] = _options.beside(given.get("device"), _core.device_of(out))
    return Plan(scan, output=output, progress=progress, **given).run(out=out)


def _loaded(scan: Any, given: dict[str, Any]) -> Scan:
    """A scan, or that of a path, with what must be known while it is read."""
    if isinstance(scan, Scan):
        return scan
    if not arguments.is_path(scan):
        raise TypeError(
            f"scan: found {type(scan).__name__}, expected a libfbp.Scan or a path; views become a "
            "scan by libfbp.Scan.cone(views, angles, …), .parallel, .fan …"
        )
    return load(
        scan,
        pixel=given.pop("pixel", None) or given.pop("pitch", None),
        prepare=given.pop("prepare", None),
        follow=bool(given.get("follow")),
    )


_options.with_signature(recon)
_options.with_signature(Plan.__init__)
