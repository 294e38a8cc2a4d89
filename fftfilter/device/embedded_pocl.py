"""Makes the PoCL that `pip install pyopencl[pocl]` installs build programs on every CPU.

`pocl-binary-distribution` 3.0 (PoCL 3.0-rc2 with LLVM 14, of 2022) compiles for the CPU *name* that LLVM
gives and links a library of builtins that it picks by CPU *features*. The two must fit and often do not:

- CPUs that LLVM 14 does not know (AMD Zen 5, Hygon, Zhaoxin) are "generic": no program builds.
- Zen 4 is "znver3", many virtual CPUs are "k8-sse3", a Xeon whose hypervisor hides AVX-512 still is
  "skylake-avx512": the name has other vector registers than the library, and a build aborts the process.

No environment variable and no build option names the CPU, so `repair` does, in the device's struct. It writes
only where platform, wheel, struct and features are all as known here, and leaves everything else alone.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from .. import system
from ..errors import DeviceError

if TYPE_CHECKING:
    import pyopencl as cl

VENDOR = "Portable Computing Language"
PLATFORM = "OpenCL 3.0 PoCL 3.0-rc2  Linux, Release, RELOC, LLVM 14.0.6, SLEEF, DISTRO, POCL_DEBUG"
WHEEL = "/libpocl-21062cec.so"  # the digits are a hash of the library, so no other build has this name
TRIPLET = "x86_64-unknown-linux-gnu"
TRIPLET_OFFSET, CPU_OFFSET = 632, 640  # char *llvm_target_triplet, *llvm_cpu in that build's _cl_device_id
FP_FMA = 1 << 5  # CL_FP_FMA
# A launch on the first device wakes its threads, which takes as long as filtering a small image. The second one works
# in the thread that calls it.
DEVICES = "pthread basic"
VENDORS = "/etc/OpenCL/vendors"
LINKER = str(Path(__file__).with_name("bin"))
# Threads and processes that are left for the compiler, whose linker is a process of its own.
SPARE_TASKS = 2

# PoCL's libraries, the best first, as its getX86KernelLibName picks them: the flags of /proc/cpuinfo that it
# asks for, and LLVM 14's names for CPUs that fit, first the one that the library was compiled for.
# Older CPUs than these do not run NumPy.
LIBRARIES = {
    "avx512f": (
        "skylake-avx512 cascadelake cooperlake cannonlake "
        "icelake-client icelake-server tigerlake rocketlake sapphirerapids"
    ),
    "avx avx2 cx16 popcnt abm f16c fma bmi1 bmi2": ("haswell broadwell skylake alderlake bdver4 znver1 znver2 znver3"),
    "avx cx16 popcnt xop fma4": "bdver1 bdver2 bdver3",
    "avx cx16 popcnt f16c": "ivybridge btver2",
    "avx cx16 popcnt": "sandybridge",
    "sse4_1 cx16": "penryn nehalem westmere silvermont goldmont goldmont-plus tremont",
}
# PoCL asks for avx512f alone, skylake-avx512 has more: CPUs without it (Knights Landing) are left alone.
SKYLAKE_AVX512 = {"avx2", "fma", "bmi2", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


def prepare_environment() -> None:
    """Give PoCL a worker for each core, pinned to it, a linker and a cache folder; call it before platforms load.

    PoCL counts all cores of the machine, also where this process may use a few of them (taskset, a container's
    cpuset): with 16 workers on 4 cores a call takes ten times as long, as some wait in a loop for one that sleeps.
    Unpinned, two workers may land on one core, which almost doubles the time. PoCL pins to cores from 0 and aborts at
    one that the process may not use, so this is only for a process that may use the first ones.

    Raises DeviceError where no thread can be started, or no memory is seen.
    """
    if sys.platform != "linux":
        return
    if not os.access("/proc/meminfo", os.R_OK):  # PoCL would abort as soon as it is asked for its device
        raise DeviceError("OpenCL cannot see how much memory there is, as /proc is missing: mount -t proc proc /proc")
    if system.POCL_WORKERS not in os.environ and os.sched_getaffinity(0) == set(range(system.cores())):
        os.environ.setdefault("POCL_AFFINITY", "1")
    _limit_workers()
    # The command has files, which take longer than a launch, and would build its programs twice; another PoCL has other
    # names for its devices, and may have a GPU.
    is_other = any(Path(os.environ.get("OCL_ICD_VENDORS") or VENDORS).glob("*pocl*"))
    if find_spec("pocl_binary_distribution") and not (is_other or system.is_command()):
        os.environ.setdefault("POCL_DEVICES", DEVICES)
    if _links():
        os.environ["FFTFILTER_PYTHON"] = sys.executable
        folders = os.environ.get("COMPILER_PATH", "").split(os.pathsep)
        os.environ["COMPILER_PATH"] = os.pathsep.join([LINKER, *(each for each in folders if each not in ("", LINKER))])
    # What is in a folder of programs is executed. One that the user gives is passed over for that reason alone.
    is_fit = "POCL_CACHE_DIR" in os.environ or system.can_hold(_cache())
    if not (is_fit and system.is_private(_cache())):
        folder = system.temporary_cache()
        if folder is not None:
            os.environ["POCL_CACHE_DIR"] = str(folder / "pocl")


def _links() -> bool:
    """Whether linker.py can link: a shell starts Python with it."""
    return system.is_python() and all(os.access(each, os.X_OK) for each in (f"{LINKER}/ld", "/bin/sh"))


@cache
def _limit_workers() -> None:
    """Let PoCL start as many workers as there are cores for them, and as it can: it aborts at one too many."""
    free = system.free_tasks()
    if free is not None and free <= SPARE_TASKS:
        raise DeviceError(
            f"OpenCL cannot start its threads: {free} more are allowed, and {SPARE_TASKS + 1} needed; "
            "raise the limit on processes (ulimit -u)"
        )
    workers = system.cores() if free is None else min(system.cores(), free - SPARE_TASKS)
    if workers < (os.cpu_count() or 1):
        os.environ.setdefault(system.POCL_WORKERS, str(workers))


def _cache() -> Path:
    """Return the folder in which PoCL keeps programs; where it cannot, it has no device, or aborts."""
    home, given = os.environ.get("HOME"), os.environ.get("POCL_CACHE_DIR")
    if given:
        return Path(given)
    folder = os.environ.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else "/tmp")  # noqa: S108  PoCL's words
    return Path(folder, "pocl", "kcache")


def lack() -> str | None:
    """Return what PoCL lacks on this machine to build programs, in words, None if nothing; it would abort."""
    if sys.platform != "linux":
        return None
    limit = system.limit("RLIMIT_FSIZE")
    if limit is not None and limit < system.PROGRAM_FILE_BYTES:
        return f"PoCL writes programs to files of up to 1 MB, and {limit:,} bytes are allowed: raise ulimit -f"
    files = system.limit("RLIMIT_NOFILE")
    if files is not None and files < system.PROGRAM_FILES:
        return (
            f"PoCL links programs, for which {system.PROGRAM_FILES} files are open, and {files} may be: raise ulimit -n"
        )
    if not (_links() or any(os.access(f"{each}/ld", os.X_OK) for each in os.get_exec_path())):
        return "PoCL finds no linker: apt install gcc libc6-dev, or the like"
    if system.can_hold(_cache()) and system.is_private(_cache()):
        return None
    return (
        "PoCL has no folder for its programs: set POCL_CACHE_DIR to one that can be written to, by no other user, has "
        "4 MB free and is not mounted noexec"
    )


def in_caller(name: str) -> str:
    """Return the name of the device that computes in the thread that calls, for one that has threads of its own."""
    return f"basic-{name.removeprefix('pthread-')}" if name.startswith("pthread-") else ""


def own_builtins(device: cl.Device) -> tuple[str, ...]:
    """Return the defines by which a program declares the functions that it calls itself; none but for this PoCL.

    PoCL puts a header of all of OpenCL's functions in front of every program, and reads that megabyte at every start,
    even for a program that its cache holds: 20 of 30 ms. The second define is the header's guard.
    """
    return ("OWN_BUILTINS=1", "_OPENCL_H_=1") if device.platform.version.strip() == PLATFORM else ()


def names_that_fit(flags: set[str]) -> list[str]:
    """Return LLVM 14's CPU names that fit the library that PoCL picks for `flags`, its own first; none where unsure."""
    for needed, names in LIBRARIES.items():
        if flags.issuperset(needed.split()):
            return names.split() if "avx512f" not in flags or flags >= SKYLAKE_AVX512 else []
    return []


def seems_to_work() -> bool:
    """Tell whether PoCL can build programs, as far as that can be told before it is loaded."""
    return lack() is None and bool(names_that_fit(_listed_flags()))


def repair(device: cl.Device) -> str | None:
    """Give the device a CPU name that fits PoCL's library; call it before the first build on the device.

    Returns what was done, in a few words; None if nothing was: another PoCL, no need, or something unknown here.
    """
    named = re.fullmatch(rf".* PoCL HSTR: \w+-{TRIPLET}-([\w-]+)", device.version.strip())
    if device.platform.version.strip() != PLATFORM or named is None:
        return None
    name, address = named[1], device.int_ptr
    try:
        fitting = names_that_fit(_flags(device))
        if not fitting or name in fitting or WHEEL not in Path("/proc/self/maps").read_text("latin-1"):
            return None
        is_known = _text(address + TRIPLET_OFFSET) == TRIPLET and _text(address + CPU_OFFSET) == name
        if not (is_known and _point(address + CPU_OFFSET, fitting[0])):
            return None
    except (OSError, OverflowError):  # no /proc, or a pointer that is none: not the library known here
        return None
    return f"PoCL builds for {fitting[0]}: its LLVM takes this CPU for {name}, which its builtins do not fit"


def unknown_cpu(device: cl.Device) -> str | None:
    """Return what keeps :func:`repair` from knowing the CPU, with a way out, None if it knows; PoCL may crash."""
    if device.platform.version.strip() != PLATFORM or _listed_flags():
        return None
    return "PoCL is told the right CPU by the flags in /proc/cpuinfo, which has none: let it be read"


def _listed_flags() -> set[str]:
    """Return the CPU's features as the system lists them."""
    with suppress(OSError):
        if line := re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text("latin-1"), re.MULTILINE):
            return set(line[1].split())
    return set()


def _flags(device: cl.Device) -> set[str]:
    """Return the CPU features as PoCL sees them; none if the device claims one that the system does not list.

    PoCL picks its library by CPUID, which may differ from /proc/cpuinfo on a virtual machine. The device's vector
    width and FMA bit come from the same call as that choice: a feature that they deny does not count.
    """
    flags = _listed_flags()
    width, fma = device.native_vector_width_float, bool(device.single_fp_config & FP_FMA)
    for claimed, those in (width >= 16, {"avx512f"}), (width >= 8, {"avx"}), (fma, {"fma", "fma4"}):
        if claimed and not flags & those:
            return set()
        if not claimed:
            flags -= those
    return flags


def _text(address: int) -> str:
    """Follow the `char *` at `address`, reading through the kernel: a wrong address is an error and no crash."""
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        memory.seek(int.from_bytes(memory.read(8), "little"))
        return memory.read(64).partition(b"\0")[0].decode("latin-1")


def _point(address: int, name: str) -> bool:
    """Point the `char *` at `address` to `name`, or leave it as it was."""
    libc = ctypes.CDLL(None)
    libc.strdup.restype = ctypes.c_void_p  # never freed: PoCL reads the name as long as the process lives
    pointer, copy = ctypes.c_void_p.from_address(address), libc.strdup(name.encode())
    before = pointer.value
    if copy:
        pointer.value = copy
        if _text(address) == name:
            return True
        pointer.value = before
    return False
