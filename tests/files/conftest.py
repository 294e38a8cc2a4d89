"""A user whom permissions stop."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def open_folder():
    """Give a folder that any user can reach, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="fftfilter-test-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


@pytest.fixture
def ordinary_user():
    """Give up being root, whom no permission stops, until the test ends."""
    if sys.platform == "win32":
        pytest.skip("permissions work differently on Windows")
    if os.geteuid() != 0:
        yield
        return
    try:
        os.setresuid(65534, 65534, 0)
    except (AttributeError, OSError) as error:
        pytest.skip(f"cannot become another user: {error}")
    yield
    os.setresuid(0, 0, 0)
