"""OpenCL's devices, each with its context and its programs, which are joined from ``.cl`` files and built.

A file names the files that it calls in its head, ``// needs: edges.cl shapes.cl``: they come before it, each once. Each
file stands behind a ``#line`` directive, so that a compiler's message names the real file and line. Which device is
taken: ``device_choice.py``.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from numbers import Integral
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyopencl as cl

from ..errors import BuildError, ParameterError, TooLargeError
from ..system import lacking, shipped
from . import embedded_pocl

PRELUDE = "complex.cl"

while_building: Callable[[], AbstractContextManager[Any]] = nullcontext
"""Returns a context manager that is entered while a program is built. A terminal's replaces it to show a message."""


@cache
def folder() -> Path:
    """Return the folder of the kernels."""
    return shipped("kernels")


@cache
def source(name: str) -> str:
    """Return the text of one file, by its path under ``kernels/``: ``staged/steps/butterfly.cl``."""
    return (folder() / name).read_text(encoding="utf-8")


@cache
def needs(name: str) -> tuple[str, ...]:
    """Return the files that a file names in its head as those that it needs before it."""
    return tuple(" ".join(re.findall(r"^// needs: (.*)", source(name), re.MULTILINE)).split())


@cache
def declared(name: str, kernel: str) -> tuple[str, ...]:
    """Return the names of a kernel's arguments, in the order in which its file declares them."""
    arguments = source(name).partition(f"void {kernel}(")[2].partition(")")[0]
    return tuple(re.findall(r"(\w+)(?:,|$)", arguments))


NUMBERS = {"uint": np.uint32, "int": np.int32, "ulong": np.uint64, "float": np.float32}


@cache
def record(name: str, struct: str) -> np.dtype[Any]:
    """Return a struct of a file as NumPy has it, so that its fields are written down once.

    The file declares it as ``typedef struct { uint count, taken; stage_t stages[24]; } name;``, a line or more. Fields
    are ``NUMBERS`` and such structs of the same file, one by one or an array; the larger numbers come first, as there
    is no padding.
    """
    code = re.sub(r"//.*", "", source(name)).partition(f"}} {struct};")[0].rpartition("typedef struct {")[2]
    fields: list[Any] = []
    for kind, *names in (re.split(r"[\s,]+", line.strip()) for line in code.split(";")[:-1]):
        number = NUMBERS.get(kind) or record(name, kind)
        for field, _, count in (each.rstrip("]").partition("[") for each in names):
            fields.append((field, number, int(count)) if count else (field, number))
    return np.dtype(fields)


def with_needs(names: Iterable[str]) -> tuple[str, ...]:
    """Return the named files, before each the files that it needs, none twice."""
    found: dict[str, None] = {}
    for name in names:
        if name not in found:
            found |= dict.fromkeys(with_needs(needs(name))) | {name: None}
    return tuple(found)


def join(names: tuple[str, ...]) -> str:
    """Return the prelude, the named files and those that they need as one text."""
    return "".join(f'#line 1 "{name}"\n{source(name)}\n' for name in (PRELUDE, *with_needs(names)))


def build(
    context: cl.Context, names: tuple[str, ...], defines: tuple[str, ...], options: tuple[str, ...] = ()
) -> cl.Program:
    """Build the named files with ``-D`` for each define (``REAL=float``) and the compiler's own options.

    Raises BuildError with the compiler's first error.
    """
    # -w: PoCL counts its compiler's warnings on stderr.
    arguments = ["-cl-std=CL1.2", "-w", *(f"-D {define}" for define in defines), *options]
    try:
        program: cl.Program = cl.Program(context, join(names))
        with while_building(), warnings.catch_warnings():
            # Compilers report what they did ("kernel was vectorized ..."); errors are raised.
            warnings.simplefilter("ignore", cl.CompilerWarning)
            program.build(arguments)
    except cl.Error as error:
        raise BuildError(
            f"{context.devices[0].name.strip()} cannot build {', '.join(names)}: {first_error(str(error))}; "
            "see 'fftfilter devices' for what else there is"
        ) from error
    return program


def first_error(log: str) -> str:
    """Return the most useful line of a build log: the first with the word error, else the first."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line.lower()), lines[0] if lines else "no build log")


# A simulator that checks every memory access: right results, a thousand times slower.
SIMULATOR = "Oclgrind"

# Programs of a device that are kept, those that were asked for last; one that is in use stays as long as its kernels.
MOST_PROGRAMS = 64

# One thread at a time makes contexts and programs: another one waits for what it needs, too.
_building = threading.RLock()


@dataclass(eq=False, repr=False)
class Device:
    """One OpenCL device, its context and its programs.

    ``index`` is its place in the list of all devices, ``repaired`` what had to be repaired before it could build
    (see ``embedded_pocl.py``), None if nothing. ``in_caller`` is the same CPU without threads of its own, for small
    images.
    """

    index: int
    cl_device: cl.Device
    repaired: str | None = None
    in_caller: Device | None = None
    _context: cl.Context | None = None

    @property
    def name(self) -> str:
        """The device's own name."""
        return str(self.cl_device.name).strip()

    @cached_property
    def platform(self) -> str:
        """The name of its platform."""
        return str(self.cl_device.platform.name).strip()

    @property
    def is_cpu(self) -> bool:
        """Whether it is a CPU, or a simulator, which claims to be every type."""
        return bool(self.cl_device.type & cl.device_type.CPU)

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU; a simulator is not."""
        return bool(self.cl_device.type & cl.device_type.GPU) and not self.is_simulator

    @cached_property
    def is_simulator(self) -> bool:
        """Whether it only simulates a device."""
        return SIMULATOR in self.platform

    @cached_property
    def fp64(self) -> bool:
        """Whether it computes in double precision."""
        return bool(self.cl_device.double_fp_config)

    @property
    def memory(self) -> int:
        """The bytes of its memory."""
        return int(self.cl_device.global_mem_size)

    @property
    def work_group_limit(self) -> int:
        """The most work-items that a work-group may have, in one dimension."""
        return int(min(self.cl_device.max_work_group_size, self.cl_device.max_work_item_sizes[0]))

    @property
    def context(self) -> cl.Context:
        """The context that all buffers and programs on this device share."""
        with _building:
            if self._context is None:
                self._context = cl.Context([self.cl_device])
            return self._context

    @cached_property
    def own_builtins(self) -> tuple[str, ...]:
        """The defines that let programs declare OpenCL's functions themselves, where that builds faster."""
        return embedded_pocl.own_builtins(self.cl_device)

    def program(self, names: tuple[str, ...], defines: tuple[str, ...], options: tuple[str, ...] = ()) -> cl.Program:
        """Return the program of these files with these defines and compiler options, built on first use."""
        with _building:
            return self._build(names, defines, options)

    def kernel(
        self, names: tuple[str, ...], defines: tuple[str, ...], kernel: str, options: tuple[str, ...]
    ) -> tuple[cl.Kernel, list[cl.Kernel]]:
        """Return a kernel of that program, and the list where it waits to be used again, by the one who drops it.

        pyopencl generates Python's code for each new one, which takes longer than filtering a small picture.
        """
        with _building:  # pyopencl warns if two threads do so at once
            program = self.program(names, defines, options)
            free = self._free.setdefault(program, {}).setdefault(kernel, [])
            return free.pop() if free else cl.Kernel(program, kernel), free

    @cached_property
    def _free(self) -> WeakKeyDictionary[cl.Program, dict[str, list[cl.Kernel]]]:
        return WeakKeyDictionary()

    @cached_property
    def _build(self) -> Callable[..., cl.Program]:
        return lru_cache(MOST_PROGRAMS)(partial(build, self.context))

    def check_work_group_size(self, size: int) -> None:
        """Raise ParameterError unless a work-group may have that many work-items."""
        if not isinstance(size, Integral) or not 1 <= size <= self.work_group_limit:
            sizes = " ".join(str(s) for s in self.cl_device.max_work_item_sizes)
            raise ParameterError(
                f"work-group size {size} is not possible on {self.name}: give 1 to {self.work_group_limit} "
                f"(work-group size {self.cl_device.max_work_group_size}, work-item sizes {sizes})"
            )

    def check_memory(self, what: str, buffers: list[int]) -> None:
        """Raise TooLargeError if the device cannot hold buffers of these sizes in bytes; allocates nothing."""
        most, total = max(buffers), sum(buffers)
        for need, have, where in (
            (most, self.cl_device.max_mem_alloc_size, "in one buffer"),
            (total, self.cl_device.global_mem_size, "in all"),
        ):
            if need > have:
                raise TooLargeError(
                    f"{what} needs {need:,} bytes {where} and {self.name} has {have:,}: "
                    "take a smaller image or a device with more memory"
                )
        # A CPU uses this machine's memory, and reports all of it, free or not.
        if not self.is_gpu and (free := lacking(total)) is not None:
            raise TooLargeError(
                f"{what} needs {total:,} bytes, more than the {free:,} of memory that are free: take a smaller image"
            )


@cache
def devices() -> tuple[Device, ...]:
    """Return the devices of all platforms, in the order of their indices, each ready to build."""
    embedded_pocl.prepare_environment()
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        return ()
    found: list[cl.Device] = []
    for platform in platforms:
        try:
            found += platform.get_devices()
        except cl.Error:
            continue  # a platform without devices
    named = {each.name: each for each in found}
    in_caller = {each: named[name] for each in found if (name := embedded_pocl.in_caller(each.name)) in named}
    small = {each: Device(-1, each, embedded_pocl.repair(each)) for each in in_caller.values()}
    own = [each for each in found if each not in small]
    return tuple(
        Device(index, each, embedded_pocl.repair(each), small[in_caller[each]] if each in in_caller else None)
        for index, each in enumerate(own)
    )
