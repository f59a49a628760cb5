"""The keywords of a reconstruction: those of ``fbp recon``, with underscores."""

from __future__ import annotations

import inspect
import math
import re
from typing import TYPE_CHECKING, Any, TypedDict

from . import _arguments as arguments
from . import _core
from ._errors import InvalidError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ._scan import Scan


class Options(TypedDict, total=False):
    """Keywords of :func:`libfbp.recon` and :class:`libfbp.Plan`.

    Each has the name and the meaning of an option of the command ``fbp recon`` (``fbp recon
    --help-all`` explains the options); None stands for the default.  Lengths are in mm, angles in
    degrees.  Sizes and places are along x, y, z, while arrays are (z, y, x).
    """

    # the volume
    size: int | Sequence[int] | None
    """number of voxels: one number, or along x, y, z; default: the scan's"""
    voxel: float | Sequence[float] | None
    """size of a voxel [mm]: one number, or along x, y, z; default: the scan's"""
    volume_centre: Sequence[float] | None
    """position of the volume's centre [mm]; (0, 0, 0): the iso-centre; default: the centre of the
    scan's volume, or the middle of the field of view if the scan has no volume"""
    slice: int | str | range | slice | Sequence[int] | None
    """one slice, or a range of slices, with the bits of the whole volume; default: all"""
    roi: str | Sequence[Any] | None
    """box of the volume in voxels, along x, y, z: "100:300,:,80:120", or three items, each a
    range, a slice, a string "FROM:TO", a pair (from, to) or an index; ":": the whole axis; not None,
    and not one pair (3, 9) alone; default: all"""
    region: str | None
    """"cylinder:R", "ball:X,Y,Z,R", "box:X0:X1,Y0:Y1,Z0:Z1" in mm, or the path of a mask; default:
    all"""
    # the scan
    views: str | None
    """stored views that are used, as "0:100,110:"; default: all"""
    skip: str | None
    """stored views that are left out, as "17,42"; default: none"""
    every: int | None
    """use every n-th view only; default: 1"""
    bin: int | None
    """means of n x n pixels; default: 1"""
    centre: float | str | None
    """detector column of the axis, from 0; "auto": search for it; default: the scan's"""
    offset: float | None
    """position of the panel's centre along its rows [mm]; default: the scan's"""
    tilt: float | None
    """additional rotation of the panel in its own plane [degrees]; default: 0"""
    sod: float | None
    """distance from source to axis [mm]; default: the scan's"""
    sdd: float | None
    """distance from source to detector [mm]; default: the scan's"""
    flip_u: bool
    """reverse the order of columns; default: False"""
    flip_v: bool
    """reverse the order of rows; default: False"""
    reverse: bool
    """reverse the direction of rotation; default: False"""
    pixel: float | Sequence[float] | None
    """distance of pixels [mm], for a scan that is given by its path; default: the scan's"""
    pitch: float | Sequence[float] | None
    """the same as `pixel`"""
    beam_hardening: Sequence[float] | None
    """line integrals p become a1 p + a2 p^2 + …: (a1, a2, …); default: the scan's"""
    paganin: Sequence[float] | None
    """phase retrieval of one material: (delta / beta, keV), for parallel beams (delta / beta, keV,
    mm); default: the scan's"""
    rings: str | None
    """method of ring removal: "offsets", "offsets:15", "fluctuating", "fluctuating:15",
    "sorting", "sorting:31", "wavelet", "wavelet:5,1,db9" or "none"; default: the scan's"""
    zingers: float | None
    """replace bright outliers of single views that exceed neighbouring views and pixels by this
    number of standard deviations, such as 8; default: the scan's"""
    # filter and weights
    filter: str | Callable[[Any], Any] | Sequence[float] | NDArray[Any] | None
    """"ram-lak", "shepp-logan", "cosine", "hamming", "hann"; plane integrals: also others
    (``libfbp.names()["filter"]``); or a window of your own, by which the ramp is multiplied (of
    plane integrals, the parabola): an array of factors from frequency 0 to the Nyquist frequency,
    or a function of the frequency in cycles per pixel, 0 to 0.5; default: "ram-lak" """
    cutoff: float | None
    """cut-off frequency as a fraction of the Nyquist frequency; default: 1"""
    refine: int | str | None
    """number of filtered samples per measured sample of a row, 1, 2 or 4, or "auto": at least two
    per voxel; default: 1"""
    cutoff_v: float | None
    """cut-off of a Hann window along columns, as a fraction of the Nyquist frequency; default: no
    window"""
    spatial: bool
    """convolve in space, with the same filter; default: False"""
    half_width: int | None
    """number of samples on each side of a spatial filter; default: the whole row"""
    pad: str | None
    """"ellipse" or "cosine": extrapolate rows of objects wider than the panel; default: "none" """
    angular_weights: str | None
    """"auto" or "equal"; default: the scan's, or "auto" """
    hu: float | None
    """attenuation of water [1/mm]: values in Hounsfield units; default: values in 1/mm"""
    unit: str | None
    """"mm" or "cm": values in 1/mm or 1/cm; default: "mm" """
    mask: float | None
    """value of voxels that some views do not see, may be NaN; default: as computed"""
    # plane integrals
    quadrature: str | None
    """weights of the directions: "auto", "bands", "voronoi", "harmonics"; default: the scan's"""
    oversampling: int | None
    """2: also compute filtered plane integrals halfway between samples; default: 1"""
    interpolation: str | None
    """between filtered samples: "linear", "nearest", "cubic"; default: "linear" """
    stages: int | None
    """2: backproject to images of the meridian planes first; default: 1"""
    angles: int | None
    """number of angles per half turn to which rings of views are resampled; default: the scan's"""
    angular: str | None
    """with `angles`, interpolation over the angle: "fft", "spline", "linear"; default: "fft" """
    picture_oversampling: int | None
    """with ``stages=2``, number of image columns per voxel, 1 to 4; default: 2"""
    reference: str | None
    """path of the spectrum without a gradient; default: the scan's"""
    wiener: float | None
    """Wiener term of the division by `reference`, a fraction of its greatest power; default: 0"""
    response: str | None
    """path of a table of factors for the filter's response; default: none"""
    periodic: bool
    """filter rows as if they were periodic; default: False"""
    prepare: str | None
    """steps from a spectrometer's rows to plane integrals, such as "baseline=1,phase=all", for a
    scan that is given by its path; default: the scan's"""
    # where and how
    device: str | None
    """"auto", "cpu", "cuda", "cuda:0,1", "gl", "ref"; default: "auto" """
    kernel: str | None
    """backprojection kernel, such as "matrix" or "column"; default: the fastest"""
    precision: str | None
    """"exact", "fast", "half", "double"; default: the device's"""
    threads: int | None
    """number of threads; default: one per core"""
    memory: int | str | None
    """memory that the plan and its runs may add to the process [bytes], such as "8G"; default: 80 %
    of the free memory"""
    device_memory: int | str | None
    """memory of the plan on each device [bytes]; default: 90 % of the free memory"""
    scratch: str | None
    """folder for a temporary file of filtered views; default: none"""
    slab: int | None
    """greatest number of slices per slab; default: planned"""
    batch: int | None
    """greatest number of views per batch; default: planned"""
    follow: bool
    """the projections of the file are still being written; default: False"""
    follow_timeout: float | None
    """with `follow`, time without a new view until the run fails [s]; 0: never; default: 60"""
    # files
    output_type: str | None
    """"float32", "float64", "uint8", "uint16", "int16"; default: "float32", or
    "float64" with ``precision="double"``"""
    output_range: str | Sequence[float] | None
    """values stored as the least and the greatest integer, or "auto"; default: -1000 to 3000 in HU,
    for "int16" -32768 to 32767"""
    compress: bool
    """compress the file, if the format supports it; default: False"""
    resume: bool
    """continue an interrupted run of the same call; default: False"""
    force: bool
    """the output may replace an input file; default: False"""
    part: str | Sequence[int] | None
    """part of the volume, for one of several processes that write one file: "3/16" or (3, 16);
    `report.slices_missing` is the number of slices that are not yet written; default: all of it"""
    timeline: str | None
    """path of an .svg file that shows when each stage worked, drawn after each run; default:
    none"""


def _add_keywords(options: type) -> None:
    """Append the keywords, with the strings below them, to the docstring of the class.

    Python does not store these strings: they are read from this file.  Without the file, or with
    ``python -OO``, the docstring does not change.
    """
    try:
        with open(__file__, encoding="utf-8") as f:
            found = re.findall(r'^    (\w+): [^\n]*\n    """(.*?)"""', f.read(), re.M | re.S)
    except (OSError, UnicodeDecodeError):
        return
    if options.__doc__:
        rows = (f"{name}\n    {' '.join(text.split())}" for name, text in found)
        options.__doc__ = inspect.cleandoc(options.__doc__) + "\n\n" + "\n".join(rows) + "\n"


_add_keywords(Options)

NAMES = tuple(Options.__annotations__)

# Those that are no parameters of the C interface: most change the scan.
_OF_SCAN = (
    "size", "voxel", "volume_centre", "slice", "views", "skip", "every", "bin", "centre", "offset",
    "tilt", "sod", "sdd", "flip_u", "flip_v", "reverse", "pitch", "pixel", "quadrature", "reference",
    "prepare",
    "beam_hardening", "rings", "paganin", "zingers",
)  # fmt: skip
_WHOLE = (
    "threads", "batch", "slab", "stages", "angles", "oversampling", "picture_oversampling",
    "half_width",
)  # fmt: skip
_NUMBERS = ("cutoff", "cutoff_v", "wiener", "hu", "follow_timeout")
_PATHS = ("scratch", "response", "region", "timeline")
# The filters for line integrals: the ramp times a window.
_WINDOWS = ("ram-lak", "shepp-logan", "cosine", "hamming", "hann")

# Names that keywords have in other programs.  They are the aliases of options of the command in
# cli/words.c; a test compares both.
_ALIASES = {
    word: name
    for name, words in {
        "force": "overwrite replace yes",
        "output_type": "dtype datatype type bit_depth bits",
        "output_range": "range output_window",
        "compress": "compression zip gzip",
        "centre": "center rotation_centre rotation_center centre_of_rotation center_of_rotation "
        "rotation_axis_column",
        "pitch": "pixel_size pixelsize pixel_pitch pixel_spacing detector_pitch "
        "detector_pixel_size px du",
        "voxel": "voxel_size voxelsize voxels voxel_spacing voxel_pitch",
        "sod": "sad dso source_to_axis source_axis source_to_object source_object "
        "source_to_isocentre source_to_isocenter source_to_axis_mm source_to_rotation_axis "
        "dist_source_center dist_source_centre",
        "sdd": "dsd source_to_detector source_detector source_to_detector_mm source_to_image "
        "source_image",
        "offset": "detector_offset offset_x offset_u",
        "tilt": "roll detector_tilt detector_rotation detector_angle rotate",
        "flip_u": "flipu flip_x fliplr flip_lr flip_horizontal",
        "flip_v": "flipv flip_y flipud flip_ud flip_vertical",
        "reverse": "clockwise cw ccw counter_clockwise anticlockwise reverse_rotation "
        "invert_rotation reverse_angles negate_angles",
        "size": "dimension dimensions dims dim volume_size nvoxel",
        "slice": "slices plane",
        "bin": "binning rebin downsample",
        "every": "subsample view_step stride",
        "roi": "crop region_of_interest",
        "volume_centre": "volume_center",
        "filter": "filter_type filter_name filter_window window apodisation apodization ramp",
        "cutoff": "cut_off cutoff_frequency frequency freq",
        "angular_weights": "weights weighting",
        "hu": "hounsfield mu_water muwater water",
        "device": "backend platform",
        "threads": "jobs cores cpus ncores n_threads num_threads nthreads threads_number nproc "
        "num_workers workers",
        "memory": "mem ram max_memory memory_limit max_ram",
        "scratch": "tmp tmpdir temp cache cache_dir temporary spill",
        "device_memory": "gpu_memory vram gpu_mem max_gpu_memory",
        "resume": "continue restart recover",
        "follow": "watch live online wait",
        "follow_timeout": "timeout",
    }.items()
    for word in words.split()
}


def named(options: dict[str, Any]) -> dict[str, Any]:
    """The keywords with their names here, of those that other programs use; refuse unknown ones."""
    out: dict[str, Any] = {}
    for word, value in options.items():
        name = word if word in NAMES else _ALIASES.get(word.lower(), word)
        if word == "shape":  # (z, y, x) of arrays, while `size` is along x, y, z
            raise TypeError('unknown keyword "shape"; give size, which is along x, y, z')
        if name not in NAMES:
            raise TypeError(
                f'unknown keyword "{word}"{arguments.nearest(word, NAMES)} '
                "(help(libfbp.Options) lists them)"
            )
        if name in out or (name != word and name in options):
            raise TypeError(f'"{word}" is another name of the keyword "{name}"; give only one')
        out[name] = value
    return out


def of_plan(options: dict[str, Any]) -> dict[str, Any]:
    """Those for the C interface's parameters, as it takes them."""
    out = {k: v for k, v in options.items() if k not in _OF_SCAN and v is not None}
    if "filter" in out and not isinstance(out["filter"], str):
        out["filter_factors"] = _window(out.pop("filter"))
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


# Number of frequencies at which a function that is a filter is called.  The library interpolates
# linearly between them, which changes windows such as Hann by less than 1e-7.
_FREQUENCIES = 4097


def _window(given: Any) -> list[float]:
    """Factors of the ramp from frequency 0 to the Nyquist frequency, of an array or a function."""
    import numpy as np

    if not callable(given):
        factors = arguments.listed(given, "filter")
        if len(factors) < 2:
            raise InvalidError(
                f"filter: found {len(factors)} factors, expected 2 or more, from frequency 0 to the "
                "Nyquist frequency"
            )
        return factors
    frequencies = np.linspace(0, 0.5, _FREQUENCIES)
    try:
        gains = np.broadcast_to(np.asarray(given(frequencies), np.float64), frequencies.shape)
    except (TypeError, ValueError):  # a function of one number
        gains = np.array([arguments.number(given(float(f)), "filter") for f in frequencies])
    if not np.isfinite(gains).all():
        bad = frequencies[~np.isfinite(gains)][0]
        raise InvalidError(
            f"filter: the function is not finite at {bad:g} cycles per pixel; it is called with "
            "frequencies from 0 to 0.5"
        )
    return [float(g) for g in gains]


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
        raise InvalidError("roi already selects slices; omit slice")
    out["roi"] = [(0, 0), (0, 0), (first, end)]


def prepared_core(scan: Scan, options: dict[str, Any], find: Callable[..., float]) -> _core.Scan:
    """A copy of the scan with what the keywords say of it; `find` looks for its axis."""
    for name in ("pitch", "pixel", "prepare"):
        if options.get(name) is not None:
            raise InvalidError(f"{name}: is needed while a file is read; pass it to libfbp.load()")
    core = scan._core.copy()
    _check_filter(core, options)
    _choose_weights(core, options)
    hardening, rings, zingers = (options.get(k) for k in ("beam_hardening", "rings", "zingers"))
    if hardening is not None or rings is not None or zingers is not None:
        core.correct(
            None if hardening is None else arguments.listed(hardening, "beam_hardening"),
            rings,
            None if zingers is None else arguments.number(zingers, "zingers"),
        )
    if options.get("paganin") is not None:
        core.retrieve_phases(arguments.listed(options["paganin"], "paganin"))
    core.flip(*(bool(options.get(k)) for k in ("flip_u", "flip_v", "reverse")))
    _adjust(core, options, find)
    core.select(*(str(options.get(k) or "") for k in ("views", "skip")))
    core.reduce(
        arguments.whole(options.get("every") or 1, "every", 1),
        arguments.whole(options.get("bin") or 1, "bin", 1),
    )
    core.set_volume(_grid(core, options))
    return core


def _check_filter(core: _core.Scan, options: dict[str, Any]) -> None:
    """Refuse the name of an unknown filter; the message lists the filters for the scan's kind."""
    name = options.get("filter")
    if not isinstance(name, str):
        if name is not None and not callable(name) and not arguments.is_list(name):
            raise InvalidError(
                f"filter: found {name!r}, expected a name, an array of factors or a function"
            )
        return
    if _core.filter_named(name) is not None:
        return
    known = _core.names()["filter"]
    usable = [k for k in known if k in _WINDOWS] if core.has_lines else known
    raise InvalidError(arguments.unknown_name("filter", name, usable))


def _choose_weights(core: _core.Scan, options: dict[str, Any]) -> None:
    for name, setter in (("quadrature", core.set_quadrature), ("reference", core.set_reference)):
        value = options.get(name)
        if value is None:
            continue
        if core.has_lines:
            raise InvalidError(f"{name}: does not apply to scans of kind {core.kind}; omit {name}")
        setter(arguments.path(value, name))


def _adjust(core: _core.Scan, options: dict[str, Any], find: Callable[..., float]) -> None:
    if options.get("centre") is not None and options.get("offset") is not None:
        raise InvalidError(
            "centre and offset both set the position of the panel; give only one of them"
        )
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
        raise InvalidError(f"slice {int(k)} does not exist; the volume has slices 0 to {n - 1}")
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
                f"{name}: voxels {first}:{end or n} along {axis} are no range of the volume, which has 0:{n} "
                "(the end is excluded); give a first voxel below the end, and an end inside the volume"
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
