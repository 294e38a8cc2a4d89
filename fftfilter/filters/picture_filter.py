""":class:`PictureFilter`: filters with steps of their own around the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ParameterError
from .filter import Filter

if TYPE_CHECKING:
    from ..transfer import Transfer

OF_OUTPUTS = ("output", "scale", "edges", "channels")


class PictureFilter(Filter):
    """A filter whose subclass makes the pixels of each picture itself: its ``_picture`` has steps around the pipeline.

    The input's gray levels are kept. Options of other outputs are refused, and so are missing pixels.
    """

    name: ClassVar[str]
    fill: ClassVar[str] = "fill them"
    """What helps against missing pixels."""
    fixed: ClassVar[Mapping[str, Any]] = {"output": "real"}
    """The options that the pipeline has in any case."""

    def _describe(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        for name in (*OF_OUTPUTS, "auto"):
            if name in options:
                raise ParameterError(f"{name} {options[name]!r} is not for {self.name}: leave it out")
        super()._describe(transfer, {**options, **self.fixed})
        self._options = {name: value for name, value in self._options.items() if name not in OF_OUTPUTS}

    @property
    def _is_by_picture(self) -> bool:
        return True

    def _check_missing(self) -> None:
        raise ParameterError(f"{self.name} knows no missing pixels: {self.fill}")
