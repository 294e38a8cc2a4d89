"""The documents say what is so: links, files, commands, code, and what is shown.

``python -m tests.test_documents`` writes the table of the algorithms anew.
"""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import numpy as np
import pytest
from PIL import Image

from fftfilter import __version__
from fftfilter.cli import cli
from fftfilter.staged import algorithms
from fftfilter.transfer.shapes import SHAPES
from tests.helpers import SAMPLES

ROOT = Path(__file__).parent.parent
README, ALGORITHMS = ROOT / "README.md", ROOT / "docs" / "algorithms.md"
BESIDE = [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY")]
DOCUMENTS = [README, *BESIDE, *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [document.relative_to(ROOT).as_posix() for document in DOCUMENTS]
# Not in a source distribution.
CI, WORKFLOW = ROOT / ".ci" / "run", ROOT / ".github" / "workflows" / "tests.yml"

# The table of the algorithms, behind a comment that says so.
TABLE = re.compile(r"(?<=<!-- algorithms -->\n\n)(?:\|[^\n]*\n)*")
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]*\w\.(?:py|cl|md|toml|yml)")
COMMAND = re.compile(r"^ {4}(?:\$ )?(?:\w+=\S+ )*(fftfilter|python -m benchmarks\.\w+) (.+)$", re.MULTILINE)


def table_of_algorithms():
    rows = [("engine", "what", "trips through global memory", "source"), ("---",) * 4]
    for entry in algorithms.catalogue():
        home = f"../kernels/staged/algorithms/{entry.name.replace('-', '_')}.cl"
        is_there = (ROOT / "docs" / home).exists()
        rows.append((f"[{entry.name}]({home})" if is_there else entry.name, entry.title, entry.trips, entry.source))
    return "".join(f"| {' | '.join(row)} |\n".replace("``", "`") for row in rows)


def commands():
    """Return the name of a document, a program and its arguments for every command line of the documents."""
    for name, document in zip(NAMES, DOCUMENTS, strict=True):
        for program, rest in COMMAND.findall(document.read_text()):
            yield name, program, shlex.split(rest, comments=True)


def command_of(program, arguments):
    """Return the click command that a command line means, and what is left of its arguments."""
    if program != "fftfilter":
        module = importlib.import_module(program.removeprefix("python -m "))
        (command,) = (found for found in vars(module).values() if isinstance(found, click.Command))
        return command, arguments
    command = cli
    while isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.get_command(click.Context(command), name)
        assert command is not None, f"there is no command {name}"
    return command, arguments


def shown():
    """Return the pairs of command and output that the README shows, in their order."""
    for block in re.findall(r"(?:^ {4}.*\n)+", README.read_text(), re.MULTILINE):
        for part in re.split(r"^ {4}\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, re.sub(r"^ {4}", "", output, flags=re.MULTILINE)


def without_chance(text):
    """Return an output without what differs from machine to machine and from run to run."""
    text = re.sub(r"[\d.]+ s \([\d.e+]+/s\)", "... s (.../s)", text)
    text = re.sub(r"by (\d+ processes|this process) on .*", "by ... on ...", text)
    return re.sub(r"(fused on) .*", r"\1 ...", text)


@pytest.mark.parametrize(("name", "most"), [("README.md", 110), ("docs/benchmarks.md", 150)])
def test_a_document_is_read_to_its_end(name, most):
    assert len((ROOT / name).read_text().splitlines()) <= most


def test_the_citation_and_the_recipe_have_the_version():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'  version: "{__version__}"\n' in (ROOT / "recipe" / "recipe.yaml").read_text()


def test_the_recipe_asks_for_what_the_package_asks_for():
    """By conda-forge's names; its PyOpenCL comes without PoCL, which stands beside it."""
    names = {"isal": "python-isal", "xxhash": "python-xxhash"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = set()
    for line in project["dependencies"]:
        name, bounds = re.fullmatch(r"(\w+)(?:\[\w+\])?([^;]*)(?:;.*)?", line).groups()
        wanted.add(f"{names.get(name, name)} {bounds.strip()}")
    head, _, run = (ROOT / "recipe" / "recipe.yaml").read_text().partition("  run:\n")
    assert wanted <= {line.strip(" -") for line in run.splitlines()}
    assert f'\n  python_min: "{project["requires-python"].removeprefix(">=")}"\n' in head


def test_the_table_of_the_algorithms_is_what_their_docstrings_say():
    (table,) = TABLE.findall(ALGORITHMS.read_text())
    assert table == table_of_algorithms()


def test_what_the_readme_shows_is_what_is_printed(tmp_path):
    (tmp_path / "photos").mkdir()
    for i in range(500):
        (tmp_path / "photos" / f"{i}.pgm").write_bytes(b"P5 8 8 255\n" + bytes(range(64)))
    pairs = list(shown())
    assert pairs
    for command, output in pairs:
        arguments = shlex.split(command)[1:]
        run = subprocess.run(
            [sys.executable, "-m", "fftfilter", *arguments],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert without_chance(run.stdout) == without_chance(output)


def test_the_first_commands_of_the_readme_work_on_the_samples(tmp_path):
    shutil.copytree(SAMPLES, tmp_path / "samples")
    commands = re.findall(r"^    fftfilter (.*samples/\S+ (\S+).*)$", README.read_text(), re.MULTILINE)
    assert len(commands) == 5
    for words, out in commands:
        arguments = shlex.split(words, comments=True)
        subprocess.run([sys.executable, "-m", "fftfilter", *arguments], cwd=tmp_path, check=True)
        given, found = (np.asarray(Image.open(tmp_path / name), float) for name in (arguments[-2], out))
        assert found.shape == given.shape
        assert np.abs(found - given).mean() > 0.1


def test_the_python_of_the_readme_runs():
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    code += """
assert edges.dtype == soft.dtype == np.uint8 and edges.shape == soft.shape == image.shape == (512, 512)
assert [result.shape for result in results] == [(512, 512)] * 2 and (edges != results[0]).any()
assert np.allclose(values, np.fft.ifft2(np.fft.fft2(image) * both.gain(512, 512)).real, atol=1e-2)
assert np.allclose(spectrum, np.fft.fft2(image.astype(float)), atol=np.abs(spectrum).max() * 1e-6)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(("document", "program", "arguments"), list(commands()), ids=str)
def test_every_command_parses(document, program, arguments):
    command, rest = command_of(program, arguments)
    command.make_context(document, list(rest))


@pytest.mark.parametrize("name", NAMES)
def test_every_command_that_is_mentioned_exists(name):
    assert set(re.findall(r"`fftfilter ([a-z]+)", (ROOT / name).read_text())) <= {*cli.list_commands(None)}


def test_every_command_engine_and_shape_is_named():
    text = "".join(document.read_text() for document in DOCUMENTS)
    bench = cli.get_command(None, "bench")
    for name in (*cli.list_commands(None), *bench.list_commands(None), *algorithms.names(), *SHAPES):
        assert re.search(rf"\b{name}\b", text), f"no document names {name}"


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name):
    document = ROOT / name
    links = [link for link in LINK.findall(document.read_text()) if not link.startswith("http")]
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_file_that_is_named_exists(name):
    files = [code for code in CODE.findall((ROOT / name).read_text()) if FILE.fullmatch(code) and "NAME" not in code]
    homes = (ROOT, ROOT / "fftfilter", ROOT / "tests", (ROOT / name).parent)

    # A bare name means a file of the room that is spoken of.
    bare = {path.name for folder in ("fftfilter", "kernels") for path in (ROOT / folder).rglob("*.*")}
    assert [file for file in files if file not in bare and not any((home / file).exists() for home in homes)] == []


def test_the_readme_leads_to_every_document():
    links = {(ROOT / link).resolve() for link in LINK.findall(README.read_text())}
    assert [document.name for document in DOCUMENTS if document != README and document not in links] == []


@pytest.mark.parametrize("script", [CI, WORKFLOW], ids=lambda path: path.name)
def test_ci_runs_the_commands_of_the_readme(script):
    if not script.exists():
        pytest.skip("no CI script in a source distribution")
    commands = re.findall(r"^    (python3 -m venv .*)$", README.read_text(), re.MULTILINE)
    assert len(commands) == 2
    lines = [line.strip() for line in script.read_text().splitlines()]
    assert [command for command in commands if command not in lines] == []


if __name__ == "__main__":
    ALGORITHMS.write_text(TABLE.sub(lambda _: table_of_algorithms(), ALGORITHMS.read_text()))
