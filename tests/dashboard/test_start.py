"""Starting a task by a form: fields from the schema, problems beside them, and nothing without confirmation."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from catchment import App
from catchment.dashboard.form import fields_of, problems_of, read_json_text
from catchment.dashboard.payload_schema import KEYWORDS, fault_of
from tests.fixtures.dashboard import VIEWER, DashboardSite, StartDashboard
from tests.fixtures.engine import Engine


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Item(BaseModel):
    sku: str
    count: int = Field(ge=1)


def shop(dsn: str | None = None) -> App:
    app = App(dsn)

    @app.command(queue="shop", description="Sends a parcel.")
    def ship(
        to: Annotated[str, Field(min_length=2, description="Who gets it.")],
        weight: int,
        items: list[Item],
        size: Size = Size.SMALL,
        price: Decimal | None = None,
        on: date | None = None,
        *,
        is_gift: bool = False,
    ) -> None: ...

    return app


def ship_schema() -> dict[str, Any]:
    (definition,) = shop().commands.definitions()
    return definition["payload_schema"]


def test_a_worker_registers_the_schema_and_an_enqueue_does_not_make_it(db: str, committed: Engine) -> None:
    app = shop(db)
    stored = "select payload_schema from worker.command_registry where command = 'ship'"
    app.commands.get("ship").sync.enqueue(to="ada", weight=1, items=[])
    assert committed.value(stored) is None
    app.sync.register()
    app.sync.close()
    assert committed.value(stored) == ship_schema()
    fields = fields_of(committed.value(stored)) or []
    assert [one.name for one in fields] == ["to", "weight", "items", "size", "price", "on", "is_gift"]


def test_fields_are_made_from_the_schema() -> None:
    fields = {one.name: one for one in fields_of(ship_schema()) or ()}
    assert {name: one.kind for name, one in fields.items()} == {
        "to": "text",
        "weight": "integer",
        "items": "json",
        "size": "choice",
        "price": "json",
        "on": "text",
        "is_gift": "boolean",
    }
    assert fields["size"].choices == ['"small"', '"large"']
    assert (fields["to"].is_required, fields["to"].help) == (True, "Who gets it.")
    assert (fields["on"].takes_null, fields["on"].format) == (True, "date")
    assert fields_of(None) is None


@pytest.mark.parametrize(
    ("payload", "problems"),
    [
        ('{"to": "ada", "weight": 5, "items": [{"sku": "a", "count": 2}], "price": 12.50}', {}),
        ('{"to": "a", "weight": 1e3, "items": []}', {"to": "expected 2 characters or more"}),
        (
            '{"to": "ada", "weight": true, "items": {}}',
            {"weight": "expected a whole number", "items": "expected a list"},
        ),
        ('{"to": "ada", "weight": 1, "items": [{"sku": 1, "count": 0}]}', {"items": "[0].sku: expected a text"}),
        ('{"to": "ada", "weight": 1, "items": [], "size": "huge", "x": 1}', {"size": "expected one", "x": "is not a"}),
        ("{}", {"to": "is required", "weight": "is required", "items": "is required"}),
        ("[]", {"": "expected an object"}),
    ],
)
def test_what_does_not_fit_is_named(payload: str, problems: dict[str, str]) -> None:
    said = problems_of(ship_schema(), read_json_text(payload))
    assert {name: text[: len(problems.get(name, text))] for name, text in said.items()} == problems


def test_what_a_handler_takes_is_never_refused() -> None:
    """Whatever a caller gives in Python is accepted as the JSON that it is written as."""
    app = App()

    @app.command
    def wide(
        a: Decimal,
        b: float,
        c: bytes,
        d: tuple[int, str],
        e: set[int],
        f: dict[int, list[Item]],
        g: Literal["x", 3],
        h: int | str | None,
        i: timedelta,
        j: datetime,
        k: UUID,
        l: Size,  # noqa: E741
        m: Any,
        n: Item | Size | list[Decimal],
        o: Annotated[float, Field(gt=0, le=10)],
        model_x: bool,
    ) -> None: ...

    moment = datetime(2026, 1, 1, tzinfo=UTC)
    text = wide.payload.dump(
        {
            "a": Decimal("0.1000000000000000000000000000001"),
            "b": float("-inf"),
            "c": b"\0\xff",
            "d": (1, "x"),
            "e": {1, 2},
            "f": {1: [Item(sku="a", count=1)]},
            "g": 3,
            "h": None,
            "i": timedelta(days=1),
            "j": moment,
            "k": UUID(int=5),
            "l": Size.LARGE,
            "m": [None, {"x": 1}],
            "n": [Decimal(1)],
            "o": 2,
            "model_x": True,
        }
    )
    schema = wide.payload.schema()
    assert schema is not None
    assert problems_of(schema, read_json_text(text)) == {}
    assert [one.name for one in fields_of(schema) or ()] == [*"abcdefghijklmno", "model_x"]


@pytest.mark.parametrize("text", ["NaN", "[" * 600 + "]" * 600, "1" * 5000, "1e9999999", "{", ""])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|exponent"):
        read_json_text(text)


def test_schemas_that_refer_to_themselves_or_elsewhere_end() -> None:
    loop = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert problems_of(loop, {"a": 1}) == {}
    deep = {"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}, "$ref": "#/$defs/A"}
    assert "" in problems_of(deep, 1) or problems_of(deep, 1) == {}
    assert problems_of({"properties": {"a": {"$ref": "https://example.org/schema"}}}, {"a": 1}) == {}


# Any value for each keyword, and schemas inside schemas.
NAMES = [*KEYWORDS, "const", "default", "description", "format"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["a", "object", "integer", "#/$defs/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, "a", "b"]), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(schema=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5), payload=VALUES)
def test_a_schema_has_a_fault_or_makes_a_form(schema: dict[str, Any], payload: Any) -> None:
    if fault_of(schema) is None:
        for one in fields_of(schema) or ():
            assert one.name
        problems_of(schema, payload)


def test_a_schema_that_would_take_forever_ends() -> None:
    parts = {f"A{number}": {"allOf": [{"$ref": f"#/$defs/A{number + 1}"}] * 2} for number in range(40)}
    assert problems_of({"$defs": parts, "$ref": "#/$defs/A0"}, 1) == {}


def test_a_schema_with_a_mistake_leaves_a_field_of_json(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    fields = {"command": "act", "payload": '{"a": 5}', "token": site.token("/start?command=act")}
    for schema, fault in (
        ('{"type": "object", "properties": [1, 2]}', "properties is not an object"),
        ('{"required": [1, null, {}]}', "required.0 is not a text"),
        ('{"properties": {"a": {"type": "integer", "minimum": "x"}}}', "properties.a.minimum is not a number"),
        ('{"minimum": 1' + "0" * 5000 + "}", "more digits than Python reads"),
        ('{"items": ' * 300 + "1" + "}" * 300, "is not flat enough to be read"),
    ):
        committed.conn.execute("update worker.command_registry set payload_schema = %s where command = 'act'", [schema])
        page = html.unescape(site.get("/start?command=act").text)
        assert re.search(f"The schema of act cannot be used: [^<]*{re.escape(fault)}", page)
        assert fault in site.json("/api/start", command="act")["schema_fault"]
        assert site.post("/start", **fields, confirmed="yes").status_code == 303
    assert committed.value("select count(*) from worker.tasks where payload = %s", '{"a": 5}') == 5


@pytest.fixture
def site(dashboard: StartDashboard, committed: Engine, db: str) -> DashboardSite:
    app = shop(db)
    app.sync.register()
    app.sync.close()
    return dashboard()


FORM = {
    "command": "ship",
    "payload.to": "ada <b>",
    "payload.weight": "123456789012345678901",
    "payload.items": '[{"sku": "a", "count": 1}]',
    "payload.price": "0.10000000000000000000000001",
    "payload.size": '"large"',
    "payload.is_gift": "true",
    "lane": "",
    "priority": "7",
    "delay_seconds": "3600",
}


def test_a_task_is_started_after_a_question(site: DashboardSite, committed: Engine) -> None:
    fields = {**FORM, "token": site.token("/start?command=ship")}
    asked = site.post("/start", **fields)
    assert asked.status_code == 200
    assert "Start ship?" in asked.text
    assert "123456789012345678901" in asked.text
    assert "ada &lt;b&gt;" in asked.text
    assert committed.value("select count(*) from worker.tasks") == 0
    done = site.post("/start", **fields, confirmed="yes")
    assert done.status_code == 303
    task = int(done.headers["location"].rpartition("/")[2])
    row = committed.conn.execute(
        "select payload::text, priority, lane, waits_for from worker.tasks where id = %s", [task]
    ).fetchone()
    assert row is not None
    assert '"price": 0.10000000000000000000000001' in row[0]
    assert '"weight": 123456789012345678901' in row[0]
    assert row[1:] == (7, None, "scheduled")
    audit = committed.conn.execute(
        "select action, subject, request ? 'payload', result, detail from worker.audit"
    ).fetchall()
    assert audit == [("task.start", "command ship", False, "done", f"Task {task} was enqueued.")]


def test_problems_are_beside_their_fields_and_nothing_is_lost(site: DashboardSite, committed: Engine) -> None:
    wrong = {**FORM, "payload.weight": "much", "payload.items": "[{", "payload.to": "x"}
    wrong["token"] = site.token("/start?command=ship")
    answer = site.post("/start", **wrong, confirmed="yes")
    assert answer.status_code == 400
    page = html.unescape(answer.text)
    for name, said in (
        ("weight", "expected a whole number"),
        ("items", "this is not JSON: "),
        ("to", "expected 2 characters or more"),
    ):
        assert f'<p class="problem" id="field-payload.{name}-problem">{said}' in page
    assert 'value="much"' in page
    answer = site.post("/start", **{**FORM, "priority": "first", "token": wrong["token"]})
    assert 'id="field-priority-problem"' in answer.text
    # What the engine refuses is said there too.
    answer = site.post("/start", **{**FORM, "lane": "l" * 501, "token": wrong["token"]}, confirmed="yes")
    assert 'id="field-lane-problem"' in answer.text
    assert committed.value("select count(*) from worker.tasks") == 0


def test_programs_start_tasks_and_viewers_do_not(site: DashboardSite, dashboard: StartDashboard) -> None:
    token = site.token("/")
    headers = {"Sec-Fetch-Site": "same-origin", "X-CSRF-Token": token}

    def start(**body: Any) -> Any:
        sent = {**headers, "Content-Type": "application/json"}
        return site.client.post(f"{site.address}/api/start", content=json.dumps(body), headers=sent)

    payload: dict[str, Any] = {"to": "ada", "weight": 1, "items": []}
    answer = start(command="ship", payload=payload)
    assert answer.status_code == 200, answer.text
    assert site.get(answer.json()["path"]).status_code == 200
    for body, status in (
        ({"command": "ship", "payload": {**payload, "weight": "1"}}, 400),
        ({"command": "ship", "payload": []}, 400),
        ({"command": "ship", "payload": {**payload, "to": "a\0b"}}, 400),
        ({"command": "ship", "payload": {**payload, "to": "\ud800\ud800"}}, 400),
        ({"command": "ship", "payload": payload, "delay_seconds": -1}, 400),
        ({"command": "nothing"}, 404),
        ({"command": "a\0b"}, 400),
    ):
        assert start(**body).status_code == status, body
    bomb = '{"command": "ship", "priority": 1e999999999}'
    sent = {**headers, "Content-Type": "application/json"}
    assert site.client.post(f"{site.address}/api/start", content=bomb, headers=sent).status_code == 400
    viewer = dashboard(user=VIEWER)
    fields = {**FORM, "token": viewer.token("/start?command=ship")}
    assert viewer.post("/start", **fields, confirmed="yes").status_code == 403


def test_a_command_without_a_schema_takes_json(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    page = site.get("/start").text
    assert 'href="/start?command=act"' in page
    assert 'name="payload"' in site.get("/start?command=act").text
    assert site.get("/start?command=none").status_code == 404
    fields = {"command": "act", "payload": '{"note": 1.0}', "token": site.token("/start?command=act")}
    assert "expected an object" in site.post("/start", **{**fields, "payload": "[1]"}).text
    done = site.post("/start", **fields, confirmed="yes")
    assert done.status_code == 303
    assert committed.value("select payload::text from worker.tasks") == '{"note": 1.0}'
