"""Situations in which a figure is not up to date yet, each made for real. ``docs/register/operate.md`` shows what
``register.explain`` says about them.

Legal unit 1 has establishment 11, legal unit 2 stands alone; both are published. The clock stands at ``NOW``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fixtures.register_driver import Register
from tests.register.breaking import break_stage, mend_stage, wait_for_retry

NOW = "2030-01-01 12:00:00+00"
STEP = "call worker.process_tasks(p_queue => 'analytics', p_batch_size => 1)"
Row = dict[str, Any]
Build = Callable[["Stage"], str | None]


@dataclass(frozen=True)
class Situation:
    """``build`` makes it and returns what to ask about; ``kinds`` are those of the answer, in order: blocking ones are
    marked by a star."""

    title: str
    kinds: tuple[str, ...]
    build: Build


SITUATIONS: list[Situation] = []


def situation(title: str, *kinds: str) -> Callable[[Build], Build]:
    def add(build: Build) -> Build:
        SITUATIONS.append(Situation(title, kinds, build))
        return build

    return add


class Stage:
    """A register with two published legal units, and a worker that serves its queues."""

    def __init__(self, reg: Register) -> None:
        self.reg = reg
        self.one = reg.lu("1", "2025-01-01", employees=1, region="03.01")
        self.place = reg.es("11", "1", "2025-01-01", employees=2, region="03.01")
        self.two = reg.lu("2", "2025-01-01", employees=3, region="11.03")
        reg.derive()
        # One unit is one batch: where two have changed, there are children.
        reg.conn.execute("update register.settings set batch_enterprises = 1")
        reg.conn.execute("select set_config('worker.now', %s, true)", [NOW])
        self.worker_id = reg.value(
            "select worker_id from worker.register_worker('host-a', array['analytics', 'import'], 10,"
            " interval '1 hour', p_pid => 4711, p_version => '0.1.0')"
        )

    def edit(self, ident: str = "1", employees: int = 9) -> None:
        """An edit of a legal unit, which asks for a collection."""
        self.reg.conn.execute(
            "update register.stat_for_unit set value_int = %s where legal_unit_id = %s",
            [employees, self.reg.unit_id(ident)],
        )

    def steps(self, count: int) -> None:
        """So many tasks run."""
        for _ in range(count):
            self.reg.conn.execute(STEP)

    def run_to(self, command: str) -> None:
        """Tasks run until one of this command is the next."""
        ready = (
            "select exists (select from worker.tasks where command = %s and state = 'pending'"
            " and waits_for is null) and not exists (select from worker.tasks as t"
            " join register.pipeline_step_weight as w on w.step = t.command"
            " where t.state in ('pending', 'waiting') and t.command <> 'collect_changes' and w.seq <"
            " (select o.seq from register.pipeline_step_weight as o where o.step = %s))"
        )
        for _ in range(30):
            if self.reg.value(ready, command, command):
                return
            self.steps(1)
        raise AssertionError(f"{command} never came")

    def break_in(self, stage: str) -> None:
        """A round breaks in a stage, which is mended then."""
        break_stage(self.reg, stage)
        self.reg.conn.execute("call worker.drain('analytics')")
        mend_stage(self.reg, stage)
        self.reg.conn.execute("delete from register.collect_request")

    def forget_collections(self) -> None:
        self.reg.conn.execute(
            "select worker.cancel(id) from worker.tasks where command = 'collect_changes' and state = 'pending'"
        )

    def explain(self, of: str | None) -> list[Row]:
        return self.reg.rows("select * from register.explain(%s)", of)


def kinds_of(answer: list[Row]) -> tuple[str, ...]:
    return tuple(one["kind"] + ("*" if one["is_blocking"] else "") for one in answer)


@situation("Nothing waits", "current")
def _(stage: Stage) -> str | None:
    return None


@situation("An edit was made a moment ago", "changes*", "ready")
def _(stage: Stage) -> str | None:
    stage.edit()
    return f"legal_unit/{stage.one}"


@situation("Another unit was edited", "current")
def _(stage: Stage) -> str | None:
    stage.edit("2")
    return f"legal_unit/{stage.one}"


@situation("An establishment was edited: its enterprise", "changes*", "ready")
def _(stage: Stage) -> str | None:
    stage.reg.conn.execute("update register.stat_for_unit set value_int = 7 where establishment_id = %s", [stage.place])
    return f"enterprise/{stage.reg.enterprise_of('1')}"


@situation("A unit was deleted and is still shown", "changes*", "ready")
def _(stage: Stage) -> str | None:
    stage.reg.value("select register.delete_unit('legal_unit', %s)", stage.two)
    return f"legal_unit/{stage.two}"


@situation("No worker serves the queue", "changes*", "no_worker*", "ready")
def _(stage: Stage) -> str | None:
    stage.reg.conn.execute("select worker.unregister_worker(%s, '{}')", [stage.worker_id])
    stage.edit()
    return f"legal_unit/{stage.one}"


@situation("The queue is paused", "changes*", "paused*", "ready")
def _(stage: Stage) -> str | None:
    stage.reg.conn.execute("select worker.pause_queue('analytics', null::timestamptz, 'ada')")
    stage.edit()
    return "statistical_unit"


@situation("A round has the edit", "round*", "ready")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.run_to("derive_statistical_unit")
    return f"legal_unit/{stage.one}"


@situation("Its batches are being derived", "round*", "children*", "ready")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.edit("2")
    stage.run_to("statistical_unit_refresh_batch")
    return f"legal_unit/{stage.one}"


@situation("Its batches are not being derived, because the queue is paused", "round*", "children*", "paused*", "ready")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.edit("2")
    stage.run_to("statistical_unit_refresh_batch")
    stage.reg.conn.execute("select worker.pause_queue('analytics', null::timestamptz, 'ada')")
    return f"legal_unit/{stage.one}"


@situation("A round is about another unit", "current")
def _(stage: Stage) -> str | None:
    stage.edit("2")
    stage.run_to("derive_statistical_unit")
    return f"legal_unit/{stage.one}"


@situation("An edit came while a round runs", "changes*", "lane*", "round*", "ready")
def _(stage: Stage) -> str | None:
    stage.edit("2")
    stage.run_to("derive_statistical_unit")
    stage.reg.conn.execute("delete from register.collect_request")
    stage.edit("2", 10)
    return f"legal_unit/{stage.two}"


@situation("The unit is published, the reports are not: the unit", "current")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.run_to("derive_reports")
    return f"legal_unit/{stage.one}"


@situation("The unit is published, the reports are not: a report", "round*", "ready")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.run_to("derive_reports")
    return "statistical_history"


@situation("One report is published, the round continues", "current")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.run_to("derive_statistical_unit_facet")
    return "statistical_history"


@situation("A step failed", "changes*", "scheduled*", "failed*")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.break_in("statistical_unit_flush_staging")
    return f"legal_unit/{stage.one}"


@situation("A step failed in the reports", "reports_behind*", "scheduled*", "failed*")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.break_in("derive_statistical_unit_facet")
    # Units come first: what was logged is published, and goes with a round that is done.
    stage.reg.forget_log()
    return "statistical_unit_facet"


@situation("A step failed, and the next round works on it", "round*", "ready", "failed")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.break_in("statistical_unit_flush_staging")
    wait_for_retry(stage.reg)
    stage.run_to("derive_statistical_unit")
    return f"legal_unit/{stage.one}"


@situation("A derivation of everything failed", "everything*", "scheduled*", "failed*")
def _(stage: Stage) -> str | None:
    stage.reg.value("select worker.enqueue_collect_changes('all')")
    stage.break_in("derive_statistical_unit")
    return f"legal_unit/{stage.two}"


@situation("The collection was cancelled", "changes*", "not_requested*")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.forget_collections()
    return f"legal_unit/{stage.one}"


@situation("The tasks of the round are gone", "round*")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.reg.value("select (register.take_changes(false)).id")
    stage.forget_collections()
    return f"legal_unit/{stage.one}"


@situation("A new month began", "new_period*", "not_requested*")
def _(stage: Stage) -> str | None:
    stage.reg.today("2026-03-01")
    return "statistical_history"


@situation("A derivation by hand left the reports", "reports_behind*", "not_requested*")
def _(stage: Stage) -> str | None:
    stage.edit()
    stage.forget_collections()
    stage.reg.value("select register.derive_now('units')")
    return "statistical_unit_facet"


@situation("A file waits for a review", "current", "import")
def _(stage: Stage) -> str | None:
    rows = [{"tax_ident": "7", "name": "New"}, {"tax_ident": "8", "name": "Other", "physical_region_code": "no such"}]
    stage.reg.import_rows("legal_unit", rows, valid_from="2025-01-01", review=True)
    return None
