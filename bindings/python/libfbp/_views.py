"""Views in any form, as the C interface takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from . import _arguments as arguments
from . import _core
from ._errors import InvalidError

_FORMS = (
    "an array (views, rows, columns), a list of views, a function of the view's number, or an "
    "iterator"
)


def of(
    given: Any,
    n_views: int,
    shape: tuple[int, int] | None,
    dtype: str,
    row_order: str,
) -> _core.Views:
    """Views of a scan; `shape` is (rows, columns), for those that do not say it themselves."""
    arguments.check_unmasked(given, "views")
    if _core.is_array(given) or hasattr(given, "__cuda_array_interface__"):
        return _core.views_of_array(given, row_order)
    if _is_indexed(given):
        return _of_indexed(given, row_order)
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        return _of_list(given, row_order)
    if isinstance(given, (Mapping, Set)):
        raise InvalidError(f"views: found {type(given).__name__}, expected {_FORMS}")
    if hasattr(given, "__array__"):
        return of(arguments.as_array(given), n_views, shape, dtype, row_order)
    if callable(given):
        return _of_function(given, False, n_views, shape, dtype, row_order)
    if isinstance(given, Iterable):
        return _of_function(iter(given), True, n_views, shape, dtype, row_order)
    raise InvalidError(f"views: found {type(given).__name__}, expected {_FORMS}")


def _is_indexed(given: Any) -> bool:
    """An array in a file, such as a data set of h5py or zarr: its views are read when wanted."""
    return hasattr(given, "shape") and hasattr(given, "dtype") and hasattr(given, "__getitem__")


def _of_indexed(given: Any, row_order: str) -> _core.Views:
    shape = tuple(int(n) for n in given.shape)
    if len(shape) == 2:
        shape = (shape[0], 1, shape[1])
    if len(shape) != 3 or 0 in shape:
        raise InvalidError(f"views: has shape {shape}, expected (views, rows, columns)")
    return _core.views_of_function(
        False, lambda k: _lent(given[k]), list(shape), _stored(given.dtype), row_order
    )


def _lent(view: Any) -> Any:
    """What lends its samples, of a part of an array with names, such as xarray's."""
    return view if _core.is_array(view) else arguments.as_array(view)


def _of_list(given: Sequence[Any], row_order: str) -> _core.Views:
    if not given:
        raise InvalidError("views: the list is empty; give one array for each view")
    if _core.is_elsewhere(given[0]):
        raise InvalidError(
            "views: the list contains arrays in GPU memory; give one array of all views, "
            "such as torch.stack(views) or cupy.stack(views)"
        )
    if not _core.is_array(given[0]) or not hasattr(given[0], "shape"):
        raise InvalidError(
            f"views: the list contains {type(given[0]).__name__}, expected one array for each view"
        )
    one = _core.views_of_array(_with_views(given[0]), row_order)
    _, rows, columns = one.shape
    return _core.views_of_function(
        False, given.__getitem__, [len(given), rows, columns], one.dtype, row_order
    )


def _with_views(view: Any) -> Any:
    """One view as an array of one."""
    shape = tuple(view.shape)
    if len(shape) not in (1, 2):
        raise InvalidError(f"views[0]: has shape {shape}, expected (rows, columns)")
    return view.reshape((1, -1, shape[-1]))


def _of_function(
    given: Callable[[int], Any] | Iterator[Any],
    iterates: bool,
    n_views: int,
    shape: tuple[int, int] | None,
    dtype: str,
    row_order: str,
) -> _core.Views:
    if shape is None:
        raise InvalidError(
            "shape: missing; views from a function or an iterator need shape=(rows, columns)"
        )
    rows, columns = arguments.wholes(shape, "shape", 2, 1)
    return _core.views_of_function(
        iterates, given, [n_views, rows, columns], _stored(dtype), row_order
    )


def _stored(dtype: Any) -> str:
    """ "uint16" of whatever NumPy understands; others are converted to float32 view by view."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    known = ("float32", "float64", "uint8", "int8", "uint16", "int16", "uint32", "int32")
    return name if name in known else "float32" if name == "float16" else name
