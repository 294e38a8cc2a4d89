"""The program: ``fftfilter`` and ``python -m fftfilter``."""

from __future__ import annotations

from .cli import cli


def main() -> None:
    """Run the command line and exit."""
    cli(prog_name=cli.name)


if __name__ == "__main__":
    main()
