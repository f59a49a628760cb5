"""Arguments as the C interface wants them, or a sentence that says what is wrong with them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import InvalidError

_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def number(value: Any, name: str, *, positive: bool = False) -> float:
    """A finite float."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise InvalidError(f"{name}: found {value!r}, expected a number") from None
    if not math.isfinite(x) or (positive and x <= 0):
        wanted = "a number above 0" if positive else "a finite number"
        raise InvalidError(f"{name}: found {x:g}, expected {wanted}")
    return x


def whole(value: Any, name: str, least: int = 0) -> int:
    """An int that is no truncated float."""
    try:
        n = value.__index__()
    except AttributeError:
        if not (isinstance(value, float) and value.is_integer()):
            raise InvalidError(f"{name}: found {value!r}, expected a whole number") from None
        n = int(value)
    if n < least:
        raise InvalidError(f"{name}: found {n}, expected {least} or more")
    return int(n)


def numbers(values: Any, name: str, n: int, *, positive: bool = False) -> list[float]:
    """n floats; one number stands for all of them."""
    if not is_list(values):
        return [number(values, name, positive=positive)] * n
    out = [number(v, name, positive=positive) for v in values]
    if len(out) != n:
        raise InvalidError(f"{name}: found {len(out)} numbers, expected one or {n}")
    return out


def wholes(values: Any, name: str, n: int, least: int = 0) -> list[int]:
    """n ints; one stands for all of them."""
    if not is_list(values):
        return [whole(values, name, least)] * n
    out = [whole(v, name, least) for v in values]
    if len(out) != n:
        raise InvalidError(f"{name}: found {len(out)} numbers, expected one or {n}")
    return out


def listed(values: Any, name: str) -> list[float]:
    """Any number of floats: a list, a range, an array of one dimension."""
    flat = getattr(values, "tolist", None)
    items = flat() if flat else values
    if not is_list(items) or any(is_list(x) for x in items):
        raise InvalidError(f"{name}: expected a list of numbers, found {_about(values)}")
    return [number(x, name) for x in items]


def nested(values: Any, name: str, width: int, shapes: str) -> list[float]:
    """Rows of `width` numbers, one behind the other; deeper lists are flattened."""
    tolist = getattr(values, "tolist", None)
    rows = tolist() if tolist else list(values) if is_list(values) else None
    if rows is None or not all(is_list(r) for r in rows):
        raise InvalidError(f"{name}: expected {shapes}, found {_about(values)}")
    out: list[float] = []
    for row in rows:
        flat = [x for part in row for x in (part if is_list(part) else (part,))]
        if len(flat) != width:
            raise InvalidError(f"{name}: expected {shapes}, found a row of {len(flat)} numbers")
        out.extend(number(x, name) for x in flat)
    return out


def as_array(value: Any) -> Any:
    """NumPy's array of what has one."""
    import numpy as np

    return np.asarray(value)


def check_unmasked(value: Any, name: str) -> None:
    """Refuse what has a mask, which would be left out of account."""
    if hasattr(value, "mask") and hasattr(value, "filled"):
        raise InvalidError(
            f"{name}: is a masked array, and masks are not supported; give "
            f"{name}.filled(float(\"nan\")), or the plain array {name}.data"
        )


def byte_count(value: Any, name: str) -> int:
    """8589934592, "8G", "600M", "1.5GiB"."""
    if not isinstance(value, str):
        return whole(value, name, 1)
    text = value.strip().upper().removesuffix("IB").removesuffix("B")
    suffix = text[-1:] if text[-1:] in ("K", "M", "G", "T") else ""
    try:
        n = float(text.removesuffix(suffix)) * _SUFFIXES[suffix]
    except ValueError:
        raise InvalidError(f'{name}: found "{value}", expected bytes such as "8G"') from None
    if not 1 <= n < 2**53:
        raise InvalidError(f'{name}: found "{value}", expected at least one byte')
    return int(n)


def _ends(part: Any, name: str) -> tuple[int, int]:
    """[first, end) of "3:7", slice(3, 7), range(3, 7), (3, 7) or a single index; end 0: the edge."""
    if isinstance(part, str):
        a, colon, b = part.strip().partition(":")
        try:
            first, end = int(a or 0), int(b or 0)
        except ValueError:
            raise InvalidError(f'{name}: found "{part}", expected FROM:TO') from None
        return (first, end) if colon else (first, first + 1)
    if isinstance(part, (slice, range)):
        if part.step not in (None, 1):
            raise InvalidError(f"{name}: found a step of {part.step}, expected none")
        return part.start or 0, part.stop or 0
    if is_list(part):
        pair = list(part)
        if len(pair) != 2:
            raise InvalidError(f"{name}: found {part!r}, expected (from, to)")
        return whole(pair[0], name), whole(pair[1], name)
    first = whole(part, name)
    return first, first + 1


def _checked(ends: tuple[int, int], name: str) -> tuple[int, int]:
    if ends[0] < 0 or ends[1] < 0 or (ends[1] and ends[1] <= ends[0]):
        raise InvalidError(
            f"{name}: found {ends[0]}:{ends[1]}, expected FROM:TO with 0 <= FROM < TO"
        )
    return ends


def part(value: Any, name: str) -> tuple[int, int]:
    """One range of indices, checked; end 0: the edge."""
    return _checked(_ends(value, name), name)


def part_of(value: Any) -> tuple[int, int]:
    """Part k of n, from 1: "3/16", or both numbers."""
    given = value.split("/") if isinstance(value, str) else value
    if not is_list(given) or len(given) != 2:
        raise InvalidError(f'part: found {value!r}, expected "3/16" or (3, 16)')
    try:
        k, n = (whole(int(x) if isinstance(x, str) else x, "part", 1) for x in given)
    except ValueError:
        raise InvalidError(f'part: found {value!r}, expected "3/16" or (3, 16)') from None
    return k, n


def box(value: Any) -> list[tuple[int, int]]:
    """Ranges along x, y, z: "100:300,:,80:120", or three of what `part` takes."""
    parts = value.split(",") if isinstance(value, str) else value
    if not is_list(parts) or len(parts) != 3:
        raise InvalidError(f"roi: found {value!r}, expected three ranges, along x, y and z")
    return [part(p, "roi") for p in parts]


def path(value: Any, name: str) -> str:
    """A path as text."""
    try:
        text = os.fspath(value)
    except TypeError:
        raise InvalidError(f"{name}: found {_about(value)}, expected a path") from None
    if not text:
        raise InvalidError(f"{name}: is empty, expected a path")
    return os.fsdecode(text)


def is_path(value: Any) -> bool:
    """Is it a string or a Path?"""
    return isinstance(value, (str, bytes, os.PathLike))


def nearest(word: str, words: Iterable[str]) -> str:
    """ "; did you mean "filter"?", or nothing."""
    import difflib

    found = difflib.get_close_matches(word.lower(), list(words), 1)
    return f'; did you mean "{found[0]}"?' if found else ""


def unknown_name(what: str, word: str, names: Iterable[str]) -> str:
    """Say that a keyword's value is none of `names`; called by the extension, too."""
    known = list(names)
    return f'{what}: unknown name "{word}"; choose one of {", ".join(known)}{nearest(word, known)}'


def is_list(value: Any) -> bool:
    """Is it a list of values: a sequence, a range or an array?"""
    if isinstance(value, (str, bytes, dict)):
        return False
    return isinstance(value, (Sequence, range)) or (
        hasattr(value, "__len__") and hasattr(value, "__iter__") and getattr(value, "ndim", 1) > 0
    )


def _about(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__}" + (f" of shape {tuple(shape)}" if shape is not None else "")
