"""The errors: what the head of their module draws is what there is."""

from __future__ import annotations

import inspect
import re

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
