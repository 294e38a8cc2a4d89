"""Tables of text."""

from __future__ import annotations

from fftfilter.text import text_table


def test_columns_of_numbers_are_aligned_to_the_right():
    assert text_table(("step", "ms"), [("a", "1.5"), ("longer", "12.5")], right=".r").splitlines() == [
        "step      ms",
        "a        1.5",
        "longer  12.5",
    ]
