"""The docstrings of public names: a line for each parameter, and examples that run."""

from __future__ import annotations

import doctest
import inspect

import numpy as np
import pytest
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import FftfilterError
from fftfilter.filters.description import DEFAULTS, Options

PUBLIC = {f"fftfilter.{name}": getattr(fftfilter, name) for name in fftfilter.__all__}
PUBLIC |= {f"H.{name}": getattr(H, name) for name in H.__all__}
USED = {
    name: used for name, used in PUBLIC.items() if not (isinstance(used, type) and issubclass(used, FftfilterError))
}
CALLS = [
    "lowpass",
    "highpass",
    "bandpass",
    "bandstop",
    "notch",
    "stripes",
    "imagej",
    "wiener",
    "descreen",
    "apply_mask",
]


@pytest.mark.parametrize("name", USED)
def test_examples_run(name, camera, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    image = camera[:160, :200].copy()
    Image.fromarray(image).save("cells.tif")
    np.save("gains.npy", np.ones((16, 16)))
    rgb = np.stack([image, image // 2, image // 3], axis=-1)
    given = {"np": np, "fftfilter": fftfilter, "H": H, "image": image, "rgb": rgb}
    given["rgba"] = np.dstack([rgb, np.full_like(image, 255)])
    found = doctest.DocTestFinder(recurse=False).find(USED[name], name, globs=given)
    assert [each for each in found if each.examples], f"{name} has no example"
    for each in found:
        assert not doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(each).failed


@pytest.mark.parametrize("name", CALLS)
def test_help_names_every_option_with_its_default(name):
    call = getattr(fftfilter, name)
    parameters = inspect.signature(call).parameters
    assert not [each for each in parameters.values() if each.kind == each.VAR_KEYWORD]
    for each in parameters.values():
        assert f"\n    {each.name}: " in call.__doc__, each
        usual = "wrap" if (name, each.name) == ("apply_mask", "edges") else DEFAULTS.get(each.name, each.default)
        assert each.default == usual, each
    refused = {"output", "scale", "edges", "channels", "auto", "missing"} if name in {"imagej", "descreen"} else set()
    assert parameters.keys() >= Options.__annotations__.keys() - refused


@pytest.mark.parametrize(
    "documented",
    [each for each in USED.values() if inspect.isfunction(each)] + [fftfilter.Filter.with_options, H.Transfer],
)
def test_help_has_a_line_for_each_parameter(documented):
    parameters = inspect.signature(documented).parameters
    for each in parameters.values():
        assert each.kind != each.VAR_KEYWORD or documented.__module__ == "fftfilter.transforms"
        assert (
            each.name == "self" or documented is H.Transfer or f"\n    {each.name}: " in inspect.getdoc(documented)
        ), each


def test_a_filter_and_its_calls_share_the_options():
    own, call = inspect.signature(fftfilter.Filter), inspect.signature(fftfilter.Filter.__call__)
    assert {*own.parameters, *call.parameters} >= Options.__annotations__.keys()
    assert own.parameters["output"].default == "keep"


def test_tab_shows_what_there_is():
    assert dir(H) == sorted(H.__all__)
    assert {"ParameterError", "DeviceError", "TooLargeError", "transfer"} <= {*dir(fftfilter)}
    assert issubclass(fftfilter.ParameterError, ValueError)
