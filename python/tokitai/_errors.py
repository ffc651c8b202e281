"""The C library's errors as exceptions, which are Python's own as well where there is one.

A module of its own, since `import tokitai` loads it alone.
"""

from __future__ import annotations


class Error(RuntimeError):
    """A call that failed. `status` is the number of the C library's status."""

    status = 10

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        if status is not None:
            self.status = status


class BadArgument(Error, ValueError):
    """A size, array, type or option that the op does not take."""

    status = 1


class UnknownOp(BadArgument, LookupError):
    """There is no op of that name."""


class BadIndex(Error, IndexError):
    """An index or target out of range."""

    status = 2


class BadFile(Error, ValueError):
    """A file that is malformed, truncated or edited."""

    status = 3


class Unsupported(Error):
    """No lowering takes this case."""

    status = 4


class Unavailable(Error):
    """A device, library or compiler that is not present."""

    status = 5


class NoMemory(Error, MemoryError):
    """Memory ran out."""

    status = 6


class InputOutput(Error, OSError):
    """The operating system refused a read or a write."""

    status = 7

    def __str__(self) -> str:  # OSError's own takes the arguments for a number and its text
        return str(self.args[0])


class KernelFault(Error):
    """A kernel in a process of its own crashed or broke the protocol."""

    status = 8


class Timeout(Error, TimeoutError):
    """A kernel in a process of its own exceeded its deadline."""

    status = 9

    def __str__(self) -> str:
        return str(self.args[0])


class Internal(Error):
    """A defect of the library."""

    status = 10


ERRORS: dict[int, type[Error]] = {error.status: error for error in Error.__subclasses__()}
