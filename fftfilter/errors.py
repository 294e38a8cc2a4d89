"""The errors that fftfilter raises on purpose.

    FftfilterError           exit code 1
    ├── ParameterError       exit code 2   a wrong option or argument; also a ValueError
    │   └── MissingError                   an array with NaN where no pixel may be missing
    ├── ImageError           exit code 1   an image that cannot be read, held or written
    │   ├── ReadError                      missing, truncated, not an image, not finite ...
    │   │   └── SeveralPagesError          more than the one picture that is wanted
    │   ├── WriteError                     no permission, disk full, format cannot hold it ...
    │   └── TooLargeError                  more bytes than the device or the machine has
    ├── ProcessError         exit code 1   another process that cannot be started
    ├── VerifyError          exit code 1   an output that is not what the reference gives
    └── DeviceError          exit code 3   no usable OpenCL device
        ├── BuildError                     a kernel that the device's compiler refuses
        └── RefusedError                   a device that computes wrongly

A message is one line: cause, value, way out. The command line prints it and exits with the code.
"""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Iterable

from . import __distribution__

# In a URL the user with the password, and the query, which may be a token or a signature, up to the rest of a sentence.
_SECRET = re.compile(r"""(?<=://)[^\s/]*(?=@)|(?<=\?)[^\s'"?=]*=(?:[^\s'"]*[^\s'":;,.)])?""")


def without_secrets(text: str) -> str:
    """Return a text whose URLs have neither a password nor a query."""
    return _SECRET.sub("***", text) if "://" in text else text


def code_of(error: BaseException) -> str:
    """Return what programs tell an error by: its class, and the system's name of its cause: ``WriteError.ENOSPC``."""
    cause = error.__cause__
    number = errno.errorcode.get(cause.errno or 0, "OSError") if isinstance(cause, OSError) else ""
    return ".".join(filter(None, (type(error).__name__, number)))


def as_typed(value: object) -> str:
    """Return a value as a user gives it: 3, and not 3.0; a text in quotes."""
    return f"{value:.15g}" if isinstance(value, float) else repr(value)


class FftfilterError(Exception):
    """Base of every error raised on purpose."""

    exit_code = 1

    def __init__(self, *given: object) -> None:
        super().__init__(*(without_secrets(each) if isinstance(each, str) else each for each in given))


class ParameterError(FftfilterError, ValueError):
    """An option or argument with an invalid value."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        # The value may be an array, whose text has several lines.
        super().__init__(" ".join(line.strip() for line in message.splitlines()))


class MissingError(ParameterError):
    """An array with NaN where no pixel may be missing."""


class ImageError(FftfilterError):
    """An image that cannot be read, held or written."""


class ReadError(ImageError):
    """An input that is missing, damaged or not an image."""


class SeveralPagesError(ReadError):
    """A file of several pages or frames where one picture is wanted."""


class WriteError(ImageError):
    """An output that cannot be written."""


class TooLargeError(ImageError):
    """An image that needs more memory than there is."""


class ProcessError(FftfilterError):
    """A process that cannot be started."""


class VerifyError(FftfilterError):
    """An output that differs from the reference by more than the contract allows."""


class DeviceError(FftfilterError):
    """No OpenCL device that can do the work."""

    exit_code = 3


class BuildError(DeviceError):
    """A kernel that the device's compiler refuses."""


class RefusedError(DeviceError):
    """A device whose results differ from the reference."""


def pip_install(*packages: str, extra: str = "") -> str:
    """Return the command that installs packages, or an extra of this one, for the Python that runs."""
    import shlex
    import subprocess

    words = [sys.executable, "-m", "pip", "install", *(packages or (f"{__distribution__}[{extra}]",))]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def install_opencl() -> str:
    """Return the command that installs pyopencl, with PoCL where pip has it."""
    import platform

    has_pocl = sys.platform == "linux" and platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"
    return pip_install("pyopencl[pocl]" if has_pocl else "pyopencl")


def is_masked(given: object) -> bool:
    """Whether something is a NumPy array with masked values."""
    # A masked array means that numpy.ma is loaded, whose import takes some milliseconds, by another thread perhaps.
    ma = sys.modules.get("numpy.ma")
    return bool(ma and hasattr(ma, "is_masked") and ma.is_masked(given))


def check_unmasked(what: str, given: object) -> None:
    """Raise ParameterError for a NumPy array with masked values."""
    if is_masked(given):
        raise ParameterError(
            f"{sys.modules['numpy.ma'].count_masked(given)} values of the {what} are masked, and a transform needs "
            "them all: give them a value, for example with .filled(0)"
        )


def check_option(option: str, given: int | str, known: Iterable[int | str]) -> None:
    """Raise ParameterError unless an option's value is one of those known."""
    choices = list(known)
    # True equals 1, and is not what an option means by 1.
    if given not in choices or isinstance(given, bool):
        raise ParameterError(f"{option} {given!r} is invalid: choose {', '.join(str(value) for value in choices)}")
