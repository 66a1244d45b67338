"""INSERT INTO worker.tasks … ON CONFLICT, wherever it is written: it joins the declared twin or points to dedup."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.often import some
from tests.sql.support import hint, message, refused

# ``{}`` is the ON CONFLICT clause.
INSERT = "insert into worker.tasks (command, payload) values ('act', '{{\"key\": 1}}') {}"
NOTHING = "on conflict do nothing"
WITH_TARGET = [
    "on conflict (command) do nothing",
    "on conflict (command) where state = 'pending' do update set payload = excluded.payload",
]

Run = Callable[[Engine, str], None]


def _at_top_level(engine: Engine, insert: str) -> None:
    engine.conn.execute(insert)


def _in_a_cte(engine: Engine, insert: str) -> None:
    engine.conn.execute(f"with made as ({insert} returning id) select * from made")


def _in_plpgsql(engine: Engine, insert: str) -> None:
    engine.conn.execute(f"create function probe.enqueue() returns void language plpgsql as $$ begin {insert}; end $$")
    engine.conn.execute("select probe.enqueue()")


def _in_plpgsql_by_execute(engine: Engine, insert: str) -> None:
    engine.conn.execute(
        f"create function probe.enqueue() returns void language plpgsql as $$ begin execute $x$\n  {insert}$x$; end $$"
    )
    engine.conn.execute("select probe.enqueue()")


def _in_a_do_block(engine: Engine, insert: str) -> None:
    engine.conn.execute(f"do $$ begin if true then {insert}; end if; end $$")


def _in_a_trigger(engine: Engine, insert: str) -> None:
    engine.conn.execute(
        f"create function probe.react() returns trigger language plpgsql as $$ begin {insert}; return new; end $$;"
        "create trigger react before insert on probe.effect for each row execute function probe.react();"
        "insert into probe.effect values (1, 'x')"
    )


def _in_a_sql_function(engine: Engine, insert: str) -> None:
    engine.conn.execute(f"create function probe.enqueue() returns void language sql as $$ select 1; {insert} $$")
    engine.conn.execute("select probe.enqueue()")


def _in_a_sql_function_called_from_plpgsql(engine: Engine, insert: str) -> None:
    engine.conn.execute(f"create function probe.enqueue() returns void language sql as $$ {insert} $$")
    engine.conn.execute("do $$ begin perform probe.enqueue(); end $$")


def _in_a_standard_body(engine: Engine, insert: str) -> None:
    engine.conn.execute(f"create function probe.enqueue() returns void language sql begin atomic {insert}; end")
    engine.conn.execute("select probe.enqueue()")


def _in_a_procedure(engine: Engine, insert: str) -> None:
    engine.conn.execute(f"create procedure probe.enqueue() language sql as $$ {insert} $$")
    engine.conn.execute("call probe.enqueue()")


def _prepared_by_the_driver(engine: Engine, insert: str) -> None:
    engine.conn.execute(insert, prepare=True)


def _by_explain_analyze(engine: Engine, insert: str) -> None:
    engine.conn.execute(f"explain analyze {insert}")


WAYS: list[Run] = [
    _at_top_level,
    _in_a_cte,
    _in_plpgsql,
    _in_plpgsql_by_execute,
    _in_a_do_block,
    _in_a_trigger,
    _in_a_sql_function,
    _in_a_sql_function_called_from_plpgsql,
    _in_a_standard_body,
    _in_a_procedure,
    _prepared_by_the_driver,
    _by_explain_analyze,
]


def _declare_dedup(engine: Engine) -> None:
    engine.conn.execute("update worker.command_registry set dedup = '{key}' where command = 'act'")


def _points_to_dedup(engine: Engine, run: Run, insert: str) -> None:
    with refused(engine, "CM007") as error:
        run(engine, insert)
    assert "ON CONFLICT" in message(error)
    assert "dedup" in hint(error)
    assert "merge" in hint(error)
    assert engine.states() == {}


@pytest.mark.parametrize("run", WAYS)
def test_do_nothing_without_declared_dedup_is_refused(engine: Engine, run: Run) -> None:
    _points_to_dedup(engine, run, INSERT.format(NOTHING))


@pytest.mark.parametrize("run", WAYS)
def test_do_nothing_joins_the_declared_pending_twin(engine: Engine, run: Run) -> None:
    _declare_dedup(engine)
    twin = engine.enqueue(key=1)
    run(engine, INSERT.format(NOTHING))
    assert engine.states() == {twin: "pending"}
    engine.check()


@pytest.mark.parametrize("clause", WITH_TARGET)
@pytest.mark.parametrize("run", WAYS)
def test_a_target_is_refused_with_the_same_hint(engine: Engine, run: Run, clause: str) -> None:
    _declare_dedup(engine)
    _points_to_dedup(engine, run, INSERT.format(clause))


@pytest.mark.parametrize("run", WAYS)
def test_a_plain_insert_is_let_through(engine: Engine, run: Run) -> None:
    run(engine, INSERT.format(""))
    assert list(engine.states().values()) == ["pending"]


@pytest.mark.parametrize("clause", [NOTHING, *WITH_TARGET])
def test_a_statement_prepared_in_sql_is_refused(engine: Engine, clause: str) -> None:
    with refused(engine, "CM007") as error:
        engine.conn.execute(f"prepare enqueue_it as {INSERT.format(clause)}")
        try:
            with engine.conn.transaction():
                engine.conn.execute("execute enqueue_it")
        finally:
            engine.conn.execute("deallocate enqueue_it")
    assert "dedup" in hint(error)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO worker.tasks (command)\nVALUES ('act')\nON CONFLICT DO NOTHING RETURNING id",
        """insert into "worker"."tasks" (command, payload) values ('act', '{"note": "a;b"}') on conflict do nothing""",
        "insert into worker.tasks as t (command) select 'act' on conflict do nothing",
        "set local search_path = worker; insert into tasks (command) values ('act') on conflict do nothing",
        "insert into worker.tasks (command) values ('act'), ('act') on  conflict do nothing",
        r"""insert into worker.U&"\0074asks" (command) values ('act') on conflict do nothing""",
        r"""insert into worker.tasks (command, payload) values ('act', E'{"a": "\'"}') on conflict do nothing""",
        """insert into/* here */worker.tasks as "a (b" (command) values ('act') on conflict do nothing""",
    ],
)
def test_spelling_makes_no_difference(engine: Engine, statement: str) -> None:
    _points_to_dedup(engine, _at_top_level, statement)


@pytest.mark.parametrize(
    "statement",
    [
        """insert into worker.tasks (command, payload) values ('act', '{"note": "what to do on conflict"}')""",
        """insert into worker.tasks (command, payload) values ('act', $x${"note": "on conflict"}$x$)""",
        """with kept as (insert into probe.effect (note) values ('x') on conflict do nothing returning note)
           insert into worker.tasks (command) select 'act' from kept""",
        """with made as (insert into worker.tasks (command) values ('act') returning id)
           insert into probe.effect (task_id) select id from made on conflict do nothing""",
        "insert into worker.tasks (command) values ('act') -- on conflict do nothing",
        "insert into worker.tasks (command) /* on conflict (id) */ values ('act')",
        r"""insert into worker.tasks (command, payload)
           values ('act', jsonb_build_object('note', E'\' on conflict do nothing'))""",
        """insert into worker.tasks as "on conflict do nothing" (command) values ('act')""",
        """insert into worker.tasks (command) select "on conflict do" from (values ('act')) as x ("on conflict do")""",
    ],
)
def test_on_conflict_elsewhere_in_the_text_is_no_offence(engine: Engine, statement: str) -> None:
    engine.conn.execute(statement)
    assert len(engine.states()) == 1


OVER = {
    "view": "create view probe.jobs as select id, command, payload from worker.tasks",
    "quoted view": 'create view probe."the jobs" as select * from worker.tasks',
    "view of a view": "create view probe.all_jobs as select * from worker.tasks;"
    " create view probe.jobs as select id, command, payload from probe.all_jobs",
}


@pytest.mark.parametrize("run", some(WAYS, one_in=3))
@pytest.mark.parametrize("view", OVER.values(), ids=OVER)
def test_a_view_over_the_tasks_makes_no_difference(engine: Engine, view: str, run: Run) -> None:
    engine.conn.execute(view)
    name = 'probe."the jobs"' if '"' in view else "probe.jobs"
    insert = INSERT.replace("worker.tasks", name)
    _points_to_dedup(engine, run, insert.format(NOTHING))
    if run is not _at_top_level:
        return
    run(engine, insert.format(""))
    assert list(engine.states().values()) == ["pending"]


def test_another_insert_beside_one_into_a_view_is_no_offence(engine: Engine) -> None:
    engine.conn.execute(OVER["view"])
    engine.conn.execute(
        "with kept as (insert into probe.effect (note) values ('x') on conflict do nothing returning note)"
        " insert into probe.jobs (command) select 'act' from kept"
    )
    assert len(engine.states()) == 1


def test_a_plain_insert_in_a_function_that_an_on_conflict_calls_is_no_offence(engine: Engine) -> None:
    _declare_dedup(engine)
    engine.command("other")
    engine.conn.execute(
        "create function probe.enqueue() returns text language plpgsql as"
        " $$ begin insert into worker.tasks (command) values ('other'); return 'act'; end $$"
    )
    engine.conn.execute("insert into worker.tasks (command) select probe.enqueue() on conflict do nothing")
    assert len(engine.states()) == 2


def test_an_enqueue_function_that_relies_on_its_conflict_clause_makes_one_task_of_two_requests(engine: Engine) -> None:
    """It builds the payload, inserts it, and relies on its conflict clause for deduplication."""
    engine.command("derive", dedup=["table"], merge={"ids": "union"})
    engine.conn.execute(
        """
        create function probe.enqueue_derive(p_table text, p_ids int[]) returns bigint language plpgsql as $$
        declare
          v_payload jsonb := jsonb_build_object('command', 'derive', 'table', p_table, 'ids', to_jsonb(p_ids));
          v_task_id bigint;
        begin
          insert into worker.tasks (command, payload) values ('derive', v_payload)
          on conflict do nothing
          returning id into v_task_id;
          return v_task_id;
        end $$
        """
    )
    first = engine.value("select probe.enqueue_derive('unit', '{1,2}')")
    assert engine.value("select probe.enqueue_derive('unit', '{2,3}')") == first
    assert engine.value("select probe.enqueue_derive('place', '{7}')") != first
    assert engine.value("select payload -> 'ids' from worker.tasks where id = %s", first) == [1, 2, 3]
    assert len(engine.states()) == 2


def test_a_login_that_may_only_enqueue_gets_the_hint(engine: Engine) -> None:
    engine.conn.execute("set local role catchment_enqueue")
    with refused(engine, "CM007") as error:
        engine.conn.execute(INSERT.format(NOTHING))
    assert "dedup" in hint(error)
    with refused(engine, "CM007"):
        engine.conn.execute(INSERT.format(WITH_TARGET[0]))
    engine.conn.execute(INSERT.format(""))


def test_the_mark_of_the_clause_cannot_be_given_by_hand(engine: Engine) -> None:
    with refused(engine, "CM007"):
        engine.conn.execute("insert into worker.tasks (id, command) values (5, 'act')")
