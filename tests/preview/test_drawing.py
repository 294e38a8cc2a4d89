"""What is written on pages: a text in the characters that the font has."""

from __future__ import annotations

from fftfilter.preview.drawing import NON_ASCII, font, plain


def test_letters_lose_their_accents_and_what_the_font_has_not_becomes_a_question_mark():
    assert plain("\u00e9t\u00e9_5\u00b5m_90\u00b0_\u4e2d.pgm") == "ete_5um_90\u00b0_?.pgm"
    assert plain("e\u0301_\u00c5ngstr\u00f6m") == "e_Angstrom"


def test_the_font_has_what_is_left():
    def drawn(text):
        return bytes(font(24).getmask(text))

    assert [each for each in NON_ASCII if plain(each) != each or drawn(each) == drawn("\uffff")] == []
