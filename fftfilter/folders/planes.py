"""Share the planes of an OME-Zarr among processes, as the files of a folder: a job is a run of its planes.

The program itself filters the first plane, whose output shows which arrays to make. The workers write the others into
these arrays, and note them in the same journal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import WriteError
from .jobs import Job, Outcome, Settings
from .pool import Pool
from .processes import LocalWorkers, WantedWorkers, choose_workers
from .run import Survey

if TYPE_CHECKING:
    from ..images import Pages
    from ..work.opened import Opened
    from ..work.recipe import Recipe

# Jobs for each process: few, as each opens the Zarr anew, but enough that all end at about the same time.
JOBS_A_PROCESS = 8


def choose_for_planes(pages: Pages, device: str | None, processes: int | None) -> WantedWorkers:
    """Return the workers that suit the chosen planes; ``device`` and ``processes`` are the user's choice."""
    size = pages.size()
    survey = Survey(len(pages), len(pages) * size.samples * size.bytes_per_sample)
    return choose_workers(survey, [device], processes, over_network=False)


class SharedPlanes:
    """The planes of an input, and the processes for them."""

    def __init__(self, workers: LocalWorkers, source: str, target: str, opened: Opened) -> None:
        self._workers, self._source, self._target, self._opened = workers, source, target, opened

    def largest(self, recipe: Recipe, advance: Callable[[], None]) -> float:
        """Return the largest magnitude of all planes as a part of their white, 0 if all is rounding noise.

        ``advance`` is called after each plane. Raises what :meth:`filtered` raises.
        """
        planes = self._opened.pages.chosen
        return max(outcome.peak for outcome in self._run(recipe.measuring(), planes, advance, measure_only=True))

    def filtered(self, recipe: Recipe, advance: Callable[[], None]) -> list[Outcome]:
        """Filter and write all planes but the first; return the outcomes in the planes' order.

        ``advance`` is called after each plane. Raises WriteError if one cannot be read, filtered or written, and
        DeviceError.
        """
        return self._run(recipe, self._opened.pages.chosen[1:], advance)

    def _run(
        self, recipe: Recipe, planes: Sequence[int], advance: Callable[[], None], *, measure_only: bool = False
    ) -> list[Outcome]:
        # Waves were looked for in all planes.
        settings = Settings(replace(recipe, transfer=self._opened.transfer, auto=None), measure_only=measure_only)
        share = max(1, -(-len(planes) // (JOBS_A_PROCESS * self._workers.wanted.processes)))
        share += -share % self._opened.pages.thick
        starts = range(0, len(planes), share)
        jobs = [
            Job(i, self._source, self._target, planes=planes[start : start + share]) for i, start in enumerate(starts)
        ]
        done = []
        for outcome in Pool(self._workers, len(jobs), self._workers.seconds_a_chunk).run(iter(jobs), settings):
            if outcome.error:
                raise WriteError(outcome.error)
            done.append(outcome)
            for _ in range(outcome.pages):
                advance()
        return sorted(done, key=lambda outcome: outcome.job.number)
