"""The PoCL of `pip install`: what LLVM 14 does not know must still build, and anything else be left alone."""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from fftfilter.device import embedded_pocl
from fftfilter.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Run = Callable[..., subprocess.CompletedProcess[str]]

SSE41 = {"sse2", "ssse3", "sse4_1", "cx16"}
AVX = SSE41 | {"avx", "popcnt"}
AVX2 = AVX | {"avx2", "abm", "f16c", "fma", "bmi1", "bmi2"}
AVX512 = AVX2 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (AVX512, "skylake-avx512"),
        (AVX512 - {"avx512vl"}, None),  # Knights Landing: PoCL's AVX-512 library needs more than it has
        (AVX2, "haswell"),
        (AVX2 - {"fma"}, "ivybridge"),
        (AVX2 | {"xop", "fma4"}, "haswell"),
        (AVX | {"f16c", "xop", "fma4"}, "bdver1"),
        (AVX | {"f16c"}, "ivybridge"),
        (AVX, "sandybridge"),
        (SSE41 | {"popcnt"}, "penryn"),
        (SSE41 - {"sse4_1"}, None),
        (set(), None),
    ],
)
def test_name_chosen_is_the_one_that_the_library_was_compiled_for(flags: set[str], name: str | None) -> None:
    assert next(iter(embedded_pocl.names_that_fit(flags)), None) == name


def test_no_name_fits_two_libraries() -> None:
    names = [name for names in embedded_pocl.LIBRARIES.values() for name in names.split()]
    assert len(names) == len(set(names))


def test_the_header_of_builtins_is_kept_out_of_this_pocl_alone() -> None:
    assert embedded_pocl.own_builtins(FakeDevice()) == ("OWN_BUILTINS=1", "_OPENCL_H_=1")
    assert embedded_pocl.own_builtins(FakeDevice(platform=SimpleNamespace(version="OpenCL 3.0 PoCL 3.1"))) == ()


# A struct of our own in place of PoCL's: nothing that a wrong write could hurt.

VERSION = "OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-"


class FakeDevice(SimpleNamespace):
    """What `repair` reads of a device, by default of a Zen 4, over memory laid out like the struct it knows."""

    def __init__(self, llvm_cpu: str = "znver3", triplet: str = embedded_pocl.TRIPLET, **changed: Any) -> None:
        self.struct = ctypes.create_string_buffer(1024)
        self.texts = [ctypes.create_string_buffer(text.encode()) for text in (triplet, llvm_cpu)]
        for offset, text in zip((632, 640), self.texts, strict=True):
            pointer = ctypes.c_void_p.from_buffer(self.struct, offset)
            pointer.value = ctypes.addressof(text)
        zen4 = {
            "int_ptr": ctypes.addressof(self.struct),
            "version": VERSION + "znver3",
            "platform": SimpleNamespace(version=embedded_pocl.PLATFORM),
            "native_vector_width_float": 16,
            "single_fp_config": 63,
        }
        super().__init__(**(zen4 | changed))

    def cpu(self) -> str:
        pointer = ctypes.c_void_p.from_address(self.int_ptr + 640).value
        return ctypes.string_at(pointer).decode() if pointer else ""


@pytest.fixture
def known_machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A Linux whose CPU has AVX-512 and whose process has loaded the library known here."""
    files = {
        "/proc/cpuinfo": f"processor\t: 0\nflags\t\t: {' '.join(sorted(AVX512))}\nbugs\t\t:\n",
        "/proc/self/maps": f"7f00-7f01 r-xp 0 08:01 1 /lib{embedded_pocl.WHEEL}\n",
    }
    read_text = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, *a: files.get(str(self)) or read_text(self, *a))
    return files


needs_proc = pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc/self/mem")


@needs_proc
@pytest.mark.usefixtures("known_machine")
def test_known_struct_is_repaired_once() -> None:
    device: Any = FakeDevice()
    assert "skylake-avx512" in (embedded_pocl.repair(device) or "")
    assert device.cpu() == "skylake-avx512"
    assert embedded_pocl.repair(device) is None
    assert device.cpu() == "skylake-avx512"


@needs_proc
@pytest.mark.usefixtures("known_machine")
@pytest.mark.parametrize(("width", "fma", "name"), [(8, 32, "haswell"), (8, 0, "ivybridge"), (4, 0, "penryn")])
def test_features_that_pocl_denies_do_not_count(width: int, fma: int, name: str) -> None:
    device: Any = FakeDevice(
        "k8-sse3", version=VERSION + "k8-sse3", native_vector_width_float=width, single_fp_config=fma
    )
    assert embedded_pocl.repair(device)
    assert device.cpu() == name


@needs_proc
def test_features_that_only_pocl_claims_are_a_surprise(known_machine: dict[str, str]) -> None:
    known_machine["/proc/cpuinfo"] = f"flags : {' '.join(AVX2)}\n"
    device: Any = FakeDevice("k8-sse3", version=VERSION + "k8-sse3")
    assert embedded_pocl.repair(device) is None
    assert device.cpu() == "k8-sse3"


@needs_proc
@pytest.mark.usefixtures("known_machine")
@pytest.mark.parametrize(
    "device",
    [
        pytest.param(FakeDevice("tigerlake", version=VERSION + "tigerlake"), id="fits"),
        pytest.param(FakeDevice(platform=SimpleNamespace(version="OpenCL 3.0 PoCL 3.1")), id="other version"),
        pytest.param(FakeDevice(version="OpenCL 1.2 (Oclgrind 21.10)"), id="other device"),
        pytest.param(FakeDevice(version=VERSION.replace("x86_64", "aarch64") + "znver3"), id="other architecture"),
        pytest.param(FakeDevice("znver2"), id="name unlike the device's"),
        pytest.param(FakeDevice("\x7fELF\x02"), id="no name"),
        pytest.param(FakeDevice(""), id="empty"),
        pytest.param(FakeDevice(triplet="amdgcn"), id="other triplet"),
    ],
)
def test_surprise_is_left_alone(device: Any) -> None:
    struct, name = device.struct.raw, device.cpu()
    assert embedded_pocl.repair(device) is None
    assert (device.struct.raw, device.cpu()) == (struct, name)


@needs_proc
@pytest.mark.usefixtures("known_machine")
def test_a_name_that_does_not_read_back_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    device: Any = FakeDevice()
    struct, texts = device.struct.raw, iter((embedded_pocl.TRIPLET, "znver3", "another one"))
    monkeypatch.setattr(embedded_pocl, "_text", lambda _: next(texts))
    assert embedded_pocl.repair(device) is None
    assert device.struct.raw == struct


@needs_proc
@pytest.mark.usefixtures("known_machine")
@pytest.mark.parametrize("wild", [0, 16, 2**47 + 5, 2**64 - 8])
def test_wild_pointer_is_left_alone(wild: int) -> None:
    device: Any = FakeDevice()
    ctypes.c_uint64.from_address(device.int_ptr + 640).value = wild
    assert embedded_pocl.repair(device) is None
    assert ctypes.c_uint64.from_address(device.int_ptr + 640).value == wild


def test_other_wheel_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_pocl, "WHEEL", "/libpocl-0ther.so")
    device: Any = FakeDevice()
    assert embedded_pocl.repair(device) is None
    assert device.cpu() == "znver3"


# Workers: PoCL counts all cores of the machine, pins from the first on, and aborts at one that the process may not use.


@pytest.mark.parametrize(
    ("usable", "cores", "environment", "pinned", "workers"),
    [
        ({0, 1}, 2, {}, "1", None),
        ({0, 1}, 4, {}, "1", "2"),
        ({2, 3}, 4, {}, None, "2"),  # a container with a set of cores of its own
        ({2, 3}, 2, {}, None, None),
        ({0, 1}, 2, {"POCL_AFFINITY": "0"}, "0", None),
        ({0, 1}, 4, {"POCL_MAX_PTHREAD_COUNT": "8"}, None, "8"),
    ],
)
def test_a_core_that_may_be_used_has_a_worker_pinned_to_it_where_pocl_can(
    monkeypatch: pytest.MonkeyPatch,
    usable: set[int],
    cores: int,
    environment: dict[str, str],
    pinned: str | None,
    workers: str | None,
) -> None:
    embedded_pocl._limit_workers.cache_clear()
    monkeypatch.setattr(os, "environ", dict(environment))
    monkeypatch.setattr(os, "sched_getaffinity", {0: usable}.get, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    embedded_pocl.prepare_environment()
    assert os.environ.get("POCL_AFFINITY") == pinned
    assert os.environ.get("POCL_MAX_PTHREAD_COUNT") == workers


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int | None]]:
    """How many threads can still be started; there are four processors."""
    found: list[int | None] = [9]
    embedded_pocl._limit_workers.cache_clear()
    monkeypatch.setattr(os, "environ", {"POCL_CACHE_DIR": "/"})
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(embedded_pocl.system, "cores", lambda: 4)
    monkeypatch.setattr(embedded_pocl.system, "free_tasks", lambda: found[0])
    yield found
    embedded_pocl._limit_workers.cache_clear()


@pytest.mark.parametrize(("possible", "workers"), [(None, None), (9, None), (6, None), (5, "3"), (3, "1")])
def test_two_threads_of_those_that_can_be_started_are_left_for_the_compiler(
    threads: list[int | None], possible: int | None, workers: str | None
) -> None:
    threads[0] = possible
    embedded_pocl.prepare_environment()
    assert os.environ.get("POCL_MAX_PTHREAD_COUNT") == workers


def test_without_a_thread_for_a_worker_there_is_no_device(threads: list[int | None]) -> None:
    threads[0] = 2
    said = r"^OpenCL cannot start its threads: 2 more are allowed, and 3 needed; raise the limit on processes"
    with pytest.raises(DeviceError, match=said):
        embedded_pocl.prepare_environment()


@pytest.mark.usefixtures("threads")
def test_other_systems_than_linux_set_up_their_opencl_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    embedded_pocl.prepare_environment()
    assert [name for name in os.environ if name.startswith("POCL_")] == ["POCL_CACHE_DIR"]
    monkeypatch.setattr(embedded_pocl.system, "limit", lambda _: 1)
    assert embedded_pocl.lack() is None


# Where PoCL keeps programs, and what it needs for them


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_CACHE_HOME": "/caches", "HOME": "/home/me"}, "/caches/pocl/kcache"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/pocl/kcache"),
        ({"HOME": ""}, "/tmp/pocl/kcache"),  # noqa: S108
        ({}, "/tmp/pocl/kcache"),  # noqa: S108
        ({"POCL_CACHE_DIR": "/programs", "HOME": "/home/me"}, "/programs"),
        ({"POCL_CACHE_DIR": "", "HOME": "/home/me"}, "/home/me/.cache/pocl/kcache"),
    ],
)
def test_the_folder_that_pocl_takes_has_to_hold_programs(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: str
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(embedded_pocl.system, "limit", lambda _: None)
    monkeypatch.setattr(embedded_pocl.system, "is_private", lambda _: True)
    monkeypatch.setattr(embedded_pocl.system, "can_hold", lambda path: asked.append(path) or len(asked) > 1)
    assert (embedded_pocl.lack() or "").startswith("PoCL has no folder for its programs: set POCL_CACHE_DIR")
    assert embedded_pocl.lack() is None
    assert asked == [Path(folder)] * 2


@pytest.mark.parametrize(
    ("name", "enough", "said"),
    [
        ("RLIMIT_FSIZE", 1 << 20, "PoCL writes programs to files of up to 1 MB, and 1,048,575 bytes are allowed"),
        ("RLIMIT_NOFILE", 20, "PoCL links programs, for which 20 files are open, and 19 may be: raise ulimit -n"),
    ],
)
def test_a_limit_that_is_just_enough_for_programs_lacks_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, enough: int, said: str
) -> None:
    monkeypatch.setattr(embedded_pocl.system, "can_hold", lambda _: True)
    monkeypatch.setattr(embedded_pocl.system, "limit", {name: enough}.get)
    assert embedded_pocl.lack() is None
    monkeypatch.setattr(embedded_pocl.system, "limit", {name: enough - 1}.get)
    assert (embedded_pocl.lack() or "").startswith(said)


@pytest.mark.parametrize(
    ("is_fit", "is_private", "folder"),
    [(True, True, None), (False, True, "/temporary/pocl"), (True, False, "/temporary/pocl")],
)
@pytest.mark.usefixtures("threads")
def test_a_temporary_folder_takes_the_place_of_one_that_cannot_hold_programs(
    monkeypatch: pytest.MonkeyPatch, is_fit: bool, is_private: bool, folder: str | None
) -> None:
    monkeypatch.setattr(embedded_pocl.system, "can_hold", lambda _: is_fit)
    monkeypatch.setattr(embedded_pocl.system, "is_private", lambda _: is_private)
    monkeypatch.setattr(embedded_pocl.system, "temporary_cache", lambda: Path("/temporary"))
    embedded_pocl.prepare_environment()
    # A user's choice is only passed over where others could put programs.
    assert os.environ.pop("POCL_CACHE_DIR") == ("/" if is_private else "/temporary/pocl")
    embedded_pocl.prepare_environment()
    assert os.environ.get("POCL_CACHE_DIR") == folder
    monkeypatch.setattr(embedded_pocl.system, "temporary_cache", lambda: None)
    os.environ.pop("POCL_CACHE_DIR", None)
    embedded_pocl.prepare_environment()
    assert "POCL_CACHE_DIR" not in os.environ


# Before any platform is loaded


def test_pocl_seems_to_work_where_it_lacks_nothing_and_its_cpu_is_known(
    known_machine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_pocl, "lack", lambda: None)
    assert embedded_pocl.seems_to_work()
    known_machine["/proc/cpuinfo"] = "flags : sse2"
    assert not embedded_pocl.seems_to_work()
    known_machine["/proc/cpuinfo"] = f"flags : {' '.join(AVX512)}"
    monkeypatch.setattr(embedded_pocl, "lack", lambda: "a folder")
    assert not embedded_pocl.seems_to_work()


def test_a_processor_whose_features_are_not_listed_is_known_to_no_other_pocl(known_machine: dict[str, str]) -> None:
    assert embedded_pocl.unknown_cpu(FakeDevice()) is None
    known_machine["/proc/cpuinfo"] = "processor : 0"
    assert "/proc/cpuinfo, which has none" in (embedded_pocl.unknown_cpu(FakeDevice()) or "")
    assert embedded_pocl.unknown_cpu(FakeDevice(platform=SimpleNamespace(version="OpenCL 3.0 PoCL 3.1"))) is None


# The real library. Each in a process of its own: a build that goes wrong may take the process with it.

PRELUDE = """
import ctypes, sys
from types import SimpleNamespace
import pyopencl as cl
from fftfilter.device import embedded_pocl
from fftfilter.errors import DeviceError

embedded_pocl.prepare_environment()
device = next((d for p in cl.get_platforms() if p.version.strip() == embedded_pocl.PLATFORM
               for d in p.get_devices()), None)
if device is None:
    print("no such PoCL")
    sys.exit(77)
"""
# What the library shows where LLVM 14 calls the CPU by another name: in its struct and the device's version.
RENAMED = """
before = device.version.strip().rpartition("linux-gnu-")[2]
name = ctypes.create_string_buffer(sys.argv[1].encode())
ctypes.c_void_p.from_address(device.int_ptr + 640).value = ctypes.addressof(name)
seen = SimpleNamespace(
    version=device.version.strip().removesuffix(before) + sys.argv[1], platform=device.platform,
    int_ptr=device.int_ptr, native_vector_width_float=device.native_vector_width_float,
    single_fp_config=device.single_fp_config)
"""
COMPUTE = """
import numpy as np

context = cl.Context([device])
queue = cl.CommandQueue(context)
program = cl.Program(context, '''
kernel void wide(global const float16 *a, global float16 *out) {
    size_t i = get_global_id(0);
    float16 x = a[i];
    out[i] = fma(x, x, cos(x)) + exp(x) * sinpi(x);
}
kernel void reversed(global const float *a, global float *out, local float *shelf) {
    size_t i = get_local_id(0), n = get_local_size(0), start = get_group_id(0) * n;
    shelf[i] = a[start + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[start + i] = shelf[n - 1 - i] + shelf[(i + 1) % n];
}''').build()
x = np.random.default_rng(6).normal(size=4096).astype(np.float32)
a = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
out, got = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, x.nbytes), np.empty_like(x)
program.wide(queue, (256,), (32,), a, out)
cl.enqueue_copy(queue, got, out)
d = x.astype(float)
want = d * d + np.cos(d) + np.exp(d) * np.sin(np.pi * d)
assert np.abs(got - want).max() <= 1e-6 * np.abs(want).max(), (got, want)
program.reversed(queue, (4096,), (64,), a, out, cl.LocalMemory(256))
cl.enqueue_copy(queue, got, out)
groups = x.reshape(-1, 64)
assert np.array_equal(got.reshape(-1, 64), groups[:, ::-1] + np.roll(groups, -1, axis=1))
print("right")
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run code in a process that sees only the OpenCL of the Python environment, with an empty cache."""
    try:
        importlib.metadata.version("pocl-binary-distribution")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the PoCL of pip is not installed")
    (tmp_path / "vendors").mkdir()
    # A device that this process has open has set the number of workers for it, and their cores.
    own = {"POCL_MAX_PTHREAD_COUNT", "POCL_AFFINITY"}
    environment = {
        **{name: value for name, value in os.environ.items() if name not in own},
        "OCL_ICD_VENDORS": str(tmp_path / "vendors"),
        "POCL_CACHE_DIR": str(tmp_path / "cache"),
        "PYOPENCL_NO_CACHE": "1",
        "PYTHONPATH": str(Path(embedded_pocl.__file__).parents[2]),
    }

    def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode == 77:
            pytest.skip("another PoCL than the one known here")
        return done

    return run


def test_this_cpu_builds_and_computes(run: Run) -> None:
    done = run(PRELUDE + "embedded_pocl.repair(device)\n" + COMPUTE)
    assert done.stdout == "right\n", done.stderr


def test_a_process_of_one_core_has_one_worker(run: Run) -> None:
    code = "import os\nos.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\n"
    done = run(code + PRELUDE + "print(device.max_compute_units)")
    assert done.stdout == "1\n", done.stderr


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME"])
def test_a_home_that_cannot_be_written_to_costs_no_device(run: Run, tmp_path: Path, variable: str) -> None:
    code = f"""
import os
del os.environ["POCL_CACHE_DIR"], os.environ["XDG_CACHE_HOME"]
os.environ.update({{{variable!r}: "/dev/null", "TMPDIR": {str(tmp_path)!r}}})
from fftfilter.device_choice import choose
choose("cpu").program(("staged/steps/magnitude.cl",), ("REAL=float",))
print(os.stat(os.environ["POCL_CACHE_DIR"]).st_mode & 0o777 == 0o700, len(os.listdir(os.environ["POCL_CACHE_DIR"])) > 0)
"""
    done = run(code)
    assert done.stdout == "True True\n", done.stderr


def test_unknown_cpu_fails_as_it_is(run: Run) -> None:
    done = run(PRELUDE + RENAMED + COMPUTE, "generic")
    assert "unknown target CPU 'generic'" in done.stderr


@pytest.mark.parametrize("name", ["generic", "k8-sse3"])
def test_repaired_cpu_builds_and_computes(run: Run, name: str) -> None:
    done = run(PRELUDE + RENAMED + "print(embedded_pocl.repair(seen))\n" + COMPUTE, name)
    report, _, rest = done.stdout.partition("\n")
    assert report.startswith("PoCL builds for "), done.stderr
    assert name in report
    assert rest == "right\n", done.stderr


def test_name_that_the_device_does_not_report_is_left_alone(run: Run) -> None:
    done = run(PRELUDE + RENAMED + "print(embedded_pocl.repair(device), name.value.decode())", "generic!")
    assert done.stdout == "None generic!\n", done.stderr


def test_other_platforms_are_left_alone(run: Run) -> None:
    code = """
others = [p for p in cl.get_platforms() if p.version.strip() != embedded_pocl.PLATFORM]
print(*{embedded_pocl.repair(d) for p in others for d in p.get_devices()})
"""
    done = run(PRELUDE + code)
    assert done.returncode == 0, done.stderr
    if not done.stdout.strip():
        pytest.skip("no other platform, such as Oclgrind, beside PoCL")
    assert done.stdout == "None\n"
