"""``python -m catchment``, and the command ``catchment``.

Everything else is imported in here: Ctrl-C during the imports, which take most of the time of a short command, ends it
as at any other time.
"""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from catchment.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
