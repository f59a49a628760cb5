"""The keywords of a reconstruction: those of ``fbp recon``, with underscores."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any, TypedDict

from . import _arguments as arguments
from . import _core
from ._errors import InvalidError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._scan import Scan


class Options(TypedDict, total=False):
    """Keywords of :func:`libfbp.recon` and :class:`libfbp.Plan`.

    Each has the name and the meaning of an option of the command ``fbp recon`` (``fbp recon
    --help`` has all the words); None stands for the default.  Lengths in mm, angles in degrees.
    Sizes and places are along x, y, z, while arrays are (z, y, x).
    """

    # the volume
    size: int | Sequence[int] | None
    """number of voxels: one number, or along x, y, z"""
    voxel: float | Sequence[float] | None
    """size of a voxel [mm]: one number, or along x, y, z"""
    volume_centre: Sequence[float] | None
    """position of the volume's centre [mm]"""
    slice: int | str | range | slice | Sequence[int] | None
    """one slice, or a range of slices, with the bits of the whole volume"""
    roi: str | Sequence[Any] | None
    """a box of the volume in voxels, along x, y, z: "100:300,:,80:120", or three ranges"""
    region: str | None
    """"cylinder:R", "ball:X,Y,Z,R", "box:X0:X1,Y0:Y1,Z0:Z1" in mm, or the path of a mask"""
    # the scan
    every: int | None
    """use every n-th view only"""
    bin: int | None
    """means of n x n pixels"""
    centre: float | str | None
    """detector column of the axis, from 0; "auto": look for it"""
    offset: float | None
    """place of the panel's centre along its rows [mm]"""
    tilt: float | None
    """turn the panel further in its own plane [degrees]"""
    sod: float | None
    """from source to axis [mm]"""
    sdd: float | None
    """from source to detector [mm]"""
    flip_u: bool
    """reverse the order of columns"""
    flip_v: bool
    """reverse the order of rows"""
    reverse: bool
    """reverse the direction of rotation"""
    pixel: float | Sequence[float] | None
    """distance of pixels [mm]; of a scan that is given by its path"""
    pitch: float | Sequence[float] | None
    """the same"""
    beam_hardening: Sequence[float] | None
    """line integrals p become a1 p + a2 p^2 + …: (a1, a2, …)"""
    paganin: Sequence[float] | None
    """phases of one material: (delta / beta, keV), of parallel beams (delta / beta, keV, mm)"""
    rings: str | None
    """how rings are removed: sorting, sorting:31, wavelet, wavelet:5,1,db9 or none"""
    # filter and weights
    filter: str | None
    """"ram-lak" (default), "shepp-logan", "cosine", "hamming", "hann"; of plane integrals others"""
    cutoff: float | None
    """as a fraction of the Nyquist frequency"""
    cutoff_v: float | None
    """also filter along columns: its cut-off"""
    spatial: bool
    """convolve in space"""
    half_width: int | None
    """values on each side of a spatial filter"""
    pad: str | None
    """"ellipse" or "cosine": extrapolate rows of objects wider than the panel"""
    angular_weights: str | None
    """"auto" or "equal" """
    hu: float | None
    """attenuation of water [1/mm]: values in Hounsfield units"""
    unit: str | None
    """"mm" or "cm": values in 1/mm or 1/cm"""
    mask: float | None
    """value for voxels that some views do not see; it may be NaN"""
    # plane integrals
    quadrature: str | None
    """"auto", "bands", "voronoi", "harmonics" """
    oversampling: int | None
    interpolation: str | None
    """"linear", "nearest", "cubic" """
    stages: int | None
    angles: int | None
    angular: str | None
    """"fft", "spline", "linear" """
    picture_oversampling: int | None
    reference: str | None
    wiener: float | None
    response: str | None
    periodic: bool
    prepare: str | None
    # where and how
    device: str | None
    """"auto", "cpu", "cuda", "cuda:0,1", "gl", "ref" """
    kernel: str | None
    precision: str | None
    """"exact", "fast", "half", "double" """
    threads: int | None
    memory: int | str | None
    """what the plan and its runs may add to the process: "8G" """
    device_memory: int | str | None
    scratch: str | None
    """folder for a temporary file of filtered views"""
    slab: int | None
    batch: int | None
    follow: bool
    """the projections of the file are still being written"""
    follow_timeout: float | None
    # files
    output_type: str | None
    """"float32", "uint8", "uint16" """
    output_range: str | Sequence[float] | None
    """values that become 0 and the greatest integer, or "auto" """
    compress: bool
    resume: bool
    force: bool
    part: str | Sequence[int] | None
    """one of several processes that write one file: "3/16" or (3, 16), part 3 of 16;
    `report.slices_missing` says what the others still have to write"""
    timeline: str | None
    """.svg that shows when each stage worked; drawn after each run"""


NAMES = tuple(Options.__annotations__)

# Those that are no parameters of the C interface: most change the scan.
_OF_SCAN = (
    "size", "voxel", "volume_centre", "slice", "every", "bin", "centre", "offset", "tilt", "sod",
    "sdd", "flip_u", "flip_v", "reverse", "pitch", "pixel", "quadrature", "reference", "prepare",
    "beam_hardening", "rings", "paganin",
)  # fmt: skip
_WHOLE = (
    "threads", "batch", "slab", "stages", "angles", "oversampling", "picture_oversampling",
    "half_width",
)  # fmt: skip
_NUMBERS = ("cutoff", "cutoff_v", "wiener", "hu", "follow_timeout")
_PATHS = ("scratch", "response", "region", "timeline")


def check_names(options: dict[str, Any]) -> None:
    """Is every keyword one that there is?"""
    for name in options:
        if name not in NAMES:
            raise TypeError(
                f'there is no keyword "{name}"{arguments.nearest(name, NAMES)} '
                "(help(libfbp.Options) lists them)"
            )


def of_plan(options: dict[str, Any]) -> dict[str, Any]:
    """Those for the C interface's parameters, as it takes them."""
    out = {k: v for k, v in options.items() if k not in _OF_SCAN and v is not None}
    for name in _WHOLE:
        if name in out:
            out[name] = arguments.whole(out[name], name, 0 if name == "threads" else 1)
    for name in _NUMBERS:
        if name in out:
            out[name] = arguments.number(out[name], name)
    for name in ("memory", "device_memory"):
        if name in out:
            out[name] = arguments.byte_count(out[name], name)
    for name in _PATHS:
        if name in out:
            out[name] = arguments.path(out[name], name)
    if "mask" in out:
        value = float(out["mask"])
        out["mask"] = value if math.isnan(value) else arguments.number(value, "mask")
    if "roi" in out:
        out["roi"] = arguments.box(out["roi"])
    if options.get("slice") is not None:
        _add_slices(out, options["slice"])
    if "part" in out:
        out["part"] = arguments.part_of(out["part"])
    if out.get("output_range") == "auto":
        out["auto_range"] = True
        del out["output_range"]
    elif "output_range" in out:
        out["output_range"] = arguments.numbers(out["output_range"], "output_range", 2)
    if out.get("follow"):
        out.setdefault("follow_timeout", 60.0)
    return out


def beside(device: str | None, place: str | None) -> str | None:
    """The device in whose memory samples lie, unless another one is named."""
    if place is not None and device in (None, "auto", place.split(":")[0]):
        return place
    return device


def _add_slices(out: dict[str, Any], value: Any) -> None:
    if hasattr(value, "__index__"):
        first = arguments.whole(value, "slice")
        end = first + 1
    else:
        first, end = arguments.part(value, "slice")
    if "roi" in out:
        raise InvalidError("roi says which slices, too: leave slice out")
    out["roi"] = [(0, 0), (0, 0), (first, end)]


def prepared_core(scan: Scan, options: dict[str, Any], find: Callable[..., float]) -> _core.Scan:
    """A copy of the scan with what the keywords say of it; `find` looks for its axis."""
    for name in ("pitch", "pixel", "prepare"):
        if options.get(name) is not None:
            raise InvalidError(f"{name}: is needed while a file is read: give it to libfbp.load()")
    core = scan._core.copy()
    _choose_weights(core, options)
    hardening, rings = options.get("beam_hardening"), options.get("rings")
    if hardening is not None or rings is not None:
        core.correct(
            None if hardening is None else arguments.listed(hardening, "beam_hardening"), rings
        )
    if options.get("paganin") is not None:
        core.retrieve_phases(arguments.listed(options["paganin"], "paganin"))
    core.flip(*(bool(options.get(k)) for k in ("flip_u", "flip_v", "reverse")))
    _adjust(core, options, find)
    core.reduce(
        arguments.whole(options.get("every") or 1, "every", 1),
        arguments.whole(options.get("bin") or 1, "bin", 1),
    )
    core.set_volume(_grid(core, options))
    return core


def _choose_weights(core: _core.Scan, options: dict[str, Any]) -> None:
    for name, setter in (("quadrature", core.set_quadrature), ("reference", core.set_reference)):
        value = options.get(name)
        if value is None:
            continue
        if core.has_lines:
            raise InvalidError(f"{name}: kind {core.kind} has none: leave it out")
        setter(arguments.path(value, name))


def _adjust(core: _core.Scan, options: dict[str, Any], find: Callable[..., float]) -> None:
    if options.get("centre") is not None and options.get("offset") is not None:
        raise InvalidError("centre and offset say the same: leave one of them out")
    centre = options.get("centre")
    for name in ("sod", "sdd", "tilt", "offset"):
        if options.get(name) is not None:
            core.adjust(name, arguments.number(options[name], name))
    if isinstance(centre, str):
        if centre != "auto":
            raise InvalidError(f'centre: found "{centre}", expected a column or "auto"')
        centre = find(core)
    if centre is not None:
        core.adjust("centre", arguments.number(centre, "centre"))


def _grid(core: _core.Scan, options: dict[str, Any]) -> dict[str, Any]:
    size, voxel, centre = (options.get(k) for k in ("size", "voxel", "volume_centre"))
    wanted = {
        "size": [0, 0, 0] if size is None else arguments.wholes(size, "size", 3, 1),
        "voxel": [0.0] * 3
        if voxel is None
        else arguments.numbers(voxel, "voxel", 3, positive=True),
        "centre": [0.0] * 3,
    }
    grid = core.resolve(wanted)
    if centre is not None:
        grid["centre"] = arguments.numbers(centre, "volume_centre", 3)
    k, n = options.get("slice"), grid["size"][2]
    if k is not None and hasattr(k, "__index__") and int(k) >= n:
        raise InvalidError(f"slice {int(k)}: the volume has slices 0 to {n - 1}")
    _check_box(options, grid["size"])
    return grid


def _check_box(options: dict[str, Any], size: Sequence[int]) -> None:
    """Check that the box of voxels lies in the volume; the library calls the keyword `box`."""
    if options.get("roi") is not None:
        name, box = "roi", arguments.box(options["roi"])
    elif options.get("slice") is not None and not hasattr(options["slice"], "__index__"):
        name, box = "slice", [(0, 0), (0, 0), arguments.part(options["slice"], "slice")]
    else:
        return
    for axis, (first, end), n in zip("xyz", box, size, strict=True):
        if first >= (end or n) or end > n:
            raise InvalidError(
                f"{name}: voxels {first}:{end or n} along {axis}: the volume has 0:{n} "
                "(the end is excluded)"
            )


def with_signature(function: Callable[..., Any]) -> None:
    """Let help() and completion see the keywords that **options stands for."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default="bool" not in str(kind) and None,
            annotation=kind if isinstance(kind, str) else kind.__forward_arg__,
        )
        for name, kind in Options.__annotations__.items()
    ]
    function.__signature__ = signature.replace(parameters=own + more)  # type: ignore[attr-defined]
