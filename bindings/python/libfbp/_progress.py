"""Progress and messages of a run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ._errors import ScanWarning

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@dataclass(frozen=True)
class Progress:
    """How far a run is: the argument of a function that is given as `progress`."""

    done: int
    """updates: voxels x views"""
    total: int
    views_read: int
    seconds: float
    waiting_for: int
    """number, from 1, of the view that is waited for; 0: none"""

    @property
    def fraction(self) -> float:
        """From 0 to 1."""
        return self.done / self.total if self.total else 0.0


class Bar:
    """A line on standard error that shows how far a run is."""

    def __init__(self) -> None:
        self._drawn = 0.0
        self._width = 0

    def __call__(self, now: Progress) -> None:
        if time.monotonic() - self._drawn < 0.1 and now.done < now.total:
            return
        self._drawn = time.monotonic()
        full = int(30 * now.fraction)
        text = f"[{'#' * full}{'.' * (30 - full)}] {100 * now.fraction:5.1f} %  {now.seconds:.1f} s"
        if now.waiting_for:
            text += f"  waits for view {now.waiting_for}"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def end(self) -> None:
        """Erase it."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


class TqdmBar:
    """A bar of tqdm, which notebooks show as a widget."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, now: Progress) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=now.total, unit=" updates", unit_scale=True, leave=False)
        self._bar.total = now.total
        self._bar.set_postfix_str(
            f"waits for view {now.waiting_for}" if now.waiting_for else "", refresh=False
        )
        self._bar.update(now.done - self._bar.n)  # less, if a device failed

    def end(self) -> None:
        """Close it."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _bar() -> Bar | TqdmBar:
    """A bar of tqdm if that is installed, or else a line of text."""
    import importlib

    try:
        return TqdmBar(importlib.import_module("tqdm.auto").tqdm)
    except ImportError:
        return Bar()


@dataclass
class Listener:
    """Takes what the library says while a plan is made and run."""

    progress: Callable[[Progress], Any] | None = None
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, progress: bool | Callable[[Progress], Any] | None) -> Listener:
        """True: a bar; a function: called several times a second; None and False: nothing."""
        if progress is None or progress is False:
            return cls()
        if progress is True:
            return cls(_bar())
        if not callable(progress):
            raise TypeError(f"progress: found {progress!r}, expected True or a function")
        return cls(progress)

    def on_progress(self) -> Callable[..., None] | None:
        """For the C interface."""
        if self.progress is None:
            return None
        tell = self.progress

        def put(done: int, total: int, views: int, seconds: float, waits: int) -> None:
            tell(Progress(done, total, views, seconds, waits))

        return put

    def on_log(self, warning: bool, line: str) -> None:
        """Warnings as Python's, notes as a log."""
        if warning:
            import warnings

            self.warnings.append(line)
            warnings.warn(line, ScanWarning, stacklevel=callers_level())
        else:
            import logging  # which takes longer to import than the rest of the package

            self.notes.append(line)
            logging.getLogger("libfbp").info(line)

    def end(self) -> None:
        """The run is over."""
        if isinstance(self.progress, (Bar, TqdmBar)):
            self.progress.end()


def callers_level() -> int:
    """Which frame above the one that called this is not of this package, counted from 1."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
