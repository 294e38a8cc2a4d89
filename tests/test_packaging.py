"""The package as it is given away: wheel, sdist and editable install, each installed and run for real."""

from __future__ import annotations

import ast
import email
import itertools
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

import fftfilter
from fftfilter import transfer as H
from fftfilter.cli import cli
from tests.helpers import assert_gray_levels, by_reference

ROOT = Path(__file__).parent.parent
WHERE = "import fftfilter, fftfilter.device.opencl as p; print(fftfilter.__file__, p.folder(), sep='\\n')"

# Extras that the package does not import.
DEVELOPERS = re.compile(r'extra == "(docs|peers|test)"')

pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").exists(), reason="needs the sources, not an installed copy"
)


def call(*command, cwd):
    """Run a command to its good end; returns the lines that it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout.splitlines()


def build(kind, tree, into):
    call(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", into, cwd=tree)
    (built,) = into.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


def new_environment(folder, *install):
    """Make a virtual environment that sees this one's packages behind its own; returns its python."""
    call(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    base = {"base": str(folder)}
    packages, scripts = (Path(sysconfig.get_path(name, "venv", base)) for name in ("purelib", "scripts"))
    (packages / "tests.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    python = scripts / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check")
    call(*pip, "install", "--no-deps", "--no-index", "--no-build-isolation", *install, cwd=folder)
    return python


def check_filters(python, folder):
    """Filter an image with the environment's own `fftfilter` and with `python -m fftfilter`."""
    image = np.random.default_rng(20261121).integers(0, 256, (8, 64), dtype=np.uint8)
    (folder / "in.pgm").write_bytes(b"P5 64 8 255\n" + image.tobytes())
    call(python.with_name("fftfilter"), "highpass", "in.pgm", "script.pgm", cwd=folder)
    call(python, "-m", "fftfilter", "highpass", "in.pgm", "module.pgm", cwd=folder)
    wanted = by_reference(image, H.highpass())
    for name in ("script.pgm", "module.pgm"):
        got = np.frombuffer((folder / name).read_bytes()[-image.size :], np.uint8).reshape(image.shape)
        assert_gray_levels(got, wanted)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of what git would commit: nothing that a build leaves stays in the checkout."""
    copy = tmp_path_factory.mktemp("tree")
    if not (ROOT / ".git").exists():
        return shutil.copytree(ROOT, copy, dirs_exist_ok=True)
    for name in call("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(tree, tmp_path_factory):
    return build("wheel", tree, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tree, tmp_path_factory):
    return build("sdist", tree, tmp_path_factory.mktemp("sdist"))


def kernel_files(tree):
    return sorted(file.relative_to(tree / "kernels").as_posix() for file in (tree / "kernels").rglob("*.cl"))


def test_the_wheel_has_the_package_and_its_kernels_once(wheel, tree):
    names = zipfile.ZipFile(wheel).namelist()
    code = {file.relative_to(tree).as_posix() for file in (tree / "fftfilter").rglob("*") if file.is_file()}
    kernels = {f"fftfilter/kernels/{file}" for file in kernel_files(tree)}
    assert len(kernels) >= 12
    assert len(names) == len(set(names))
    own = {name for name in names if ".dist-info/" not in name and ".data/" not in name}
    samples = {f"fftfilter/samples/{name}" for name in ("README.md", "hum.png", "print.jpg", "stripes.png")}
    assert own == {"fftfilter_opencl.py"} | code | kernels | samples
    # PoCL starts it; pip keeps that right.
    assert zipfile.ZipFile(wheel).getinfo("fftfilter/device/bin/ld").external_attr >> 16 & 0o111 == 0o111
    assert [name for name in names if name.endswith("/licenses/LICENSE")] != []


def test_the_wheel_has_a_man_page_for_each_command_and_completions(wheel):
    files = zipfile.ZipFile(wheel)
    share = f"fftfilter_opencl-{fftfilter.__version__}.data/data/share/"
    found = {name.removeprefix(share): files.read(name).decode() for name in files.namelist() if ".data/" in name}
    bench = cli.get_command(None, "bench")
    commands = [*cli.list_commands(None), *(f"bench-{name}" for name in bench.list_commands(None))]
    pages = {f"man/man1/{'-'.join(('fftfilter', *command))}.1" for command in [(), *((name,) for name in commands)]}
    shells = {
        "bash-completion/completions/fftfilter",
        "fish/vendor_completions.d/fftfilter.fish",
        "zsh/site-functions/_fftfilter",
    }
    assert set(found) == pages | shells
    page = found["man/man1/fftfilter-highpass.1"]
    missing = [
        option
        for each in cli.get_command(None, "highpass").params
        for option in each.opts
        if "-" in option and option.replace("-", r"\-") not in page
    ]
    assert missing == []
    assert r"\-h, \-\-help" in found["man/man1/fftfilter.1"]
    assert all("_FFTFILTER_COMPLETE" in found[name] for name in shells)
    # Fish takes the type off a completion, and leaves the commas of descriptions and of files' names.
    assert 'split --max 1 ","' in found["fish/vendor_completions.d/fftfilter.fish"]
    # A line that begins with a dot is a macro: each is one of these.
    macros = {line.split()[0] for name in pages for line in found[name].splitlines() if line.startswith(".")}
    assert macros <= {".TH", ".SH", ".PP", ".TP", ".B", ".nf", ".fi", ".nh"}


def test_the_wheel_says_what_it_is(wheel):
    files = zipfile.ZipFile(wheel)
    info = f"fftfilter_opencl-{fftfilter.__version__}.dist-info"
    metadata = email.message_from_bytes(files.read(f"{info}/METADATA"))
    assert metadata["Name"] == fftfilter.__distribution__
    assert metadata["Version"] == fftfilter.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert files.read(f"{info}/entry_points.txt").decode().splitlines() == [
        "[console_scripts]",
        "fftfilter = fftfilter_opencl:main",
        "fftfilter-opencl = fftfilter_opencl:main",
        "",
        "[napari.manifest]",
        "fftfilter = fftfilter:napari.yaml",
    ]
    assert "fftfilter/napari.yaml" in files.namelist()
    # Who says "typed" has to mark it, or no type checker believes it.
    assert ("Typing :: Typed" in metadata.get_all("Classifier")) == ("fftfilter/py.typed" in files.namelist())


def requirements(wheel):
    """Return what a wheel asks for."""
    info = f"fftfilter_opencl-{fftfilter.__version__}.dist-info"
    metadata = email.message_from_bytes(zipfile.ZipFile(wheel).read(f"{info}/METADATA"))
    return [Requirement(line) for line in metadata.get_all("Requires-Dist")]


def test_what_is_imported_is_what_the_package_and_its_extras_ask_for(wheel, tree):
    distributions = {"PIL": "pillow", "rsciio": "rosettasciio"}
    imported = set()
    for file in (tree / "fftfilter").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
                names += [each.value for each in node.args if isinstance(each, ast.Constant)]
            imported |= {name.partition(".")[0] for name in names}
    imported -= {*sys.stdlib_module_names, "fftfilter"}
    asked = {each.name.replace("-", "_") for each in requirements(wheel) if not DEVELOPERS.search(str(each.marker))}
    further = {"imagecodecs"}  # tifffile imports it
    assert asked == {distributions.get(name, name) for name in imported} | further


@pytest.mark.parametrize(
    ("system", "machine", "extras"),
    [
        ("linux", "x86_64", {"pocl"}),
        ("linux", "aarch64", set()),
        ("darwin", "x86_64", set()),
        ("win32", "AMD64", set()),
    ],
)
def test_opencl_for_the_cpu_comes_along_where_pip_has_one(wheel, system, machine, extras):
    here = {"sys_platform": system, "platform_machine": machine, "extra": ""}
    asked = [each for each in requirements(wheel) if each.marker is None or each.marker.evaluate(here)]
    assert [each.extras for each in asked if each.name == "pyopencl"] == [extras]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_on_musl_nothing_is_asked_for_that_has_no_wheel_there(wheel, tree, monkeypatch):
    """As on Alpine, which is Linux on x86-64 to every marker: pip takes the sdist, and builds it with these hooks."""
    monkeypatch.syspath_prepend(tree)
    hook = import_module("hatch_build")
    assert wheel.name.endswith(f"-py3-none-{hook.libc()}_{platform.machine()}.whl" if hook.libc() else "-any.whl")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert hook.libc() == "musllinux_1_1"
    metadata = tomllib.loads((tree / "pyproject.toml").read_text())["project"]
    hook.DependenciesHook(str(tree), {}).update(metadata)
    asked = {Requirement(each).name for each in metadata["dependencies"]}
    usual = {each.name for each in requirements(wheel) if "extra" not in str(each.marker)}
    assert usual - asked == {"imagecodecs", "pyopencl"}


def test_the_extras_that_documents_and_messages_name_are_there(wheel, tree):
    info = f"fftfilter_opencl-{fftfilter.__version__}.dist-info"
    metadata = email.message_from_bytes(zipfile.ZipFile(wheel).read(f"{info}/METADATA"))
    texts = [file.read_text("utf-8") for file in [*tree.rglob("*.md"), *(tree / "fftfilter").rglob("*.py")]]
    named = {
        name
        for text in texts
        for names in re.findall(r"""install .*'\.\[([\w,]+)\]|pip_install\(extra=['"](\w+)""", text)
        for name in "".join(names).split(",")
    }
    assert named == set(metadata.get_all("Provides-Extra"))


def test_nothing_tells_anybody_to_install_the_other_project_of_this_name(tree):
    said = [
        f"{file.relative_to(tree)}: {line.strip()}"
        for kind in ("md", "py", "js", "yaml", "yml", "ipynb", "toml", "html")
        for file in tree.rglob(f"*.{kind}")
        if "tests" not in file.relative_to(tree).parts
        for line in file.read_text("utf-8").splitlines()
        if re.search(r"\b(pip|pipx|uv|uvx|conda|mamba) (install|add|run|[\"']?fftfilter\b)", line)
        and re.search(r"(?<![\w/.-])fftfilter(?![\w/.-])", line.split("&&")[0])
    ]
    assert said == []


def test_the_sdist_has_tests_samples_and_kernels(sdist, tree):
    root = f"fftfilter_opencl-{fftfilter.__version__}/"
    with tarfile.open(sdist) as archive:
        names = {name.removeprefix(root) for name in archive.getnames()}
    wanted = {file.relative_to(tree).as_posix() for file in tree.rglob("*") if file.is_file()}
    wanted = {name for name in wanted if name.startswith(("fftfilter/", "kernels/", "tests/", "samples/"))}
    assert {"kernels/complex.cl", "tests/conftest.py", "samples/camera.pgm", "LICENSE"} <= names
    assert wanted - names == set()
    assert [name for name in names if name.startswith((".ci", ".git/"))] == []
    with tarfile.open(sdist) as archive:
        assert archive.getmember(f"{root}fftfilter/device/bin/ld").mode & 0o111 == 0o111


def test_a_wheel_from_the_sdist_is_the_same(sdist, wheel, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    second = zipfile.ZipFile(build("wheel", source, tmp_path / "built"))
    first = zipfile.ZipFile(wheel)
    assert {name: first.read(name) for name in first.namelist()} == {
        name: second.read(name) for name in second.namelist()
    }


def test_the_installed_wheel_filters(wheel, tmp_path):
    python = new_environment(tmp_path / "environment", wheel)
    module, kernels = map(Path, call(python, "-c", WHERE, cwd=tmp_path))
    assert module.is_relative_to(tmp_path / "environment")
    assert kernels == module.parent / "kernels"
    check_filters(python, tmp_path)


def test_another_project_of_this_name_is_told(wheel, tmp_path):
    """Before the installed one, and then in its place."""
    python = new_environment(tmp_path / "environment", wheel)
    before = tmp_path / "other" / "fftfilter" / "__init__.py"
    (own,) = (tmp_path / "environment").rglob("fftfilter/__init__.py")
    for other, code in itertools.product(
        (before, own), ("from .fftfilter import *", "raise SystemError", "start = print")
    ):
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_text(code)
        done = subprocess.run(
            [python.with_name("fftfilter"), "--version"],
            env={**os.environ, "PYTHONPATH": str(before.parent.parent) if other == before else ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, ""), code
        assert done.stderr.startswith(f"fftfilter: {other.parent} belongs to another project called fftfilter: ")
        assert done.stderr.count("\n") == 1
        assert ("pip uninstall fftfilter" if other == own else "PYTHONPATH") in done.stderr


def test_the_editable_install_filters_with_the_kernels_of_the_tree(tree, tmp_path):
    # Python caches modules where they are, and other tests look at what is in their tree.
    tree = shutil.copytree(tree, tmp_path / "tree")
    python = new_environment(tmp_path / "environment", "--editable", tree)
    module, kernels = map(Path, call(python, "-c", WHERE, cwd=tmp_path))
    assert module == tree / "fftfilter" / "__init__.py"
    assert kernels == tree / "kernels"
    check_filters(python, tmp_path)
