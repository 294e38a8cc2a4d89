"""What the README shows is what the program prints. ``python tests/test_readme.py`` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from fftfilter.staged import algorithms
from fftfilter.cli import cli
from fftfilter.transfer.radial import SHAPES

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"

# A comment that names what follows: the help of a command, or the table of the algorithms.
BLOCK = re.compile(r"<!-- (?P<what>help: [^>]+|algorithms) -->\n\n(?P<shown>(?:(?:    |\|)[^\n]*\n|\n(?=    ))*)")


def shown_for(what):
    """Return the text that belongs behind such a comment."""
    return table_of_algorithms() if what == "algorithms" else help_of(what.removeprefix("help: "))


def help_of(command):
    result = CliRunner().invoke(cli, [*command.split()[1:], "--help"], terminal_width=100)
    lines = [f"$ {command} --help", *result.output.rstrip("\n").split("\n")]
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def table_of_algorithms():
    rows = [("engine", "what", "trips through global memory", "source"), ("---",) * 4]
    for entry in algorithms.catalogue():
        home = f"fftfilter/algorithms/{entry.name.replace('-', '_')}.py"
        rows.append((f"[{entry.name}]({home})", entry.title, entry.trips, entry.source))
    return "".join(f"| {' | '.join(row)} |\n".replace("``", "`") for row in rows)


@pytest.mark.parametrize("block", list(BLOCK.finditer(README.read_text())), ids=lambda block: block["what"])
def test_what_is_shown_is_what_is_printed(block):
    assert block["shown"] == shown_for(block["what"])


def test_everything_is_told():
    text = README.read_text()
    for name in (*cli.list_commands(None), *algorithms.names(), *SHAPES):
        assert re.search(rf"\b{name}\b", text), f"{name} is not in the README"


def test_every_link_leads_somewhere():
    for link in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        assert (ROOT / link).exists(), link


def test_ci_runs_the_commands_of_the_readme():
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("no CI script in a source distribution")
    commands = re.findall(r"^    (python3 -m venv .*)$", README.read_text(), re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert f"\n{command}\n" in script.read_text()


if __name__ == "__main__":
    text = README.read_text()
    README.write_text(BLOCK.sub(lambda b: f"<!-- {b['what']} -->\n\n{shown_for(b['what'])}", text))
