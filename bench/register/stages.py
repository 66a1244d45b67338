"""The stages of a round as a table: what each took, beside a known run of the same stages.

The known run: 1.1 million legal units and 826,000 establishments on a server of four cores, row by row in the database.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.register.harness import Bed

# A stage: its command, the command of its children, and the seconds that the known run took.
STAGES = (
    ("1   collect changes", "collect_changes", None, None),
    ("2   units, in batches", "derive_statistical_unit", "statistical_unit_refresh_batch", 6_920.0),
    ("    planner statistics", "derive_statistical_unit_continue", None, None),
    ("3   publish units", "statistical_unit_flush_staging", "statistical_unit_build_index", 1_038.0),
    ("4   begin reports", "derive_reports", None, 0.006),
    ("5   history", "derive_statistical_history", "derive_statistical_history_period", 5.0),
    ("6   facets", "derive_statistical_unit_facet", "derive_statistical_unit_facet_partition", 178.0),
    ("6b  sum of facets", "statistical_unit_facet_reduce", None, None),
    ("7   history of facets", "derive_statistical_history_facet", "derive_statistical_history_facet_period", 12.0),
)
# By command: seconds until the last child and the join had ended, seconds of handlers, number of tasks. The task that
# made the round does not name it; the first stage follows that task.
_TASKS = """
with stage as (
  select t.id, t.command, t.follows_id, t.process_start_at, t.completed_at, t.process_duration_ms
    from worker.tasks as t
   where t.queue = 'analytics' and t.state = 'completed' and (t.payload ->> 'round_id')::bigint = %(round)s
  union
  select t.id, t.command, null, t.process_start_at, t.completed_at, t.process_duration_ms
    from worker.tasks as t
   where t.command = 'collect_changes'
     and t.id in (select f.follows_id from worker.tasks as f where (f.payload ->> 'round_id')::bigint = %(round)s)
)
select command, sum(extract(epoch from completed_at - process_start_at))::float8,
       sum(process_duration_ms)::float8 / 1000, count(*)
  from stage
 group by command
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a round, in seconds; ``work`` is what its children took, added up."""

    name: str
    wall: float
    children: int
    work: float
    known: float | None


def read_stages(bed: Bed, round_id: int) -> list[Stage]:
    """What the tasks of a round say."""
    found = {row[0]: row[1:] for row in bed.conn.execute(_TASKS, {"round": round_id})}
    nothing = (0.0, 0.0, 0)
    return [
        Stage(name, found.get(top, nothing)[0], *reversed(found.get(child, nothing)[1:]), known)
        for name, top, child, known in STAGES
    ]


def print_stages(stages: list[Stage], wall: float, *, compares: bool) -> None:
    """The table; ``compares`` adds how many times faster a stage was than in the known run."""
    heads = f"{'known s':>10}{'times':>9}" if compares else ""
    print(f"\n{'stage':<28}{'wall s':>10}{'children':>10}{'their s':>10}{heads}")
    for stage in stages:
        known, times = "", ""
        if compares and stage.known is not None and stage.wall > 0:
            known, times = f"{stage.known:,.3g}", f"{stage.known / stage.wall:,.1f}"
        children = f"{stage.children:>10}{stage.work:>10.1f}" if stage.children else " " * 20
        print(f"{stage.name:<28}{stage.wall:>10.2f}{children}{known:>10}{times:>9}")
    print(f"{'all':<28}{wall:>10.2f}\n", flush=True)
