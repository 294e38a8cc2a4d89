"""What the README shows is what the program prints. ``python tests/test_readme.py`` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from fftfilter import algorithms
from fftfilter.cli import cli
from fftfilter.transfer import SHAPES

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"

# A block of an indented shell line and its output, behind a comment that names it.
BLOCK = re.compile(r"<!-- help: (?P<command>[^>]+) -->\n\n(?P<shown>(?:    [^\n]*\n|\n(?=    ))*)")


def shown_for(command):
    """Return a README block with the help of a command."""
    result = CliRunner().invoke(cli, [*command.split()[1:], "--help"], terminal_width=100)
    lines = [f"$ {command} --help", *result.output.rstrip("\n").split("\n")]
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


@pytest.mark.parametrize("block", list(BLOCK.finditer(README.read_text())), ids=lambda block: block["command"])
def test_help_is_shown_as_printed(block):
    assert block["shown"] == shown_for(block["command"])


def test_everything_is_told():
    text = README.read_text()
    for name in (*cli.commands, *algorithms.names(), *SHAPES):
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
    README.write_text(
        BLOCK.sub(lambda block: f"<!-- help: {block['command']} -->\n\n{shown_for(block['command'])}", README.read_text())
    )
