"""The plugin for pytest, in projects of users."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

NAMED = ("-p", "catchment.testing.plugin")
# Where the package was installed before it had the entry point, the plugin is named. That of schemathesis takes longer
# to import than most tests of a project run.
IS_INSTALLED = any(one.value == NAMED[1] for one in entry_points(group="pytest11"))
LOADED = ("-p", "no:schemathesis", *(() if IS_INSTALLED else NAMED))

SHOP = """
import catchment

app = catchment.App("host=nowhere.invalid", queue="shop")


@app.command
async def greet(name: str) -> str:
    return f"hello {name}"


@app.command
def greet_later(name: str) -> int:
    return greet.sync.enqueue(name=name).id


async def welcome(name: str) -> catchment.Task[str]:
    return await greet.enqueue(name=name)
"""
TESTS = """
import asyncio

import catchment
import pytest
from catchment.testing import drain_async
from shop import greet, greet_later, welcome


def test_inline(catchment_inline):
    assert catchment_inline(greet, name="you").result == "hello you"


def test_drain(catchment_app, catchment_drain):
    task = greet.sync.enqueue(name="you")
    later = greet_later.sync.enqueue(name="them")
    assert catchment_drain() == {"completed": 3}
    assert task.result(timeout=1) == "hello you"
    assert greet.sync.task(later.result(timeout=1)).result(timeout=1) == "hello them"
    assert task.info().state == "completed"


def test_nothing_is_left(catchment_tx):
    assert catchment_tx.execute("select count(*) from worker.tasks").fetchone() == (0,)
    commands = catchment_tx.execute("select count(*) from worker.command_registry where command = 'greet'")
    assert commands.fetchone() == (0,)


def test_asyncio(catchment_app, catchment_tx):
    async def main():
        tasks = await asyncio.gather(*(welcome(str(n)) for n in range(5)))
        assert await drain_async(catchment_app, catchment_tx) == {"completed": 5}
        assert [await task.result(timeout=1) for task in tasks] == [f"hello {n}" for n in range(5)]

    asyncio.run(main())


def test_a_refused_call_breaks_nothing(catchment_app, catchment_drain, catchment_tx):
    with pytest.raises(catchment.CommandNotRegistered):
        catchment_app.sync.enqueue("unknown")
    with pytest.raises(catchment.TaskNotFound):
        catchment_app.sync.task(1).info()
    catchment_tx.rollback()
    greet.sync.enqueue_many(greet.item(name=str(n)) for n in range(3))
    assert catchment_drain() == {"completed": 3}


def test_what_other_tests_would_see_is_refused(catchment_drain, catchment_tx):
    greet.sync.enqueue(name="you")
    with pytest.raises(RuntimeError, match="use catchment_live_app for code that commits"):
        catchment_tx.commit()
    catchment_tx.close()


@pytest.mark.parametrize("_", range(2))
def test_live(catchment_live_app, catchment_db, _):
    async def main():
        async with catchment_live_app.worker():
            task = await welcome("you")
            assert await task.result(timeout=60) == "hello you"
            assert task.id == 1

    asyncio.run(main())


def test_outside_of_a_test_the_app_is_as_before():
    with pytest.raises(catchment.ServerUnavailable):
        greet.sync.enqueue(name="you")
"""


def test_the_fixtures_do_what_they_say(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(shop=SHOP)
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\ncatchment_app = shop:app\n")
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *LOADED)
    done.assert_outcomes(passed=9)


@pytest.mark.long
def test_an_app_that_is_not_named_or_not_there_is_said(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile("def test_it(catchment_inline): ...")
    # No plugin but ours: the others take longer to import than these runs last.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    options = ("-p", "no:cacheprovider", *NAMED)
    pytester.runpytest_subprocess(*options).stdout.fnmatch_lines(["*add catchment_app = shop.tasks:app to*"])
    pytester.runpytest_subprocess(*options, "-o", "catchment_app=os:nothing").stdout.fnmatch_lines(
        ["*catchment_app is 'os:nothing', and that is not there*"]
    )
    pytester.runpytest_subprocess(*options, "-o", "catchment_app=os:path").stdout.fnmatch_lines(
        ["*expected a catchment.App*"]
    )


def test_it_imports_nothing_that_a_run_without_it_does_not_need() -> None:
    script = (
        "import sys, pytest; before = {*sys.modules}; import catchment.testing.plugin; "
        "print(*sorted({*sys.modules} - before))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = [
        n for n in done.stdout.split() if n.partition(".")[0] in ("psycopg", "pydantic", "typer", "rich", "asyncio")
    ]
    assert heavy == []
    assert len(done.stdout.split()) < 40, done.stdout
