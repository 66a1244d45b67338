"""Why a figure is not up to date: in each situation everything that keeps it, and what to do."""

from __future__ import annotations

import pytest

from tests.fixtures.often import some
from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.fixtures.worker import wait_until
from tests.register.explain.situations import SITUATIONS, Situation, Stage, kinds_of
from tests.register.holding import KEY, hold_stage, is_held
from tests.register.support import refused


@pytest.mark.parametrize("case", some(SITUATIONS, one_in=3), ids=lambda case: case.title)
def test_a_situation_is_explained(reg: Register, case: Situation) -> None:
    stage = Stage(reg)
    of = case.build(stage)
    answer = stage.explain(of)
    assert kinds_of(answer) == case.kinds
    for one in answer:
        assert one["words"].endswith("."), one
        assert "  " not in one["words"]
        assert one["evidence"] is not None
    assert ("current" in case.kinds) != any(one["is_blocking"] for one in answer)


def test_what_is_asked_about_must_exist(reg: Register) -> None:
    for of in ("legal_unit/999", "no such unit", ""):
        with refused(reg, "RG024"):
            reg.rows("select * from register.explain(%s)", of)


@pytest.mark.parametrize("of", [None, "statistical_unit", "statistical_history"])
def test_before_the_first_round_no_round_is_named(reg: Register, of: str | None) -> None:
    (answer,) = reg.rows("select * from register.explain(%s)", of)
    assert (answer["kind"], answer["is_blocking"]) == ("current", False)
    assert answer["words"].endswith(" is up to date with all committed changes; nothing has been derived yet.")


@pytest.mark.long
def test_the_step_that_runs_is_named_with_its_worker(reg_db: RegisterDatabase) -> None:
    reg_db.lu("1", "2025-01-01", employees=1)
    reg_db.derive()
    hold_stage(reg_db, "statistical_unit_flush_staging")
    holder = reg_db.connect(autocommit=False)
    holder.execute("select pg_advisory_xact_lock(%s)", [KEY])
    reg_db.start_worker("--queue", "analytics")
    reg_db.conn.execute("update register.stat_for_unit set value_int = 5")
    wait_until(lambda: is_held(reg_db))
    answer = reg_db.rows("select * from register.explain('1')")
    assert kinds_of(answer) == ("round*", "running")
    assert answer[0]["evidence"]["step"] == "statistical_unit_flush_staging"
    assert answer[1]["words"].startswith(f"Task {answer[0]['evidence']['task_id']} (statistical_unit_flush_staging): ")
    holder.commit()
    wait_until(lambda: kinds_of(reg_db.rows("select * from register.explain()")) == ("current",))


def test_a_reader_asks_and_others_do_not(reg: Register) -> None:
    Stage(reg).edit()
    reg.conn.execute("create role looker login in role register_read")
    reg.conn.execute("create role stranger login")
    reg.conn.execute("set local session authorization looker")
    assert kinds_of(reg.rows("select * from register.explain('1')")) == ("changes*", "ready")
    reg.conn.execute("set local session authorization stranger")
    with refused(reg, "42501"):
        reg.rows("select * from register.explain()")
    reg.conn.execute("reset session authorization")
