"""Breaks a stage of derivation until it is mended, and moves on to the next try."""

from __future__ import annotations

from tests.fixtures.register_driver import Register


def break_stage(reg: Register, stage: str) -> None:
    """Its handler raises until it is mended."""
    reg.conn.execute(f"alter procedure register.{stage}(jsonb, jsonb) rename to {stage}_mended")
    reg.conn.execute(
        f"create procedure register.{stage}(payload jsonb, inout info jsonb) language plpgsql as"
        " $$ begin raise exception 'broken on purpose'; end $$"
    )


def mend_stage(reg: Register, stage: str) -> None:
    reg.conn.execute(f"drop procedure register.{stage}(jsonb, jsonb)")
    reg.conn.execute(f"alter procedure register.{stage}_mended(jsonb, jsonb) rename to {stage}")


def drain(reg: Register) -> None:
    """All tasks that are due run, whatever becomes of them."""
    reg.conn.execute("call worker.drain('analytics')")
    # A transaction asks for a collection once; here the next edits are in the same one.
    reg.conn.execute("delete from register.collect_request")


def wait_for_retry(reg: Register) -> None:
    """The clock moves to when the next collection is due."""
    reg.conn.execute(
        "select set_config('worker.now', (select max(due_at) + interval '1 s' from worker.tasks)::text, true)"
    )


def break_once(reg: Register, stage: str) -> None:
    """What waits is derived and breaks if it comes to this stage; the next try is due, and will not break."""
    break_stage(reg, stage)
    drain(reg)
    mend_stage(reg, stage)
    wait_for_retry(reg)
