"""Which engine is chosen: the same for filters, transforms and commands."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import fftfilter
from fftfilter import device_choice
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.work.recipe import Recipe
from tests.helpers import COMMAND


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "fused"),
        ({"engine": "fused"}, "fused"),
        ({"engine": "stockham"}, "stockham"),
        ({"engine": "stockham", "precision": "double"}, "stockham"),
        ({"engine_options": {}}, "fused"),
        ({"precision": "double"}, "book"),
        ({"work_group_size": 32}, "book"),
        ({"transpose": "plain"}, "book"),
    ],
)
def test_all_choose_alike(options, name):
    assert device_choice.name_of(options) == device_choice.choose_engine(options).name == name
    assert Filter(H.lowpass(), device="cpu", **(COMMAND | options)).engine == name
    assert Recipe(H.lowpass(), options=options).needs_staged == (name != "fused")


def test_what_is_odd_takes_the_book():
    assert device_choice.name_of({}, is_even=False) == "book"


def test_all_that_the_fused_engine_lacks_is_named():
    with pytest.raises(ParameterError, match="no double precision and no work-group size: leave the engine out"):
        Filter(H.lowpass(), engine="fused", precision="double", work_group_size=32, **COMMAND)
    with pytest.raises(ParameterError, match="no double precision and no options: leave the algorithm out"):
        fftfilter.fft(np.ones(4), algorithm="fused", precision="double", radix=4)
    with pytest.raises(ParameterError, match="algorithm 'magic' is invalid: choose fused, numpy, binary-exchange, "):
        fftfilter.fft(np.ones(4), algorithm="magic")


def test_a_name_is_told_before_numpy_and_opencl_are_imported():
    code = "import sys; from fftfilter.device_choice import name_of; sys.stdout.write(name_of({}))"
    code += "; print('', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split()[0] == "fused"
    assert set(run.stdout.split()) & {"numpy", "pyopencl"} == set()
