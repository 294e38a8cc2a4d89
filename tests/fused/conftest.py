"""The devices that the tests of both forms run on."""

from __future__ import annotations

import pytest

from fftfilter.device.launcher import Launcher
from fftfilter.device_choice import choose
from fftfilter.errors import DeviceError


@pytest.fixture(scope="session")
def launcher():
    """The device that auto takes; both forms run on any."""
    return Launcher(choose())


@pytest.fixture(scope="session")
def cpu():
    try:
        return Launcher(choose("cpu"))
    except DeviceError as error:
        pytest.skip(str(error))
