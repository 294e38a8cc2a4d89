"""The command line: what it does, what it says, and how it ends."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import __version__, transfer
from fftfilter.cli import cli
from fftfilter.commands.filters import context_of
from fftfilter.commands.options import input_limit_option
from fftfilter.device_choice import devices
from fftfilter.errors import RefusedError
from fftfilter.files.atomic import temporary_name
from fftfilter.transfer import reference
from tests.helpers import SAMPLES, Started, assert_gray_levels, needs_links, needs_posix, unread

CAMERA = str(SAMPLES / "camera.pgm")


def process(*arguments, stdin=None, **environment):
    """Run the program as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "fftfilter", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=os.environ | environment,
        timeout=120,
        check=False,
    )


def pixels(path):
    return np.asarray(Image.open(path))


def high(image, **parameters):
    return reference.filter_image(image, transfer.highpass(**parameters).gain(*image.shape[-2:]))


# The main job


def test_highpass_shows_white_edges_on_black(tmp_path, camera):
    done = process("highpass", CAMERA, tmp_path / "edges.pgm")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    edges = pixels(tmp_path / "edges.pgm")
    assert_gray_levels(edges, high(camera))
    assert edges.max() == 255
    assert np.median(edges) < 16


@pytest.mark.parametrize(
    ("command", "options", "parameters"),
    [
        ("lowpass", ["--radius", "40"], {"radius": 40}),
        ("lowpass", ["--shape", "gaussian", "--radius", "10%"], {"shape": "gaussian", "radius": "10%"}),
        ("highpass", ["--radius", "8px"], {"radius": "8px"}),
        ("highpass", ["--shape", "butterworth", "--order", "3"], {"shape": "butterworth", "order": 3}),
        ("lowpass", ["--shape", "cosine", "--width", "16px"], {"shape": "cosine", "width": "16px"}),
        ("bandpass", ["--inner", "8", "--outer", "0.125cyc"], {"inner": 8, "outer": "0.125cyc"}),
        ("bandstop", ["--inner", "20", "--outer", "40"], {"inner": 20, "outer": 40}),
        ("bandpass", ["--inner", "4px", "--outer", "64px"], {"inner": 8, "outer": 128}),
        ("bandpass", ["--large", "64", "--small", "4px"], {"inner": 8, "outer": 128}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_filters_take_their_options(run, tmp_path, camera, command, options, parameters):
    assert run(command, *options, CAMERA, tmp_path / "out.png") == (0, b"", "")
    gain = getattr(transfer, command)(**parameters).gain(512, 512)
    assert_gray_levels(pixels(tmp_path / "out.png"), reference.filter_image(camera, gain))


def test_color_keeps_its_channels_and_alpha_passes_untouched(run, tmp_path, rng):
    image = rng.integers(1, 256, (20, 31, 4), dtype=np.uint8)
    Image.fromarray(image).save(tmp_path / "in.png")
    assert run("highpass", tmp_path / "in.png", tmp_path / "out.png")[0] == 0
    out = pixels(tmp_path / "out.png")
    assert (out[..., 3] == image[..., 3]).all()
    assert_gray_levels(out[..., :3].transpose(2, 0, 1), high(image[..., :3].transpose(2, 0, 1)))


def test_a_pgm_keeps_its_maxval(run, tmp_path):
    (tmp_path / "in.pgm").write_bytes(b"P2 # plain\n3 2 # size\n100\n0 50 100\n100 0 50\n")
    assert run("lowpass", "--radius", "9", tmp_path / "in.pgm", tmp_path / "out.pgm")[0] == 0
    assert (tmp_path / "out.pgm").read_bytes() == b"P5\n3 2\n100\n" + bytes([0, 50, 100, 100, 0, 50])


def test_sixteen_bits_stay_sixteen_bits(run, tmp_path, rng):
    image = rng.integers(0, 65536, (16, 24), dtype=np.uint16)
    Image.fromarray(image).save(tmp_path / "in.png")
    assert run("highpass", tmp_path / "in.png", tmp_path / "out.png")[0] == 0
    wanted = reference.filter_image(image, transfer.highpass().gain(16, 24), np.uint16, 65535)
    assert np.abs(pixels(tmp_path / "out.png").astype(int) - wanted).max() <= 1


def test_a_sixteen_bit_image_fits_an_eight_bit_format(run, tmp_path, rng):
    image = rng.integers(0, 65536, (16, 24), dtype=np.uint16)
    Image.fromarray(image).save(tmp_path / "in.png")
    assert run("lowpass", tmp_path / "in.png", tmp_path / "out.bmp")[0] == 0
    assert_gray_levels(pixels(tmp_path / "out.bmp"), reference.filter_image(image, transfer.lowpass().gain(16, 24)))


def test_standard_input_and_output(camera):
    done = process("highpass", "-", "-", stdin=(SAMPLES / "camera.pgm").read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert_gray_levels(pixels(io.BytesIO(done.stdout)), high(camera))
    assert done.stdout.startswith(b"P5\n512 512\n255\n")


def test_standard_input_has_a_limit(tmp_path):
    data = (SAMPLES / "camera.pgm").read_bytes()
    done = process("highpass", "--input-limit", "200kB", "-", tmp_path / "out.png", stdin=data)
    assert (done.returncode, done.stdout) == (1, b"")
    words = b"fftfilter: standard input: has more than 200,000 bytes; --input-limit sets another limit\n"
    assert done.stderr == words
    assert process("highpass", "--input-limit", "0.3MB", "-", tmp_path / "out.png", stdin=data).returncode == 0
    assert process("highpass", "--input-limit", "much", "-", tmp_path / "out.png", stdin=data).returncode == 2


@pytest.mark.parametrize(
    ("given", "size"),
    [("200", 200), ("10kB", 10_000), ("0.3 MB", 300_000), ("1.5g", 15 * 10**8), (" 2TB ", 2 * 10**12), (None, None)],
)
def test_a_size_is_given_in_bytes_or_with_a_unit(given, size):
    assert input_limit_option.callback(None, None, given) == size


@pytest.mark.parametrize("given", ["", "much", "-1", "1.", "MB", "1e6", "3 PB", "9" * 19])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(click.BadParameter, match=f"'{given}' is not a size: give bytes, or for example 500MB or 4GB"):
        input_limit_option.callback(None, None, given)


@needs_posix
def test_what_has_no_end_and_is_no_image_is_refused_at_once(tmp_path):
    done = process("highpass", "/dev/zero", tmp_path / "out.png")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"fftfilter: /dev/zero: not an image, or damaged at its start; give a PNG")


@needs_links
def test_in_place_overwrites_the_input_only_when_asked(run, tmp_path, camera):
    copy = tmp_path / "copy.pgm"
    copy.write_bytes((SAMPLES / "camera.pgm").read_bytes())
    (tmp_path / "link.pgm").symlink_to(copy)
    (tmp_path / "hard.pgm").hardlink_to(copy)
    for target in ("copy.pgm", "link.pgm", "hard.pgm"):
        code, _, said = run("highpass", copy, tmp_path / target)
        assert code == 2
        assert "--in-place" in said
    assert (pixels(copy) == camera).all()
    told = "left out: the other names of the file (hard links)\n"
    assert run("highpass", "--in-place", copy, copy) == (0, b"", f"fftfilter: {told}")
    assert_gray_levels(pixels(copy), high(camera))


@needs_links
def test_what_a_replaced_file_loses_is_told_of_stacks_and_folders_too(run, tmp_path, camera):
    for number, pages in enumerate((1, 2)):
        path = tmp_path / f"{number}.tif"
        tifffile.imwrite(path, np.stack([camera[:9, :9]] * pages))
        (tmp_path / f".{number}").hardlink_to(path)
    told = "left out: the other names of the file (hard links)\n"
    options = "lowpass", "--output", "keep", "--in-place"
    assert run(*options, tmp_path / "1.tif", tmp_path / "1.tif")[2] == f"fftfilter: {told}"
    code, _, said = run(*options, tmp_path, tmp_path)
    assert (code, f"1 file: {told}" in said) == (0, True)


def test_spectrum_is_the_log_magnitude_with_dc_in_the_middle(run, tmp_path, camera):
    assert run("spectrum", CAMERA, tmp_path / "spectrum.png") == (0, b"", "")
    magnitude = np.log1p(np.abs(np.fft.fftshift(np.fft.fft2(camera))))
    wanted = np.floor(255 * magnitude / magnitude.max())
    assert np.abs(pixels(tmp_path / "spectrum.png") - wanted).max() <= 1
    assert pixels(tmp_path / "spectrum.png")[256, 256] == 255


def test_the_spectrum_of_large_floats_is_within_range(run, tmp_path, camera):
    np.save(tmp_path / "large.npy", camera * np.float32(1e34))
    assert run("spectrum", tmp_path / "large.npy", tmp_path / "large.png") == (0, b"", "")
    magnitude = np.log1p(np.abs(np.fft.fftshift(np.fft.fft2(camera * 1e34))))
    assert np.abs(pixels(tmp_path / "large.png") - np.floor(255 * magnitude / magnitude.max())).max() <= 1


def test_the_stages_are_those_of_the_engine_that_is_asked_for(run, tmp_path):
    (tmp_path / "in.pgm").write_bytes(b"P5 8 8 255 " + bytes(range(64)))
    files = tmp_path / "in.pgm", tmp_path / "out.png"
    said = run("highpass", "--engine", "stockham", "-v", "--save-stages", tmp_path / "stages", *files)[2]
    assert "; stockham on " in said


def test_a_folder_for_the_stages_that_cannot_be_made_is_told(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, said = run("highpass", "--save-stages", tmp_path / "file/stages", CAMERA, tmp_path / "out.png")
    assert code == 1
    assert_one_line(said, r"file/stages: cannot be made \(Not a directory\): give another folder")
    assert not (tmp_path / "out.png").exists()


def test_every_stage_can_be_looked_at(run, tmp_path, camera):
    assert run("highpass", CAMERA, tmp_path / "edges.png", "--save-stages", tmp_path / "stages")[0] == 0
    assert sorted(path.name for path in (tmp_path / "stages").iterdir()) == [
        "01-image.png", "02-rows.png", "03-rows-transposed.png", "04-spectrum.png", "05-spectrum-masked.png",
        "06-columns-inverse.png", "07-columns-transposed.png", "08-filtered.png", "09-magnitude.png", "10-output.png",
    ]  # fmt: skip
    assert (pixels(tmp_path / "stages/01-image.png") == camera).all()
    before, after = (pixels(tmp_path / f"stages/{name}.png") for name in ("04-spectrum", "05-spectrum-masked"))
    assert before[256, 256] == 255
    # Radius 64 around DC in the middle is gone, the rest as it was.
    y, x = np.ogrid[-256:256, -256:256]
    inside = x * x + y * y < 64 * 64
    assert not after[inside].any()
    assert (after[~inside] == before[~inside]).all()
    assert (pixels(tmp_path / "stages/10-output.png") == pixels(tmp_path / "edges.png")).all()


def test_profile_prints_the_time_of_every_step(run, tmp_path):
    code, out, _ = run("highpass", CAMERA, tmp_path / "out.pgm", "--profile", "--engine", "book")
    lines = [line.split() for line in out.decode().splitlines()]
    assert code == 0
    assert lines[0] == ["step", "launches", "ms"]
    assert len({len(line) for line in out.decode().splitlines()}) == 1  # numbers end below each other
    times = {step: float(ms) for step, _, ms in lines[1:]}
    assert {"write", "bit_reversal", "butterfly", "transpose", "mask", "read", "total"} <= set(times)
    assert times["total"] == pytest.approx(sum(ms for step, ms in times.items() if step != "total"), abs=0.01)


def test_the_profile_keeps_out_of_a_picture_on_standard_output(run):
    code, out, said = run("highpass", CAMERA, "-", "--profile", "--engine", "book")
    assert code == 0
    assert len(out) == len(b"P5\n512 512\n255\n") + 512 * 512
    assert "butterfly" in said


def test_verbose_says_what_was_done_and_where(run, tmp_path):
    _, _, said = run("highpass", CAMERA, tmp_path / "out.pgm", "-v")
    assert said.startswith("512 x 512: highpass, ideal, radius n/8 = 64; fused on ")


@pytest.mark.parametrize("option", [["--precision", "double"], ["--work-group-size", "32"], ["--transpose", "plain"]])
def test_options_of_the_device_give_the_same_picture(run, tmp_path, camera, option):
    assert run("highpass", CAMERA, tmp_path / "out.pgm", *option)[0] == 0
    assert_gray_levels(pixels(tmp_path / "out.pgm"), high(camera))


@pytest.mark.parametrize("suffix", [".tif", ".npy", ".pfm"])
@pytest.mark.parametrize("command", [["lowpass", "--output", "real"], ["imagej"]], ids=["real", "imagej"])
def test_files_hold_values_of_double_precision_as_single(run, tmp_path, camera, command, suffix):
    (tmp_path / "in").mkdir()
    tifffile.imwrite(tmp_path / "in" / "x.tif", camera[:60, :90] / np.float32(255))
    words = [*command, "--precision", "double", "--verify"]
    out = tmp_path / f"x{suffix}"
    assert run(*words, tmp_path / "in" / "x.tif", out)[0] == 0
    assert run(*words, "5", "--format", suffix[1:], tmp_path / "in", tmp_path / "all")[0] == 0
    assert (tmp_path / "all" / f"x{suffix}").read_bytes() == out.read_bytes()
    if suffix != ".pfm":
        assert (np.load(out) if suffix == ".npy" else tifffile.imread(out)).dtype == np.float32


def test_devices_lists_limits_and_the_one_taken(run):
    code, out, said = run("devices", "--json")
    assert code == 0, said
    told = json.loads(out)
    (taken,) = (device for device in told["devices"] if device["index"] == told["chosen"])
    assert taken["platform"] == "Portable Computing Language"
    for limit in ("work-item dimensions", "work-item sizes", "work-group size", "compute units", "local memory"):
        assert taken[limit]
    assert taken["global memory"] >= taken["largest allocation"] > 2**20
    text = run("devices")[1].decode()
    assert f"{taken['index']}  {taken['name']}   <- taken ({told['why']})" in text
    assert "work-group size" in text


def test_the_device_may_come_from_the_environment(tmp_path):
    done = process("highpass", CAMERA, tmp_path / "out.pgm", "-v", FFTFILTER_DEVICE="pthread")
    assert done.returncode == 0
    assert b"on pthread" in done.stderr
    done = process("highpass", CAMERA, tmp_path / "out2.pgm", FFTFILTER_DEVICE="no such thing")
    assert done.returncode == 3


# Help


def test_version(run):
    assert run("--version") == (0, f"fftfilter {__version__} (fftfilter-opencl)\n".encode(), "")


@pytest.mark.parametrize("command", cli.list_commands(None))
def test_help_of_every_command_has_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: fftfilter {command}" in out.decode()


@pytest.mark.parametrize("group", [(), ("bench",)])
def test_without_a_command_help_is_shown_and_the_exit_code_is_2(run, group):
    code, out, said = run(*group)
    assert (code, out) == (2, b"")
    assert said.startswith(f"Usage: {' '.join(('fftfilter', *group))} [OPTIONS] COMMAND")
    assert said.strip() == run(*group, "--help")[1].decode().strip()


def test_every_command_that_is_listed_is_found():
    names = cli.list_commands(None)
    assert [cli.get_command(None, name).name for name in names] == names
    assert cli.get_command(None, "folder") is None  # a module without commands


def test_a_command_like_the_unknown_one_is_proposed(run):
    code, _, said = run("peeks")
    assert code == 2
    proposed = " Did you mean 'peaks'?" * hasattr(click.exceptions, "NoSuchCommand")  # which older releases lack
    assert_one_line(said, f"No such command 'peeks'.{proposed}")


@pytest.mark.parametrize(("command", "other"), [("highpass", "bench"), ("bench", "filters")])
def test_a_command_is_found_without_the_others(command, other):
    code = f"import sys; from fftfilter.cli import cli; cli.get_command(None, {command!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "fftfilter.cli" in done.stdout.split()
    assert f"fftfilter.commands.{other}" not in done.stdout.split()


# Bad input: one line, the right exit code, nothing written


def written(path, data):
    path.write_bytes(data)
    return path


def floats(path, value):
    Image.fromarray(np.array([[1, 2], [3, value]], np.float32)).save(path)
    return path


PNG = (SAMPLES / "brick.png").read_bytes()
PGM = (SAMPLES / "camera.pgm").read_bytes()

FILES = {
    "missing": (lambda d: d / "none.pgm", "none.pgm"),
    "empty": (lambda d: written(d / "in.pgm", b""), "empty"),
    "truncated pgm": (lambda d: written(d / "in.pgm", PGM[:1000]), "in.pgm"),
    "truncated png": (lambda d: written(d / "in.png", PNG[:5000]), "in.png"),
    "more promised than there is": (
        lambda d: written(d / "in.pgm", b"P5 900 900 255\n" + bytes(100)),
        "809900|810,?000",
    ),
    "no memory holds it": (
        lambda d: written(d / "in.pgm", b"P5 9000000 9000000 255\n"),
        r"in\.pgm: 9000000 x 9000000 pixels take 567,000,000,000,000 bytes",
    ),
    "text": (lambda d: written(d / "in.pgm", b"hello, I am no image at all"), "not an image"),
    "infinity": (lambda d: floats(d / "in.tif", np.inf), "NaN, infinite or beyond"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_bad_file_is_one_line_and_exit_code_1(run, tmp_path, what):
    make, message = FILES[what]
    source = make(tmp_path)
    code, out, said = run("highpass", source, tmp_path / "out.png")
    assert (code, out) == (1, b"")
    assert_one_line(said, message)
    assert not (tmp_path / "out.png").exists()


OPTIONS = {
    "radius zero": ["--radius", "0"],
    "radius negative": ["--radius", "-3"],
    "radius nan": ["--radius", "nan"],
    "radius no number": ["--radius", "wide"],
    "unknown unit": ["--radius", "8km"],
    "order without butterworth": ["--order", "3"],
    "width without cosine": ["--width", "3"],
    "order zero": ["--shape", "butterworth", "--order", "0"],
    "unknown shape": ["--shape", "square"],
    "unknown option": ["--sharpen"],
    "unknown engine": ["--engine", "magic"],
    "unknown precision": ["--precision", "half"],
    "work-group too large": ["--work-group-size", "1000000"],
    "work-group zero": ["--work-group-size", "0"],
}


@pytest.mark.parametrize(
    ("option", "least", "most"),
    [
        ("--png-level", 0, 9),
        ("--quality", 1, 100),
        ("--processes", 1, 1024),
        ("--level", 0, None),
        ("--verify", 1, None),
    ],
)
def test_a_number_is_taken_from_the_least_to_the_most(option, least, most):
    def taken(number):
        words = ["highpass", f"{option}={number}"]
        return context_of(click.Context(cli), words, "in.png", "out.png").params[option[2:].replace("-", "_")]

    assert [taken(number) for number in (least, most or 10**6)] == [least, most or 10**6]
    for number in (least - 1, *([most + 1] if most else [])):
        with pytest.raises(click.BadParameter, match=f"{number} is not in the range"):
            taken(number)


@pytest.mark.parametrize("what", OPTIONS)
def test_a_wrong_option_is_one_line_and_exit_code_2(run, tmp_path, what):
    code, out, said = run("highpass", CAMERA, tmp_path / "out.png", *OPTIONS[what])
    assert (code, out) == (2, b"")
    assert_one_line(said, OPTIONS[what][-1])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bandpass", CAMERA, "out.png", "--inner", "9", "--outer", "9"], "cutoffs 9 and 9 are the same"),
        (["bandpass", CAMERA, "out.png", "--inner", "4px", "--outer", "128"], "the same on 512 x 512 pixels"),
        (
            ["bandstop", CAMERA, "out.png", "--inner", "9"],
            "a band has two cutoffs: give --inner and --outer, or --large",
        ),
        (["bandstop", CAMERA, "out.png"], "give --inner and --outer, or --large and --small"),
        (["bandpass", CAMERA, "out.png", "--inner", "9", "--small", "3"], "--large and --small"),
        (["bandpass", CAMERA, "out.png", "--large", "40"], "--large and --small"),
        (["bandpass", CAMERA, "out.png", "--large", "wide", "--small", "3"], "large 'wide' is not a number"),
        (["highpass", "", "out.png"], "IN is an empty name: give a dot for the current folder. See"),
        (["highpass", CAMERA, ""], "OUT is an empty name"),
        (["highpass", CAMERA, "out.xyz"], "'?.xyz"),
        (["highpass", CAMERA, "out"], "without extension"),
        (["highpass", CAMERA], "OUT"),
        (["highpass", str(SAMPLES), "out.png"], "has the name of an image"),
        (["highpass", str(SAMPLES), "out.psd"], "has the name of an image"),
        (["highpass", str(SAMPLES), "-"], "not standard output"),
        (["spectrum", str(SAMPLES), "out.png"], f"only --table without OUT takes one: '{SAMPLES}'. See"),
        (["highpass", "--engine", "fuse", CAMERA, "out.png"], "choose fused, .*book"),
        (["sharpen", CAMERA, "out.png"], "No such command"),
        (["highpass", "-radius", "3", CAMERA, "out.png"], r"No such option.*-radius.* Did you mean '?--radius'?\? See"),
        (["highpass", "-radius=3", CAMERA, "out.png"], "Did you mean '?--radius"),
        (["spectrum", "--quality", "9", CAMERA, "out.png"], ".png has no quality"),
        (["bench", "stages", "--side", "none"], "'none' is not a valid integer.* See 'fftfilter bench stages --help'"),
        (["spectrum", CAMERA, "out.png", "x"], r"unexpected extra argument \(x\). See 'fftfilter spectrum --help'"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:1] + value[2:]),
)
def test_wrong_usage_is_one_line_and_exit_code_2(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, said = run(*arguments)
    assert (code, out) == (2, b"")
    assert_one_line(said, message)
    assert not list(tmp_path.iterdir())


def test_no_such_device_is_exit_code_3(run, tmp_path):
    code, _, said = run("highpass", CAMERA, tmp_path / "out.png", "--device", "warp drive")
    assert code == 3
    assert_one_line(said, "no OpenCL device 'warp drive': there is .*0 .*; choose one of these")
    if not any(device.cl_device.type & 4 for device in devices()):  # a simulator is everything
        assert_one_line(run("highpass", CAMERA, tmp_path / "out.png", "--device", "gpu")[2], "its vendor's driver")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError(), 1, "^fftfilter: out of memory: take a smaller image$"),
        (
            ModuleNotFoundError("No module named 'isal.zlib'", name="isal.zlib"),
            1,
            "^fftfilter: the package isal is missing: .* -m pip install isal$",
        ),
        (click.ClickException("cannot"), 1, "^fftfilter: cannot$"),
        (RefusedError("computes wrongly"), 3, "^fftfilter: computes wrongly$"),
        (
            ZeroDivisionError("by\nzero"),
            1,
            "^fftfilter: internal error: ZeroDivisionError: by zero; -v -v shows where$",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_no_command_expects_is_one_line_too(run, monkeypatch, error, code, message):
    def failing(*_):
        raise error

    monkeypatch.setattr("fftfilter.device_choice.devices", failing)
    found, out, said = run("devices")
    assert (found, out) == (code, b"")
    assert_one_line(said, message)


def test_a_missing_opencl_package_is_told():
    code = (
        "import sys; sys.modules['pyopencl'] = None\n"
        "sys.argv = ['fftfilter', 'devices']\n"
        "from fftfilter.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert_one_line(done.stderr, r"the package pyopencl is missing: .* -m pip install 'pyopencl\[pocl\]'")


@pytest.mark.skipif(os.name != "posix", reason="terminals are POSIX")
@pytest.mark.parametrize("command", ["highpass", "spectrum"])
def test_a_picture_is_not_written_to_a_terminal(command):
    import pty

    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "fftfilter", command, CAMERA, "-"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert_one_line(done.stderr, "standard output: is a terminal, which shows no pictures; redirect it")


@pytest.mark.parametrize("target", ["missing/out.png"])
def test_an_output_that_cannot_be_written_is_told_before_the_work(run, tmp_path, target):
    code, _, said = run("highpass", CAMERA, tmp_path / target)
    assert code == 1
    assert_one_line(said, "folder")


@pytest.mark.parametrize("command", ["highpass", "spectrum"])
def test_what_a_killed_run_left_beside_the_output_goes(run, tmp_path, command):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    name = Path(temporary_name("b.png")).name.replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    (tmp_path / name).write_text("half")
    assert run(command, CAMERA, tmp_path / "out.png")[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]


def test_color_into_pgm_is_refused_with_a_way_out(run, tmp_path):
    code, _, said = run("highpass", SAMPLES / "chelsea.png", tmp_path / "out.pgm")
    assert code == 1
    assert_one_line(said, "write .ppm or .png")


@pytest.mark.skipif(os.name != "posix", reason="needs a user without rights")
@pytest.mark.parametrize(("mode", "what"), [("000", "read"), ("555", "write")])
def test_no_permission_to_read_or_write(tmp_path, mode, what):
    """As a user without rights, since root may do everything."""
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    source = written(tmp_path / "in.pgm", PGM)
    folder = tmp_path / "folder"
    folder.mkdir()
    (source if what == "read" else folder).chmod(int(mode, 8))
    script = (
        "import os, sys\n"
        "import fftfilter.cli, fftfilter.folders.preloaded, fftfilter.work.output_file  # while they may be read\n"
        "fftfilter.cli.cli.list_commands(None)\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "from fftfilter.cli import cli\n"
        f"cli(['highpass', {str(source)!r}, {str(folder / 'out.pgm')!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert_one_line(done.stderr, "ermission")


def test_verbose_twice_shows_where_an_error_came_from(run, tmp_path):
    _, _, said = run("highpass", tmp_path / "none.pgm", tmp_path / "out.pgm", "-vv")
    assert "Traceback" in said
    assert "ReadError" in said
    assert "Traceback" not in run("sharpen")[2]
    assert "Traceback" not in run("highpass", tmp_path / "none.pgm", tmp_path / "out.pgm", "-v")[2]


@needs_posix
@pytest.mark.parametrize(
    ("number", "word", "code"), [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)]
)
def test_a_signal_has_its_exit_code_and_leaves_nothing(tmp_path, number, word, code):
    """While standard input is waited for."""
    with Started(
        [sys.executable, "-m", "fftfilter", "highpass", "-", str(tmp_path / "out.pgm")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as waiting:
        waiting.stdin.write(PGM[:100])
        waiting.stdin.flush()
        while unread(waiting.stdin):
            time.sleep(0.005)
        assert waiting.poll() is None
        waiting.send_signal(number)
        assert waiting.wait(20) == code
        said = waiting.stderr.read().decode()
    # A terminal shows ^C; what is said starts on a line of its own.
    assert_one_line(said.removeprefix("\n"), word)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["main thread", "another thread"])
def test_the_quick_end_of_the_process_leaves_nothing_out(name):
    """What was to be done at exit is done, other threads end, what was printed is written."""
    code = (
        "import atexit, sys, threading; atexit.register(print, 'at exit')\n"
        "def late(): threading.main_thread().join(); print('late')\n"
        f"if {name == 'another thread'}: threading.Thread(target=late).start()\n"
        "sys.argv = ['fftfilter', '--version']; from fftfilter.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    late = ["late"] if name == "another thread" else []
    assert done.stdout.splitlines()[1:] == [*late, "at exit"]
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_an_interrupt_while_the_program_loads_is_quiet():
    code = (
        "import os, sys, fftfilter.__main__ as program\n"
        "program.system.limit_openblas = lambda: os.kill(os.getpid(), 2)\n"
        "sys.argv = ['fftfilter', '--version']\n"
        "program.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_pyopencl_is_imported_waits_for_its_end(tmp_path, number, code):
    """Its extension module makes enumerations, and aborts the process if one cannot be made."""
    script = (
        "import enum, os, sys, fftfilter.__main__ as program\n"
        "make = enum.EnumType.__call__\n"
        "def interrupted(*given, **named):\n"
        "    if given[1:2] == ('program_kind',): os.kill(os.getpid(), NUMBER)\n"
        "    return make(*given, **named)\n"
        "enum.EnumType.__call__ = interrupted\n"
        f"sys.argv = ['fftfilter', 'highpass', '--device=cpu', {CAMERA!r}, {str(tmp_path / 'out.pgm')!r}]\n"
        "program.main()"
    ).replace("NUMBER", str(int(number)))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (code, 2), done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_program_can_catch_it_is_quiet(number):
    code = f"import os, fftfilter.__main__; os.kill(os.getpid(), {int(number)}); print('not ended')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "")


def redirected(tmp_path, command):
    """Run the program as a shell does; returns its end."""
    shell = f"exec {sys.executable} -m fftfilter {command}"
    return subprocess.run(
        ["/bin/sh", "-c", shell], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )


def test_standard_input_that_is_closed_is_told(tmp_path):
    done = redirected(tmp_path, "highpass - out.png <&-")
    assert done.returncode == 1
    assert_one_line(done.stderr, "standard input: cannot be read: bad file descriptor; it is closed")


TEXTS = "--version", "engines", f"highpass -n {SAMPLES} o", f"highpass --profile {CAMERA} o.pgm"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "redirection", "cause"),
    [
        *((command, ">/dev/full", "no space left") for command in (*TEXTS, f"highpass {CAMERA} -")),
        # Closed, it fails at the same places, of text and of pixels.
        *((command, ">&-", "bad file descriptor") for command in (TEXTS[-1], f"highpass {CAMERA} -")),
    ],
)
def test_what_standard_output_cannot_take_is_told(tmp_path, command, redirection, cause):
    done = redirected(tmp_path, f"{command} {redirection}")
    assert done.returncode == 1, done.stderr
    assert_one_line(done.stderr, f"^fftfilter: standard output: cannot be written: {cause}.*; ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "redirection", ["2>/dev/full", "2>&-", "<&- >&- 2>&- --processes 2"], ids=["full", "closed", "all closed"]
)
def test_messages_that_nobody_can_take_cost_no_file(tmp_path, redirection):
    for name, data in (("a", b""), ("b", PGM), ("c", PGM)):
        written(tmp_path / f"{name}.pgm", data)
    assert redirected(tmp_path, f"highpass . out {redirection}").returncode == 1
    assert sorted(path.name for path in (tmp_path / "out").glob("*.pgm")) == ["b.pgm", "c.pgm"]
    assert redirected(tmp_path, f"highpass {redirection}").returncode == 2


@pytest.mark.parametrize("command", [("highpass", CAMERA, "-"), ("engines",)], ids=["picture", "text"])
def test_a_closed_pipe_is_quiet(command):
    with Started(
        [sys.executable, "-m", "fftfilter", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writing:
        writing.stdout.close()
        assert writing.wait(60) == 1
        said = writing.stderr.read().decode()
    assert said.count("\n") <= 1
    assert "Traceback" not in said


@pytest.mark.parametrize("words", [("--help",), ("highpass", "-q", "--report", "-", "in", "out")], ids=str)
def test_text_whose_reader_is_gone_ends_with_exit_code_1_and_no_word(tmp_path, words):
    """Help is flushed by click, a report's lines at the end."""
    (tmp_path / "in").mkdir()
    written(tmp_path / "in/a.pgm", PGM)
    given, taken = os.pipe()
    os.close(given)
    try:
        command = [sys.executable, "-m", "fftfilter", *words]
        done = subprocess.run(command, stdout=taken, stderr=subprocess.PIPE, cwd=tmp_path, timeout=60, check=False)
    finally:
        os.close(taken)
    assert (done.returncode, done.stderr) == (1, b"")


def assert_one_line(said, pattern):
    assert said.startswith("fftfilter: "), said
    assert said.count("\n") == 1, said
    assert "Traceback" not in said
    assert re.search(pattern, said), f"{pattern!r} not in {said!r}"


# What users may not expect is said, unless they ask for quiet


def test_what_is_done_again_in_double_precision_is_said(run, tmp_path):
    wave = np.round(30000 + 20000 * np.cos(2 * np.pi * np.arange(64) / 64) + np.eye(64)).astype(np.uint16)
    Image.fromarray(wave).save(tmp_path / "in.png")
    code, _, said = run("highpass", "-v", "--radius", "3", tmp_path / "in.png", tmp_path / "out.png")
    assert (code, ", and again in double precision, as single is not exact enough" in said) == (0, True)


def test_how_much_is_clipped_or_found_is_said_if_asked(run, tmp_path):
    rows = np.arange(64, dtype=np.uint8).reshape(8, 8)
    Image.fromarray(rows).save(tmp_path / "in.png")
    files = tmp_path / "in.png", tmp_path / "out.png"
    said = run("lowpass", "-v", "--radius", "9", "--scale", "0:15.5", *files)[2]
    assert re.fullmatch(r"8 x 8: lowpass, ideal, radius 9; fused on .+; 75.00% clipped", said.splitlines()[-1])
    said = run("stripes", "-v", "--angle", "0", *files)[2]
    assert said.startswith("8 x 8: stripes at 0 degrees, as the picture has them (no stripes are found at 0 degrees: ")
    assert run("stripes", "--angle", "0", *files)[2] == ""


def test_a_cutoff_beyond_the_grid_is_a_line(run, tmp_path):
    out = tmp_path / "out.png"
    line = "fftfilter: radius 40cyc lies beyond the highest frequency: the highpass passes nothing\n"
    assert run("highpass", "--radius", "40cyc", CAMERA, out) == (0, b"", line)
    assert run("highpass", "--radius", "40cyc", "-q", CAMERA, out) == (0, b"", "")


def test_signs_that_are_lost_are_a_line(run, tmp_path):
    Image.fromarray(np.eye(8, dtype=np.float32) - 0.5).save(tmp_path / "in.tif")
    line = "fftfilter: samples below 0: the output is the magnitude of the filtered values, which has no sign\n"
    assert run("lowpass", tmp_path / "in.tif", tmp_path / "out.tif") == (0, b"", line)
    tifffile.imwrite(tmp_path / "in.tif", np.arange(64, dtype=np.int16).reshape(8, 8))
    line = "fftfilter: integers that are signed, or of more than 16 bits: the output has floats, from 0 to 1\n"
    assert run("highpass", tmp_path / "in.tif", tmp_path / "out.tif") == (0, b"", line)
    assert run("highpass", tmp_path / "in.tif", tmp_path / "out.png") == (0, b"", "")
    line = "fftfilter: samples below 0 or above 1 are black or white in OUT: write floats, to .tif, .pfm or .npy\n"
    assert run("stripes", "--angle", "0", tmp_path / "in.tif", tmp_path / "out.png") == (0, b"", line)
    assert run("stripes", "--angle", "0", tmp_path / "in.tif", tmp_path / "out.tif") == (0, b"", "")
    Image.fromarray(np.eye(8, dtype=np.float32)).save(tmp_path / "in.tif")
    assert run("stripes", "--angle", "0", tmp_path / "in.tif", tmp_path / "out.png") == (0, b"", "")
    line = "fftfilter: scale -40:40 begins below 0, where no magnitude is: nothing becomes black\n"
    assert run("highpass", "--scale", "-40:40", CAMERA, tmp_path / "out.png") == (0, b"", line)


def test_keep_that_clips_much_says_so_with_what_to_do(run, tmp_path, rng):
    Image.fromarray(rng.choice(np.array([0, 255], np.uint8), (40, 50))).save(tmp_path / "in.png")
    words = ("lowpass", "--radius", "3px", "--output")
    line = "fftfilter: more than 0.1% of the samples are clipped to black or white: --output real into .tif"
    code, _, said = run(*words, "keep", tmp_path / "in.png", tmp_path / "out.png")
    assert (code, said.startswith(line), said.count("\n")) == (0, True, 1)
    assert run(*words, "keep", "-q", tmp_path / "in.png", tmp_path / "out.png") == (0, b"", "")
    assert run(*words, "signed", "--scale", "0:9", tmp_path / "in.png", tmp_path / "out.png") == (0, b"", "")
    assert run(*words, "real", tmp_path / "in.png", tmp_path / "out.tif") == (0, b"", "")
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / f"{name}.png").write_bytes((tmp_path / "in.png").read_bytes())
    code, _, said = run(*words, "keep", tmp_path / "in", tmp_path / "out")
    assert (code, "2 files: more than 0.1% of the samples are clipped" in said) == (0, True), said
