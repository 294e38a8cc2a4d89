"""Share the planes of an OME-Zarr among processes, as the files of a folder: a job is a run of its planes.

The program itself filters the first plane, whose output shows which arrays to make. The workers write the others into
these arrays, and note them in the same journal.
"""

from __future__ import annotations

from collections.abc import Callable
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
    from ..work.output_file import Share
    from ..work.recipe import Recipe

# Jobs for each process: enough that all end at about the same time.
JOBS_A_PROCESS = 8


def choose_for_planes(pages: Pages, device: str | None, processes: int | None) -> WantedWorkers:
    """Return the workers that suit the chosen planes; ``device`` and ``processes`` are the user's choice."""
    size = pages.size()
    survey = Survey(len(pages), len(pages) * size.samples * size.bytes_per_sample)
    # A process reads, filters and writes one plane after the other; zarr has threads of its own.
    return choose_workers(survey, [device], processes, over_network=False)._replace(threads=1)


def shared(workers: LocalWorkers, source: str, target: str, opened: Opened) -> Share:
    """Return a function that lets workers filter and write all chosen planes of an input but the first.

    With ``measure_only`` they find the largest value of each plane by a recipe that measures. ``advance`` is called
    after each plane. The outcomes are in the planes' order. Raises WriteError if a plane cannot be read, filtered or
    written, and DeviceError.
    """

    def do(recipe: Recipe, advance: Callable[[], None], *, measure_only: bool = False) -> list[Outcome]:
        planes = opened.pages.chosen[0 if measure_only else 1 :]
        # Waves were looked for in all planes.
        settings = Settings(replace(recipe, transfer=opened.transfer, auto=None), measure_only=measure_only)
        share = max(1, -(-len(planes) // (JOBS_A_PROCESS * workers.wanted.processes)))
        share += -share % opened.pages.thick
        starts = range(0, len(planes), share)
        jobs = [Job(i, source, target, planes=planes[start : start + share]) for i, start in enumerate(starts)]
        done = []
        for outcome in Pool(workers, len(jobs), workers.seconds_a_chunk).run(iter(jobs), settings):
            if outcome.error:
                raise WriteError(outcome.error)
            done.append(outcome)
            for _ in range(outcome.pages):
                advance()
        for outcome in done[:1]:
            outcome.cautions += workers.notes  # on processes that died
        return sorted(done, key=lambda outcome: outcome.job.number)

    return do
