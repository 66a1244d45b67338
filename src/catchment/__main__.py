"""``python -m catchment``."""

from catchment.cli.main import run

if __name__ == "__main__":
    run()
