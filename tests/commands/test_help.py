"""Help: -h is one screen, --help is everything in groups, and a shell completes what is typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete

from fftfilter.cli import cli
from fftfilter.commands.bench import bench

FILTERS = ("bandpass", "bandstop", "highpass", "imagej", "lowpass", "mask", "notch", "stripes")


@pytest.mark.parametrize("command", FILTERS)
def test_h_is_one_screen_and_help_is_all(run, command):
    code, everyday, _ = run(command, "-h")
    assert code == 0
    assert len(everyday.splitlines()) <= 24
    assert max(map(len, everyday.splitlines())) <= 80
    _, everything, _ = run(command, "--help")
    assert b"\nDevice:\n" in everything
    shown = [line.split()[0].rstrip(b",") for line in everyday.splitlines() if line.startswith(b"  -")]
    assert len(shown) >= 5
    assert [name for name in shown if b"  " + name not in everything] == []


OF_ALL = ["--auto", "--output", "--edges"]
FILES_AND_FOLDERS = ["--preview", "-r", "--skip-existing", "--help"]
EVERYDAY = {
    **{name: ["--radius", "--shape", *OF_ALL] for name in ("lowpass", "highpass")},
    **{name: ["--large", "--small", "--shape", *OF_ALL] for name in ("bandpass", "bandstop")},
    "notch": ["--at", *OF_ALL],
    "stripes": ["--angle", "--spare", *OF_ALL],
    "wiener": ["--noise", *OF_ALL],
    "descreen": ["--keep-detail"],
    "mask": ["--mask", *OF_ALL],
    "imagej": ["--large", "--small", "--suppress", "--autoscale"],
    "apply": ["--show"],
    "peaks": ["--strength", "--pixel-size", "-r", "--json", "--help"],
    "spectrum": ["--table", "--with", "--help"],
    "explore": ["--with", "--no-browser", "--help"],
}


@pytest.mark.parametrize("command", EVERYDAY)
def test_h_shows_what_is_needed_every_day(run, command):
    lines = run(command, "-h")[1].decode().splitlines()
    shown = [re.split("[ ,/]", line.strip())[0] for line in lines if line.startswith("  -")]
    wanted = EVERYDAY[command]
    assert shown == (wanted if "--help" in wanted else [*wanted, *FILES_AND_FOLDERS])


@pytest.mark.parametrize("command", [*cli.list_commands(None), *(f"bench {name}" for name in bench.commands)])
def test_every_option_has_a_help_and_a_name_for_its_value(run, command):
    words = command.split()
    options = (bench.commands[words[1]] if len(words) > 1 else cli.get_command(None, command)).params
    for option in options:
        assert isinstance(option, click.Argument) or option.help.endswith((".", "]", ".)")), option.name
    text = run(*words, "--help")[1].decode()
    assert not re.search(r"-\S+ (TEXT|INTEGER|FLOAT|PATH|FILENAME|[A-Z ]*RANGE\b(?<!--scale RANGE))", text)


@pytest.mark.parametrize("command", ["devices", "engines", "explore", "peaks", "spectrum"])
def test_h_of_the_others_is_one_screen_too(run, command):
    code, everyday, _ = run(command, "-h")
    assert (code, len(everyday.splitlines()) <= 24, b"Example: " in everyday) == (0, True, True)
    assert max(map(len, everyday.splitlines())) <= 80
    assert len(run(command, "--help")[1]) >= len(everyday)


@pytest.mark.parametrize("command", ["apply", *FILTERS])
def test_each_group_of_options_fits_a_screen(run, command):
    _, everything, _ = run(command, "--help")
    groups = re.split(rb"\n(?=[A-Z][a-z ]+:\n)", everything)
    assert [group.decode() for group in groups if len(group.splitlines()) > 24] == []
    # What only a student needs stands last.
    assert groups[-1].startswith(b"Study:\n")
    assert {b"--work-group-size", b"--transpose"} <= set(groups[-1].split())


def test_options_stand_under_the_heading_that_says_what_they_are_about(run):
    everything = run("highpass", "--help")[1].decode()
    groups = re.split(r"\n(?=[A-Z][a-z ]+:\n)", everything)[1:]
    found = {group.partition(":")[0]: re.findall(r"^  (?:-\w, )?--([\w-]+)", group, re.MULTILINE) for group in groups}
    assert {heading: " ".join(names) for heading, names in found.items()} == {
        "Filter": "radius axes frame-rate pixel-size",
        "Shape": "shape order width",
        "Automatic": "auto strength insist keep longest largest ignore",
        "Further filters": "depth ratio notch stripes wiener mask times",
        "Result": "output edges scale",
        "Part of the picture": "channels region protect feather",
        "Device": "engine device precision memory scratch profile",
        "Checks": "save-stages preview verify",
        "Input": "pages hdu level palette missing nodata input-limit",
        "Axes that a file names": "channel z time",
        "Output file": "in-place png-level quality compression strip preserve-times save-recipe embed-recipe",
        "Folders": "recursive pattern format skip-existing state retries fail-fast dry-run report cluster processes "
        "quiet",
        "Options": "log verbose help",
        "Study": "engine-options work-group-size transpose",
    }


@pytest.mark.parametrize("command", cli.list_commands(None))
def test_every_option_has_a_text(command):
    options = [each for each in cli.get_command(None, command).params if isinstance(each, click.Option)]
    assert [each.name for each in options if not each.help] == []


def test_h_names_options_as_one_types_them(run):
    everyday = run("highpass", "-h")[1].decode()
    for text in ("  --radius R  ", "  -r, --recursive  ", "  --preview FILE  ", "  --help  "):
        assert text in everyday
    assert "--png-level" not in everyday


def test_a_default_is_said(run):
    everything = re.sub(r"\s+", " ", run("highpass", "--help")[1].decode())
    for text in ("1 is fast, 9 is smallest. [default: 1;", "needs a device with fp64. [default: single]"):
        assert text in everything


def test_no_line_of_the_command_list_is_cut(run):
    _, listed, _ = run("--help")
    assert b"..." not in listed.partition(b"Commands:")[2]


def test_options_before_h_do_not_matter(run):
    assert run("highpass", "--radius", "8px", "-h")[:2] == run("highpass", "-h")[:2]


def test_a_shell_completes_commands_and_options():
    def completed(*words):
        typed = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        script = "import sys; sys.argv[0] = 'fftfilter'; from fftfilter.__main__ import main; main()"
        environment = {**os.environ, **typed, "_FFTFILTER_COMPLETE": "bash_complete"}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        return done.stdout.split()

    assert completed("fftfilter", "hi") == ["plain,highpass"]
    assert completed("fftfilter", "highpass", "--edg") == ["plain,--edges"]


FILES = (
    ["highpass", "highpass in.png", "apply", "apply soft.json", "explore", "peaks", "spectrum", "mask --mask"]
    + [
        f"highpass --{name}"
        for name in ("missing", "region", "protect", "preview", "save-recipe", "report", "save-stages")
    ]
    + ["bench radix --plot"]
)


@pytest.mark.parametrize("words", FILES)
def test_a_shell_completes_the_names_of_files(words):
    shell = ShellComplete(cli, {}, "fftfilter", "_FFTFILTER_COMPLETE")
    ((kind, start),) = [(each.type, each.value) for each in shell.get_completions(words.split(), "sa")]
    assert (kind, start) == ("dir" if "stages" in words else "file", "sa")
