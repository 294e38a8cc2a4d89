"""What is written and drawn on pages: a text in the characters that the font has, and smooth lines."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.preview.panels import BEFORE, NON_ASCII, Canvas, Fine, font, length, printable, shortened


def test_letters_lose_their_accents_and_what_the_font_has_not_becomes_a_question_mark():
    assert printable("\u00e9t\u00e9_5\u00b5m_90\u00b0_\u4e2d.pgm") == "ete_5um_90\u00b0_?.pgm"
    assert printable("e\u0301_\u00c5ngstr\u00f6m") == "e_Angstrom"


def test_the_font_has_what_is_left():
    def drawn(text):
        return bytes(font(24).getmask(text))

    assert [each for each in NON_ASCII if printable(each) != each or drawn(each) == drawn("\uffff")] == []


def test_a_text_that_is_too_wide_is_cut_off_as_late_as_it_can_be():
    text = "a lowpass, a notch, and some more of them"
    assert shortened(text, length(text)) == text
    for width in (60, 100, 150):
        cut = shortened(text, width)
        kept = cut.removesuffix(" ...")
        assert text.startswith(kept)
        assert cut != kept
        assert length(cut) <= width < length(text[: len(kept) + 3] + " ...")
    assert shortened("a lowpass, a notch", length("a lowpass,  ...")) == "a lowpass ..."  # no comma at the end
    assert shortened(text, 1) == " ..."
    assert len(shortened(text, 100, 17)) < len(shortened(text, 100))


def test_smooth_lines_are_drawn_where_they_are_and_within_their_rectangle():
    canvas = Canvas(60, 40, (240, 240, 240))
    with Fine(canvas, (10, 5, 49, 34)) as fine:
        fine.line([(0, 20), (60, 20)], BEFORE)
        fine.area([(20, 25), (30, 25), (30, 30), (20, 30)], (0, 0, 0), 0.2)
        fine.circle((40, 12), 5, (0, 0, 0))
    pixels = np.asarray(canvas.image).astype(int)
    assert (pixels[:, :10] == 240).all()
    assert (pixels[:, 50:] == 240).all()
    assert np.abs(pixels[20, 12:48] - BEFORE).max() <= 2
    assert (pixels[[18, 22], 12:48] == 240).all()
    assert pixels[27, 25].tolist() == pytest.approx([192] * 3, abs=1)
    y, x = np.nonzero(pixels[:18, :, 0] < 128)
    assert np.abs(np.hypot(x + 0.5 - 40, y + 0.5 - 12) - 4.5).max() < 1.5
    assert (pixels[12, 38:42] == 240).all()


def test_a_smaller_picture_stands_in_the_middle_of_its_panel():
    canvas = Canvas(40, 40)
    canvas.panel(np.zeros((4, 10, 3), np.uint8), 5, 6, 20)
    y, x = np.nonzero((np.asarray(canvas.image) == 0).all(axis=2))
    assert (y.min(), y.max(), x.min(), x.max()) == (14, 17, 10, 19)
    y, x = np.nonzero((np.asarray(canvas.image) != 255).any(axis=2))
    assert (y.min(), y.max(), x.min(), x.max()) == (6, 25, 5, 24)
