"""Stacks: what a pipeline filters at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fftfilter.output.ramp import Stack

U8 = np.dtype(np.uint8)
STACK = Stack(3, 20, 30, U8, U8, white=255)


def test_a_stack_has_a_scale_for_each_image_or_one_for_all():
    assert STACK.pictures == 3
    assert replace(STACK, one_scale=True).pictures == 1


def test_a_stack_counts_pixels_and_names_its_size_as_width_by_height():
    assert (STACK.shape, STACK.size) == ((3, 20, 30), 1800)
    assert str(STACK) == "a stack of 3 images of 30 x 20"
    assert str(replace(STACK, count=1)) == "an image of 30 x 20"


def test_stacks_that_differ_in_anything_are_not_equal():
    assert replace(STACK) == STACK
    for other in ({"count": 2}, {"pixel": np.dtype(np.uint16)}, {"white": 100}, {"one_scale": True}):
        assert replace(STACK, **other) != STACK
