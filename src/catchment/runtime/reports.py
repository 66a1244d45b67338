"""Failures that repeat: logged at once, then less and less often while they last."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

# A failure that lasts is logged again after this many seconds, then after twice as many, and so on.
FIRST_PAUSE = 5.0
LAST_PAUSE = 60.0


@dataclass(slots=True)
class _Lasting:
    began: float
    due: float
    pause: float = FIRST_PAUSE
    count: int = 1


class Reports:
    """The failures of one part, or of several, each by a ``key``. For one thread."""

    def __init__(self) -> None:
        self._lasting: dict[str, _Lasting] = {}

    def due(self, key: str, text: str) -> str | None:
        """What to log about a failure; None if the one with this key was logged a short while ago, and lasts."""
        now = monotonic()
        known = self._lasting.get(key)
        if known is None:
            self._lasting[key] = _Lasting(now, now + FIRST_PAUSE)
        else:
            known.count += 1
            if now < known.due:
                return None
            known.pause = min(known.pause * 2, LAST_PAUSE)
            known.due = now + known.pause
            text = f"{text} ({known.count} times in {now - known.began:.0f} s)"
        return text

    def over(self, key: str | None = None) -> bool:
        """This failure, or each, is over: the next one is logged at once. Returns whether there was one."""
        if key is not None:
            return self._lasting.pop(key, None) is not None
        was = bool(self._lasting)
        self._lasting.clear()
        return was
