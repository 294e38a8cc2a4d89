"""Which device and which engine filter.

All that decides the device, one of OpenCL's or NumPy's where none works, is here, in this order:

    wanted            a filter's options and the environment: auto, gpu, cpu, numpy, an index, a part of a name
    for_small_work    auto takes the CPU for small work, before OpenCL loads the drivers of GPUs
    are_few           auto takes NumPy for so few samples that OpenCL would take longer to load, or to compile
    for_processes     many processes share the CPU
    choose            what is wanted becomes one of OpenCL's devices
    open_device       a device that is new here is checked; where none works, NumPy's takes its place
    gpu_for           the GPU, if there is one, for what does not fit into memory

The form that a device gets (``fused/``) follows from ``Device.is_gpu``. This imports OpenCL on first use: its loader
loads every registered driver, whichever device is wanted, and a GPU's takes 0.3 s. To use the CPU, the loader is shown
a driver of the CPU alone, or a folder without drivers, where it finds the PoCL that pip installs.

:func:`choose_engine` chooses the engine, for filters, transforms and commands alike:

    fused    the default, and the fast one. It has one flow: real results in single precision.
    staged   the book's pipeline, one kernel for each step, with any algorithm of the papers. It also has double
             precision, a work-group size, a transpose, options of an algorithm, complex and intermediate results.
    numpy    filters and transforms without OpenCL, several times slower. It has double precision and complex results.

An engine's name is "fused", "numpy", or the name of an algorithm for the staged pipeline. Without a name, the fused
engine is taken. The algorithm "book", the plainest, takes its place for options that only the staged pipeline has, and
for sizes that are too long for the fused engine of a GPU. NumPy's takes the place of both, and says so, where no OpenCL
device works and neither a device nor an engine is asked for.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from . import system
from .errors import DeviceError, ParameterError, check_option

if TYPE_CHECKING:
    from .device.launcher import Launcher, MakePipeline
    from .device.opencl import Device
    from .staged.algorithms import Algorithm, Option
    from .transfer.product import Edges


# The device that users want where they give none.
VARIABLE = "FFTFILTER_DEVICE"
# The name of the engine, and of its device, that does without OpenCL.
NUMPY = "numpy"
# Options that only OpenCL's engines have, or that name one.
ONLY_OPENCL = ("engine", "work_group_size", "transpose", "engine_options")
# A file of at most this many bytes is filtered on a CPU before a GPU's driver has loaded.
SMALL = 1 << 26
# Samples that NumPy filters before OpenCL has loaded, and before it has compiled its first program, too.
FEW, FEW_AT_FIRST = 1 << 20, 1 << 24
# The CPU runtimes that auto knows, best first; of two of a kind auto takes the later version.
CPU_RUNTIMES = ("Intel(R) OpenCL", "Portable Computing Language")
# Files that register drivers of CPUs, beside those of PoCL, whatever its version.
CPU_ICDS = ("intel64.icd", "intel-cpu.icd")
INSTEAD = "NumPy filters in its place, 5 to 40 times slower, a whole command 1 to 5 times"


def _warn(line: str) -> None:
    warnings.warn(line, RuntimeWarning, stacklevel=2)


tell: Callable[[str], None] = _warn
"""Is told once what is wrong with OpenCL when NumPy takes its place. The command line's prints it."""


# What is wanted


def wanted(options: Mapping[str, Any]) -> str | int | None:
    """Return the device that a filter's options or the environment ask for, NUMPY for the engine of that name."""
    device: str | int | None = options.get("device")
    return NUMPY if options.get("engine") == NUMPY else os.environ.get(VARIABLE) if device is None else device


def is_auto(device: str | int | None) -> bool:
    """Whether a user leaves the device open."""
    return device in (None, "") or str(device).lower() == "auto"


def is_open(options: Mapping[str, Any]) -> bool:
    """Whether a filter's options leave the device open, and ask for nothing that only OpenCL's engines have."""
    return is_auto(wanted(options)) and all(options.get(each) in (None, "", {}) for each in ONLY_OPENCL)


def is_numpy(device: str | int | None) -> bool:
    """Whether a user wants no OpenCL device, but NumPy."""
    return str(device).lower() == NUMPY


# Before OpenCL loads


def for_small_work(device: str | None, file_bytes: float) -> str | None:
    """Return the CPU if auto may choose and files of that size are done before a GPU's driver has loaded.

    Else the device itself, but only where nothing is known of the CPU, or no GPU is expected. For the CPU this process
    loads no driver of a GPU. To be called before the first platform loads.
    """
    alone = cpu_alone() if device == "cpu" or (is_auto(device) and file_bytes <= SMALL) else {}
    if alone and device != "cpu":
        from .device import embedded_pocl

        device = "cpu" if embedded_pocl.seems_to_work() else device
    if device == "cpu":
        os.environ.update(alone)
    return device


def are_few(samples: float) -> bool:
    """Whether NumPy has filtered so many samples before OpenCL has started in this process.

    On the first run, when all has to be compiled, these are more. In a container that keeps nothing each run is the
    first.
    """
    return not _loaded_by and (samples <= FEW or (samples <= FEW_AT_FIRST and system.is_first_run()))


def for_processes(device: str | None) -> tuple[str | None, bool]:
    """Return the device for many processes, and whether they can share it: the CPU, which auto takes if there is one.

    OpenCL is asked only where that cannot be told from the name and from the drivers that are registered.
    """
    if is_auto(device) and may_have_gpu() and has_cpu():
        device = "cpu"
    is_known = device == "cpu" or is_numpy(device)
    is_known |= is_auto(device) and sys.platform == "linux" and not may_have_gpu()
    try:
        return device, is_known or not choose(device).is_gpu
    except (DeviceError, ImportError):
        return device, True  # the processes say what is wrong


def cpu_alone() -> dict[str, str]:
    """Return the environment in which OpenCL loads no driver but the CPU's, empty where that is not possible or usual.

    It has to be set before the first platform loads.
    """
    if not may_have_gpu():
        return {}
    of_cpu = [file for file in _registered(of_cpu=True) if _is_there(file)]
    if of_cpu:  # of several, the best is known only once they are loaded
        return {"OCL_ICD_VENDORS": str(of_cpu[0])} if len(of_cpu) == 1 else {}
    return {"OCL_ICD_VENDORS": str(Path(__file__).parent)} if _has_own_pocl() else {}


def may_have_gpu() -> bool:
    """Whether a driver is registered that may have a GPU."""
    return bool(_registered(of_cpu=False))


def has_cpu() -> bool:
    """Whether there is a driver of a CPU."""
    return _has_own_pocl() or bool(_registered(of_cpu=True))


def vendors() -> str:
    """Return the folder in which OpenCL's loader looks for drivers."""
    return os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors"


def loads(library: str) -> bool:
    """Whether a driver's library can be loaded."""
    with suppress(OSError):
        ctypes.CDLL(library)
        return True
    return False


def _registered(*, of_cpu: bool) -> list[Path]:
    """Return the files that register drivers of CPUs, or all others; what pip installs is registered nowhere."""
    with suppress(OSError):
        files = [Path(vendors(), name) for name in sorted(os.listdir(vendors())) if name.endswith(".icd")]  # noqa: PTH208
        return [each for each in files if of_cpu == ("pocl" in each.name or each.name in CPU_ICDS)]
    return []


def _is_there(file: Path) -> bool:
    """Whether a registered driver is there: its file may outlive it."""
    with suppress(OSError, UnicodeDecodeError):
        return loads(file.read_text(encoding="utf-8").strip())
    return False


def _has_own_pocl() -> bool:
    """Whether pip has installed PoCL beside pyopencl."""
    package = find_spec("pyopencl")
    return bool(package and (Path(package.origin or "").parent / ".libs" / "pocl.icd").exists())


# One of OpenCL's devices

# One thread at a time finds, repairs and checks devices, so that each is one object for all threads.
_choosing = threading.RLock()
_loaded_by: set[int] = set()
"""The process that loaded OpenCL, and those from which it was forked."""


def devices() -> tuple[Device, ...]:
    """Return all OpenCL devices, in the order of their indices."""
    check_process()
    from .device import opencl

    with _choosing:
        if not _loaded_by and _has_own_pocl() and (other := _other_llvm()):
            raise DeviceError(f"no OpenCL: PoCL would end this process, as its LLVM clashes with {other}")
        _loaded_by.add(os.getpid())
        return opencl.devices()


def _other_llvm() -> str:
    """Return the library with the LLVM of another program in this process, such as Mesa's for OpenGL; "" without one.

    Two of them register their options in one table, which the second one aborts for. Once PoCL is there, all is well.
    """
    mapped = ""
    with suppress(OSError):
        mapped = Path("/proc/self/maps").read_text("utf-8", "replace")
    lines = [] if "/libpocl" in mapped else mapped.splitlines()
    return next((line.split()[-1] for line in lines if "/libLLVM" in line), "")


def check_process() -> None:
    """Raise DeviceError in a process that was forked from one that had loaded OpenCL: there it would wait forever."""
    if _loaded_by and os.getpid() not in _loaded_by:
        raise DeviceError(
            "OpenCL does not survive the fork of a process: start processes with "
            "multiprocessing.get_context('spawn'), or open the first device after the fork"
        )


def rank(device: Device) -> tuple[int, int, str]:
    """Return how much auto prefers a device, larger is better: GPUs, then the best CPU runtime, then the rest."""
    if device.is_simulator:
        return (0, 0, "")
    if device.is_gpu:
        return (3, device.cl_device.max_compute_units, "")
    known = [len(CPU_RUNTIMES) - i for i, name in enumerate(CPU_RUNTIMES) if name in device.platform]
    return (2 if device.is_cpu else 1, max(known, default=0), device.cl_device.platform.version)


def choose(device: str | int | None = None) -> Device:
    """Return the device of a name: auto, gpu, cpu, an index (also as a number) or a part of a name.

    None takes the environment variable FFTFILTER_DEVICE, and auto where that is not set. Raises DeviceError if
    there is no such device.
    """
    asked = str(device if device is not None else os.environ.get(VARIABLE) or "auto")
    name, found = asked.strip().lower(), devices()
    from .device import embedded_pocl

    if not found:
        why = embedded_pocl.lack() or "run 'fftfilter devices' for what is missing and how to install it"
        raise DeviceError(f"no OpenCL device: {why}")
    best_first = sorted(found, key=rank, reverse=True)
    if name == "auto":
        if rank(best_first[0])[0] == 0:
            why = embedded_pocl.lack() or "choose it by its name with --device"
            raise DeviceError(f"no OpenCL device but a simulator: {why}")
        return best_first[0]
    if name in ("gpu", "cpu"):
        matching = [each for each in best_first if getattr(each, f"is_{name}") and not each.is_simulator]
    elif name.isdecimal() and len(name) < 10:  # of thousands of digits Python makes no number
        matching = [*found[int(name) :][:1]]
    else:
        matching = [each for each in best_first if name in f"{each.name} {each.platform}".lower()]
    if not matching:
        if name == "cpu" and (lack := embedded_pocl.lack()):
            raise DeviceError(f"no OpenCL device 'cpu': {lack}")
        names = ", ".join(f"{each.index} {each.name}" for each in found)
        gpu = "a GPU needs its vendor's driver, see 'fftfilter devices'"
        raise DeviceError(
            f"no OpenCL device {asked!r}: there is {names}; {gpu if name == 'gpu' else 'choose one of these'}"
        )
    return matching[0]


def why_chosen(asked: str | None, device: Device) -> str:
    """Return why :func:`choose` returns a device for what is asked for."""
    name = asked or os.environ.get(VARIABLE) or "auto"
    if name != "auto":
        return f"{'--device' if asked else VARIABLE} asks for {name!r}"
    if device.is_gpu:
        return "auto takes a GPU first"
    several = sum(not each.is_simulator for each in devices()) > 1
    return "auto: no GPU, and the best CPU runtime" if several else "auto: the only device"


def devices_named(given: str | None) -> list[str | None]:
    """Return the devices of a list, or for "all" all but simulators; else the one device that is given."""
    if given is None or (given.strip().lower() != "all" and "," not in given):
        return [given]
    if given.strip().lower() == "all":
        return [str(each.index) for each in devices() if not each.is_simulator] or [None]
    return [str(choose(name).index) for name in given.split(",") if name.strip()] or [None]


# A device that works


def open_device(options: Mapping[str, Any]) -> Device:
    """Return the device that a filter's options ask for.

    It is NumPy's if that is asked for, or if no OpenCL device works and nothing that only those have is asked for.
    Raises DeviceError without a usable device.
    """
    device = wanted(options)
    edges: Edges = options.get("edges") or "wrap"
    if (is_numpy(device) and options.get("engine") in (None, NUMPY)) or (is_open(options) and lacks_opencl(edges)):
        from .plain import NumPyDevice

        return cast("Device", NumPyDevice())  # which has what filters ask of one
    return open_opencl(device, edges=edges)


def open_opencl(
    device: str | int | None, make_pipeline: MakePipeline | None = None, *, edges: Edges = "wrap"
) -> Device:
    """Return the OpenCL device of a name (:func:`choose`), checked with a small filter if it is new here.

    ``make_pipeline`` makes the filter, by default a fused one, with these ``edges``. Raises DeviceError if the device
    lacks what it needs to build programs, RefusedError if it computes wrongly.
    """
    try:
        from .device import selftest
    except ImportError as error:
        raise DeviceError(f"no OpenCL: {error}; see 'fftfilter devices'") from error
    from .fused import fused

    with _choosing:
        found = choose(device)
        selftest.check(found, make_pipeline or fused, edges)
    return found


_lacks_opencl: list[bool] = []
"""What :func:`lacks_opencl` found out."""


def lacks_opencl(edges: Edges = "wrap") -> bool:
    """Return whether no OpenCL device works, tried with these edges; tell it the first time."""
    if not _lacks_opencl:
        check_process()
        error = ""
        try:
            open_opencl(None, edges=edges)
        except DeviceError as raised:
            error = f"{raised}; {INSTEAD}"
        _lacks_opencl.append(bool(error))
        if error:
            tell(error)
    return _lacks_opencl[0]


def gpu_for(options: Mapping[str, Any]) -> Device | None:
    """Return the GPU that a filter's options ask for, None for another device; raises DeviceError for none at all."""
    device = wanted(options)
    # The driver of a GPU maps more memory than a limit of the address space allows.
    has_none = is_auto(device) and (not may_have_gpu() or system.limit("RLIMIT_AS") is not None)
    if has_none or device == "cpu" or is_numpy(device):
        return None
    found = open_device(options)
    return found if found.is_gpu else None


def launcher_on(device: Device, options: Mapping[str, Any]) -> Launcher:
    """Return a queue on a device for a filter's options, NumPy's for its device; raises ParameterError."""
    from .plain import NumPyDevice, NumPyLauncher

    names = ("precision", "profile", "work_group_size")
    own = {name: options[name] for name in names if options.get(name) is not None}
    if isinstance(device, NumPyDevice):
        return cast("Launcher", NumPyLauncher(device, **own))
    from .device.launcher import Launcher

    return Launcher(device, **own)


FUSED, BOOK = "fused", "book"


class Engine(NamedTuple):
    """An engine that was chosen."""

    name: str
    algorithm: Algorithm | None
    """That of the staged pipeline, None for the fused engine and NumPy's."""
    is_required: bool
    """Whether the fused engine was asked for by name, so that book does not take its place."""

    def is_fused(self, *, serves: bool) -> bool:
        """Tell whether the fused engine takes a size; ``serves`` says whether it can."""
        return self.algorithm is None and (self.is_required or serves)

    @property
    def staged(self) -> Algorithm:
        """The algorithm of the staged pipeline, book where the fused engine does not serve."""
        return self.algorithm or algorithm(BOOK)


def lacking(options: Mapping[str, Any], *, is_even: bool = True, name: str = FUSED) -> list[str]:
    """Return, in words, which of a filter's options the fused engine lacks, or NumPy's, by its ``name``.

    ``is_even`` tells whether H(-k) is H(k).
    """
    own = None, "auto", "cpu", NUMPY, os.environ.get(VARIABLE)
    asked = {
        "double precision": name == FUSED and options.get("precision") == "double",
        "work-group size": options.get("work_group_size") is not None,
        "choice of transpose": options.get("transpose") is not None,
        "gains with H(-k) other than H(k)": name == FUSED and not is_even,
        "options": bool(options.get("engine_options")),
        f"device {options.get('device')!r}": name == NUMPY and options.get("device") not in own,
    }
    return [what for what, is_asked in asked.items() if is_asked]


def name_of(options: Mapping[str, Any], *, is_even: bool = True) -> str:
    """Return the name of the engine that :func:`choose_engine` returns, unchecked, without NumPy and OpenCL."""
    return options.get("engine") or (BOOK if lacking(options, is_even=is_even) else FUSED)


def asks_for_staged(options: Mapping[str, Any]) -> bool:
    """Whether the staged pipeline is asked for: an algorithm, or what only it has, except for double precision."""
    return name_of({**options, "precision": None}) not in (FUSED, NUMPY)


def choose_engine(options: Mapping[str, Any], *, is_even: bool = True, word: str = "engine") -> Engine:
    """Return the engine for a filter's options; ``word`` names an engine in errors.

    Raises ParameterError for an unknown name or option, and for what the fused engine lacks if it was asked for.
    """
    name = options.get("engine") or NUMPY * is_numpy(wanted(options))
    is_required = name in (FUSED, NUMPY)
    if is_required and (missing := lacking(options, is_even=is_even, name=name)):
        raise ParameterError(
            f"the {name} engine has no {' and no '.join(missing)}: leave the {word} out, or choose {BOOK}"
        )
    name = name or name_of(options, is_even=is_even)
    found = None if name in (FUSED, NUMPY) else algorithm(name, options.get("engine_options"), word)
    return Engine(name, found, is_required)


def algorithm(name: str, options: Mapping[str, Option] | None = None, word: str = "engine") -> Algorithm:
    """Return the staged pipeline's algorithm of a name; raises ParameterError."""
    from .staged import algorithms  # the fused engine does without

    check_option(word, name, [FUSED, NUMPY, *algorithms.names()])
    return algorithms.load(name, **(options or {}))
