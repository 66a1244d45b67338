"""Run by Django's test runner: ``tests/contrib/test_django.py`` starts it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection, connections, transaction
from django.test import TestCase, TransactionTestCase, override_settings
from django.utils import timezone
from django_tasks import TaskResultStatus, default_task_backend
from django_tasks.exceptions import InvalidTaskError, TaskResultDoesNotExist
from django_tasks.signals import task_enqueued, task_finished, task_started
from psycopg.conninfo import conninfo_to_dict

from catchment import RequestRefused, SchemaMismatch, ServerUnavailable
from catchment.contrib.django import TasksBackend, app
from catchment.contrib.django.connections import dsn_of
from catchment.contrib.django.migrate import hint_of
from catchment.contrib.django.settings import read_settings
from catchment.contrib.django.test import drain, run_inline
from catchment.testing import in_database
from tests.contrib.project import tasks
from tests.contrib.project.models import Note


def move_clock(**span: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select set_config('worker.now', (worker.now() + %s::interval)::text, true)", [timedelta(**span)]
        )


class Enqueue(TestCase):
    def test_it_is_part_of_the_block(self) -> None:
        with transaction.atomic():
            tasks.write.sync.enqueue(text="kept")
        with transaction.atomic():
            tasks.write.sync.enqueue(text="undone")
            transaction.set_rollback(True)
        self.assertEqual(drain(), {"completed": 1})
        self.assertEqual([note.text for note in Note.objects.all()], ["kept"])

    def test_many_are_made_or_none(self) -> None:
        def items() -> Any:
            for n in range(2000):
                yield tasks.write.item(text=str(n))
            raise LookupError

        with self.assertRaises(LookupError):
            tasks.write.sync.enqueue_many(items())
        self.assertEqual(drain(), {})

    def test_async_code_gets_an_error_that_says_what_to_call(self) -> None:
        async def wrong() -> None:
            tasks.write.sync.enqueue(text="never")

        with self.assertRaises(RequestRefused) as caught:
            asyncio.run(wrong())
        self.assertIn("await command.enqueue", str(caught.exception.hint))

    def test_a_missing_schema_names_the_command(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("alter schema worker rename to away")
        with self.assertRaises(SchemaMismatch) as caught, transaction.atomic():
            tasks.write.sync.enqueue(text="never")
        self.assertIn("Run: python manage.py catchment_migrate", str(caught.exception.hint))


class Drain(TestCase):
    def test_handlers_of_both_kinds_see_what_the_test_has_written(self) -> None:
        note = Note.objects.create(text="here")
        tasks.read.sync.enqueue(text="here")
        tasks.write_together.sync.enqueue(text="there")
        tasks.count_in_process.sync.enqueue(text="here")
        self.assertEqual(drain(), {"completed": 3})
        self.assertEqual(run_inline(tasks.read, text="here").result, note.pk)
        self.assertTrue(Note.objects.filter(text="there").exists())

    def test_an_error_of_the_database_does_not_break_the_test(self) -> None:
        tasks.write.sync.enqueue(text="a", then="twice")
        tasks.write_twice.sync.enqueue(text="b")
        tasks.write_together.sync.enqueue(text="c")
        tasks.write_together.sync.enqueue(text="c")
        self.assertEqual(drain(), {"completed": 1, "failed": 3})
        self.assertEqual(run_inline(tasks.write, text="d", then="twice").state, "failed")
        self.assertEqual([note.text for note in Note.objects.all()], ["c"])

    def test_what_was_written_before_another_error_stays_as_in_a_worker(self) -> None:
        tasks.write.sync.enqueue(text="a", then="fail")
        self.assertEqual(drain(), {"failed": 1})
        self.assertEqual(run_inline(tasks.write, text="b", then="fail").state, "failed")
        self.assertEqual(Note.objects.count(), 2)


class Words(TestCase):
    def test_options_of_tasks_that_do_not_exist_are_left_to_the_check(self) -> None:
        backend: Any = TasksBackend(
            "default", {"QUEUES": ["reports"], "OPTIONS": {"max_attempt": 3, "max_attempts": 2}}
        )
        self.assertEqual([message.id for message in backend.check()], ["catchment.E003"])
        backend.define(tasks.double)

    def test_a_server_that_does_not_answer_is_a_matter_of_databases(self) -> None:
        self.assertIn("DATABASES['default']", str(hint_of(ServerUnavailable("no connection", hint="Check --dsn"))))


class Handles(TestCase):
    """All of an app is in the transaction of the test, in async code too. Each case finds nothing of the others."""

    def test_a_task_is_found_by_its_handle(self) -> None:
        task = tasks.write.sync.enqueue(text="kept")
        self.assertEqual(task.info().state, "pending")
        self.assertEqual(drain(), {"completed": 1})
        self.assertEqual(task.result(timeout=60), Note.objects.get().pk)
        later = tasks.write.sync.enqueue(text="never")
        self.assertEqual((later.cancel(), drain()), ("cancelled", {}))

    async def test_coroutines_make_tasks_in_the_test(self) -> None:
        task = await tasks.write.enqueue(text="kept")
        self.assertEqual(await sync_to_async(drain)(), {"completed": 1})
        note = await Note.objects.aget()
        self.assertEqual(await task.result(timeout=60), note.pk)

    def test_coroutines_take_turns(self) -> None:
        async def make() -> None:
            await asyncio.gather(*(tasks.write.enqueue(text=text) for text in "ab"))

        async_to_sync(make)()
        self.assertEqual(drain(), {"completed": 2})


class Committed(TransactionTestCase):
    def test_without_a_transaction_it_commits_what_it_runs(self) -> None:
        task = tasks.write.sync.enqueue(text="kept")
        self.assertEqual(drain(), {"completed": 1})
        self.assertEqual(task.result(timeout=60), Note.objects.get().pk)

    def test_a_worker_in_the_test_runs_what_coroutines_make(self) -> None:
        async def ask() -> int:
            async with app.worker():
                task = await tasks.write.enqueue(text="kept")
                await task.result(timeout=60)
                return await (await tasks.read.enqueue(text="kept")).result(timeout=60)

        self.assertEqual(asyncio.run(ask()), Note.objects.get().pk)


class Backend(TestCase):
    def test_a_task_runs_with_its_arguments(self) -> None:
        result = tasks.double.enqueue(4, plus=1)
        self.assertEqual((result.status, result.args, result.kwargs), (TaskResultStatus.READY, [4], {"plus": 1}))
        drain()
        result.refresh()
        self.assertEqual(result.return_value, {"doubled": 9})
        self.assertEqual((result.attempts, result.errors, result.is_finished), (1, [], True))
        self.assertLessEqual(result.enqueued_at, result.started_at)
        self.assertLessEqual(result.started_at, result.finished_at)
        self.assertEqual(tasks.double.get_result(result.id).return_value, {"doubled": 9})

    def test_a_coroutine_runs_too(self) -> None:
        result = tasks.adouble.enqueue(4)
        drain()
        self.assertEqual(tasks.adouble.get_result(result.id).return_value, 8)

    def test_it_is_tried_again_and_its_errors_are_kept(self) -> None:
        result = tasks.try_thrice.enqueue()
        for _ in range(3):
            drain()
            move_clock(hours=1)
        result.refresh()
        self.assertEqual((result.return_value, result.attempts), (3, 3))
        self.assertEqual([error.exception_class for error in result.errors], [LookupError, LookupError])
        self.assertIn("LookupError: attempt 1", result.errors[0].traceback)

    def test_a_value_that_is_no_json_fails_by_the_options_of_the_backend(self) -> None:
        result = tasks.give_object.enqueue()
        for _ in range(3):
            drain()
            move_clock(hours=1)
        result.refresh()
        self.assertEqual((result.status, result.attempts), (TaskResultStatus.FAILED, 2))
        self.assertEqual(result.errors[-1].exception_class, TypeError)
        with self.assertRaisesMessage(ValueError, "Task failed"):
            _ = result.return_value

    def test_priority_queue_and_time(self) -> None:
        due = timezone.now() + timedelta(hours=1)
        later = tasks.double.using(run_after=due, queue_name="reports", priority=-20).enqueue(1)
        tasks.report.enqueue()
        with connection.cursor() as cursor:
            cursor.execute("select command, queue, priority from worker.tasks order by id")
            rows = cursor.fetchall()
        name = "tests.contrib.project.tasks"
        self.assertEqual(rows, [(f"{name}.double@reports", "reports", 120), (f"{name}.report", "reports", 50)])
        read = default_task_backend.get_result(later.id).task
        self.assertEqual(
            (read.priority, read.queue_name, read.run_after, read.func), (-20, "reports", due, tasks.double.func)
        )
        self.assertEqual(drain(), {"completed": 1, "pending": 1})
        with self.assertRaises(InvalidTaskError):
            tasks.double.using(queue_name="unknown")

    def test_the_signals_are_sent(self) -> None:
        seen: list[tuple[str, str]] = []
        receivers = []
        for name, signal in (("enqueued", task_enqueued), ("started", task_started), ("finished", task_finished)):

            def note(sender: Any, task_result: Any, name: str = name, **_: Any) -> None:
                seen.append((name, str(task_result.status)))

            receivers.append(note)
            signal.connect(note)
        tasks.double.enqueue(1)
        tasks.give_object.enqueue()
        drain()
        move_clock(hours=1)
        drain()
        started = [("started", "RUNNING")]
        ends = [*started, ("finished", "SUCCESSFUL"), *started, *started, ("finished", "FAILED")]
        self.assertEqual(seen, [("enqueued", "READY")] * 2 + ends)

    def test_only_its_own_tasks_are_results(self) -> None:
        other = tasks.write.sync.enqueue(text="a")
        for wrong in (str(other.id), "0", "x", "-1", "9" * 30):
            with self.assertRaises(TaskResultDoesNotExist):
                default_task_backend.get_result(wrong)


class Settings(TestCase):
    databases = ("default",)

    def test_the_dsn_is_that_of_the_alias(self) -> None:
        parts = conninfo_to_dict(dsn_of("default"))
        self.assertEqual(parts["dbname"], connection.settings_dict["NAME"])
        self.assertTrue(str(parts["dbname"]).startswith("test_"))
        given = connections["default"].settings_dict
        given["OPTIONS"] = {"assume_role": "a b", "options": "-c jit=off", "server_side_binding": True}
        try:
            self.assertEqual(conninfo_to_dict(dsn_of("default"))["options"], "-c jit=off -c role=a\\ b")
        finally:
            given["OPTIONS"] = {}

    def test_wrong_settings_are_named(self) -> None:
        wrong: list[tuple[Any, str]] = [
            ({"DATABSE": "default"}, "catchment.E001"),
            ({"POOL_SIZE": "4"}, "catchment.E001"),
            ([], "catchment.E001"),
            ({"DATABASE": "none"}, "catchment.E002"),
        ]
        self.assertEqual([one.id for one in run_checks() if one.id.startswith("catchment")], [])
        for given, code in wrong:
            with override_settings(CATCHMENT=given):
                self.assertEqual([one.id for one in run_checks() if one.id.startswith("catchment")], [code])
        with override_settings(CATCHMENT={"MAX": 1}), self.assertRaises(ImproperlyConfigured):
            read_settings()

    def test_fixtures_for_other_apps_are_refused(self) -> None:
        with self.assertRaises(RequestRefused) as caught, in_database(app, "dbname=other"):
            pass
        self.assertIn("catchment.contrib.django.test", str(caught.exception.hint))

    def test_a_failed_transaction_is_said(self) -> None:
        with self.assertRaises(DatabaseError), connection.cursor() as cursor:
            cursor.execute("select 1 / 0")
        with self.assertRaises(RequestRefused):
            tasks.write.sync.enqueue(text="never")
        transaction.set_rollback(True)
