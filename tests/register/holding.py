"""Holds a stage of a round where it writes or before it commits, for as long as a test has a lock."""

from __future__ import annotations

from tests.fixtures.register_driver import Register

KEY = 4242


def hold(reg: Register, table: str, when: str) -> None:
    """Writers of the table wait while somebody has the lock."""
    reg.conn.execute(
        f"create function public.hold() returns trigger language plpgsql as"
        f" $$ begin perform pg_advisory_xact_lock_shared({KEY}); return new; end $$;"
        f" grant execute on function public.hold() to public;"
        f" create trigger hold before insert or update on register.{table}"
        f" for each row when ({when}) execute function public.hold()"
    )


def hold_stage(reg: Register, stage: str) -> None:
    """The handler does everything and does not commit while somebody has the lock."""
    reg.conn.execute(
        f"alter procedure register.{stage}(jsonb, jsonb) rename to {stage}_at_once;"
        f" create procedure register.{stage}(payload jsonb, inout info jsonb) language plpgsql security definer as $$"
        f" begin call register.{stage}_at_once(payload, info); perform pg_advisory_xact_lock_shared({KEY}); end $$"
    )


def is_held(reg: Register) -> bool:
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'advisory'"
    return reg.value(waiting) > 0


def is_settled(reg: Register) -> bool:
    return reg.value(
        "select not register.is_deriving_statistical_units() and not register.is_deriving_reports()"
        " and not exists (select from register.base_change_log)"
    )
