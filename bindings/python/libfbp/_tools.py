"""What goes with reconstruction: simulated scans, the axis, comparison, pictures."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _arguments as arguments
from . import _core, _options
from ._errors import InvalidError
from ._progress import Listener
from ._scan import Scan
from ._volume import Volume, in_host

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ._progress import Progress


@dataclass(frozen=True)
class Centre:
    """Where the rotation axis falls: the result of :func:`find_centre`.  In columns, from 0."""

    column: float
    uncertainty: float
    """about one standard deviation; infinite: nothing determines the column"""
    sure: bool
    why: str
    """if it is not sure, the reason"""
    by_rays: float
    by_slice: float
    by_turn: float
    spread: float
    misfit: float
    rival: float


def find_centre(
    scan: Scan | Any,
    *,
    device: str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> Centre:
    """Find the detector column of the rotation axis, from rays that are measured from both ends.

    ``recon(scan, centre=find_centre(scan).column)`` uses it.
    """
    from ._plan import _loaded

    given = {"device": device, "threads": threads, "memory": memory}
    of = _loaded(scan, {})
    return _find(of._core.copy(), of._views, given, Listener.of(progress))


@dataclass(frozen=True)
class Estimate:
    """A value of the geometry that :func:`calibrate` determines."""

    value: float
    """value found; that of the scan if it is not observable"""
    uncertainty: float
    """half of the 95 % confidence interval"""
    observable: bool
    """False: the views do not determine the value, and it is kept"""
    before: float
    """value according to the scan"""
    unit: str
    """"pixels", "deg" or "mm" """


@dataclass(frozen=True)
class Drift:
    """Movement of the panel, or of the object, between views: a result of :func:`calibrate`."""

    observable: bool
    """False: the views do not determine the movement, or ``drift`` was not requested"""
    slow: bool
    """False: only fast movement is determined, within about an eighth of the scan"""
    found: bool
    """the movement is significant, and the corrected scan contains it"""
    range: float
    """greatest minus least offset of a view [pixels]"""
    uncertainty: float
    """half of the 95 % confidence interval of one view's offset [pixels]"""


@dataclass(frozen=True)
class Calibration:
    """The geometry that the views of a scan have: the result of :func:`calibrate`.

    roll, pitch and yaw are rotations of the panel about its normal, its rows and its columns, in
    addition to those of the scan.
    """

    column: Estimate
    """detector column of the rotation axis, from 0"""
    row: Estimate
    """detector row of the projected iso-centre, from 0 at the bottom"""
    roll: Estimate
    pitch: Estimate
    yaw: Estimate
    sdd: Estimate
    """distance from source to panel"""
    arc: Estimate
    """angle between the first and the last view"""
    drift_u: Drift
    """movement along the panel's rows; searched if ``drift=True``"""
    drift_v: Drift
    """movement along the panel's columns"""
    reversed: bool
    """the views fit the opposite direction of rotation, or reversed columns"""
    sense_known: bool
    """False: the views do not determine the direction of rotation"""
    reliable: bool
    """False: the values are doubtful; `why` says why"""
    misfit_before: float
    """inconsistency of the views with the geometry of the scan, relative; NaN: not computed"""
    misfit: float
    """inconsistency of the views with the geometry found, relative"""
    method: str
    why: str
    """reasons for doubts, and what is not observable"""
    scan: Scan
    """the scan with the geometry found, and the same views"""

    @property
    def values(self) -> dict[str, Estimate]:
        """The values by their names: "column", "row", "roll", "pitch", "yaw", "sdd", "arc"."""
        return {k: v for k, v in vars(self).items() if isinstance(v, Estimate)}


def calibrate(
    scan: Scan | Any,
    *,
    beads: bool = False,
    drift: bool = False,
    device: str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> Calibration:
    """Determine the geometry of a circular scan from its views, as ``fbp calibrate`` does.

    No phantom is needed (docs/calibration.md).  ``recon(calibrate(scan).scan)`` uses the geometry.

    beads: the scan is of a phantom of small dense beads.
    drift: determine also how far panel or object move between the views.
    """
    from ._plan import _loaded

    given = {"device": device, "threads": threads, "memory": memory}
    if beads and drift:
        raise ValueError("calibrate: beads excludes drift; omit one of the two")
    of = _loaded(scan, {})
    listener = Listener.of(progress)
    keywords = _options.of_plan(given)
    if of._views is not None:
        keywords["device"] = _options.beside(keywords.get("device"), of._views.device)
    try:
        values, facts, core = _core.calibrate(
            of._core.copy(), of._views, beads, drift, keywords, listener.on_progress(), listener.on_log
        )
    finally:
        listener.end()
    if not facts["reliable"]:
        listener.on_log(True, f"calibration is NOT RELIABLE: {facts['why']}")
    for name in ("drift_u", "drift_v"):
        facts[name] = Drift(**facts[name])
    estimates: dict[str, Any] = {name: Estimate(**one) for name, one in values.items()}
    return Calibration(**estimates, **facts, scan=Scan(core, of._views, of.views))


def _find(
    core: _core.Scan, views: _core.Views | None, given: dict[str, Any], listener: Listener
) -> Centre:
    keywords = _options.of_plan(given)
    if views is not None:
        keywords["device"] = _options.beside(keywords.get("device"), views.device)
    for name in ("mask", "region", "roi"):
        keywords.pop(name, None)
    try:
        found = _core.centre(core, views, keywords, listener.on_progress(), listener.on_log)
    finally:
        listener.end()
    if not found["sure"]:
        listener.on_log(
            True, f"column {found['column']:.6g} of the rotation axis is NOT RELIABLE: "
            f"{found['why']}",
        )  # fmt: skip
    return Centre(**found)


def simulate(
    scan: Scan,
    phantom: str = "shepp-logan",
    *,
    half: float | None = None,
    scale: float = 1.0,
    noise: float = 0.0,
    noise_sd: float = 0.0,
    seed: int = 1,
    at_centres: bool = False,
    decay: float = 0.0,
    dtype: Any = "float32",
    threads: int = 0,
) -> Scan:
    """A scan with the exact integrals of an analytic phantom as views.

    :param scan: the geometry: ``Scan.cone(None, angles, shape=(rows, columns), …)``
    :param phantom: "shepp-logan", "ball", "defrise" … (``libfbp.names()["phantom"]``), or the path
        of a text file (docs/phantoms.md)
    :param half: half side of the cube that it fills [mm]; default: 0.9 of the field of view
    :param scale: factor for its densities [1/mm]
    :param noise: photons of a ray without an object: Poisson noise; 0: none
    :param noise_sd: Gaussian noise, in the unit of the views
    :param dtype: "float32", or "float64" for plane integrals
    :return: the scan with its views, an array (views, rows, columns)
    """
    import numpy as np

    made = _phantom(scan, phantom, half, scale)
    views = np.empty(scan.shape, np.dtype(dtype))
    _core.simulate(
        made,
        scan._core,
        views,
        arguments.number(noise, "noise"),
        arguments.number(noise_sd, "noise_sd"),
        arguments.whole(seed, "seed"),
        at_centres,
        arguments.number(decay, "decay"),
        arguments.whole(threads, "threads"),
    )
    return scan.with_views(views)


def truth(
    volume: Volume,
    scan: Scan,
    phantom: str = "shepp-logan",
    *,
    half: float | None = None,
    scale: float = 1.0,
) -> Volume:
    """The means of a phantom over the voxels of a volume: the ideal result of :func:`recon` for a
    scan of :func:`simulate` with the same arguments.

    For a scan of the command ``fbp simulate``, give ``half`` = N * voxel / 2 (N of its ``--size``;
    128 by default) and ``scale`` as its ``--scale``, or read the file of its ``--truth``.

    :param volume: the volume whose voxels are used
    :param scan: the scan, for the default of `half`
    :param phantom: as in :func:`simulate`
    :param half: half side of the cube that it fills [mm]; default: 0.9 of the field of view
    :param scale: factor for its densities [1/mm]
    """
    import numpy as np

    out = np.empty(volume.shape[-3:], np.float32)
    n = out.shape[::-1]
    middle = [
        o + (m - 1) / 2 * d for o, m, d in zip(volume.origin, n, volume.spacing, strict=True)
    ]
    _core.voxels(
        _phantom(scan, phantom, half, scale),
        {"size": n, "voxel": volume.spacing, "centre": middle},
        out,
    )
    return Volume(out, volume.spacing, volume.origin, volume.unit)


def _phantom(scan: Scan, name: str, half: float | None, scale: float) -> _core.Phantom:
    if half is None:
        facts = scan.facts
        half = 0.9 * facts.fov_radius
        if scan.kind != "planes" and scan.shape[1] > 1:
            half = min(half, 0.9 * min(-facts.fov_z[0], facts.fov_z[1]))
        if not half > 0:
            raise InvalidError("half: the scan has no field of view; give half the side [mm]")
    return _core.Phantom(
        arguments.path(name, "phantom"),
        arguments.number(half, "half", positive=True),
        arguments.number(scale, "scale"),
    )


@dataclass(frozen=True)
class Comparison:
    """The result of :func:`compare`."""

    count: int
    rmse: float
    nrmse: float
    """rmse / rms(b)"""
    max: float
    """greatest |a - b|"""
    psnr_db: float
    mean_a: float
    mean_b: float
    not_finite: int = 0
    """voxels left out, which are equal: NaN, or the same infinity, in both"""


def compare(a: Any, b: Any, *, radius: float = 0.0) -> Comparison:
    """Compare two volumes: :class:`Volume`, arrays, or paths.

    :param radius: compare only voxels within this distance [mm] of the z axis through the middle
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="libfbp-") as folder:
        first, second = (
            _as_file(x, os.path.join(folder, f"{i}.mha")) for i, x in enumerate((a, b))
        )
        return Comparison(**_core.compare(first, second, arguments.number(radius, "radius")))


def _as_file(volume: Any, path: str) -> str:
    if arguments.is_path(volume):
        return arguments.path(volume, "volume")
    if isinstance(volume, Volume) and volume.path and "array" not in volume.__dict__:
        return volume.path
    _as_volume(volume).save(path)
    return path


def _as_volume(volume: Any) -> Volume:
    if isinstance(volume, Volume):
        return volume
    if arguments.is_path(volume):
        from ._volume import read

        return read(volume)
    array = in_host(volume)
    if array.ndim not in (2, 3):
        raise InvalidError(f"volume: has shape {array.shape}, expected (z, y, x)")
    return Volume(array if array.ndim == 3 else array[None], (1.0,) * 3, (0.0,) * 3, "")


@dataclass(frozen=True)
class Picture:
    """A PNG, which a notebook shows: the result of :func:`view`."""

    png: bytes
    window: tuple[float, float]
    """values that are black and white"""

    def save(self, path: Any) -> None:
        """Write the PNG to a file."""
        with open(arguments.path(path, "path"), "wb") as f:
            f.write(self.png)

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<libfbp.Picture: {len(self.png)} bytes, {self.window[0]:g} to {self.window[1]:g}>"


def view(
    volume: Any,
    *,
    window: tuple[float, float] | None = None,
    slice: Sequence[int] | None = None,
    mip: bool = False,
    turn: float = 0.0,
    frame: int = 0,
) -> Picture:
    """A picture of three orthogonal slices, as ``fbp view`` draws it; shown by a notebook.

    :param volume: a :class:`Volume`, an array (z, y, x), or a path
    :param window: values that are black and white; default: the 0.1 and the 99.9 percentile
    :param slice: voxel (x, y, z) that the slices go through; default: the middle
    :param mip: greatest values along the lines of sight instead
    :param turn: turn it about z first [degrees]; with `mip`
    :param frame: of several frames, the one to draw
    """
    import numpy as np

    of = _as_volume(volume)
    array = in_host(of.array)
    if array.ndim == 4:
        array = array[arguments.whole(frame, "frame")]
    if array.dtype not in (np.float32, np.float64, np.uint8, np.uint16, np.int16):
        array = array.astype(np.float32)
    ends = None
    if window is not None:
        low, high = arguments.numbers(window, "window", 2)
        ends = (low, high)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="libfbp-") as folder:
        png = os.path.join(folder, "view.png")
        shown = _core.picture(
            png,
            np.ascontiguousarray(array),
            list(of.spacing),
            mip,
            ends,
            None if slice is None else arguments.wholes(slice, "slice", 3),
            arguments.number(turn, "turn"),
        )
        with open(png, "rb") as f:
            return Picture(f.read(), (shown[0], shown[1]))


def directions(
    n: int,
    set: str = "solid-angle",
    *,
    each: int = 0,
    order: str = "plain",
    pole: str = "z",
) -> NDArray[np.float64]:
    """Directions for plane integrals: (directions, 3) unit vectors of a half sphere.

    :param n: number of rings, or of directions ("fibonacci")
    :param set: "solid-angle", "linear-angle", "fibonacci"
    :param each: directions a ring of "linear-angle"; 0: as many as rings
    :param order: "plain", "flip", "msps"
    """
    import numpy as np

    flat = _core.directions(
        set, arguments.whole(n, "n", 1), arguments.whole(each, "each"), order, pole
    )
    return np.array(flat, np.float64).reshape((-1, 3))


@dataclass(frozen=True)
class Device:
    """A device, or the reason why it cannot be used."""

    name: str
    """for `device`: "cpu", "cuda:0" …"""
    text: str
    usable: bool
    reason: str
    memory_bytes: int
    free_bytes: int


def devices() -> list[Device]:
    """All devices, usable or not."""
    return [Device(**d) for d in _core.devices()]


def names() -> dict[str, list[str]]:
    """What keywords with names can be: {"filter": ["ram-lak", …], "device": …}."""
    return {k: list(v) for k, v in _core.names().items()}


def angles(n: int, arc: float = 360.0, *, start: float = 0.0) -> NDArray[np.float64]:
    """n angles at equal steps over an arc [degrees], the end left out."""
    import numpy as np

    if not math.isfinite(arc):
        raise InvalidError(f"arc: found {arc}, expected degrees")
    return start + arc * np.arange(arguments.whole(n, "n", 1)) / n
