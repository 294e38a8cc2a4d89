"""What is written on a page."""

from __future__ import annotations

import pytest

from fftfilter.preview.panels import Canvas


@pytest.fixture
def said(monkeypatch):
    """The texts that are written, in their order."""
    written, text = [], Canvas.text

    def note(canvas, x, y, line, *more, **options):
        written.append(line)
        text(canvas, x, y, line, *more, **options)

    monkeypatch.setattr(Canvas, "text", note)
    return written
