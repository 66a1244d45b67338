"""Requests made at random from the OpenAPI document, right ones and wrong ones: each answer is as the document says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import openapi
from schemathesis.generation import GenerationMode

from catchment.dashboard.auth.check import Access
from catchment.dashboard.pages import SCREENS
from catchment.dashboard.plugin import find_plugins
from tests.dashboard.document import check_answers
from tests.dashboard.sample import fill
from tests.fixtures.dashboard import DashboardSite, StartDashboard
from tests.fixtures.engine import Engine
from tests.fixtures.often import often

TOKEN = "a token of a test, for operators"  # noqa: S105


@pytest.fixture
def ids(committed: Engine) -> dict[str, int]:
    return fill(committed)


@pytest.fixture
def site(dashboard: StartDashboard, committed: Engine, ids: dict[str, int]) -> Iterator[DashboardSite]:
    """A dashboard with something on every screen, for programs."""
    made = dashboard(Access(tokens={"operator": TOKEN}))
    made.client.headers["Authorization"] = f"Bearer {TOKEN}"
    yield made
    # Whatever was asked for: the engine still keeps its rules.
    committed.check()


def test_a_name_of_the_document_is_one_schema() -> None:
    known: dict[str, Any] = {}
    for screen in (*SCREENS, *(screen for plugin in find_plugins() for screen in plugin.screens)):
        schema = screen.answer.model_json_schema(mode="serialization")
        for name, part in {**schema.pop("$defs", {}), screen.answer.__name__: schema}.items():
            assert known.setdefault(name, part) == part, (screen.name, name)


def test_screens_with_something_on_them_are_as_the_document_says(site: DashboardSite, ids: dict[str, int]) -> None:
    """Most requests made at random are for what is not there."""
    plain = [screen.path.rstrip("/") or "/now" for screen in SCREENS if "{" not in screen.path]
    more = ("/tasks/{failed}", "/tasks/{parent}", "/tasks/{behind}", "/tasks/{done}/result", "/scopes/{parent}")
    paths = (*plain, *more, "/scopes/{scope}", "/bulk/{bulk}", "/start?command=act", "/tasks?state=failed")
    check_answers(site, *(f"/api{path.format(**ids)}" for path in paths))


@pytest.mark.parametrize("mode", often(GenerationMode.NEGATIVE, now_and_then=[GenerationMode.POSITIVE]))
def test_every_answer_is_as_the_document_says(site: DashboardSite, mode: GenerationMode) -> None:
    schema = openapi.from_dict(site.json("/api/openapi.json"))
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {TOKEN}"
    operations = [result.ok() for result in schema.get_all_operations()]  # pyright: ignore[reportAttributeAccessIssue] - an Err fails
    for operation in operations:

        @settings(
            max_examples=1,
            database=None,
            deadline=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: object) -> None:
            case.call_and_validate(base_url=site.address, session=session)  # type: ignore[attr-defined]

        with suppress(Unsatisfiable):  # nothing can be wrong with a request that has no parameters
            check()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_schemathesis_finds_nothing(site: DashboardSite, tmp_path: Path) -> None:
    """Its own command, with all of its phases and checks."""
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{site.address}/api/openapi.json"),
            *("--header", f"Authorization: Bearer {TOKEN}", "--max-examples", "40", "--no-color"),
            # A schema cannot say of the text inside a payload that it has no NUL character.
            *("--generation-deterministic", "--generation-allow-x00", "false", "--warnings", "off"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
