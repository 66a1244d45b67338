"""What a first start says when it takes long: on a busy machine the embedded server needs half a minute."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

# Seconds after which a step is slow.
AFTER = 1.0

logger = logging.getLogger("catchment.server")


@contextmanager
def said_if_slow(step: str) -> Generator[None]:
    """Say once what is being done if the block takes long: in the log of a program that has set one up, or else on
    standard error."""
    timer = threading.Timer(AFTER, _say, [step])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(step: str) -> None:
    with suppress(Exception):  # standard error may be closed
        if logger.hasHandlers():
            logger.info("%s", step)
        else:
            # One write, so that lines of two steps do not mix.
            sys.stderr.write(f"{step}\n")
            sys.stderr.flush()
