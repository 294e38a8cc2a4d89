"""Every step of the pipeline on data small enough to see the answer."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.output.ramp import Gray, of_values, ramps
from fftfilter.staged.pipeline import Runner
from fftfilter.staged.steps import (
    FLIP,
    IMAGE,
    MASK,
    NOISE_FLOOR,
    OFFSET,
    RAMPS,
    SPIN,
    UNDECIDED,
    X,
    Y,
    bit_reversal,
    butterfly,
    extremes,
    first_pair,
    load,
    magnitude,
    mask,
    mask_table,
    normalize,
    quantize,
    spin_factors,
    transpose,
)
from fftfilter.transfer.radial import PASSES
from fftfilter.transfer.shapes import SHAPES

COMPLEX = np.complex64


def run(launcher, stages, out, /, **given):
    """Launch stages on host arrays by buffer name and return buffer ``out`` in the type of what was given for it."""
    names = {name: value if np.isscalar(value) else launcher.allocate(value.nbytes) for name, value in given.items()}
    buffers = dict(names)
    for name, value in given.items():
        if not np.isscalar(value):
            launcher.write(buffers[name], value)
    Runner(launcher).run(stages, names)
    result = np.empty_like(given[out])
    launcher.read(result, names[out])
    return result


def test_spin_factors_are_cosines_and_minus_sines(launcher):
    w = run(launcher, [spin_factors(8)], SPIN, spin=np.zeros(4, COMPLEX))
    s = np.sqrt(0.5)
    np.testing.assert_allclose(w, [1, s - 1j * s, -1j, -s - 1j * s], atol=1e-7)


def test_bit_reversal_turns_the_bits_of_each_index_around(launcher):
    x = np.array([[0, 1, 2, 3, 4, 5, 6, 7], [10, 11, 12, 13, 14, 15, 16, 17]], COMPLEX)
    got = run(launcher, [_rows(bit_reversal(8), 2)], X, x=x, y=np.zeros_like(x))
    assert got.real.tolist() == [[0, 4, 2, 6, 1, 5, 3, 7], [10, 14, 12, 16, 11, 15, 13, 17]]


def test_butterfly_of_the_first_stage_is_sum_and_difference_of_neighbors(launcher):
    x = np.array([1, 2, 3, 5], COMPLEX)
    got = run(launcher, [butterfly(4, 1)], X, x=x, spin=np.array([1, -1j], COMPLEX), flip=np.uint32(0))
    assert got.tolist() == [3, -1, 8, -2]


@pytest.mark.parametrize(("flip", "turn"), [(0, -1j), (0x80000000, 1j)], ids=["forward", "inverse"])
def test_butterfly_of_the_second_stage_turns_by_the_spin_factor(launcher, flip, turn):
    x = np.array([1, 2, 3, 5], COMPLEX)
    got = run(launcher, [butterfly(4, 2)], X, x=x, spin=np.array([1, -1j], COMPLEX), **{FLIP: np.uint32(flip)})
    assert got.tolist() == [1 + 3, 2 + 5 * turn, 1 - 3, 2 - 5 * turn]


def test_normalize_divides_by_the_number_of_samples(launcher):
    x = np.array([[4, 8j], [-2, 1]], COMPLEX)
    assert run(launcher, [normalize(2, 2)], X, x=x).tolist() == [[2, 4j], [-1, 0.5]]


@pytest.mark.parametrize("kind", ["plain", "tiled", "float4"])
@pytest.mark.parametrize("shape", [(1, 2, 3), (2, 5, 4), (1, 1, 7), (2, 4, 6), (3, 17, 33)], ids=str)
def test_transpose_swaps_rows_and_columns_of_each_image(launcher, kind, shape):
    images, height, width = shape
    x = np.arange(images * height * width, dtype=COMPLEX).reshape(shape)
    stage = transpose(width, height, images, kind=kind, side=4)
    got = run(launcher, [stage], X, x=x, y=np.zeros_like(x))
    assert got.reshape(images, width, height).tolist() == x.swapaxes(1, 2).tolist()


def test_the_float4_transpose_takes_the_plain_one_where_a_side_is_odd():
    kernels = {size: transpose(*size, 1, kind="float4").kernel for size in [(4, 6), (3, 4), (2, 5), (1, 1)]}
    assert kernels == {
        (4, 6): "transpose_float4", (3, 4): "transpose_plain", (2, 5): "transpose_plain", (1, 1): "transpose_plain",
    }  # fmt: skip


def masked(launcher, height, width, transfer, bits=(0, 0)):
    """Return a spectrum of ones after the mask, upright."""
    x = np.ones((width, height), COMPLEX)
    _, gains = transfer.on_grid(height, width, real=launcher.real.str)
    table = mask_table(height, width, transfer.radial, gains)
    step = mask(height, width, 1, transfer.radial, bits, is_complex=transfer.is_complex)
    made = run(launcher, [step], X, x=x, **{MASK: table}).T
    return made if transfer.is_complex else made.real


def test_ideal_mask_passes_the_bins_nearer_than_the_radius(launcher):
    # Distances from DC on 4 x 4 bins: 0 1 2 1 along a side. Radius 1.5 takes 0, 1 and sqrt 2, but not 2.
    low = masked(launcher, 4, 4, H.lowpass(1.5))
    assert low.tolist() == [[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 0, 1]]


def test_ideal_high_pass_keeps_the_radius_itself(launcher):
    high = masked(launcher, 4, 4, H.highpass(2))
    assert high.tolist() == [[0, 0, 1, 0], [0, 0, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0]]


@pytest.mark.parametrize("kind", PASSES)
@pytest.mark.parametrize("shape", SHAPES)
def test_mask_is_the_transfer_function(launcher, kind, shape):
    transfer = getattr(H, kind)(*((0.5, 2) if "band" in kind else (1.25,)), shape=shape)
    for size in ((8, 8), (6, 9), (1, 5), (7, 1), (60, 90)):
        wanted = transfer.gain(*size)
        np.testing.assert_allclose(masked(launcher, *size, transfer), wanted, atol=0 if shape == "ideal" else 3e-7)


SHIFT = H.function(lambda fx, fy: np.exp(2j * np.pi * (fx + fy)))


@pytest.mark.parametrize("transfer", [H.lowpass(2), H.mask(np.arange(32).reshape(4, 8)), SHIFT], ids=str)
def test_the_mask_follows_bins_in_bit_reversed_order(launcher, transfer):
    gains = transfer.gain(4, 8) / transfer.largest
    down, across = [0, 2, 1, 3], [0, 4, 2, 6, 1, 5, 3, 7]
    gains = gains.astype(COMPLEX if transfer.is_complex else np.float32)
    assert masked(launcher, 4, 8, transfer, (2, 3)).tolist() == gains[down][:, across].tolist()
    assert masked(launcher, 4, 8, transfer, (0, 3)).tolist() == gains[:, across].tolist()


@pytest.mark.parametrize(("pixel", "dtype"), [("uchar", np.uint8), ("ushort", np.uint16), ("float", np.float32)])
def test_load_takes_each_images_offset_off_and_makes_pixels_complex(launcher, pixel, dtype):
    image = np.array([[[0, 1, 200]], [[7, 0, 9]]], dtype)
    offset = np.array([1, 7], np.float32)
    x = np.full((2, 1, 3), 9 + 9j, COMPLEX)
    got = run(launcher, [load(3, 1, 2, pixel)], X, image=image, x=x, **{OFFSET: offset})
    assert got.tolist() == [[[-1, 0, 199]], [[0, -7, 2]]]


def test_magnitude_puts_the_offset_back_and_is_the_hypotenuse(launcher):
    x = np.array([3 + 4j, -5, 12j, 0], COMPLEX)
    offset = np.array([0, 10], np.float32)
    got = run(launcher, [magnitude(2, 1, 2, 0.5)], X, x=x, y=np.zeros(4, COMPLEX), **{OFFSET: offset})
    assert got.view(np.float32)[:4].tolist() == [5, 5, 13, 5]


# One value, less than a work-group's, one work-group, several, the most.
@pytest.mark.parametrize("count", [1, 7, 64, 1000, 70_000], ids=lambda n: f"{n} values")
def test_extremes_start_at_zero_and_find_the_largest_of_each_image(launcher, count, rng):
    values = rng.random((2, count), np.float32) + 1
    values[0, count // 2], values[1, -1] = 5, 6
    size = launcher.reduction_size
    pair = first_pair(count, 2, size)
    parts = run(launcher, extremes(count, 2, size), Y, x=values, y=np.zeros(pair + 2, COMPLEX))
    assert parts[pair:].tolist() == [0 + 5j, 0 + 6j]


def quantized(launcher, values, smallest, largest, dtype=np.uint8, levels=255, noise_floor=0.0, *, result=IMAGE):
    pixel = {np.uint8: "uchar", np.uint16: "ushort", np.float32: "float"}[dtype]
    values = np.array(values, np.float32)
    stage = quantize(values.size, 1, 0, pixel)
    pair = np.array([complex(smallest, largest)], COMPLEX)
    image = np.zeros(values.size, dtype)
    ramp = of_values(ramps("magnitude", gray=Gray(1, np.dtype(dtype), levels)))
    given = {NOISE_FLOOR: np.array([noise_floor], np.float32), RAMPS: ramp, UNDECIDED: np.zeros(1, np.uint32)}
    return run(launcher, [stage], result, image=image, x=values, y=pair, **given).tolist()


def test_quantize_truncates_and_gives_the_largest_value_white(launcher):
    assert quantized(launcher, [0, 0.5, 0.999, 1], 0, 1) == [0, 127, 254, 255]
    assert quantized(launcher, [0, 1 / 3, 1], 0, 1, np.uint16, 65535) == [0, 21845, 65535]
    assert quantized(launcher, [0, 0.5, 2], 0, 2, np.float32, 1) == [0, 0.25, 1]


def test_quantize_counts_a_level_missed_by_rounding_as_reached(launcher):
    # 99.99999 of 255 is 100 that lost its last bit; 99.99 is not.
    assert quantized(launcher, [99.99999 / 255, 99.99 / 255, 1], 0, 1) == [100, 99, 255]


def test_quantize_counts_what_rounding_left_short_of_the_largest_as_white(launcher):
    # A plain surface at a length that needs many steps: one value in a million above the others.
    assert quantized(launcher, [1, 1 - 4e-6, 1 - 1e-4], 0, 1) == [255, 255, 254]
    assert quantized(launcher, [1, 1 - 4e-6], 0, 1, np.float32, 1) == [1, np.float32(1 - 4e-6)]


def test_quantize_counts_levels_beside_an_edge(launcher):
    # Of 1, 2 and white; below 1 all is black.
    levels = [0, 0.9994, 0.99951, 1.9990, 1.99951, 2.5, 255 * (1 - 2**-16), 254.9, 255]
    assert quantized(launcher, [level / 255 for level in levels], 0, 1, result=UNDECIDED) == [3]
    assert quantized(launcher, [level / 255 for level in levels], 0, 1, np.uint16, 256, result=UNDECIDED) == [0]


def test_quantize_makes_rounding_noise_black(launcher):
    assert quantized(launcher, [1e-4, 2e-3], 0, 2e-3, noise_floor=2.55e-3) == [0, 0]
    assert quantized(launcher, [0, 0], 0, 0) == [0, 0]


def _rows(stage, rows):
    return stage._replace(items=(stage.items[0], rows))
