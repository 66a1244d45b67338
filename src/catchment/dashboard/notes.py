"""What an action has just done, to be said on the next page. Not in the address: a link could say anything then."""

from __future__ import annotations

from collections import OrderedDict

MOST = 1000


class Notes:
    """At most one note for each visit, said once."""

    def __init__(self) -> None:
        self._notes: OrderedDict[str, str] = OrderedDict()

    def put(self, visit: str, note: str) -> None:
        self._notes[visit] = note
        while len(self._notes) > MOST:
            self._notes.popitem(last=False)

    def take(self, visit: str) -> str:
        """The note of a visit, or an empty text."""
        return self._notes.pop(visit, "")
