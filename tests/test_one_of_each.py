"""A mode and a kind of filter more, in a copy of the package: what CONTRIBUTING.md names is enough for all uses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

CHECKER = '''
"""A checkerboard over the frequencies, of which every second square is taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .part import ALL, Part
from .product import Transfer
from .units import Radius

if TYPE_CHECKING:
    from .grid import Gain
    from .units import RadiusLike


@dataclass(frozen=True, repr=False)
class Checker(Part):
    """Squares whose sides are a radius; that around DC passes."""

    side: Radius

    kind = "checker"
    is_even_along_axes = True

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        import numpy as np

        cycles = self.side.bins(height, width) / min(height, width)
        across, down = (np.rint(np.abs(np.fft.fftfreq(n)) / cycles) for n in (width, height))
        return np.asarray((across[columns] + down[rows, None] + 1) % 2)

    def __str__(self) -> str:
        return f"checker of {self.side}"


def checker(side: RadiusLike) -> Transfer:
    return Transfer((Checker(Radius.parse(side, "side")),))
'''

CHECKER_ON_THE_COMMAND_LINE = '''
@kind("--side 8px in.png out.png", factor=factor("--checker R", help="Take it out, too."))
@filter_option("--side R", multiple=True, required=True, help="Of a square.")
def checker(side: str) -> Transfer:
    """Take out a checkerboard."""
    return transfer.checker(side)


'''

NEGATIVE = """
        Mode("negative", "0 white", is_scaled=True, is_absolute=True),
"""

PIXELS_OF_NEGATIVE = """
    if output == "negative":
        made["stretch"], made["shift"] = -made["stretch"], top + 2 * nudge - made["shift"]
        made["white"] = np.inf
"""

# By file: text that stands there, and what is put in front of it.
MODE = {
    "fftfilter/output/modes.py": [('"real"]\n', '"negative", '), ('        Mode("real"', NEGATIVE)],
    "fftfilter/output/ramp.py": [('    made["magnitude"] = ', PIXELS_OF_NEGATIVE)],
}
KIND = {
    "fftfilter/transfer/checker.py": [("", CHECKER)],
    "fftfilter/transfer/__init__.py": [
        ("    from .fitted import descreen", "    from .checker import checker as checker\n"),
        ("    product.py ", "    checker.py     a checkerboard\n"),
        ('            ".fitted": ', '            ".checker": "checker",\n'),
    ],
    "fftfilter/commands/kinds.py": [('@kind(\n    "in.tif out.tif"', CHECKER_ON_THE_COMMAND_LINE)],
}


@pytest.mark.parametrize(("title", "changes"), [("an output mode", MODE), ("a kind of filter", KIND)])
def test_the_guide_names_what_is_touched_at_most_three_files(title, changes):
    section = GUIDE.partition(f"## Add {title}\n")[2].partition("\n## ")[0]
    steps = [re.search(r"`(fftfilter/[\w./]+)`", step) for step in re.split(r"^\d\. ", section, flags=re.MULTILINE)[1:]]
    named = {step[1] for step in steps if step}  # the file to change comes first
    assert len(named) <= 3
    assert {path.replace("checker", "NAME") for path in changes} == named


def test_one_more_of_each_serves_files_folders_python_and_the_page(tmp_path):
    """All in one process of its own, as one process has one copy of the package."""
    pytest.importorskip("aiohttp")
    shutil.copytree(ROOT / "fftfilter", tmp_path / "fftfilter", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
    for path, texts in (MODE | KIND).items():
        file = tmp_path / path
        for before, text in texts:
            content = file.read_text(encoding="utf-8") if file.exists() else ""
            assert content.count(before) == 1
            file.write_text(content.replace(before, text + before), encoding="utf-8")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    run = subprocess.run(
        [sys.executable, "-c", "from tests.one_of_each import main; main()"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["files", "folders", "python", "page"]
