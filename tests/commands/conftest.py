"""What the commands' tests share."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from fftfilter.cli import cli


@pytest.fixture
def run():
    """Run the program in this process; returns exit code, stdout and stderr."""

    def run(*arguments, stdin=None):
        result = CliRunner().invoke(cli, [str(a) for a in arguments], input=stdin)
        return result.exit_code, result.stdout_bytes, result.stderr

    return run
