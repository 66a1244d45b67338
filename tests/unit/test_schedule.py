"""Schedules of an app: what is refused when they are defined, and what a worker declares."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from catchment import App, DefinitionRefused
from catchment.task.commands import united


@pytest.fixture
def app() -> App:
    return App("postgresql://nowhere")


def _declared(app: App) -> list[dict[str, Any]]:
    """Definitions without what they leave at its default."""
    defaults = {"payload": {}, "timezone": "UTC", "missed": "one", "overlap": "allow"}
    return [
        {key: value for key, value in definition.items() if value is not None and defaults.get(key) != value}
        for definition in app.commands.schedule_definitions()
    ]


def test_a_command_can_have_several_schedules(app: App) -> None:
    @app.schedule(cron="0 6 * * *", tz="Europe/Oslo")
    @app.schedule(every=timedelta(minutes=5), name="often", missed="skip", overlap="wait")
    @app.command
    async def digest(kind: str = "short") -> int:
        return len(kind)

    app.schedule(
        digest.using(lane="digests", priority=5).item("long"),
        cron="@weekly",
        tz=ZoneInfo("Asia/Kolkata"),
        name="weekly",
    )
    assert _declared(app) == [
        {
            "name": "often",
            "command": "digest",
            "every": "300000000 microseconds",
            "missed": "skip",
            "overlap": "wait",
            "payload": {"kind": "short"},
        },
        {
            "name": "digest",
            "command": "digest",
            "cron": "0 6 * * *",
            "timezone": "Europe/Oslo",
            "payload": {"kind": "short"},
        },
        {
            "name": "weekly",
            "command": "digest",
            "cron": "@weekly",
            "timezone": "Asia/Kolkata",
            "payload": {"kind": "long"},
            "lane": "digests",
            "priority": 5,
        },
    ]


def test_the_parameter_for_the_time_is_left_to_the_server(app: App) -> None:
    @app.schedule(every=60, due="at")
    @app.command
    def report(at: datetime, kind: str = "x") -> None: ...

    app.schedule(report.item(datetime.now(UTC), kind="y"), every=60, due="at", name="other")
    assert [definition["payload"] for definition in _declared(app)] == [{"kind": "x"}, {"kind": "y"}]
    assert [definition["due_key"] for definition in _declared(app)] == ["at", "at"]


@pytest.mark.parametrize(
    ("options", "says", "hint"),
    [
        ({}, "neither cron nor every", "Pass one"),
        ({"cron": "@daily", "every": 60}, "both cron and every", "Pass one"),
        ({"cron": "61 * * * *"}, "its minute is '61', expected 0 to 59", "Five fields"),
        ({"cron": "0 0 30 2 *"}, "never fires: no month 2 has a day 30", "other months"),
        ({"cron": "0 0 * *"}, "has 4 fields, expected five", "@daily"),
        ({"cron": "0 0 L * *"}, "its day of the month is 'l'", "L, # and W are not supported"),
        ({"cron": "1," * 400 + "1 * * * *"}, "expected at most 500", "ranges"),
        ({"cron": 5}, "cron is 5, expected a text", "cron="),
        ({"cron": "@daily", "tz": "Europe/Olso"}, "time zone 'Europe/Olso' is unknown", "Did you mean Europe/Oslo?"),
        ({"cron": "@daily", "tz": "europe/oslo"}, "time zone 'europe/oslo' is unknown", "Did you mean Europe/Oslo?"),
        ({"cron": "@daily", "tz": 1}, "tz is 1, expected the name of a time zone", "Europe/Oslo"),
        ({"every": 60, "tz": "Europe/Oslo"}, "an interval has no time zone", "Leave tz out"),
        ({"every": 0.5}, "every of a schedule is 0.5, expected one second", None),
        ({"every": -1}, "every of a schedule is -1 seconds", None),
        ({"every": "1 hour"}, "expected a number of seconds or a timedelta", None),
        (
            {"every": 60, "missed": "never"},
            "missed of a schedule is 'never', expected one of ('one', 'all', 'skip')",
            None,
        ),
        ({"every": 60, "overlap": None}, "overlap of a schedule is None", None),
        ({"every": 60, "name": ""}, "the name of a schedule is ''", None),
        ({"every": 60, "due": "day"}, "due of a schedule is 'day', expected a parameter of digest", "kind, on"),
        ({"every": 60, "due": "on"}, "on: Datetimes provided to dates should have zero time", None),
    ],
    ids=str,
)
def test_bad_options_are_refused_at_definition(app: App, options: Any, says: str, hint: str | None) -> None:
    with pytest.raises(DefinitionRefused) as caught:

        @app.schedule(**options)
        @app.command
        async def digest(kind: int = 3, on: date = date(2026, 1, 2)) -> None: ...

    assert says in str(caught.value)
    assert hint is None or hint in (caught.value.hint or "")
    assert not app.commands.schedules


def test_a_command_that_needs_arguments_needs_an_item(app: App) -> None:
    @app.command
    async def send(to: str) -> None: ...

    with pytest.raises(DefinitionRefused, match="to is missing") as caught:
        app.schedule(every=60)(send)
    assert "app.schedule(send.item(…), …)" in (caught.value.hint or "")


def test_only_commands_of_the_app_are_scheduled(app: App) -> None:
    other = App("postgresql://nowhere")

    @other.command
    def send() -> None: ...

    def plain() -> None: ...

    refused: list[Callable[[], Any]] = [
        lambda: app.schedule(every=60)(send),
        lambda: app.schedule(every=60)(plain),  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
        lambda: app.schedule(send.item(), every=60),
        lambda: app.schedule(send, every=60),  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
        lambda: other.schedule(send.using(delay=5).item(), every=60),
    ]
    for define in refused:
        with pytest.raises(DefinitionRefused):
            define()


def test_a_name_is_used_once(app: App) -> None:
    @app.schedule(every=60)
    @app.command
    def send() -> None: ...

    with pytest.raises(DefinitionRefused, match="schedule send is defined twice"):
        app.schedule(every=90)(send)
    other = App("postgresql://nowhere")

    @other.schedule(every=60, name="send")
    @other.command
    def fetch() -> None: ...

    with pytest.raises(DefinitionRefused, match="schedule send is defined in a:app and in b:app"):
        united({"a:app": app.commands, "b:app": other.commands})
