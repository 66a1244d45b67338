"""How long a worker waits for a call on a cluster of Ray, and what it makes of what it hears. No I/O here.

Ray's own wait may never return. So there is a limit for each state of a call: to connect, to be started, and to be
heard of again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from catchment.runtime.ray.settings import RaySettings

Heard = Mapping[str, Any]


class RayUnavailable(Exception):
    """The body was not started: there is no cluster, or it has no room."""


class RayLost(Exception):
    """The body was started, and its end is not known."""


class BodyDied(Exception):
    """The process of the body has ended; ``is_memory``: Ray has ended it for the memory that it took."""

    def __init__(self, message: str, *, is_memory: bool = False) -> None:
        super().__init__(message)
        self.is_memory = is_memory


class BodyCancelled(Exception):
    """The body has ended because it was cancelled."""


class BodyRefused(Exception):
    """The cluster cannot run the body: its module is not there, or no node ever has such resources."""


class Waiting:
    """The state of one call."""

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._state = "connecting"
        self._until = time.monotonic() + settings.ray_connect_seconds
        self._place = ""

    @property
    def seconds(self) -> float:
        """How long to wait for the next word. 0: it is too late, ask ``check``."""
        return max(0.0, self._until - time.monotonic())

    @property
    def has_started(self) -> bool:
        return self._state == "running"

    def hear(self, said: Heard) -> Heard | None:
        """Take a word of the driver; returns the answer if it is one. Raises when there will be none."""
        if "answer" in said:
            self._until = math.inf
            return said["answer"]
        if "down" in said:
            raise self._gone(said["down"])
        if "gone" in said:
            raise _meaning(said["gone"], said["message"], self._place)
        if "ready" in said:
            if self._state == "connecting":
                self._enter("pending", self._settings.ray_start_seconds)
        elif "started" in said:
            place = said["started"]
            self._place = f" (process {place['pid']} on {place['host']})"
            self._enter("running", self._settings.ray_silence_seconds)
        else:
            self._enter("running", self._settings.ray_silence_seconds)
        return None

    def check(self) -> None:
        """Raise if the time is up."""
        if self.seconds > 0:
            return
        limit = {
            "connecting": ("the cluster of Ray did not answer within", self._settings.ray_connect_seconds),
            "pending": ("the cluster of Ray had no room within", self._settings.ray_start_seconds),
            "running": ("its body on the cluster of Ray was not heard of for", self._settings.ray_silence_seconds),
        }
        text, seconds = limit[self._state]
        raise self._gone(f"{text} {seconds:g} s{self._place}")

    def _gone(self, reason: str) -> Exception:
        return RayLost(reason) if self.has_started else RayUnavailable(reason)

    def _enter(self, state: str, seconds: float) -> None:
        self._state = state
        self._until = time.monotonic() + seconds


def _meaning(kind: str, message: str, place: str) -> Exception:
    if kind in ("process", "memory"):
        return BodyDied(f"the process of the body has ended{place}: {message}", is_memory=kind == "memory")
    if kind == "cancelled":
        return BodyCancelled(f"the body was cancelled{place}")
    if kind == "node":
        return RayLost(f"the node of the body is gone{place}: {message}")
    return BodyRefused(f"the cluster of Ray cannot run it{place}: {message}")
