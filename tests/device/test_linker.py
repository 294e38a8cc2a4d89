"""The linker of kernels. That all of the project's kernels are linked by it, the rest of the tests shows."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fftfilter.device import embedded_pocl, linker
from tests.helpers import needs_pocl_wheel

LD = Path(embedded_pocl.LINKER, "ld")
pytestmark = needs_pocl_wheel
# A kernel that has constants in memory, jumps by a table, and a copy that the compiler leaves to memcpy.
COMPILE = """
import os, sys
from fftfilter.device import embedded_pocl
embedded_pocl.LINKER = sys.argv[1]
import numpy as np
import pyopencl as cl
embedded_pocl.prepare_environment()
device = next(d for p in cl.get_platforms() if p.version.strip() == embedded_pocl.PLATFORM for d in p.get_devices())
embedded_pocl.repair(device)
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = cl.Program(context, '''
typedef struct { float x[4096]; } Row;
constant float table[4] = {7, 11, 13, 17};
kernel void copied(global const Row *a, global Row *out) {
    Row row = *a;
    row.x[0] += table[(int)row.x[1] & 3];
    *out = row;
}''').build()
x = np.arange(4096, dtype=np.float32)
a = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
out, got = cl.Buffer(context, 0, x.nbytes), np.empty_like(x)
program.copied(queue, (1,), (1,), a, out)
cl.enqueue_copy(queue, got, out)
x[0] += 11
assert np.array_equal(got, x)
print("right")
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What PoCL gives to the linker for that kernel, which has then computed what it should."""
    here = tmp_path_factory.mktemp("linked")
    (here / "bin").mkdir()
    keeps = here / "bin" / "ld"
    keeps.write_text(f'#!/bin/sh\nfor each; do case "$each" in *.so.o) cp "$each" {here}/kernel.o; esac; done\n'
                     f'PATH=/nowhere exec {LD} "$@"\n')  # fmt: skip
    keeps.chmod(0o755)
    environment = {**os.environ, "POCL_CACHE_DIR": str(here / "cache"), "PYTHONPATH": str(LD.parents[3])}
    command = [sys.executable, "-c", COMPILE, str(here / "bin")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == "right\n", done.stderr
    return (here / "kernel.o").read_bytes()


def test_a_kernel_calls_the_c_library_and_is_found_by_its_name(kernel: bytes, tmp_path: Path) -> None:
    assert b"\0memcpy\0" in kernel
    (tmp_path / "kernel.so").write_bytes(linker.link(kernel))
    library = ctypes.CDLL(str(tmp_path / "kernel.so"))
    assert library["_pocl_kernel_copied_workgroup"]
    with pytest.raises(AttributeError):
        assert library["_pocl_kernel_other_workgroup"]


def test_no_memory_is_both_written_and_executed(kernel: bytes) -> None:
    library = linker.link(kernel)
    flags = [linker.SEGMENT.unpack_from(library, 64 + linker.SEGMENT.size * i)[1] for i in range(4)]
    assert flags == [5, 6, 6, 6]


def test_an_object_that_is_cut_off_is_an_error_at_each_length(kernel: bytes) -> None:
    for length in range(0, len(kernel), 7):
        with pytest.raises(linker.LinkError):
            linker.link(kernel[:length])


def test_garbage_is_an_error_and_never_another_one(kernel: bytes) -> None:
    chance = random.Random(5)
    for _ in range(300):
        with pytest.raises(linker.LinkError):
            linker.link(kernel[:64] + chance.randbytes(len(kernel) - 64))
    # The tables at the end: sections, symbols and relocations.
    refused = 0
    for _ in range(3000):
        damaged = bytearray(kernel)
        damaged[chance.randrange(len(kernel) - 1500, len(kernel))] ^= 1 << chance.randrange(8)
        try:
            linker.link(bytes(damaged))
        except linker.LinkError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("name", ["__udivti3", "memcpy"])
def test_functions_of_a_compiler_are_left_to_the_linker_of_the_system(kernel: bytes, name: str) -> None:
    renamed = kernel.replace(b"\0memcpy\0", f"\0{name[:6]}\0".encode())
    if name.startswith("__"):
        with pytest.raises(linker.LinkError, match="functions of a compiler"):
            linker.link(renamed)
    else:
        assert linker.link(renamed)


POCLS = "--hash-style=both -m elf_x86_64 -shared -o out.so -L/usr/lib in.so.o -lgcc --as-needed -lgcc_s -lc"


@pytest.mark.parametrize(
    "arguments",
    [
        "--version",
        "-r -o out.o in.so.o",
        POCLS + " -lm",
        POCLS + " more.so.o",
        POCLS.replace("in.so.o", "in.o"),
        POCLS.replace("-shared", "-pie"),
    ],
)
def test_another_command_line_is_left_to_the_linker_of_the_system(tmp_path: Path, arguments: str) -> None:
    assert linker.files(POCLS.split()) == ("in.so.o", "out.so")
    with pytest.raises(linker.LinkError):
        linker.files(arguments.split())
    (tmp_path / "ld").write_text('#!/bin/sh\necho "system: $@"\nexit 5\n')
    (tmp_path / "ld").chmod(0o755)
    environment = {"FFTFILTER_PYTHON": sys.executable, "PATH": f"/nowhere:{LD.parent}:{tmp_path}"}
    done = subprocess.run([LD, *arguments.split()], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (5, f"system: {arguments}\n")


def test_without_another_linker_what_it_does_not_know_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "in.so.o").write_bytes(b"\x7fELF")
    environment = {"FFTFILTER_PYTHON": sys.executable, "PATH": f"/nowhere:{LD.parent}"}
    done = subprocess.run(
        [LD, *POCLS.split()], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "the system has no ld" in done.stderr
    assert not (tmp_path / "out.so").exists()
