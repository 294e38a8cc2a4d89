"""Processes in which no OpenCL works: pyopencl cannot be imported, or there is no platform; and who asks for NumPy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import fftfilter
from fftfilter import device_choice, images
from fftfilter import transfer as H
from fftfilter.errors import DeviceError, ParameterError
from fftfilter.filters import Filter
from tests.helpers import COMMAND, SAMPLES, assert_gray_levels, by_reference, needs_posix

LINE = f"; {device_choice.INSTEAD}\n"
CAMERA = SAMPLES / "camera.pgm"
WAYS = ("no package", "a broken package", "no platform")


@pytest.fixture(params=WAYS)
def without(request, tmp_path):
    """The environment of a process in which no OpenCL works."""
    own = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    used = tmp_path / "cache" / "fftfilter" / "used"  # so that this is not the first run, which compiles nothing
    used.parent.mkdir(parents=True)
    used.touch()
    if request.param == "no platform":
        return {**own, "OCL_ICD_VENDORS": str(tmp_path / "nowhere")}
    folder = tmp_path / "packages"
    folder.mkdir()
    error = "ModuleNotFoundError" if request.param == "no package" else "ImportError"
    why = f"{error}('libOpenCL.so.1: cannot open shared object file', name='pyopencl._cl')"
    (folder / "pyopencl.py").write_text(f"raise {why}\n")
    return {**own, "PYTHONPATH": str(folder)}


def assert_says_so(done):
    code, said, line = done
    assert (code, said, line.count("\n")) == (0, "", 1)
    assert re.fullmatch(f"fftfilter: no OpenCL.*'fftfilter devices'.*{re.escape(LINE)}", line)


def run(environment, *arguments):
    command = [sys.executable, "-m", "fftfilter", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def large(tmp_path, camera):
    """A picture that NumPy filters only where OpenCL does not work, and its pixels."""
    pixels = np.tile(camera, (2, 3))
    images.write(images.Picture(pixels[None], None, 255, "PPM"), tmp_path / "large.pgm")
    return tmp_path / "large.pgm", pixels


def test_numpy_filters_one_picture_and_one_line_says_so(without, tmp_path, large):
    (file, pixels), out = large, tmp_path / "out.pgm"
    assert_says_so(run(without, "highpass", file, out))
    assert_gray_levels(images.read(out).planes[0], by_reference(pixels, H.highpass()))
    assert run(without, "highpass", "-q", file, out) == (0, "", "")
    assert_says_so(run(without, "spectrum", file, tmp_path / "s.png"))


def test_a_small_picture_needs_no_opencl_and_no_line(without, tmp_path, camera):
    out = tmp_path / "out.pgm"
    assert run(without, "highpass", CAMERA, out) == (0, "", "")
    assert_gray_levels(images.read(out).planes[0], by_reference(camera, H.highpass()))
    code, said, line = run(without, "notch", "--auto", "--edges", "mirror", "--verify", "-q", CAMERA, out)
    assert (code, said, line) == (0, "", "")


@pytest.mark.parametrize("processes", [1, 2])
def test_a_folder_says_it_once(without, processes, tmp_path, large):
    folder, (_, pixels) = tmp_path / "in", large
    folder.mkdir()
    for i in range(4):
        images.write(images.Picture(pixels[None, i:], None, 255, "PPM"), folder / f"{i}.pgm")
    code, said, lines = run(without, "highpass", "--processes", processes, folder, tmp_path / "out")
    assert (code, said, lines.count(LINE)) == (0, "", 1)
    assert "4 of 4 files filtered" in lines
    assert lines.count("\n") == 2
    assert_gray_levels(images.read(tmp_path / "out/3.pgm").planes[0], by_reference(pixels[3:], H.highpass()))
    assert run(without, "highpass", "-q", "--processes", processes, folder, tmp_path / "out") == (0, "", "")
    code, said, lines = run(without, "highpass", "-n", folder, tmp_path / "out")
    assert_says_so((code, "", lines))
    assert "on NumPy: at most " in said


@pytest.mark.parametrize(
    "asked", [["--engine", "fused"], ["--engine", "book"], ["--device", "cpu"], ["--work-group-size", "8"]], ids=str
)
def test_what_is_asked_for_and_cannot_be_had_ends_with_3(without, asked, tmp_path):
    code, said, line = run(without, "highpass", *asked, CAMERA, tmp_path / "out.pgm")
    assert (code, said, line.count("\n")) == (3, "", 1)
    assert "OpenCL" in line
    assert not (tmp_path / "out.pgm").exists()


def test_a_device_of_the_environment_is_asked_for(without, tmp_path):
    out = tmp_path / "out.pgm"
    assert run({**without, "FFTFILTER_DEVICE": "gpu"}, "highpass", CAMERA, out)[0] == 3
    assert run({**without, "FFTFILTER_DEVICE": "numpy"}, "highpass", CAMERA, out) == (0, "", "")
    assert run({**without, "FFTFILTER_DEVICE": "gpu"}, "highpass", "--engine", "numpy", CAMERA, out) == (0, "", "")
    assert run(without, "highpass", "--device", "numpy", CAMERA, out) == (0, "", "")


def test_devices_says_what_is_lacking(without):
    code, said, line = run(without, "devices")
    assert (code, line.count("\n")) == (3, 1)
    assert "opencl" in (said + line).lower()


def test_python_warns_once(without):
    code = """
import sys, warnings
import numpy as np
import fftfilter
image = np.random.default_rng(1).random((64, 48))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for _ in range(2):
        fftfilter.lowpass(image, 4, output="keep")
    fftfilter.fft2(image), fftfilter.find_peaks(image)
    fftfilter.lowpass(np.where(image > 0.9, np.nan, image), precision="double", output="keep")
    fftfilter.descreen(image), fftfilter.imagej(image), fftfilter.stripes(image, auto=True)
    f = fftfilter.Filter(fftfilter.transfer.lowpass(4))
    f(image)
(told,) = said
sys.stdout.write(f"{told.category.__name__} {str(told.message).partition('; N')[2]} {f.engine}")
"""
    done = subprocess.run([sys.executable, "-c", code], env=without, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"RuntimeWarning {device_choice.INSTEAD[1:]} numpy", "")


@needs_posix
def test_processes_may_be_forked_where_numpy_filters(without):
    code = """
import multiprocessing
import warnings
import numpy as np
import fftfilter
from fftfilter import transfer as H

warnings.simplefilter("ignore")
opened = fftfilter.Filter(H.highpass())
opened(np.eye(8))

def by(sent):
    return (sent or opened)(np.eye(8)).shape

with multiprocessing.get_context("fork").Pool(1) as pool:
    print(pool.map(by, [opened, None, fftfilter.Filter(H.lowpass(), engine="numpy")]))
"""
    done = subprocess.run([sys.executable, "-c", code], env=without, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[(8, 8), (8, 8), (8, 8)]\n", "")


def test_numpy_that_is_asked_for_loads_no_opencl(tmp_path):
    code = f"""
import sys
from fftfilter.cli import cli
try:
    cli(["highpass", "--engine", "numpy", {str(CAMERA)!r}, {str(tmp_path / "out.pgm")!r}])
except SystemExit as end:
    sys.stdout.write(f"{{end.code}} {{'pyopencl' in sys.modules}}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0 False", "")


# Where OpenCL works


def test_numpy_and_an_opencl_device_exclude_each_other(monkeypatch):
    with pytest.raises(ParameterError, match="the numpy engine has no device 'gpu': leave the engine out"):
        Filter(H.lowpass(), engine="numpy", device="gpu", **COMMAND)
    with pytest.raises(ParameterError, match="the numpy engine has no work-group size and no choice of transpose"):
        Filter(H.lowpass(), engine="numpy", work_group_size=8, transpose="plain", **COMMAND)
    with pytest.raises(ParameterError, match="no options: leave the algorithm out"):
        fftfilter.fft(np.ones(4), algorithm="numpy", radix=4)
    with pytest.raises(DeviceError, match="no OpenCL device 'numpy'"):
        Filter(H.lowpass(), engine="book", device="numpy", **COMMAND)
    with pytest.raises(ParameterError, match="the numpy engine has no intermediate results"):
        Filter(H.lowpass(), engine="numpy", **COMMAND)(np.ones((4, 4)), observe=lambda *_: None)
    monkeypatch.setenv("FFTFILTER_DEVICE", "0")
    Filter(H.lowpass(), engine="numpy", device="0", **COMMAND)  # as the command line gives it, from the environment


def test_a_filter_changes_its_engine_and_says_which_it_has(rng):
    image = rng.integers(0, 256, (12, 10), dtype=np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = Filter(H.highpass(2), engine="numpy", **COMMAND)
        assert (made.engine, made.launcher.device.name, made(image).dtype) == ("numpy", "NumPy", np.uint8)
        fused, device = made.with_options(engine=None), made.with_options(engine=None, device="numpy")
        assert [(each(image).shape, each.engine) for each in (fused, device)] == [
            ((12, 10), "fused"),
            ((12, 10), "numpy"),
        ]
        assert fused.with_options(engine="numpy").launcher.device.name == "NumPy"
    assert repr(made) == "Filter(H.highpass(2), engine='numpy', output='magnitude', edges='wrap')"
