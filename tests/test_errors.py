"""The errors: what the head of their module draws is what there is."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from fftfilter import errors


def test_the_errors_and_their_exit_codes_are_those_of_the_drawing():
    drawn, above = {}, []
    for indent, name, code in re.findall(
        r"^ {4}([ │├└─]*)(\w+Error) *(?:exit code (\d))?", errors.__doc__, re.MULTILINE
    ):
        del above[len(indent) // 4 :]
        base = above[-1] if above else "Exception"
        drawn[name] = (base, int(code) if code else drawn[base][1])
        above.append(name)
    there = {name: each for name, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, Exception)}
    assert drawn == {name: (each.__bases__[0].__name__, each.exit_code) for name, each in there.items()}


def test_true_is_no_1():
    errors.check_option("radix", 1, [1, 2])
    with pytest.raises(errors.ParameterError, match=r"^radix True is invalid: choose 1, 2$"):
        errors.check_option("radix", True, [1, 2])


def test_a_message_is_one_line_whatever_values_it_has():
    assert str(errors.ParameterError("[[1 2]\n  [3 4]] is invalid")) == "[[1 2] [3 4]] is invalid"


def test_masked_values_are_counted_and_an_array_without_any_passes():
    given = np.ma.MaskedArray([1, 2, 3], [False, True, True])
    with pytest.raises(
        errors.ParameterError,
        match=r"^2 values of the mask are masked, and a transform needs them all: give them a value, for ",
    ):
        errors.check_unmasked("mask", given)
    assert not errors.is_masked(given[:1])
    errors.check_unmasked("mask", given[:1])
    errors.check_unmasked("mask", [1, None])
