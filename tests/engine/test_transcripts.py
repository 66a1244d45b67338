"""The transcripts of the two founding documents, as they stand there."""

from __future__ import annotations

from tests.fixtures.engine import Engine


def test_parent_waits_after_one_call_and_completes_after_the_next(engine: Engine) -> None:
    engine.conn.execute(
        """
        create procedure probe.derive(payload jsonb) language plpgsql as $$
        begin
          for i in 1 .. 3 loop
            call worker.spawn(
              p_command => 'act', p_payload => jsonb_build_object('batch_seq', i),
              p_parent_id => worker.current_task_id(), p_priority => 20);
          end loop;
        end; $$
        """
    )
    engine.queue("analytics", concurrency=4)
    engine.conn.execute("update worker.command_registry set queue = 'analytics' where command = 'act'")
    engine.command("derive_statistical_unit", "analytics", handler_procedure="probe.derive")
    state = "SELECT state FROM worker.tasks WHERE command = 'derive_statistical_unit'"

    engine.conn.execute("INSERT INTO worker.tasks (command, payload) VALUES ('derive_statistical_unit', '{}')")
    engine.conn.execute("CALL worker.process_tasks(p_queue => 'analytics')")
    assert engine.value(state) == "waiting"
    engine.conn.execute("CALL worker.process_tasks(p_queue => 'analytics')")
    assert engine.value(state) == "completed"
    engine.check()


def test_trigger_work_is_visible_right_after_one_call(engine: Engine) -> None:
    engine.conn.execute(
        """
        create table probe.establishment (id int);
        create table probe.statistical_unit (id int);
        create procedure probe.refresh(payload jsonb) language sql as $$
          insert into probe.statistical_unit select id from probe.establishment $$;
        create function probe.changed() returns trigger language plpgsql as $$
        begin insert into worker.tasks (command, payload) values ('refresh', '{}'); return null; end; $$;
        create trigger changed after insert on probe.establishment execute function probe.changed();
        """
    )
    engine.command("refresh", handler_procedure="probe.refresh")
    engine.conn.execute("INSERT INTO probe.establishment VALUES (1)")
    engine.conn.execute("CALL worker.process_tasks(p_queue => 'work')")
    assert engine.value("SELECT count(*) FROM probe.statistical_unit") == 1


def test_a_chain_without_children_runs_to_its_end_in_one_call(engine: Engine) -> None:
    engine.enqueue(note="a", enqueue=[{"note": "b", "enqueue": [{"note": "c"}]}])
    engine.process()
    assert engine.notes() == ["a", "b", "c"]
