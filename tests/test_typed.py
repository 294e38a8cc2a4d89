"""The public names have types: a program that uses all of them passes mypy in strict mode, and runs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import fftfilter
from fftfilter import transfer
from tests import public_names

SCRIPT = Path(public_names.__file__)


def used(module):
    """Return the names that the script takes from a module, by the name that it has there."""
    nodes = ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8")))
    own = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return {node.attr for node in own if node.value.id == module}


def test_the_program_uses_every_public_name():
    assert {*fftfilter.__all__} - used("fftfilter") == set()
    makers = ast.parse(Path(transfer.__file__).read_text(encoding="utf-8"))
    public = {node.names[0].asname for node in ast.walk(makers) if isinstance(node, ast.ImportFrom)} - {None}
    assert len(public) > 10
    assert public - used("H") == set()


# Packages that the script's types do not name; reading them would be most of the work.
OTHERS = ("IPython", "PIL", "aiohttp", "dask", "distributed", "matplotlib", "pyopencl", "scipy", "tifffile", "xarray")


def test_it_passes_mypy_in_strict_mode(tmp_path):
    api = pytest.importorskip("mypy.api")
    config = tmp_path / "mypy.ini"
    skipped = ",".join(f"{name}.*" for name in OTHERS)
    config.write_text(f"[mypy]\nstrict = true\n[mypy-{skipped}]\nfollow_imports = skip\n", encoding="utf-8")
    found, error, status = api.run([f"--config-file={config}", f"--cache-dir={tmp_path}", str(SCRIPT)])
    assert (error, status) == ("", 0), found


def test_it_runs(tmp_path):
    public_names.main(tmp_path)
