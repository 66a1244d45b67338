"""Which way of refreshing is expected to be faster. Pure: estimates and earlier times in, a choice out.

An incremental refresh has fixed costs that a full one has not (feeds, keys, a comparison of fewer rows in more
statements), so small tables are always refreshed fully, and changes of many keys too. In between, the times of the
table's own earlier refreshes decide: once before the changes are read, and once more when the touched keys are counted.
How much of a source has changed says little about keys when that source is small, so few changes are always counted
first.

Before there are samples of incremental refreshes, what one has to read and join (``delta.effort``) is compared with
what a full one takes: a join of eighteen tables that have all changed is eighteen joins of eighteen tables. One sample
is enough to refresh fully from then on; after ``MEMORY`` refreshes it is forgotten and the guess decides again, so that
one slow moment does not decide forever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median

from catchment.lake.delta.effort import Effort, effort
from catchment.lake.delta.plan import Plan
from catchment.lake.reasons import Reason
from catchment.lake.settings import LakeSettings
from catchment.lake.types import Action, Mode

FIXED_MS = 60.0
"""What any refresh takes, however few rows: checks, a commit, a handful of statements."""

MEMORY = 20
"""Refreshes of a table after which the time of an incremental one is forgotten."""

SCANNED = 0.02
"""What reading a row of a source that no change touched costs, against a row that is computed."""

FULL_MS_PER_ROW = 0.0004
"""Before there is any sample: 2.5 million rows a second, what two cores do with a join and a group."""

FEW_ROWS = 10_000
"""Up to this number of changed rows, the touched keys are counted before their share decides: that is fast, and a third
of a dimension of three rows may touch one key or all."""

MS_PER_JOIN = 8.0
"""What each mention of a table in a statement takes to plan and to begin, however few of its rows are wanted."""

MARGIN = 1.2
"""A guess is good for so much: only beyond that, and by more than ``FIXED_MS``, it decides against the changes."""

FAR_TOO_LONG = 10
"""An incremental refresh that took this many times the expected time of a full one is not tried again."""

TOO_BIG_MS = 3_600_000.0
"""What an incremental refresh counts that did not fit into memory: so much that it is not tried again."""

SLOWEST_MS_PER_UNIT = 0.05
"""No refresh is expected to do fewer than 20,000 units a second; a sample that says so was too small to tell."""

_FULL = (Action.FULL, Action.REINITIALIZE, Action.REPAIR)
_COLUMN_BYTES = 16
_ROW_BYTES = 32


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a refresh will have to do, as far as metadata tells.

    ``effort`` is what finding and computing the touched keys reads, if the definition is known. It is counted when it
    is requested: where a full refresh costs nothing, nobody asks.
    ``key_share`` is about the part of the keys that changes touch. ``memory_bytes`` is what the rows to be compared
    take, ``predicted_ms`` the expected time of doing it in one process; None before there is a choice.
    """

    source_rows: int
    dt_rows: int
    changed_rows: int
    key_share: float
    memory_bytes: int = 0
    predicted_ms: float | None = None
    effort: Callable[[], Effort] | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A source: its rows now, and how many came and went since it was read."""

    rows: int
    inserted: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """An earlier refresh: what it did, how much work that was, how long it took."""

    action: str
    units: float
    ms: float


@dataclass(frozen=True, slots=True)
class Choice:
    """INCREMENTAL or FULL; with the reason if the definition would have allowed the other."""

    action: Action
    reason: str | None
    predicted_ms: float | None
    predicted_full_ms: float | None


def changed_source(rows: int, rows_old: int, inserted: int, deleted: int) -> Changed:
    """A source of which the catalog says so much. It knows of a file how many rows were deleted ever; what is missing
    now is closer to the truth."""
    return Changed(rows, inserted, min(deleted, max(0, rows_old + inserted - rows)))


def estimate_of(sources: Sequence[Changed], dt_rows: int, plan: Plan | None = None) -> Estimate:
    """What the changes of all sources mean for a table of ``dt_rows`` rows. An update is one row here, though it comes
    and goes. With the plan, whose tables these are, also what following them takes."""
    share = sum(max(source.inserted, source.deleted) / max(1, source.rows) for source in sources)
    changed = sum(source.inserted + source.deleted for source in sources)
    estimate = Estimate(sum(source.rows for source in sources), dt_rows, changed, min(1.0, share))
    if plan is None or plan.strategy == "full":
        return estimate
    pairs = zip(plan.tables, sources, strict=True)
    numbers = frozenset(table.occurrence for table, source in pairs if source.inserted or source.deleted)
    return replace(estimate, effort=cache(lambda: effort(plan, numbers)))


def full_units(estimate: Estimate) -> float:
    """The work of a full refresh: every source row is read, every stored row compared."""
    return float(estimate.source_rows + estimate.dt_rows)


def incremental_units(estimate: Estimate, keys: float) -> float:
    """The work of an incremental refresh that touches this number of keys."""
    wanted = estimate.effort() if estimate.effort is not None else Effort(scanned=estimate.source_rows)
    return estimate.changed_rows + keys + SCANNED * max(wanted.scanned, estimate.source_rows) + wanted.computed


def guess_incremental(estimate: Estimate, keys: float, full_ms: float) -> float | None:
    """The expected milliseconds of an incremental refresh without samples, from those of a full one."""
    if estimate.effort is None:
        return None
    rate = max(0.0, full_ms - FIXED_MS) / max(1.0, full_units(estimate))
    return FIXED_MS + MS_PER_JOIN * estimate.effort().joins + rate * incremental_units(estimate, keys)


def predict(samples: Sequence[Sample], actions: Sequence[str], units: float) -> float | None:
    """The expected milliseconds of an amount of work, or None without samples of these actions."""
    times = [_scaled(sample, units) for sample in samples if sample.action in actions and sample.units > 0]
    return max(FIXED_MS, median(times)) if times else None


def _scaled(sample: Sample, units: float) -> float:
    """The time of a sample, scaled to ``units``. The time of a tiny sample is not due to its few units."""
    rate = min(SLOWEST_MS_PER_UNIT, max(0.0, sample.ms - FIXED_MS) / sample.units)
    return sample.ms + rate * (units - sample.units)


def predict_full(estimate: Estimate, samples: Sequence[Sample]) -> float:
    """The expected milliseconds of a full refresh."""
    units = full_units(estimate)
    own = predict(samples, [Action.FULL.value], units)
    other = predict(samples, [action.value for action in _FULL], units)
    return own or other or FIXED_MS + FULL_MS_PER_ROW * units


def predict_incremental(
    estimate: Estimate, keys: float, samples: Sequence[Sample], full_ms: float | None
) -> float | None:
    """The expected milliseconds of an incremental refresh, or None without samples that are new, or tell enough.
    ``samples`` are the newest first."""
    units, actions = incremental_units(estimate, keys), [Action.INCREMENTAL.value]
    known = predict(samples[:MEMORY], actions, units)
    if known is None and full_ms is not None:
        before = predict(samples, actions, units)
        known = before if before is not None and before > FAR_TOO_LONG * max(full_ms, FAR_TOO_LONG * FIXED_MS) else None
    return known


def choose(
    mode: Mode, estimate: Estimate, samples: Sequence[Sample], settings: LakeSettings, threshold: float | None = None
) -> Choice:
    """How to refresh a table whose changes can be used, before they are read. ``threshold`` is the table's own share of
    keys above which it is refreshed fully."""
    full = predict_full(estimate, samples)
    if mode != Mode.INCREMENTAL and full < settings.lake_small_ms:
        return Choice(Action.FULL, Reason.SMALL_TABLE.value, full, full)
    is_few = estimate.changed_rows <= FEW_ROWS
    keys = estimate.changed_rows if is_few else estimate.key_share * estimate.dt_rows
    incremental = predict_incremental(estimate, keys, samples, full)
    if mode == Mode.INCREMENTAL:
        return Choice(Action.INCREMENTAL, None, incremental, full)
    limit = settings.lake_full_above if threshold is None else threshold
    if (not is_few and estimate.key_share > limit) or (incremental is not None and incremental > full):
        return Choice(Action.FULL, Reason.COST.value, full, full)
    guess = guess_incremental(estimate, keys, full) if incremental is None else None
    if guess is not None and guess > MARGIN * full + FIXED_MS:
        return Choice(Action.FULL, Reason.COST.value, full, full)
    return Choice(Action.INCREMENTAL, None, incremental, full)


def refine(
    mode: Mode,
    choice: Choice,
    estimate: Estimate,
    keys: int,
    samples: Sequence[Sample],
    settings: LakeSettings,
    threshold: float | None = None,
    *,
    spent_ms: float = 0.0,
) -> Choice:
    """The choice once more, when the touched keys have been counted: one changed row can touch most keys. ``spent_ms``
    is what it took so far, and in vain if the refresh is full after all."""
    full = choice.predicted_full_ms
    predicted = predict_incremental(estimate, keys, samples, full)
    choice = replace(choice, predicted_ms=predicted)
    if mode == Mode.INCREMENTAL:
        return choice
    if predicted is None or full is None:
        limit = settings.lake_full_above if threshold is None else threshold
        is_full = keys > limit * max(1, estimate.dt_rows)
    else:
        is_full = predicted > spent_ms + full
    return Choice(Action.FULL, Reason.COST.value, full, full) if is_full else choice


def memory_of(rows: float, columns: int) -> int:
    """The approximate memory that rows take, counted twice: in their new and their old version."""
    return int(2 * rows * (_ROW_BYTES + _COLUMN_BYTES * columns))
