"""No process of the program imports what lies in the current directory, where pictures from anywhere are."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.folders.helpers import names, pgm
from tests.helpers import needs_posix

PROGRAM = Path(sysconfig.get_path("scripts")) / "fftfilter"
INSTALLED = (
    *("fftfilter", "numpy", "pyopencl", "pytools", "click", "PIL", "tifffile", "isal", "xxhash", "platformdirs"),
    *("siphash24", "typing_extensions", "dask", "distributed", "tornado", "yaml", "cloudpickle", "msgpack", "fsspec"),
    *("sitecustomize", "usercustomize"),
)
HOSTILE = "open({marker!r}, 'a').write(__name__ + ' ')\n"


@pytest.fixture
def hostile(tmp_path):
    """A folder of pictures, with a module of every name that Python or the program could look for beside them."""
    folder = tmp_path / "pictures"
    for i in range(40):
        pgm(folder / f"{i}.pgm", i)
    for name in (*sys.stdlib_module_names, *INSTALLED):
        (folder / f"{name}.py").write_text(HOSTILE.format(marker=str(tmp_path / "imported")))
    return folder


def filter_in(folder, *program, ways):
    """Filter the pictures of a folder from within it; fail if a module of it was imported."""
    out, imported = folder.parent / "out", folder.parent / "imported"
    run = [*program, "highpass", *ways, ".", out]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert not imported.exists(), imported.read_text()
    assert (done.returncode, len(names(out))) == (0, 40), done.stderr


@needs_posix
@pytest.mark.parametrize("ways", [[], ["--processes", "2"], ["--cluster", "local"]], ids=" ".join)
def test_modules_beside_the_pictures_are_imported_by_no_process(hostile, ways):
    filter_in(hostile, PROGRAM, ways=ways)


@needs_posix
def test_spawned_processes_import_nothing_from_there_either(hostile, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing\nfrom fftfilter.folders import processes\n"
        "processes.HAS_FORKSERVER = False\nprocesses.CONTEXT = multiprocessing.get_context('spawn')\n"
        "from fftfilter.__main__ import main\nif __name__ == '__main__':\n    main()\n"
    )
    filter_in(hostile, sys.executable, program, ways=["--processes", "2"])


@needs_posix
def test_run_as_a_module_the_program_and_its_processes_forget_the_current_directory(hostile):
    # Some of these are imported before the program can begin.
    for name in ("fftfilter", *sys.stdlib_module_names):
        (hostile / f"{name}.py").unlink()
    filter_in(hostile, sys.executable, "-m", "fftfilter", ways=["--processes", "2"])


@needs_posix
def test_without_the_environment_python_is_told_by_its_option(hostile):
    filter_in(hostile, sys.executable, "-E", "-P", "-m", "fftfilter", ways=["--processes", "2"])
