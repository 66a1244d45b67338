"""Figures of the last minutes, in the memory of this process. The tables keep no history of how full queues were."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

EVERY_SECONDS = 5.0
MOST = 120


@dataclass(frozen=True, slots=True)
class Sample:
    """How many tasks and attempts there had ever been, and how many were ready and running on each queue."""

    at: datetime
    made: int
    started: int
    ready: Mapping[str, int]
    processing: Mapping[str, int]


class Samples:
    """The last ten minutes, one sample in five seconds while anybody looks."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=MOST)

    def add(self, sample: Sample) -> None:
        self._samples.append(sample)

    def __len__(self) -> int:
        return len(self._samples)

    def last(self) -> Sample | None:
        return self._samples[-1] if self._samples else None

    def series(self, queue: str, figure: str) -> list[int]:
        """``ready`` or ``processing`` of a queue, oldest first."""
        return [getattr(sample, figure).get(queue, 0) for sample in self._samples]

    def totals(self, figure: str) -> list[int]:
        """The same of all queues together."""
        return [sum(getattr(sample, figure).values()) for sample in self._samples]

    def times(self) -> list[datetime]:
        return [sample.at for sample in self._samples]

    def rates(self, figure: str) -> list[float]:
        """``made`` or ``started`` per second, between each two samples."""
        rates: list[float] = []
        for before, after in zip(self._samples, list(self._samples)[1:], strict=False):
            seconds = (after.at - before.at).total_seconds()
            if seconds > 0:
                rates.append(max(0, getattr(after, figure) - getattr(before, figure)) / seconds)
        return rates
