"""What the tests of both forms share: images, and what filtered stacks are held to."""

from __future__ import annotations

import numpy as np

from fftfilter.device.opencl import Device
from fftfilter.errors import TooLargeError
from fftfilter.output.ramp import Gray, Stack, on_ramps, ramps
from fftfilter.output.rounding import Difference, deviation
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with
from tests.helpers import assert_gray_levels


class Full(Device):
    """A device without memory, which notes what it was asked to hold."""

    is_gpu = True
    checked = ()

    def check_memory(self, what, buffers):
        self.checked = buffers
        raise TooLargeError(what)


def noise(shape, dtype="uint8"):
    """Return random pixels over all that a type has, floats from -1 to 1; of a stack the second is darker."""
    rng = np.random.default_rng(61)
    if dtype == "float32":
        return rng.uniform(-1, 1, shape).astype(np.float32)
    pixels = rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    if len(shape) == 3 and shape[0] > 1:
        pixels[1] //= 5
    return pixels


def white_of(dtype):
    return 1 if np.dtype(dtype).kind == "f" else int(np.iinfo(dtype).max)


def stack_of(pixels, out=None, *, real=False, white=None, one_scale=False):
    """Return the kind of a stack of pixels; ``real`` asks for the filtered values as they are."""
    out = np.dtype("f4" if real else out or pixels.dtype)
    white = None if real else white or white_of(out)
    return Stack(*pixels.shape, pixels.dtype, out, white, one_scale=one_scale)


def assert_as_the_reference(got, pixels, transfer, *, one_scale=False, edges="wrap"):
    """Hold a filtered stack to the contract: 1 level of 255, in 1 pixel of 500; floats within half a level of 65535."""
    gain = grid_with(edges, transfer, *pixels.shape[1:]).gain()
    white = white_of(got.dtype)
    if one_scale:
        wanted = reference.filter_image(pixels, gain, got.dtype, white, edges)
    else:
        wanted = np.stack([reference.filter_image(image, gain, got.dtype, white, edges) for image in pixels])
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    if got.dtype == np.uint8:
        for image, right in zip(got, wanted, strict=True):
            assert_gray_levels(image, right)
        return
    # Noise has no weak detail: less is right here than the contract allows.
    found = Difference.of(got, wanted, white)
    assert found.largest <= (8e-6 if got.dtype == np.float32 else 1), found


def assert_real(got, pixels, transfer, edges="wrap"):
    """Hold filtered values as they are to the reference, in norm."""
    wanted = reference.filtered(pixels, grid_with(edges, transfer, *pixels.shape[1:]).gain(), edges).real
    assert np.linalg.norm(got - wanted) <= 4e-6 * np.linalg.norm(wanted)


def assert_kept(pipeline, pixels, transfer):
    """Hold bytes that keep the input's gray levels to the reference, and how many are clipped, in each of two runs."""
    stack = stack_of(pixels)
    kept = ramps("keep", units=np.ones(len(pixels)), gray=Gray(255, np.dtype("u1"), 255))
    values = reference.filtered(pixels, transfer.keeping_mean().gain(*pixels.shape[1:])).real
    wanted, facts = on_ramps(values, stack, kept, deviation(pixels).reshape(-1))
    clipped = facts.clipped
    assert clipped.max() > 0.02
    for _ in range(2):
        for got, right in zip(pipeline.run(pixels, kept), wanted, strict=True):
            assert_gray_levels(got, right)
        np.testing.assert_allclose(pipeline.facts().clipped, clipped, atol=1.5 / pixels[0].size)


def assert_clipped_beyond_the_ends(pipeline, height, width):
    """Hold what counts as clipped to the ends of a ramp: of four flat pictures those below 3, and from 7 on."""
    levels = np.array([2, 3, 6, 7], np.uint8)
    own = ramps("keep", units=np.ones(4), gray=Gray(255, np.dtype("u1"), 255))
    own["shift"], own["below"], own["above"] = 0, 3, 7
    pipeline.run(np.ones((4, height, width), np.uint8) * levels[:, None, None], own)
    assert pipeline.facts().clipped.tolist() == [1, 0, 0, 1]


def spikes(height, width):
    """Return a stack of pictures, each with one pixel of another column that is brighter or darker than the rest."""
    stack = np.full((2 * width, height, width), 100, np.uint8)
    for i, image in enumerate(stack):
        image[i % height, i // 2] = (3, 196)[i % 2] + i % 7
    return stack


def even(gains):
    """Return gains with H(-k) = H(k)."""
    return (gains + np.roll(gains[::-1, ::-1], (1, 1), (0, 1))) / 2
