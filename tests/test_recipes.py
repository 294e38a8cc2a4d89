"""The recipes of docs/look.md and docs/python.md and the cells of docs/notebook.ipynb, as they stand there."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fftfilter

ROOT = Path(__file__).parent.parent
RECIPES, OF_LIBRARIES = (
    re.findall(r"```python\n(.*?)```", (ROOT / "docs" / name).read_text(), re.DOTALL)
    for name in ("look.md", "python.md")
)


def recipe(word):
    """Return the code that has a word in it."""
    (code,) = (code for code in RECIPES if word in code)
    return compile(code, "docs/look.md", "exec", dont_inherit=True)


@pytest.fixture
def by_call(monkeypatch):
    """Return what the recipes have to show for a radius; they start in the folder of the samples."""
    monkeypatch.chdir(ROOT)
    picture = np.asarray(Image.open("samples/astronaut.png"))
    return lambda large: fftfilter.bandpass(picture, large, "2px", channel_axis=-1)


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


def libraries_of(code):
    """Return the packages that a recipe imports."""
    return [name.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import) for name in node.names]


@pytest.mark.parametrize("code", OF_LIBRARIES, ids=lambda code: libraries_of(code)[-2])
def test_the_lines_for_a_library_run(code, monkeypatch):
    for name in libraries_of(code):
        pytest.importorskip(name, exc_type=ImportError)
    monkeypatch.chdir(ROOT)
    exec(compile(code, "docs/python.md", "exec", dont_inherit=True), {})  # noqa: S102  our own


def test_the_cells_of_the_notebook_run_in_order_and_show_pictures(monkeypatch):
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    monkeypatch.chdir(ROOT / "docs")
    names, shown = {}, []
    for cell in notebook["cells"]:
        assert not cell.get("outputs"), "outputs are not kept: they would be old"
        if cell["cell_type"] == "code":
            *lines, last = ast.parse("".join(cell["source"])).body
            if not isinstance(last, ast.Expr):
                lines.append(last)
            exec(compile(ast.Module(lines, []), cell["id"], "exec"), names)  # noqa: S102  our own
            if isinstance(last, ast.Expr):
                shown.append(eval(compile(ast.Expression(last.value), cell["id"], "eval"), names))  # noqa: S307
    pages, peaks = [each for each in shown if hasattr(each, "_repr_png_")], shown[2]
    assert [page.size[0] > 1000 for page in pages] == [True, False, True]
    assert peaks == [(6.44, 75.1)]
