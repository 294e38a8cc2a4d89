"""``--save-stages``: a picture of each of the pipeline's intermediate results, in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import WriteError
from ...images import Picture, write
from ...preview.steps import StepPictures

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from numpy.typing import NDArray

    from ...files.sources import Identity


class SavedSteps:
    """Writes each result that a pipeline shows it as a numbered PNG in a folder; none replaces one of ``spare``."""

    def __init__(self, folder: Path, spare: Collection[Identity | None]) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(f"{folder}: cannot be made ({error.strerror}): give another folder") from error
        self._folder, self._pictures, self._spare = folder, StepPictures(), spare
        self._count = 0

    def __call__(self, name: str, planes: NDArray[Any]) -> None:
        """Save planes ``(channels, height, width)`` as ``NN-name.png``."""
        self._count += 1
        picture = Picture(self._pictures.pixels(name, planes), None, 255, "PNG")
        write(picture, self._folder / f"{self._count:02}-{name}.png", spare=self._spare)
