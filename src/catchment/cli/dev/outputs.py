"""Where ``catchment dev`` and its handlers write, which may go away: a terminal that is closed, a reader that ends.

A shell that is left with ``exit`` sends its background jobs no signal. They keep the terminal, and each write to it
fails with EIO: a handler that prints would fail its task.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Mapping
from contextlib import suppress

# Standard output and standard error, which the child has too.
_NUMBERS = (1, 2)
_GONE = select.POLLHUP | select.POLLERR


def register(poll: select.poll) -> None:
    """Let this poll end when an output goes away."""
    for number in _NUMBERS:
        poll.register(number, 0)


def are_gone(events: Mapping[int, int]) -> bool:
    """Has the poll found that one of them is closed at its other end?"""
    return any(events.get(number, 0) & _GONE for number in _NUMBERS)


def show(line: str) -> None:
    """Write a line for the user. If nobody can read it, nothing happens: the supervisor notices."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
