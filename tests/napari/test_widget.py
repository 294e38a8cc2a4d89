"""The widget in napari, in a window that is not shown. CONTRIBUTING names the command that installs napari."""

from __future__ import annotations

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H

pytest.importorskip("napari", reason="napari is not installed")
