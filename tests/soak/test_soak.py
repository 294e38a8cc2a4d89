"""The soak itself: cases come back by their seeds, and what is wrong is found, whatever it is."""

from __future__ import annotations

import multiprocessing
import time

import numpy as np
import pytest
from click.testing import CliRunner

from tests.helpers import needs_posix
from tests.soak.__main__ import command
from tests.soak.cases import make
from tests.soak.check import attempt, filtered, judge
from tests.soak.rounds import soak


def run(*arguments):
    result = CliRunner().invoke(command, arguments)
    return result.exit_code, result.output


def test_a_case_is_its_seed():
    for seed in range(20):
        one, same = make(seed), make(seed)
        assert (one.about, one.image.tobytes()) == (same.about, same.image.tobytes())
        assert one.image.shape == (same.planes[0].shape if one.image.ndim == 2 else one.image.shape)


# Mirrored by the fused engine, and values as they are by a staged one.
@pytest.mark.parametrize("seed", [3, 8])
def test_a_case_is_right(seed):
    found = attempt(seed, threads=False)
    assert found.is_right, found.said


def test_one_line_does_a_case_again():
    code, said = run("--case", "43", "--no-threads")
    assert (code, said.splitlines()[0], "; right is at most" in said) == (0, make(43).about, True)


def test_a_picture_that_was_altered_is_found():
    case = make(43)
    assert case.planes.dtype == np.uint16
    picture = filtered(case, threads=False)
    assert judge(case, picture).is_right
    wrong = picture.copy()
    wrong[1, 3, 5] ^= 512
    found = judge(case, wrong)
    assert (found.is_right, found.seed) == (False, 43)
    assert "off by at most 512 of " in found.said
    assert not judge(case, picture // 2).is_right
    with pytest.raises(AssertionError, match="came out"):
        judge(case, picture[:, :4])


@needs_posix
def test_a_process_that_dies_is_found_and_another_goes_on():
    results = soak(time.monotonic() + 600, 8, processes=1, threads=False)  # cases that compile little
    assert next(results).is_right
    (process,) = multiprocessing.active_children()
    process.kill()
    dead = next(result for result in results if not result.is_right)
    assert "the process died (-9)" in dead.said
    assert next(results).seed == dead.seed + 1
    results.close()


def test_a_run_says_how_many_cases_of_each_kind_were_right():
    code, said = run("--minutes", "0.001", "--first", "43", "--processes", "1", "--no-threads")
    assert code == 0
    assert said.startswith("1 cases in ")
    assert all(f"{kind:20}      1 cases     0 wrong" in said for kind in make(43).kinds)
