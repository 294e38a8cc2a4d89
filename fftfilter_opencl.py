"""The start of the command: runs the package ``fftfilter``, if it is the one that came with this module.

PyPI has another project called fftfilter. Where that lies in the place of this one, or before it, only a module of
another name can say so.
"""

import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Run the command line and end the process."""
    try:
        from fftfilter import __distribution__  # noqa: F401  the other project's has none
    except Exception:  # noqa: BLE001  another project's code may raise anything
        own, found = Path(__file__).with_name("fftfilter"), find_spec("fftfilter")
        place = Path(found.origin).parent if found and found.origin else own
        way_out = (
            f"{sys.executable} -m pip uninstall fftfilter, then install fftfilter-opencl with --force-reinstall"
            if place == own
            else f"remove it, or its folder from PYTHONPATH; this program is {own}"
        )
        sys.exit(f"fftfilter: {place} belongs to another project called fftfilter: {way_out}")
    from fftfilter.__main__ import main as run

    run()


if __name__ == "__main__":
    main()
