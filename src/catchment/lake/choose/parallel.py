"""Is one refresh worth several tasks? Pure: counts and predictions in, a decision with its reason out.

The rule of thumb is a count of keys and of free workers. Where the time or the memory of the refresh can be predicted,
that decides instead: keys tell little about work, and on one machine several processes bring bounded memory rather than
speed, because DuckDB uses all cores by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from catchment.lake.settings import LakeSettings
from catchment.lake.types import Properties

MIN_KEYS = 10_000_000
KEYS_PER_WORKER = 5_000_000
MAX_WORKERS = 16


@dataclass(frozen=True, slots=True)
class Decision:
    """``workers`` is how many subtasks run at a time, 1 for a refresh that is not spread."""

    is_parallel: bool
    workers: int
    reason: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a refresh is expected to take in one task. None: nobody knows yet."""

    seconds: float | None = None
    memory_bytes: float | None = None


def should_parallelize(
    affected_keys_count: int,
    available_workers: int,
    *,
    min_keys: int = MIN_KEYS,
    keys_per_worker: int = KEYS_PER_WORKER,
    max_workers: int = MAX_WORKERS,
) -> bool:
    """Whether the number of keys is worth the coordination of several workers."""
    if affected_keys_count < min_keys or available_workers < 2:
        return False
    return min(affected_keys_count // keys_per_worker, available_workers, max_workers) >= 2


def decide(
    properties: Properties,
    settings: LakeSettings,
    *,
    keys: int,
    workers: int,
    prediction: Prediction,
    is_cuttable: bool = True,
) -> Decision:
    """Whether a refresh of this number of keys is spread, and over how many workers at a time.

    ``workers`` are the free slots of live workers, the caller's own among them. ``is_cuttable``: the key has a column
    that tells buckets apart. A threshold of the table's own is an instruction, so the global lower bound on the
    expected time does not apply to it.
    """
    refusal = _forbidden(properties, settings, is_cuttable)
    if refusal is not None:
        return Decision(False, 1, refusal)
    most = min(properties.max_parallelism or settings.parallel_max_workers, max(1, workers))
    if _needs_memory(settings, prediction):
        return Decision(True, most, f"about {prediction.memory_bytes or 0:,.0f} bytes are more than a process may use")
    if most < 2:
        return Decision(False, 1, f"{workers} free workers, at most {most} of them at a time")
    seconds = prediction.seconds
    if seconds is not None and seconds >= settings.parallel_max_single_seconds:
        return Decision(True, most, f"one task would take about {seconds:.0f} s")
    if properties.parallel_threshold is None and seconds is not None and seconds < settings.parallel_min_seconds:
        return Decision(False, 1, f"one task takes about {seconds:.1f} s")
    return _by_keys(properties, settings, keys, workers, most)


def _forbidden(properties: Properties, settings: LakeSettings, is_cuttable: bool) -> str | None:
    if not settings.parallel_refresh_enabled:
        return "CATCHMENT_PARALLEL_REFRESH_ENABLED is off"
    if not properties.allow_parallel_refresh:
        return "allow_parallel_refresh of the table is off"
    return None if is_cuttable else "KEY_NOT_HASHABLE"


def _needs_memory(settings: LakeSettings, prediction: Prediction) -> bool:
    """Then even one worker does better with buckets: one after another, each fits."""
    share = settings.parallel_memory_share * settings.memory_bytes
    return prediction.memory_bytes is not None and prediction.memory_bytes > share


def _by_keys(properties: Properties, settings: LakeSettings, keys: int, workers: int, most: int) -> Decision:
    threshold = properties.parallel_threshold
    min_keys = settings.parallel_min_affected_keys if threshold is None else threshold
    # Half of the smallest worthwhile refresh is worth a worker: as with the defaults, so with any other threshold.
    keys_per_worker = min(settings.parallel_keys_per_worker, max(1, min_keys // 2))
    is_worth_it = should_parallelize(
        keys, workers, min_keys=min_keys, keys_per_worker=keys_per_worker, max_workers=most
    )
    said = f"{keys:,} keys, from {min_keys:,} on, and {workers} free workers"
    return Decision(is_worth_it, min(most, max(2, keys // keys_per_worker)) if is_worth_it else 1, said)
