"""Tables of text."""

from __future__ import annotations

from fftfilter.text import text_table


def test_columns_of_numbers_are_aligned_to_the_right():
    assert text_table(("step", "ms"), [("a", "1.5"), ("longer", "12.5")], right=".r").splitlines() == [
        "step      ms",
        "a        1.5",
        "longer  12.5",
    ]


def test_other_columns_are_aligned_to_the_left_and_lines_end_with_their_text():
    assert text_table(("kind", "size", "what"), [("a", "10", "first"), ("bcdef", "9", "")], right=" r") == (
        "kind   size  what\na        10  first\nbcdef     9"
    )
    assert text_table(("kind", "what"), []) == "kind  what"
