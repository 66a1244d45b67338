"""Every argument of a public function that has a wrong type or an impossible value is refused where it is given.

The message has the name of the argument and what is expected; the error is one of Catchment's. Nothing here reaches a
server: what is refused is refused before.
"""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import psycopg
import pytest
from prometheus_client import Counter

import catchment
from catchment import App, Context, GiveUp, Limit, Retry, RetryLater, SyncClient
from catchment.errors import DefinitionRefused, RequestRefused
from catchment.lake import Lake
from catchment.testing import drain, run_inline


class Stubborn:
    """Can neither be shown nor compared."""

    def __repr__(self) -> str:
        raise ValueError

    def __eq__(self, other: object) -> bool:
        raise ValueError

    __hash__ = object.__hash__


def handler(x: int = 1, y: int = 2) -> int:
    return x + y


def plain(x: int) -> int:
    return x


async def too_few(ctx: Context) -> None: ...
async def generates(ctx: Context, call: Any) -> Any:
    yield 1


HUGE = 10**5000
NAN, INF = float("nan"), float("inf")
BAD_TEXTS = ["a\0b", "a\ud800b"]
OBJECTS = [object(), Stubborn(), ..., print, int, [[1]], {1: 2}, {"a": object()}, b"x", dt.date(2026, 1, 1)]
NUMBERS = [5, -1, 2.5, NAN, INF, -INF, HUGE, 2**63, True]
NO_TEXT = [*OBJECTS, *NUMBERS, *BAD_TEXTS]
NO_NAME = [*NO_TEXT, "", "n" * 201]
NO_COUNT = [*OBJECTS, *BAD_TEXTS, "5", 0, -1, 2.5, NAN, INF, HUGE, 2**31, True]
NO_INTEGER = [*OBJECTS, *BAD_TEXTS, "5", 2.5, NAN, INF, HUGE, 2**31, -(2**31) - 1, True]
NO_DURATION = [*OBJECTS, *BAD_TEXTS, "5", -1, NAN, INF, -INF, HUGE, 2**63, True, dt.timedelta.max, dt.timedelta(-1)]
NO_CHOICE = [*NO_TEXT, "", "other"]
NO_NAMES = [*OBJECTS, *NUMBERS, ["x", 1], {"x": 1}]
NO_TIME = [*OBJECTS, *NUMBERS, "tomorrow", dt.datetime(2026, 1, 1)]
NO_ID = [*OBJECTS, "5", 2.5, NAN, INF, HUGE, 2**63, True, None]
NO_CONNECTION = [*OBJECTS, *NUMBERS, "host=x"]
NO_COMMAND = [*OBJECTS, *NUMBERS, *BAD_TEXTS, "", None]
NO_PAYLOAD = [5, 2.5, True, "x", b"x", [1], object(), Stubborn(), ...]
NO_PAYLOADS = [5, 2.5, True, "x", "", b"x", {"x": 1}, object(), Stubborn(), ..., None]
NO_RULE = [
    *OBJECTS,
    *NUMBERS,
    None,
    "",
    "glue",
    {"type": "date"},
    {"op": "glue"},
    {"op": Stubborn()},
    {"op": "min", "x": 1},
]
NO_RULE += [{"op": "min", "type": "banana"}, {"op": "add", "type": "numeric"}, {"op": "range_union", "type": "date"}]


def an_app() -> App:
    return App("host=/nowhere", queue="here")


def command(**options: Any) -> Any:
    return an_app().command(**options)(handler)


def context() -> Context:
    return Context.local(parent_id=1)


def by_name(verb: Callable[[], Callable[..., Any]], default: Any = None) -> Callable[..., Any]:
    """A verb that takes the name of a command, its arguments and options."""
    return lambda **given: verb()("x", given.pop("arguments", default), **given)


def options(make: Callable[..., Any], **bad: list[Any]) -> Iterator[tuple[str, Callable[[Any], Any], list[Any]]]:
    for name, values in bad.items():
        yield name, lambda value, name=name: make(**{name: value}), values


WHEN = {"priority": NO_INTEGER, "at": NO_TIME, "delay": NO_DURATION}
# Where an argument goes, its name in messages if that is another, and values that it cannot have.
TABLE: dict[str, Iterator[tuple[str, Callable[[Any], Any], list[Any]]]] = {
    "App": options(
        lambda **given: App(**{"dsn": "host=/nowhere", **given}),
        dsn=[*NO_TEXT, "nonsense", "no_such_option=5", "postgresql://a:b:c@[/"],
        queue=[*NO_NAME, None],
        pool_size=[*NO_COUNT, None],
        imports=[*OBJECTS, *NUMBERS, None, "x", [5], ["a-b"], [".a"], [""]],
    ),
    "App.command": options(
        command,
        name=NO_NAME,
        queue=NO_NAME,
        priority=[*NO_INTEGER, None],
        max_attempts=[*NO_COUNT, None],
        retry=[*OBJECTS, *NUMBERS, "x", "", 0, False, [], {}, Limit(rate=1), Retry],
        timeout=[*NO_DURATION, 0],
        dedup=[*NO_NAMES, "other", ["other"], ""],
        merge=[*OBJECTS, *NUMBERS, "x", "", 0, False, [], {"x": "last"}],
        on_failure=NO_CHOICE,
        limit=[*OBJECTS, *NUMBERS, "x", "", 0, False, [], {}, Retry(), Limit],
        executor=[*NO_CHOICE, None, "async"],
        description=NO_TEXT,
    ),
    "App.command(executor='ray')": options(
        lambda **given: command(executor="ray", **given),
        num_cpus=[*OBJECTS, "1", -1, 0.00001, NAN, INF, HUGE, True],
        num_gpus=[*OBJECTS, "1", -1, 0.00001, 1.5, NAN, INF, HUGE, True],
        memory=[*OBJECTS, "5", 0, -1, 2.5, NAN, INF, HUGE, 2**62, True],
    ),
    "App.command(merge=…)": options(
        lambda merge: command(dedup=(), merge=merge), merge=[*OBJECTS, *NUMBERS, "x", "", {1: "last"}, {"z": "last"}]
    ),
    "a rule": options(lambda merge: command(dedup=(), merge={"x": merge}), merge=NO_RULE),
    "a function": iter(
        [("function", lambda fn: an_app().command(fn), [5, "x", print, int, object(), HUGE, Stubborn()])]
    ),
    "Command.join": iter([("function", command().join, [5, "x", print, int, object(), None, HUGE, Stubborn()])]),
    "App.queue": options(
        lambda **given: an_app().queue(**{"name": "q", "rate": 1, **given}),
        mode=NO_CHOICE,
        concurrency=NO_COUNT,
        max_depth=NO_COUNT,
        on_failure=NO_CHOICE,
        max_running=NO_COUNT,
        rate=NO_COUNT,
        per=[*NO_DURATION, 0, None],
    ),
    "App.queue(name)": iter([("queue", lambda name: an_app().queue(name), [*NO_NAME, None])]),
    "App.middleware": options(
        lambda fn: an_app().middleware(fn), fn=[5, "x", None, int, object(), Stubborn(), too_few, generates, plain]
    ),
    "App.collector": options(
        lambda collector: an_app().collector(collector), collector=[*OBJECTS, *NUMBERS, None, "x", Counter]
    ),
    "Retry": options(
        Retry,
        delay=[*NO_DURATION, None],
        factor=[*OBJECTS, "2", 0.5, NAN, INF, HUGE, True, None],
        max_delay=[*NO_DURATION, None],
        jitter=[*OBJECTS, "1", -1, 2, NAN, INF, HUGE, True, None],
    ),
    "Limit": options(
        lambda **given: Limit(**{"rate": 1, **given}),
        key=[*NO_NAMES, None],
        max_running=NO_COUNT,
        rate=NO_COUNT,
        per=[*NO_DURATION, dt.timedelta(), None],
    ),
    "RetryLater": options(
        lambda **given: RetryLater(**{"delay": 1, **given}),
        delay=[*OBJECTS, "5", NAN, INF, HUGE, 2**63, True, None, dt.timedelta.max],
        uses_attempt=[*OBJECTS, *BAD_TEXTS, 5, 0, "no", None],
    ),
    "Context.local": options(
        Context.local,
        command=[*NO_TEXT, None],
        task_id=NO_ID,
        parent_id=NO_ID[:-1],
        lane=[*NO_TEXT, "", "w" * 501],
        attempt=[*NO_COUNT, None],
        max_attempts=[*NO_COUNT, None],
    ),
    "Context.scope": options(
        lambda **given: context().scope(**given), mode=[*NO_CHOICE, None], on_child_failure=[*NO_CHOICE, None]
    ),
    "Context.spawn": options(by_name(lambda: context().spawn), **WHEN, arguments=NO_PAYLOAD),
    "Context.spawn_sibling": options(by_name(lambda: context().spawn_sibling), **WHEN, arguments=NO_PAYLOAD),
    "Context.follow_up": options(
        by_name(lambda: context().follow_up), **WHEN, arguments=NO_PAYLOAD, lane=[*NO_TEXT, ""]
    ),
    "Context.snooze": options(context().snooze, delay=[*NO_DURATION, None]),
    "Context.sleep_until": options(
        context().sleep_until, when=[*NO_TIME, None, dt.datetime.max, dt.datetime(2200, 1, 1, tzinfo=dt.UTC)]
    ),
    "Context.spawn_many": options(
        by_name(lambda: context().spawn_many, [{}]),
        arguments=[*NO_PAYLOADS, [5], ["x"], [None]],
        priority=NO_INTEGER,
    ),
    "Context: a command": iter(
        [("command", getattr(context(), verb), NO_COMMAND) for verb in ("spawn", "spawn_sibling", "follow_up")]
        + [("command", lambda command: context().spawn_many(command, [{}]), [*BAD_TEXTS, ""])]
    ),
    "SyncClient.enqueue": options(
        by_name(lambda: an_app().sync.enqueue),
        **WHEN,
        lane=[*NO_TEXT, "", "w" * 501],
        arguments=NO_PAYLOAD,
        conn=[*NO_CONNECTION, None],
    ),
    "SyncClient.enqueue_many": options(
        by_name(lambda: an_app().sync.enqueue_many, [{}]),
        **WHEN,
        arguments=NO_PAYLOADS,
        lane=[*BAD_TEXTS, "", b"x", 5, 2.5, {"x": 1}, object(), Stubborn()],
        conn=[*NO_CONNECTION, None],
        batch_size=[*NO_COUNT, None],
    ),
    "SyncRequest.using": options(
        lambda **given: command().sync.using(**given).enqueue(x=1),
        **WHEN,
        lane=[*NO_TEXT, "", "w" * 501],
        conn=[*NO_CONNECTION, None],
        app=[*NO_TEXT, "x"],
    ),
    "Command.enqueue_many": options(
        lambda **given: command().sync.enqueue_many(**{"items": [], **given}),
        items=NO_PAYLOADS,
        batch_size=[*NO_COUNT, None],
    ),
    "SyncClient: a command": iter(
        [
            ("command", lambda command: an_app().sync.enqueue(command), NO_COMMAND),
            ("command", lambda command: an_app().sync.enqueue_many(command, [{}]), NO_COMMAND),
        ]
    ),
    "SyncClient: an id": iter([("id", an_app().sync.task, NO_ID), ("id", command().task, NO_ID)]),
    "SyncTask.result": options(lambda timeout: an_app().sync.task(1).result(timeout=timeout), timeout=NO_DURATION),
    "SyncTask.cancel": options(lambda reason: an_app().sync.task(1).cancel(reason), reason=NO_TEXT),
    "connect": options(
        lambda **given: catchment.connect(**{"dsn": "host=/nowhere", **given}),
        dsn=[*NO_TEXT, "nonsense"],
        name=[*NO_TEXT, None],
        seconds=[*NO_COUNT, None],
    ),
    "run_inline": iter([("app", lambda app: run_inline(app, "x"), [*OBJECTS, *NUMBERS, "x", None])]),
    "drain": options(
        lambda **given: drain(**{"app": an_app(), "conn": None, **given}),
        app=[*OBJECTS, *NUMBERS, "x", None],
        conn=[*NO_CONNECTION, None],
        max_tasks=[*NO_COUNT, None],
    ),
    "Lake": options(Lake, dsn=[*NO_TEXT, "nonsense"]),
    "migrate": chain(
        options(catchment.migrate, conn=[*NO_CONNECTION, None]),
        options(partial(catchment.migrate, None), roles=[*OBJECTS, 0, 1, "yes"]),  # type: ignore[arg-type]
    ),
}
CASES = [(place, name, give, values) for place, rows in TABLE.items() for name, give, values in rows]


@pytest.mark.parametrize(("place", "name", "give", "values"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_a_value_that_cannot_be_meant_is_refused(
    place: str, name: str, give: Callable[[Any], Any], values: list[Any]
) -> None:
    for value in values:
        kind = f"{place}, {name}: {type(value).__name__}"
        with pytest.raises((RequestRefused, DefinitionRefused)) as caught:
            give(value)
        said = str(caught.value)
        assert name in said or "item" in said, kind


# Taken by their truth, or given to others as they are.
FREE = {
    *("fn", "is_join", "is_async", "port", "arguments", "reason", "self", "task_id", "command"),
    *("collector", "items", "args", "kwargs", "name", "on_step"),
}


def test_the_table_has_every_argument() -> None:
    tested = {(place.partition("(")[0], name) for place, name, _, _ in CASES}
    for owner, members in {App: ["command", "queue"], SyncClient: ["enqueue", "enqueue_many"]}.items():
        for member in members:
            _all_tested(f"{owner.__name__}.{member}", getattr(owner, member), tested)
    for member in ("local", "scope", "spawn", "spawn_sibling", "follow_up", "spawn_many", "snooze", "sleep_until"):
        _all_tested(f"Context.{member}", getattr(Context, member), tested)
    for made in (App, Retry, Limit, RetryLater, catchment.connect, catchment.migrate):
        _all_tested(made.__name__, made, tested)


def _all_tested(place: str, made: Callable[..., Any], tested: set[tuple[str, str]]) -> None:
    missing = [name for name in inspect.signature(made).parameters if (place, name) not in tested and name not in FREE]
    assert missing == [], place


def test_a_reason_of_any_type_is_a_reason() -> None:
    assert str(GiveUp(ValueError("no use"))) == "no use"  # type: ignore[arg-type]
    assert RetryLater(1, KeyError("x")).reason == "'x'"  # type: ignore[arg-type]
    assert GiveUp(Stubborn()).reason == "of type Stubborn"  # type: ignore[arg-type]


def test_a_negative_delay_of_retry_later_is_zero() -> None:
    for delay in (-1, -INF, -HUGE, dt.timedelta(-1), dt.timedelta.min):
        assert RetryLater(delay).delay == dt.timedelta()


def test_what_is_meant_is_taken() -> None:
    app = an_app()

    class Around:
        async def __call__(self, _: Context, call: Any) -> Any:
            return await call()

    for middleware in (Around(), lambda _, call: call(), lambda *args: args[1]()):
        app.middleware(middleware)
    app.collector(Counter("refusals_taken", "A metric.", registry=None))
    limited = app.command(limit=Limit((name for name in ("y", "x")), rate=1))(handler)
    assert limited.options.limit is not None
    assert [limited.options.limit.keys for _ in range(2)] == [("y", "x")] * 2
    assert app.command(name="deduped", dedup={"y", "x"})(handler).options.dedup == ("x", "y")
    rules: Any = {"x": {"op": "min", "type": "date"}, "y": {"op": "range_union"}}
    assert app.command(name="merged", dedup=(), merge=rules)(handler).options.merge == rules


def test_a_dsn_of_the_environment_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_DSN", "secret")
    with pytest.raises(RequestRefused, match=r"^CATCHMENT_DSN is not a connection string that libpq can read\n?"):
        catchment.connect()


def test_a_schema_is_installed_on_a_connection_in_autocommit_mode(db: str) -> None:
    with psycopg.connect(db) as conn:
        with pytest.raises(RequestRefused, match="conn is not in autocommit mode"):
            catchment.migrate(conn)
        conn.autocommit = True
        with pytest.raises(RequestRefused, match="on_step is 5, expected a function"):
            catchment.migrate(conn, on_step=5)  # type: ignore[arg-type]
