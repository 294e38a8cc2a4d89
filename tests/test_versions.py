"""Versions without importlib.metadata: the same numbers, and everything else as it was."""

from __future__ import annotations

import subprocess
import sys

import pytest

METADATA = "importlib.metadata"


@pytest.fixture
def python(tmp_path):
    """Run code in a process that finds packages in tmp_path, importlib.metadata not loaded; returns what it prints."""

    def python(code):
        code = f"import sys; sys.path.append({str(tmp_path)!r}); from fftfilter.versions import quick_versions\n{code}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return python


def package(folder, name, version, *, info="{name}-{version}.dist-info", metadata="METADATA"):
    """Install a package that asks for its own version."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(f"from importlib import metadata\nfound = metadata.version({name!r})\n")
    about = folder / info.format(name=name, version=version)
    about.mkdir()
    (about / metadata).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_pyopencl_has_its_version(python):
    code = "with quick_versions(): import pyopencl\nprint(pyopencl.VERSION_TEXT)"
    assert python(code) == python("from importlib import metadata; print(metadata.version('pyopencl'))")


def test_nothing_is_loaded_for_it_and_nothing_is_left(python, tmp_path):
    package(tmp_path, "thing", "1.2.3")
    (tmp_path / "thing-more-5.dist-info").mkdir()
    code = (
        f"with quick_versions(): import thing\nprint(thing.found, {METADATA!r} in sys.modules, 'email' in sys.modules)"
    )
    assert python(code) == "1.2.3 False False"


@pytest.mark.parametrize("info", ["thing.egg-info", "Thing-1.2.3.dist-info"])
def test_the_real_one_finds_what_has_another_name(python, tmp_path, info):
    package(tmp_path, "thing", "1.2.3", info=info, metadata="PKG-INFO" if "egg" in info else "METADATA")
    code = f"with quick_versions(): import thing\nprint(thing.found, sys.modules[{METADATA!r}].__file__ is not None)"
    assert python(code) == "1.2.3 True"


def test_all_else_is_the_real_one(python):
    code = (
        "with quick_versions(): from importlib import metadata\n"
        "try: metadata.version('no such thing')\n"
        "except metadata.PackageNotFoundError: print(metadata.distribution.__module__, end=' ')\n"
        "from importlib.metadata import version; print(version.__module__)"
    )
    assert python(code) == f"{METADATA} {METADATA}"
