"""Where a range of a refresh is computed: by this process, or by a body on a cluster of Ray.

The engine's task is the same in both cases, and so are its fence, its deadline and what its errors mean. A table that
should be computed on a cluster falls back to the worker where that is not possible, and the result says why.
"""

from __future__ import annotations

import atexit
import logging
import time
from dataclasses import replace
from functools import cache
from queue import Empty, SimpleQueue

from catchment.errors import ExtraMissing, LakeError, LakeInterrupted, LakeOutOfMemory
from catchment.lake.duck.duck import Stop
from catchment.lake.duck.extract import Inlined
from catchment.lake.refresh import bucket, remote
from catchment.lake.settings import LakeSettings, bytes_of
from catchment.lake.tasks.process import LakeProcess
from catchment.lake.types import BucketRange, BucketResult, Executor, Json, Order
from catchment.runtime.ray.link import RayCall, RayLink, call_of
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.ray.waiting import (
    BodyCancelled,
    BodyDied,
    BodyRefused,
    Heard,
    RayLost,
    RayUnavailable,
    Waiting,
)

_log = logging.getLogger("catchment.lake")

LOOK_SECONDS = 0.1
CANCEL_SECONDS = 5.0
"""How long a body that was cancelled may take to end; after that it is not known whether it has."""

AGAIN_SECONDS = 30.0
"""A cluster that could not be used is not asked again for this long, nor for as long as it was waited for, unless it
answers: at most half of the time is lost to a cluster that never has room."""


def executor_of(order: Order, settings: LakeSettings) -> Executor:
    """As the table says, else the lake, else the setting."""
    return order.definition.properties.executor or order.executor or Executor(settings.lake_executor)


def compute(
    lake: LakeProcess, raw: Json, order: Order, keys: BucketRange, attempt: bucket.Attempt, stop: Stop
) -> BucketResult:
    """Compute a range where it should be computed. Raises what ``compute_bucket`` raises, and ``RayLost``."""
    reason: str | None = None
    if executor_of(order, lake.settings) == Executor.RAY:
        try:
            return replace(_on_cluster(lake, raw, order, keys, attempt, stop), executor=Executor.RAY)
        except (ExtraMissing, RayUnavailable, BodyRefused, Inlined) as error:
            reason = str(error)
            _log.warning(
                "%s is computed by its worker: %s",
                order.definition.ref,
                reason,
                extra={"event": "lake.not_on_ray", "refresh_id": order.refresh_id},
            )
    result = bucket.compute_bucket(lake.duck, lake.control, order, keys, attempt, lake.settings, stop)
    return result if reason is None else replace(result, fallback=reason)


class Cluster:
    """The cluster of this process. One that could not be used is not asked by every range."""

    def __init__(self) -> None:
        self.link = RayLink(RaySettings.read())
        self._reason: str | None = None
        self._asks_at = 0.0

    def check(self) -> None:
        if self._reason is not None and time.monotonic() < self._asks_at:
            raise RayUnavailable(self._reason)

    def answered(self) -> None:
        self._reason = None

    def failed(self, error: RayUnavailable, *, waited: float) -> None:
        self._reason, self._asks_at = str(error), time.monotonic() + max(AGAIN_SECONDS, waited)


@cache
def _cluster() -> Cluster:
    cluster = Cluster()
    atexit.register(cluster.link.close)
    return cluster


def _on_cluster(
    lake: LakeProcess, raw: Json, order: Order, keys: BucketRange, attempt: bucket.Attempt, stop: Stop
) -> BucketResult:
    cluster = _cluster()
    cluster.check()
    settings = lake.settings
    began = time.monotonic()
    job = remote.make_job(lake.duck, lake.control, raw, order, keys, attempt, settings, stop)
    try:
        resources = {"num_cpus": settings.lake_ray_cpus, "memory": bytes_of(settings.lake_ray_memory)}
        answer = _run(cluster.link, job.text, resources, order, attempt, stop)
        cluster.answered()
        return job.result(answer)
    except BaseException as error:
        if isinstance(error, RayLost | RayUnavailable):
            # Also if its start was not heard of: a link that is cut may have taken the message.
            job.note_again()
        if isinstance(error, RayUnavailable):
            cluster.failed(error, waited=time.monotonic() - began)
        job.written.remove()
        raise


def _run(link: RayLink, text: str, resources: dict[str, int], order: Order, attempt: bucket.Attempt, stop: Stop) -> str:
    inbox: SimpleQueue[Heard] = SimpleQueue()
    waiting = Waiting(link.settings, resources)
    name = f"lake_bucket {order.definition.ref}"
    call = link.start(name, call_of(text, function=remote.FUNCTION), resources, inbox.put)
    try:
        return _wait(call, inbox, waiting, attempt, stop)
    except BodyDied as error:
        if error.is_memory:
            raise LakeOutOfMemory(str(error)) from error
        raise LakeError(str(error), code="STORAGE", hint="It is tried again.") from error
    finally:
        call.end()


def _wait(call: RayCall, inbox: SimpleQueue[Heard], waiting: Waiting, attempt: bucket.Attempt, stop: Stop) -> str:
    while True:
        reason = stop.reason()
        if reason is not None:
            raise _stopped(call, inbox, waiting, reason)
        try:
            said = inbox.get(timeout=min(LOOK_SECONDS, max(waiting.seconds, 0.001)))
        except Empty:
            waiting.check()
            continue
        if "progress" in said:
            attempt.progress(said["progress"][0])
        answer = waiting.hear(said)
        if answer is not None:
            if "error" in answer:
                raise BodyRefused(f"{answer['error']['kind']}: {answer['error']['message']}")
            return answer["result"]


def _stopped(call: RayCall, inbox: SimpleQueue[Heard], waiting: Waiting, reason: str) -> Exception:
    """End a body, and wait until it is gone: a sweep would have to look for what it writes later."""
    call.cancel()
    ends = time.monotonic() + CANCEL_SECONDS
    try:
        while (left := ends - time.monotonic()) > 0:
            if waiting.hear(inbox.get(timeout=left)) is not None:
                break
    except (BodyCancelled, BodyDied, BodyRefused, RayUnavailable):
        pass
    except (Empty, RayLost):
        if waiting.has_started:
            return RayLost(f"its body on the cluster was asked to stop ({reason}), and is not known to have ended")
    return LakeInterrupted(f"the work was stopped: {reason}")
