from __future__ import annotations

from benchmarks.environment import users_environment


def test_processes_are_timed_in_their_users_environment(monkeypatch):
    """What this program sets for itself when it opens a device would slow down others."""
    monkeypatch.setenv("POCL_AFFINITY", "1")
    monkeypatch.setenv("SOMETHING", "else")
    there = users_environment({"MORE": "1"})
    assert (there.get("POCL_AFFINITY"), there["SOMETHING"], there["MORE"]) == (None, "else", "1")
