"""What filters remove, waves alone, and gains by a function, beside NumPy in float64 on true frequencies."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.descreen_filter import DescreenFilter
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from tests.helpers import SAMPLES

SIZES = [(12, 16), (13, 16), (12, 15), (33, 47)]


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def frequencies(height, width):
    return np.fft.fftfreq(width), np.fft.fftfreq(height)[:, None]


def by_numpy(image, gain):
    return np.fft.ifft2(np.fft.fft2(image) * gain).real


def waves(size, *places):
    y, x = np.indices(size)
    return sum(10 * np.cos(2 * np.pi * (fx * x + fy * y)) for fx, fy in places)


# Functions


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_a_function_filters_by_its_gains_at_the_true_frequencies(rng, size, engine):
    image = rng.normal(size=size)
    made = Filter(H.function(lambda fx, fy: np.exp(-9 * np.hypot(fx, fy))), output="real", edges="wrap", engine=engine)(
        image
    )
    np.testing.assert_allclose(made, by_numpy(image, np.exp(-9 * np.hypot(*frequencies(*size)))), atol=3e-6)


def second_derivative(fx, fy):
    return -((2 * np.pi * (fx + 2 * fy)) ** 2)


@pytest.mark.parametrize("size", SIZES)
def test_at_the_highest_frequency_it_is_the_mean_of_both_signs(rng, size):
    """There the grid has one of them, and a gain that is not the same along each axis would make complex images."""
    image, (fx, fy) = rng.normal(size=size), frequencies(*size)
    gains = second_derivative(fx, fy)
    if size[0] % 2 == 0:
        gains[size[0] // 2] = (second_derivative(fx, -0.5) + second_derivative(fx, 0.5)) / 2
    if size[1] % 2 == 0:
        column = [(second_derivative(-0.5, fy) + second_derivative(0.5, fy)) / 2]
        gains[:, size[1] // 2] = column[0][:, 0]
    if size[0] % 2 == size[1] % 2 == 0:
        corner = [second_derivative(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
        assert gains[size[0] // 2, size[1] // 2] in (corner[0], corner[1], np.mean(corner))
        gains[size[0] // 2, size[1] // 2] = H.function(second_derivative, largest=99).gain(*size)[
            size[0] // 2, size[1] // 2
        ]
    made = Filter(H.function(second_derivative, largest=99), output="real", edges="wrap", engine="book")(image)
    np.testing.assert_allclose(made, by_numpy(image, gains), atol=1e-3)


def test_mirrored_edges_take_the_same_function_of_frequency(rng):
    image = rng.normal(size=(12, 15))
    whole = np.pad(image, [(0, 12), (0, 15)], "symmetric")
    wanted = by_numpy(whole, np.abs(frequencies(24, 30)[0]) < 0.2)[:12, :15]
    made = Filter(H.function(lambda fx, fy: np.abs(fx) < 0.2), output="real", edges="mirror", engine="book")(image)  # noqa: ARG005
    np.testing.assert_allclose(made, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (lambda fx, fy: fx + 0 * fy, "are not even"),
        (lambda fx, fy: 1j * np.hypot(fx, fy), "are not conjugate: give a function with"),
        (lambda fx, fy: np.hypot(fx, fy) * (1j if len(fx) == 18 else 1), "return real ones, or complex ones"),
        (lambda fx, fy: 1 / np.hypot(fx, fy), "mind the frequency 0"),
        (lambda fx, fy: 7 + 0 * np.hypot(fx, fy), "exceed 1: set largest"),
        (lambda fx, fy: np.ones(3), "return one for each"),  # noqa: ARG005
        (lambda fx, fy: np.full(np.hypot(fx, fy).shape, "a"), "return real ones"),
        (3, "3 is not a function"),
    ],
)
def test_other_gains_are_refused(of, message):
    with pytest.raises(ParameterError, match=message):
        H.function(of)


# Complex gains: derivatives, shifts


def shift(fx, fy):
    return np.exp(-2j * np.pi * (2.5 * fx - 1.25 * fy))


def slope(fx, fy):
    """The derivative across."""
    return 2j * np.pi * fx + 0 * fy


def by_definition(of, height, width):
    """The gains of a function, and where a side is even the mean of both signs of the highest frequency."""
    fx, fy = np.fft.fftfreq(width), np.fft.fftfreq(height)[:, None]
    return (of(fx, fy) + of(np.where(fx == -0.5, 0.5, fx), np.where(fy == -0.5, 0.5, fy))) / 2


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize(("engine", "precision"), [("book", "single"), ("stockham", "double"), ("numpy", "single")])
def test_conjugate_gains_make_real_images(rng, size, edges, engine, precision):
    image, times = rng.normal(size=size) + 5, 1 + (edges == "mirror")
    whole = np.pad(image, [(0, n * (times - 1)) for n in size], "symmetric")
    for of in (shift, slope):
        gains = by_definition(of, *whole.shape)
        wanted = np.fft.ifft2(np.fft.fft2(whole) * gains)[: size[0], : size[1]]
        assert np.abs(wanted.imag).max() < 1e-12
        transfer = H.function(of, largest=4)
        np.testing.assert_allclose(transfer.gain(*whole.shape), gains, atol=1e-15)
        options = {"edges": edges, "engine": engine, "precision": precision}
        with Filter(transfer, output="real", **options) as f:
            np.testing.assert_allclose(f(image), wanted.real, atol=1e-5 if precision == "single" else 1e-12)
        with Filter(transfer, output="magnitude", **options, scale=(0, 2)) as f:
            assert np.abs(f(image, dtype=np.uint8) - np.abs(wanted.real).clip(0, 2) * 127.5).max() <= 1


def test_a_derivative_is_that_of_a_wave_and_multiplies_with_other_filters():
    x = np.arange(40)
    wave = np.broadcast_to(np.sin(2 * np.pi * x / 10), (30, 40))
    made = Filter(H.function(slope, largest=4) * H.lowpass("5px"), output="real", edges="wrap")(wave)
    np.testing.assert_allclose(made, wave * 0 + 2 * np.pi / 10 * np.cos(2 * np.pi * x / 10), atol=1e-14)
    holes = np.zeros(wave.shape, bool)
    holes[3, 4] = True
    with_hole = Filter(H.function(slope, largest=4), output="real", edges="wrap")(wave, missing=holes)
    assert with_hole[3, 4] == wave[3, 4]
    assert np.abs(with_hole - made)[20].max() < 0.01


def test_what_takes_no_complex_gains_says_so(rng):
    made, image = H.function(shift), rng.normal(size=(8, 9))
    for refused, message in (
        (lambda: Filter(made, engine="fused"), r"fused engine has no gains with H\(-k\) other than H\(k\)"),
        (lambda: Filter(made, axes=3), "function is for pictures"),
        (lambda: fftfilter.filter_large(image, image.copy(), made), "takes the whole picture"),
    ):
        with pytest.raises(ParameterError, match=message):
            refused()
    assert fftfilter.show(image, made).width > 100


def test_it_says_its_name_and_is_in_no_recipe(tmp_path):
    made = H.function(second_derivative, largest=99)
    assert (str(made), repr(made)) == ("function second_derivative", "H.function(<second_derivative>, largest=99)")
    with pytest.raises(ParameterError, match="in no file"):
        fftfilter.save_filter(made, tmp_path / "made.json")
    with pytest.raises(ParameterError, match=r"largest 0\.5 is invalid"):
        H.function(second_derivative, largest=0.5)


# Waves alone


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
@pytest.mark.parametrize("edges", ["wrap", "mirror"])
def test_waves_alone_are_one_minus_their_notches(rng, engine, edges):
    image = (rng.normal(100, 5, (48, 60)) + waves((48, 60), (0.2, 0.1))).astype(np.float32)
    rest = Filter(H.notch((0.2, 0.1)), output="real", edges=edges, engine=engine)(image)
    alone = H.peaks_only((0.2, 0.1))
    made = Filter(alone, output="real", edges=edges, engine=engine)(image)
    np.testing.assert_allclose(made, image - rest, atol=1e-4)
    with_mean = Filter(alone, output="keep", edges=edges, engine=engine)(image)
    np.testing.assert_allclose(with_mean, made + image.mean(dtype=float), atol=1e-4)


def test_a_lattice_has_all_sums_of_two_waves(rng):
    a, b = (0.125, 0.0), (0.0625, 0.125)
    crystal = waves((64, 64), a, b, (0.1875, 0.125), (0.3125, 0.125), (0.0625, -0.125))
    image = crystal + rng.normal(0, 9, crystal.shape)
    made = Filter(H.peaks_only(a, b, lattice=3), output="real", edges="wrap", engine="book")(image)
    assert np.std(made - crystal) < 0.3 * 9
    assert np.std(Filter(H.peaks_only(a, b), output="real", edges="wrap", engine="book")(image) - crystal) > 9
    for words in ([(0.1, 0.2)], [a, b, (0.3, 0.3)]):
        with pytest.raises(ParameterError, match="a lattice is that of two waves"):
            H.peaks_only(*words, lattice=2)
    for order in (-1, 21, 1.5, True):
        with pytest.raises(ParameterError, match=r"lattice .* is invalid"):
            H.peaks_only(a, b, lattice=order)
    with pytest.raises(ParameterError, match="no wave is given"):
        H.peaks_only()


def test_a_complement_is_of_the_whole_product():
    made = H.stripes(0, width="0.02cyc", spare="5px").complement()
    assert (made.complement().is_complement, str(made)[:26]) == (False, "what is removed by stripes")
    assert repr(made).endswith(".complement()")
    with pytest.raises(ParameterError, match="multiply first"):
        made * H.lowpass(3)
    with pytest.raises(ParameterError, match="has no complement"):
        DescreenFilter(H.descreen().complement())


# The command


@pytest.mark.parametrize(
    "words",
    [
        "lowpass --radius 9px",
        "highpass --radius 60px --edges mirror",
        "notch --at 0.123,0.047",
        "notch --auto --edges mirror",
        "stripes --angle 0 --width 3 --spare 20px",
        "wiener",
        "lowpass --radius 9px --depth 6",
        "notch --at 0.123,0.047 --ignore 200,200,90,90 --wiener auto",
    ],
)
def test_what_is_removed_and_what_is_kept_make_up_the_picture(tmp_path, camera, words):
    image = np.clip(camera * 0.7 + 40 + 2 * waves(camera.shape, (0.123, 0.047)), 0, 255).astype(np.uint8)
    Image.fromarray(image).save(tmp_path / "in.png")
    for output, name in (("keep", "keep.png"), ("removed", "removed.tif"), ("removed", "removed.png")):
        made = run(*words.split(), "--output", output, "--verify", tmp_path / "in.png", tmp_path / name)
        assert (made.exit_code, made.stdout.count("off by at most")) == (0, 1), made.output
    kept, lost = np.asarray(Image.open(tmp_path / "keep.png")), tifffile.imread(tmp_path / "removed.tif")
    assert lost.dtype == np.float32
    np.testing.assert_allclose((image.astype(float) - lost).clip(0, 255), kept, atol=0.51)
    shown = np.asarray(Image.open(tmp_path / "removed.png")).astype(float)
    np.testing.assert_allclose(shown - 127.5, lost / np.abs(lost).max() * 127.5, atol=1)


def test_pass_keeps_the_waves_with_their_mean_or_alone(tmp_path, camera):
    lines = 2 * waves(camera.shape, (0.123, 0.047))
    Image.fromarray(np.clip(camera * 0.7 + 40 + lines, 0, 255).astype(np.uint8)).save(tmp_path / "in.png")
    for words in (["--auto"], ["--at", "0.123,0.047"], ["--auto", "--edges", "mirror"]):
        for name, output in (("keep.png", "keep"), ("real.tif", "real")):
            made = run("notch", "--pass", *words, "--output", output, "--verify", tmp_path / "in.png", tmp_path / name)
            assert made.exit_code == 0, made.output
        assert ("found" in made.stderr, "removed" in made.stderr) == ("--auto" in words, False)
        assert np.std(tifffile.imread(tmp_path / "real.tif") - lines) < 0.35 * np.std(lines)
        mean = np.asarray(Image.open(tmp_path / "in.png")).mean()
        assert np.asarray(Image.open(tmp_path / "keep.png")).mean() == pytest.approx(mean, abs=0.5)
    source = tmp_path / "in.png"
    recipe = ["--at", "0.1,0", "--at", "0,0.1", "--lattice", "2", "--save-recipe", tmp_path / "r.json"]
    assert run("notch", "--pass", *recipe, source, tmp_path / "a.tif").exit_code == 0
    assert run("apply", tmp_path / "r.json", source, tmp_path / "b.tif").exit_code == 0
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "a.tif"), tifffile.imread(tmp_path / "b.tif"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("notch --at 0.1,0 --pass --lowpass 3px", "No such option"),
        ("notch --at 0.1,0 --pass --times lowpass", "--pass keeps the waves of notches alone"),
        ("notch --at 0.1,0 --pass --output removed", "--pass keeps the waves of notches alone"),
        ("notch --at 0.1,0 --lattice 2", "a lattice is that of two waves"),
        ("notch --at 0.1,0 --at 0,0.1 --lattice 99", "lattice 99 is invalid"),
        ("lowpass --output removed --channels luminance", "leave --channels out"),
        ("lowpass --output removed --region 1,1,9,9", "--region takes floats"),
        ("imagej --output removed", "No such option"),
    ],
)
def test_what_means_nothing_is_refused_in_a_line(tmp_path, words, message):
    made = run(*words.split(), SAMPLES / "camera.pgm", tmp_path / "out.png")
    assert (made.exit_code, message in made.stderr) == (2, True), made.output
