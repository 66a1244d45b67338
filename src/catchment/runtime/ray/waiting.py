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
    """The body was not started: there is no cluster, or it has no free resources."""


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
    """The state of one call, which takes these resources of the cluster."""

    def __init__(self, settings: RaySettings, resources: Mapping[str, Any]) -> None:
        self._settings = settings
        self._resources = ", ".join(f"{name}={value}" for name, value in resources.items() if value is not None)
        self._state = "connecting"
        self._until = time.monotonic() + settings.ray_connect_seconds
        self._place = ""
        self._trouble = ""

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
        if "trouble" in said:
            self._trouble = f": {said['trouble']}"
        elif "ready" in said:
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
        cluster, settings = self._settings.cluster, self._settings
        wanted = f" for {self._resources}" if self._resources else ""
        not_started = f": it has no free resources{wanted}, or its nodes cannot start processes"
        limit = {
            "connecting": (f"{cluster} did not answer within", settings.ray_connect_seconds, self._trouble),
            "pending": (f"{cluster} did not start it within", settings.ray_start_seconds, not_started),
            "running": (f"its body on {cluster} was not heard of for", settings.ray_silence_seconds, self._place),
        }
        text, seconds, more = limit[self._state]
        raise self._gone(f"{text} {seconds:g} s{more}")

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
