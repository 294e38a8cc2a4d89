"""The outputs keep, signed and real: arrays and files beside the float64 reference, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import fftfilter
from fftfilter import images
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.device.launcher import Launcher
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.images import Depth
from fftfilter.output.modes import MODES, scale_of
from fftfilter.output.ramp import Gray, pixels, ramps
from fftfilter.output.rounding import Difference
from fftfilter.transfer import reference
from fftfilter.work.verify import references_of
from tests.fused.helpers import white_of
from tests.helpers import COMMAND, assert_gray_levels
from tests.soak.check import as_gpu

each_engine = pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
BAND = H.bandpass("16px", "3px", shape="gaussian")


@pytest.fixture
def image(rng):
    return rng.integers(0, 256, (8, 64), dtype=np.uint8)


def run(*arguments):
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


def wanted(image, transfer, output, dtype=np.uint8, white=255):
    """Return what the reference gives for one picture."""
    gain = (transfer.keeping_mean() if output == "keep" else transfer).gain(*image.shape[-2:])
    (ramp,) = ramps(output, gray=Gray(white, np.dtype(dtype), white))
    return pixels(reference.filtered(image, gain).real, ramp, 0, dtype)


# Python


@each_engine
@pytest.mark.parametrize("options", [{"output": "keep"}, {"output": "real"}, {"output": "signed", "scale": (-1, 1)}])
def test_floats_of_any_size_come_back_where_everything_passes(engine, options, rng):
    """No part at all, as where no peak was found: also its largest gain is a float."""
    for size in (1e-20, 1, 1e6):
        image = (rng.random((12, 10)) - 0.5).astype(np.float32)
        options = {**options, "scale": (-size, size)} if "scale" in options else options
        with Filter(H.Transfer(()), engine=engine, **(COMMAND | options)) as everything:
            got = everything(image * np.float32(size), white=size if options["output"] == "keep" else None)
        wanted = {"keep": image, "real": image * size, "signed": (image + 1) / 2}[options["output"]]
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


def held_to_the_contract(got, given, transfer, output, scale):
    """Return how a result with channels first differs from the reference, whether it is right, and what right is."""
    planes, found = given.reshape(-1, *given.shape[-2:]), got.reshape(-1, *got.shape[-2:])
    depth = Depth(found.dtype, white_of(found.dtype))
    options = {"scale": scale_of(scale), "depth": depth, "edges": "wrap"}
    wanted, values, unit = next(references_of(planes, white_of(given.dtype), transfer, output, **options))
    return Difference.of(found, wanted, depth.maxval, unit=unit, values=values)


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        *(("fused for CPUs", dtype) for dtype in ("uint8", "uint16", "float32")),
        *(("fused for GPUs", dtype) for dtype in ("uint8", "float32")),
        *(("book", dtype) for dtype in ("uint8", "uint16", "float32")),
    ],
)
def test_every_output_on_every_scale_is_the_references(form, dtype, rng):
    """Gray, and colors with one scale; by programs that all outputs share."""
    color = rng.normal(0.5, 0.2, (3, 8, 64)).clip(0, 1) * white_of(dtype)
    color[1] /= 3
    color = color.astype(dtype)
    span = 0.2 * white_of(dtype)
    scales = {"magnitude": (None, (0.1 * span, span), "auto"), "signed": (None, (-span, span), ("auto", 5))}
    wrong = []
    for output in MODES:
        for scale in scales.get(output, (None,)):
            with Filter(
                BAND, engine="book" if form == "book" else None, output=output, scale=scale, edges="wrap"
            ) as made:
                if form == "fused for GPUs":
                    made.launcher = Launcher(as_gpu())
                for given in (color[0], color):
                    got = made(given, channel_axis=0 if given is color else None)
                    found = held_to_the_contract(got, given, BAND, output, scale)
                    if not found.is_right or got.dtype != (np.float32 if output == "real" else color.dtype):
                        wrong.append((output, scale, given.ndim, str(found)))
    assert wrong == []


@pytest.mark.parametrize("form", ["fused for CPUs", "fused for GPUs"])
def test_of_a_large_picture_the_same_samples_are_counted_as_by_the_reference(form, rng):
    # Each third row counts, the last one, too, and each second column. The last strip of vectors begins at an odd
    # column, and is moved to the left.
    given = rng.integers(0, 256, (400, 441), dtype=np.uint8)
    with Filter(BAND, scale=("auto", 10), **COMMAND) as made:
        if form == "fused for GPUs":
            made.launcher = Launcher(as_gpu())
        found = held_to_the_contract(made(given), given, BAND, "magnitude", ("auto", 10))
        assert found.is_right, found


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("form", ["fused", "for GPUs", "book"])
def test_each_picture_of_a_stack_has_its_own_range_and_extremes(form, edges, rng):
    size = (12, 10) if edges == "wrap" else (17, 5)  # of which programs for GPUs are there
    stack = (rng.random((2, *size)) / np.array([[[1]], [[5]]])).astype(np.float32)
    with Filter(BAND, engine="book" if form == "book" else None, scale="auto", edges=edges, output="magnitude") as made:
        if form == "for GPUs":
            made.launcher = Launcher(as_gpu())
        got, extremes = made(stack, dtype=np.uint8), made.extremes()
        for picture, found, ends in zip(stack, got, extremes, strict=True):
            assert_gray_levels(found, made(picture, dtype=np.uint8))
            assert made.extremes() == [pytest.approx(ends, rel=1e-5)]


@each_engine
@pytest.mark.parametrize("transfer", [H.highpass() * H.lowpass("3px"), H.lowpass()], ids=str)
def test_keep_keeps_what_passes(engine, transfer, image):
    got = Filter(transfer, engine=engine, output="keep", edges="wrap")(image)
    assert_gray_levels(got, wanted(image, transfer, "keep")[0])


@pytest.mark.parametrize("form", ["fused", "book", "for GPUs"])
@pytest.mark.parametrize("scale", [(-40, 40), (0, 40), (-10, 30), (10, 30)])
def test_signed_on_a_given_scale_is_black_at_its_lower_end(form, scale):
    """Special points: both ends, 0 and what lies beyond; and a constant without its mean, which becomes what 0 does."""
    low, high = scale
    image = np.tile(np.array([0, low, high, 2 * low - high, 2 * high - low], np.float32), (4, 2))
    black = np.floor((0 - low) / (high - low) * 255 + 0.5).clip(0, 255)
    for transfer, given, right in (
        (H.Transfer(()), image, np.tile([black, 0, 255, 0, 255], (4, 2))),
        (H.highpass(1), np.full((4, 10), 7, np.float32), np.full((4, 10), black)),
    ):
        made = Filter(transfer, engine="book" if form == "book" else None, output="signed", scale=scale, edges="wrap")
        if form == "for GPUs":
            made.launcher = Launcher(as_gpu())
        np.testing.assert_array_equal(made(given, dtype=np.uint8), right)


@pytest.mark.parametrize("options", [{}, {"precision": "double"}, {"engine": "book"}], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("scale", [None, "auto"])
def test_the_noise_floor_rises_with_the_largest_gain(options, dtype, scale):
    """Of a strong wave nothing is left, and 2.2e-5 of a weak one: noise beside gains of 3, a picture beside 1."""
    y, x = np.mgrid[:12, :8]
    strong, weak = np.cos(np.pi * (x + y)), np.cos(2 * np.pi * y / 12)
    for gain, part, is_noise in ((1.0, 0.9e-5, True), (1.0, 2.2e-5, False), (3.0, 2.2e-5, True), (3.0, 4e-5, False)):
        deviation = 2.0  # of the strong wave, from its own crest
        image = ((strong + deviation * part / gain * weak) * 2**50).astype(dtype)
        transfer = H.mask(np.full((12, 8), gain)) * H.lowpass("0.2cyc")
        for output, middle in (("signed", 128), ("magnitude", 0)):
            got = Filter(transfer, output=output, scale=scale, **({"edges": "wrap"} | options))(image, dtype=np.uint8)
            assert (got == middle).all() == is_noise, (gain, part, output)


@each_engine
def test_keep_keeps_the_mean_and_signed_the_middle_of_each_picture(engine):
    flat = np.stack([np.full((8, 64), level, np.uint8) for level in (0, 7, 255)])
    assert (Filter(H.highpass(), engine=engine, output="keep", edges="wrap")(flat) == flat).all()
    assert (Filter(H.highpass(), engine=engine, output="signed", edges="wrap")(flat) == 128).all()


@each_engine
def test_pictures_have_a_scale_each_and_channels_one(engine, image):
    stack = np.stack([image, image // 4])
    with Filter(BAND, engine=engine, output="signed", edges="wrap") as signed:
        for got, alone in zip(signed(stack), stack, strict=True):
            assert_gray_levels(got, wanted(alone, BAND, "signed")[0])
        assert_gray_levels(signed(stack, channel_axis=0), wanted(stack, BAND, "signed")[0])


@each_engine
def test_floats_and_signed_numbers_keep_their_sign_and_units(engine, rng):
    given = rng.integers(-3000, 3000, (8, 64), dtype=np.int16)
    got = fftfilter.bandpass(given, "16px", "3px", shape="gaussian", output="keep", engine=engine, edges="wrap")
    assert got.dtype == np.int16
    np.testing.assert_allclose(got, wanted(given, BAND, "keep", np.float32, 1)[0], atol=0.51)


def test_the_part_that_is_clipped_is_known():
    bars = np.where(np.arange(64) % 8 < 2, 255, 0) * np.ones((8, 1), int)
    with Filter(H.highpass("6px"), output="keep", edges="wrap") as keep:
        got = keep(bars.astype(np.uint8))
        right, clipped, *_ = wanted(bars, H.highpass("6px"), "keep")
        assert_gray_levels(got, right)
        assert clipped > 0.1
        assert keep.clipped() == [pytest.approx(clipped, abs=1 / 500)]
        assert next(keep.stream([bars.astype(np.uint8)])).tolist() == got.tolist()


def test_a_weak_result_is_exact():
    y, x = np.mgrid[:64, :64]
    smooth = 30000 + 25000 * np.sin(2 * np.pi * (x + y) / 64)
    faint = np.rint(smooth + 40 * np.cos(2 * np.pi * x / 3)).astype(np.uint16)
    got = Filter(H.highpass("6px"), output="signed", edges="wrap")(faint, dtype=np.uint8)
    assert_gray_levels(got, wanted(faint, H.highpass("6px"), "signed")[0])


@pytest.mark.parametrize("output", ["keep", "real"])
def test_an_output_in_gray_levels_has_no_scale(output):
    with pytest.raises(ParameterError, match=f"output {output} keeps the input's gray levels and has no scale"):
        Filter(BAND, output=output, scale=(0, 40), edges="wrap")


@each_engine
def test_auto_saturates_a_part_of_the_samples(engine, rng):
    noise = rng.normal(128, 30, (8, 64)).clip(0, 255).astype(np.uint8)
    with Filter(BAND, engine=engine, output="signed", scale=("auto", 10), edges="wrap") as signed:
        got = signed(noise)
        assert signed.clipped() == [pytest.approx(0.1, abs=0.01)]
    assert np.mean((got == 0) | (got == 255)) == pytest.approx(0.1, abs=0.02)
    got = fftfilter.bandpass(noise, "16px", "3px", shape="gaussian", engine=engine, scale=("auto", 10), **COMMAND)
    assert (np.mean(got == 0), np.mean(got == 255)) == (pytest.approx(0.05, abs=0.02), pytest.approx(0.05, abs=0.02))


@each_engine
def test_auto_of_nothing_is_black(engine):
    flat = np.full((8, 64), 9, np.uint8)
    assert not fftfilter.highpass(flat, scale="auto", engine=engine, **COMMAND).any()
    assert (fftfilter.highpass(flat, output="signed", scale="auto", engine=engine, edges="wrap") == 128).all()
    # Of a wave that is removed, in a tall picture, rounding noise is left, which adds up along its columns.
    wave = np.cos(2 * np.pi * 5 / 1024 * np.arange(1024, dtype=np.float32))[:, None].repeat(4, 1)
    assert not fftfilter.bandpass(wave, 1.4, 2, scale="auto", engine=engine, **COMMAND).any()


def test_python_takes_a_scale(image):
    got = fftfilter.highpass(image, output="signed", scale=(-40, 40), edges="wrap")
    values = fftfilter.highpass(image, output="real", edges="wrap")
    assert_gray_levels(got, np.floor((values + 40) / 80 * 255 + 0.5).clip(0, 255).astype(np.uint8))


# Files


def written(path, array):
    array = np.atleast_3d(array)
    white = {"f": 1}.get(array.dtype.kind) or int(np.iinfo(array.dtype).max)
    images.write(images.Picture(array.transpose(2, 0, 1), None, white, "PPM"), path)
    return path


@pytest.mark.parametrize("output", ["keep", "signed", "real"])
@pytest.mark.parametrize(("source", "dtype"), [("in.png", np.uint8), ("in.tif", np.uint16), ("in.tif", np.float32)])
def test_a_file_is_verified_in_each_output(tmp_path, rng, output, source, dtype):
    color = rng.integers(0, 256, (8, 64, 3)).astype(dtype)
    given = written(tmp_path / source, color - 99 if dtype == np.float32 else color)
    code, said, error = run("highpass", "--output", output, "--verify", given, tmp_path / "out.tif")
    assert (code, "more than 0.1% of the samples are clipped" in error) == (0, output == "keep" and dtype != np.float32)
    assert "off by at most" in said


@pytest.mark.parametrize("output", ["magnitude", "signed"])
def test_a_file_is_verified_on_a_scale_of_its_own(tmp_path, image, output):
    given = written(tmp_path / "in.png", image)
    options = ["--output", output, "--scale", "auto:2", "-v", "--verify"]
    code, said, error = run("highpass", *options, given, tmp_path / "out.png")
    assert (code, "off by at most" in said, "% clipped" in error) == (0, True, True)


@pytest.mark.parametrize("suffix", [".tif", ".npy", ".pfm"])
def test_real_writes_the_filtered_values_as_they_are(tmp_path, image, suffix):
    given, out = written(tmp_path / "in.png", image), tmp_path / f"out{suffix}"
    assert run("highpass", "--output", "real", given, out) == (0, "", "")
    found = images.read(out).planes[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, fftfilter.highpass(image, output="real", edges="wrap"), atol=1e-4)
    if suffix == ".npy":
        assert (np.load(out) == found).all()


@pytest.mark.parametrize(
    ("options", "out", "message"),
    [
        (["--output", "real"], "x.png", "x.png: .png holds whole numbers, and output real gives floats; write .tif"),
        (["--output", "keep", "--scale", "0:9"], "x.png", "output keep keeps the input's gray levels and has no scale"),
        (
            ["--output", "real", "--scale", "auto"],
            "x.tif",
            "output real keeps the input's gray levels and has no scale",
        ),
        (["--scale", "auto:100"], "x.png", "scale 'auto:100' is invalid: give percent of the samples below 100"),
    ],
)
def test_what_means_nothing_is_refused_in_a_line(tmp_path, image, options, out, message):
    given = written(tmp_path / "in.png", image)
    code, said, error = run("highpass", *options, given, tmp_path / out)
    assert (code, said, error.count("\n")) == (2, "", 1)
    assert message in error
    assert not (tmp_path / out).exists()


def test_the_clipped_part_is_said(tmp_path):
    bars = (np.where(np.arange(64) % 8 < 2, 255, 0) * np.ones((8, 1))).astype(np.uint8)
    given = written(tmp_path / "in.png", bars)
    code, _, error = run("highpass", "-v", "--radius", "6px", "--output", "keep", given, tmp_path / "out.png")
    assert (code, "% clipped" in error) == (0, True)


# Folders


@pytest.fixture
def folder(tmp_path, rng):
    made = tmp_path / "in"
    made.mkdir()
    for i, part in enumerate((1, 4)):
        written(made / f"{i}.png", rng.integers(0, 256, (8, 64), dtype=np.uint8) // part)
    return made


@pytest.mark.parametrize(
    "options",
    [
        ["--output", "keep"],
        ["--output", "signed", "--scale", "folder"],
        ["--output", "magnitude", "--scale", "auto:5"],
        ["--output", "signed", "--scale=-9:9"],
    ],
)
def test_a_folder_is_verified_and_done_again_for_another_output(tmp_path, folder, options):
    out, report = tmp_path / "out", tmp_path / "report.jsonl"
    assert run("highpass", "-q", folder, out)[0] == 0
    code, _, error = run("highpass", "--skip-existing", "--verify", "--report", report, *options, folder, out)
    assert (code, "2 of 2 files" in error, "skipped" in error) == (0, True, False)
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert {(line["output_mode"], line["clipped"] >= 0) for line in lines} == {(options[1], True)}


def test_a_folder_of_real_values_is_refused_before_the_work(tmp_path, folder):
    code, _, error = run("highpass", "--output", "real", folder, tmp_path / "out")
    assert (code, "0.png: .png holds whole numbers" in error) == (2, True)
    assert run("highpass", "-q", "--output", "real", "--format", "npy", folder, tmp_path / "out") == (0, "", "")
    assert np.load(tmp_path / "out" / "0.npy").min() < 0
