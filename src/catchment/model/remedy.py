"""What to do about something, as SQL says it: one way per line, ``command  # what it does``. A line of ``# words``
alone has nothing to type."""

from __future__ import annotations

import re
from typing import NamedTuple

# A name in a command is one quoted word, in which the mark of a comment means nothing.
_COMMAND = re.compile(r"""(?:'[^']*'|"[^"]*"|(?!  # )[^'"])*""")


class Way(NamedTuple):
    """A command of the shell, and what it does; advice has no command."""

    command: str
    what: str


def ways_of(remedy: str | None) -> list[Way]:
    """The lines of a remedy."""
    return [_way(line) for line in (remedy or "").split("\n") if line]


def _way(line: str) -> Way:
    if line.startswith("# "):
        return Way("", line[2:])
    match = _COMMAND.match(line)
    end = len(line) if match is None else match.end()
    rest = line[end:]
    return Way(line[:end], rest[4:]) if rest.startswith("  # ") else Way(line, "")
