"""One trace from whoever enqueues to the last child, whichever process runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from catchment import App, Context, GiveUp
from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.options import WorkerOptions
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.sql.support import Hand, message, refused

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def identity(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    assert context is not None
    return context


@dataclass(frozen=True)
class Seen:
    """The spans that have ended."""

    exporter: InMemorySpanExporter

    def one(self, name: str) -> ReadableSpan:
        (span,) = [span for span in self.exporter.get_finished_spans() if span.name == name]
        return span

    @property
    def traces(self) -> set[int]:
        return {identity(span).trace_id for span in self.exporter.get_finished_spans()}

    def is_parent(self, parent: str, child: str) -> bool:
        link = self.one(child).parent
        return link is not None and link.span_id == identity(self.one(parent)).span_id


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """An application that has set up tracing."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return Seen(exporter)


@pytest.fixture
def app(db: str) -> Iterator[App]:
    made = App(db, queue="traced")

    @made.command
    async def leaf() -> None: ...

    @made.command
    def leaf_in_a_thread() -> None:
        with trace.get_tracer("test").start_as_current_span("inside"):
            pass

    @made.command
    async def tree(ctx: Context) -> None:
        ctx.spawn(leaf)

    @made.command
    async def chain(ctx: Context) -> None:
        ctx.follow_up(leaf)

    @made.command
    async def stumble() -> None:
        raise GiveUp("no use")

    yield made
    made.sync.close()


def work(app: App) -> None:
    """Run a worker in this process until nothing is left to do."""

    async def run() -> None:
        await Dispatcher(app.dsn, WorkerOptions(stops_when_idle=True), commands=app.commands).run()

    asyncio.run(run())


def column(connect: Connect, name: str) -> list[Any]:
    return [value for (value,) in connect().execute(f"select {name} from worker.task order by id")]


def test_an_enqueue_and_the_run_of_its_task_are_one_trace(app: App, seen: Seen) -> None:
    with trace.get_tracer("test").start_as_current_span("request"):
        app.commands.get("leaf").sync.enqueue()
    work(app)
    assert seen.is_parent("request", "enqueue leaf")
    assert seen.is_parent("enqueue leaf", "run leaf")
    assert len(seen.traces) == 1


def test_the_run_of_a_child_belongs_to_the_run_of_its_parent(app: App, seen: Seen) -> None:
    app.commands.get("tree").sync.enqueue()
    work(app)
    assert seen.is_parent("run tree", "run leaf")
    assert len(seen.traces) == 1


def test_the_run_of_a_follow_up_belongs_to_the_run_that_asked_for_it(app: App, seen: Seen) -> None:
    app.commands.get("chain").sync.enqueue()
    work(app)
    assert seen.is_parent("run chain", "run leaf")
    assert len(seen.traces) == 1


def test_spans_have_their_kind_and_say_which_task_ran(app: App, seen: Seen) -> None:
    task_id = app.commands.get("leaf").sync.enqueue().id
    work(app)
    assert seen.one("enqueue leaf").kind is SpanKind.PRODUCER
    run = seen.one("run leaf")
    assert run.kind is SpanKind.CONSUMER
    assert dict(run.attributes or {}) == {
        "catchment.task_id": task_id,
        "catchment.command": "leaf",
        "catchment.queue": "traced",
        "catchment.attempt": 1,
    }


def test_a_handler_in_a_thread_goes_on_in_the_span_of_its_run(app: App, seen: Seen) -> None:
    app.commands.get("leaf_in_a_thread").sync.enqueue()
    work(app)
    assert seen.is_parent("run leaf_in_a_thread", "inside")


def test_the_error_of_a_handler_is_recorded_with_its_run(app: App, seen: Seen) -> None:
    app.commands.get("stumble").sync.enqueue()
    work(app)
    run = seen.one("run stumble")
    assert run.status.status_code is StatusCode.ERROR
    assert [event.name for event in run.events] == ["exception"]


def test_a_task_that_nobody_traced_begins_a_new_trace(app: App, seen: Seen, connect: Connect) -> None:
    app.sync.register()
    connect().execute("select worker.enqueue('leaf')")
    with trace.get_tracer("test").start_as_current_span("somewhere else"):
        work(app)
    assert seen.one("run leaf").parent is None


def test_enqueuing_many_is_one_span_for_all_of_them(app: App, seen: Seen, connect: Connect) -> None:
    async def many() -> None:
        async with app:
            await app.commands.get("leaf").enqueue_many(
                [app.commands.get("leaf").item(**payload) for payload in [{}] * 3]
            )

    asyncio.run(many())
    span = identity(seen.one("enqueue leaf"))
    kept = column(connect, "left(trace, 52)")
    assert kept == [f"00-{span.trace_id:032x}-{span.span_id:016x}"] * 3


def test_without_a_tracer_nothing_is_kept(app: App, connect: Connect) -> None:
    app.commands.get("tree").sync.enqueue()
    work(app)
    assert column(connect, "trace") == [None, None]


def test_a_child_made_in_sql_continues_the_trace_of_its_parent(engine: Engine) -> None:
    engine.value("select worker.enqueue('act', %s::jsonb, p_trace => %s)", '{"spawn": [{}]}', PARENT)
    engine.drain()
    assert [row[0] for row in engine.conn.execute("select trace from worker.task")] == [PARENT, PARENT]


def test_a_follow_up_made_in_sql_continues_the_trace_of_its_root(engine: Engine) -> None:
    engine.value("select worker.enqueue('act', %s::jsonb, p_trace => %s)", '{"follow_up": [{}]}', PARENT)
    engine.drain()
    assert [row[0] for row in engine.conn.execute("select trace from worker.task")] == [PARENT, PARENT]


@pytest.mark.parametrize("options", [{}, {"dedup": []}], ids=["plain", "deduplicated"])
def test_a_claim_has_the_trace_of_its_task(engine: Engine, options: dict[str, Any]) -> None:
    engine.command("py", handler_kind="python", **options)
    engine.value("select worker.enqueue('py', p_trace => %s)", PARENT)
    hand = Hand.hired(engine.conn)
    claimed = engine.value("select trace from worker.claim_tasks(%s, '{work}', 1)", hand.worker_id)
    assert claimed == PARENT


def test_tasks_enqueued_for_later_and_in_lanes_keep_their_trace(engine: Engine) -> None:
    engine.value("select worker.enqueue('act', p_lane => 'a', p_trace => %s)", PARENT)
    engine.value("select worker.enqueue_many('act', '{\"{}\"}', p_scheduled_at => '2100-01-01', p_trace => %s)", PARENT)
    engine.value("select worker.enqueue_many('act', '{\"{}\"}', p_trace => %s)", PARENT)
    assert [row[0] for row in engine.conn.execute("select trace from worker.task")] == [PARENT] * 3


def test_a_trace_that_is_no_traceparent_by_length_is_refused(engine: Engine) -> None:
    with refused(engine, "CM018") as caught:
        engine.value("select worker.enqueue('act', p_trace => repeat('x', 201))")
    assert "trace" in message(caught)
