"""What goes wrong, as exceptions.

All are of :class:`Error`, and each is one of Python's own, too: ``except ValueError`` catches an
:class:`InvalidError`.  The text is the library's sentence: it names the argument or file, the fact
and the remedy.
"""

from __future__ import annotations


class Error(Exception):
    """Anything that libfbp refuses or that fails; ``status`` is the number in the C interface."""

    status: int = 0


class InvalidError(Error, ValueError):
    """An argument or a file says something that cannot be."""

    status = -1


class OutOfMemoryError(Error, MemoryError):
    """Memory is missing, or a limit that was set is too small; the text says how much is needed."""

    status = -2


class FileError(Error, OSError):
    """A file cannot be read or written."""

    status = -3


class UnsupportedError(Error, NotImplementedError):
    """This build or device cannot do it."""

    status = -4


class DeviceError(Error, RuntimeError):
    """A driver or a kernel failed; the plan cannot be used any more."""

    status = -5


class CancelledError(Error, RuntimeError):
    """The run was stopped by :meth:`Plan.stop`."""

    status = -6


class ScanWarning(UserWarning):
    """Something about a scan that is probably wrong, such as truncated or dead views."""


_BY_STATUS = {
    kind.status: kind
    for kind in (
        InvalidError,
        OutOfMemoryError,
        FileError,
        UnsupportedError,
        DeviceError,
        CancelledError,
    )
}


def of_status(status: int, text: str) -> Error:
    """The exception for a status of the C interface."""
    return _BY_STATUS.get(status, Error)(text)
