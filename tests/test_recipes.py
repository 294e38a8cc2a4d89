"""The recipes of docs/look.md for notebooks and napari, as they stand there, without a screen."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fftfilter

ROOT = Path(__file__).parent.parent
RECIPES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "look.md").read_text(), re.DOTALL)


def recipe(word):
    """Return the code that has a word in it."""
    (code,) = (code for code in RECIPES if word in code)
    return compile(code, "docs/look.md", "exec", dont_inherit=True)


@pytest.fixture
def by_call(monkeypatch):
    """Return what the recipes have to show for a radius; they start in the folder of the samples."""
    monkeypatch.chdir(ROOT)
    picture = np.asarray(Image.open("samples/astronaut.png"))
    return lambda large: fftfilter.bandpass(picture, large, "2px", output="keep", channel_axis=-1)


def test_a_cell_of_a_notebook_filters_while_sliders_are_dragged(by_call):
    pytest.importorskip("ipywidgets")
    made = {}
    exec(recipe("ipywidgets"), made)  # noqa: S102  our own
    shown = made["bandpass"].widget
    shown.update()
    np.testing.assert_array_equal(np.asarray(shown.result), by_call("96px"))
    shown.children[0].value = 40
    np.testing.assert_array_equal(np.asarray(shown.result), by_call("40px"))


def test_a_panel_of_napari_filters_while_sliders_are_dragged(by_call, monkeypatch):
    napari = pytest.importorskip("napari")
    pytest.importorskip("qtpy")
    if sys.platform == "linux" and "DISPLAY" not in os.environ:
        pytest.skip("napari draws by OpenGL, which needs a display: xvfb-run makes one")
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr(napari, "run", lambda: None)
    made = {}
    exec(recipe("napari"), made)  # noqa: S102  our own
    try:
        made["bandpass"]()
        made["bandpass"].large.value = 40.0
        layers = made["viewer"].layers
        assert len(layers) == 2
        np.testing.assert_array_equal(layers[1].data, by_call("40px"))
    finally:
        made["viewer"].close()
