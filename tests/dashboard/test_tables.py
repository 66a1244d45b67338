"""The screens of dynamic tables: how late they are and why, what they cost, their rows, and what operators do."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import httpx
import psycopg
import pytest

from catchment.dashboard import previews
from catchment.dashboard.auth.check import Access
from catchment.dashboard.auth.user import User
from catchment.dashboard.charts import buckets
from catchment.dashboard.charts.buckets import bucket_chart
from catchment.dashboard.charts.lineage import arrange, layers_of
from catchment.dashboard.pages import table as table_page
from catchment.dashboard.pages import table_preview
from catchment.dashboard.pages.table_preview import Cell
from catchment.dashboard.screen import sql
from catchment.dashboard.values import Shown
from catchment.extras import LAKE
from catchment.lake.names import quoted
from tests.dashboard.document import check_answers
from tests.dashboard.lake import HOSTILE, fail_daily, ids_of
from tests.fixtures.dashboard import OPERATOR, VIEWER, DashboardSite, StartDashboard, serving
from tests.fixtures.lake_case import LakeCase
from tests.lake.why.situations import Stage, split


@pytest.fixture
def lake_site(lake_db: str) -> Iterator[StartDashboard]:
    """As ``dashboard``, on the database with a lake."""
    with ExitStack() as stack:

        def start(*, user: User = OPERATOR, **options: Any) -> DashboardSite:
            address = stack.enter_context(serving(lake_db, Access(local=user), **options))
            return DashboardSite(address, stack.enter_context(httpx.Client(timeout=60)))

        yield start


def test_late_tables_are_shown_with_the_table_that_is_to_blame(lake_case: LakeCase, lake_site: StartDashboard) -> None:
    ids = ids_of(lake_case)
    site = lake_site()
    answer = site.json("/api/tables")
    assert {table["name"]: table["state"] for table in answer["tables"]} == {
        "main.daily": "fresh",
        "main.totals": "fresh",
        "main.visits": "fresh",
    }
    assert (answer["late"], answer["roots"], answer["counts"]) == (0, [], {"fresh": 3})
    fail_daily(lake_case)
    lake_case.pg("update lake.frontier set data_at = data_at - interval '3 hours'")
    answer = site.json("/api/tables")
    tables = {table["name"]: table for table in answer["tables"]}
    assert [tables[name]["state"] for name in tables] == ["failed", "failed above", "late"]
    assert (tables["main.totals"]["why"]["kind"], tables["main.totals"]["why"]["table_id"]) == (
        "upstream_failed",
        ids["daily"],
    )
    assert tables["main.visits"]["why"]["kind"] == "no_worker"
    (root,) = answer["roots"]
    assert (root["name"], root["below"], root["error_code"]) == ("main.daily", 1, "QUERY")
    assert HOSTILE in root["error"]
    assert {(edge["source"], edge["reader"]) for edge in answer["lineage"]["edges"]} == {
        ("smain.orders", f"t{ids['daily']}"),
        (f"t{ids['daily']}", f"t{ids['totals']}"),
        ("smain.clicks", f"t{ids['visits']}"),
    }
    page = site.get("/tables").text
    assert "Tables · 3 of 3 late" in page
    assert HOSTILE not in page
    assert "It reads main.daily, whose last refresh failed" in page
    assert [table["name"] for table in site.json("/api/tables", state="failed")["tables"]] == ["main.daily"]
    assert [table["name"] for table in site.json("/api/tables", name="TOT")["tables"]] == ["main.totals"]
    assert "No table matches." in site.get("/tables?name=nothing").text
    one = site.json(f"/api/tables/{ids['totals']}")
    assert [(c["kind"], c["is_blocking"]) for c in one["why"]][:2] == [("late", False), ("upstream_failed", True)]
    assert [refresh["state"] for refresh in one["refreshes"]] == ["UPSTREAM_FAILED", "SUCCEEDED"]
    assert HOSTILE not in site.get(f"/tables/{ids['totals']}").text


@pytest.mark.long
def test_a_table_says_what_its_next_refresh_costs_and_how_it_was_audited(
    lake_case: LakeCase, lake_site: StartDashboard
) -> None:
    ids = ids_of(lake_case)
    site = lake_site()
    answer = site.json(f"/api/tables/{ids['daily']}")
    assert (answer["cost"]["is_idle"], answer["cost"]["changed"], answer["audit"]) == (True, [], None)
    assert answer["definition"].startswith("SELECT id")
    assert answer["columns"] == [{"name": "id", "type": "BIGINT"}, {"name": "price", "type": "INTEGER"}]
    lake_case.check("daily")
    lake_case.add("orders", [(3, "30")])
    lake_case.pg("select lake.scan_changes()")
    answer = site.json(f"/api/tables/{ids['daily']}")
    assert (answer["cost"]["is_idle"], answer["cost"]["changed"]) == (False, ["main.orders"])
    assert answer["cost"]["by_action"]
    assert (answer["audit"]["missing"], answer["audit"]["extra"], answer["written_since_audit"]) == (0, 0, 0)
    lake_case.refresh("daily")
    answer = site.json(f"/api/tables/{ids['daily']}")
    assert [(refresh["state"], refresh["inserted"]) for refresh in answer["refreshes"]] == [
        ("SUCCEEDED", 1),
        ("SUCCEEDED", 2),
    ]
    assert answer["written_since_audit"] == 1
    assert 1 <= len(answer["lag"]) <= 2  # of refreshes that lie close together, one point
    assert "about" in site.get(f"/tables/{ids['daily']}").text
    check_answers(site, "/api/tables", f"/api/tables/{ids['daily']}", f"/api/tables/{ids['totals']}?idle=true")


@pytest.mark.long
def test_buckets_of_a_parallel_refresh_are_drawn(lake_case: LakeCase, lake_site: StartDashboard) -> None:
    lake_case.add("orders", [(3, "30")])
    with psycopg.connect(lake_case.dsn, autocommit=True) as conn:
        conn.execute("select worker.cancel(id) from worker.tasks where state = 'pending'")
        stage = Stage(conn)
        stage.request("daily")
        refresh_id = split(stage, "daily")
    site, ids = lake_site(), ids_of(lake_case)
    path = f"/tables/{ids['daily']}"
    answer = site.json(f"/api{path}")
    assert answer["shown_refresh"] == refresh_id
    assert sorted((one["name"], one["status"]) for one in answer["buckets"]) == [
        *(("0", "completed"), ("1", "claimed"), ("2", "pending"), ("3", "pending")),
    ]
    assert [one["ended_at"] is not None for one in answer["buckets"]].count(True) == 1
    page = site.get(f"{path}?refresh={refresh_id}").text
    chart = page[page.index('class="chart buckets"') :]
    chart = chart[: chart.index("</svg>")]
    assert (chart.count('class="run"'), chart.count('class="wait"')) == (2, 4)
    assert "bucket 1: claimed, waited" in chart
    # A refresh of another table has no buckets here, and one that was not split has none.
    assert site.json(f"/api/tables/{ids['totals']}", refresh=refresh_id)["buckets"] == []
    check_answers(site, f"/api{path}?refresh={refresh_id}")
    assert "Its tasks have been deleted" in site.get(f"/tables/{ids['totals']}?refresh={refresh_id}").text


@dataclass(frozen=True)
class Bar:
    id: int
    name: str
    status: str
    made_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    claimed_by: str | None = None


def test_a_bucket_is_drawn_where_its_time_is() -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)

    def at(seconds: float) -> datetime:
        return start + timedelta(seconds=seconds)

    bars = [
        Bar(1, "0", "completed", at(0), at(2), at(10), "host-1"),
        Bar(2, HOSTILE, "claimed", at(0), at(5), None, HOSTILE),
        Bar(3, "2", "failed", at(0), None, at(4)),
        Bar(4, "3", "pending", at(0)),
        # As clocks may say it: it ends before it begins.
        Bar(5, "4", "completed", at(3), at(2), at(1)),
    ]
    drawn = bucket_chart(bars, at(20), label="Buckets")
    assert HOSTILE not in drawn
    picture = ElementTree.fromstring(drawn[: drawn.index("</svg>") + 6])  # noqa: S314 - ours
    rows = [element for element in picture.iter() if "bucket" in (element.get("class") or "").split()]
    assert [(row.get("class") or "").split()[1] for row in rows] == [
        *("tone-completed", "tone-processing", "tone-failed", "tone-pending", "tone-completed"),
    ]

    def shares(row: ElementTree.Element, kind: str) -> list[tuple[float, float]]:
        """Where a bar begins and how long it is, as shares of all the time."""
        whole = buckets.WIDTH - buckets.LEFT - buckets.RIGHT
        return [
            (
                round((float(one.get("x") or 0) - buckets.LEFT) / whole, 2),
                round(float(one.get("width") or 0) / whole, 2),
            )
            for one in row
            if one.get("class") == kind
        ]

    assert [shares(row, "run") for row in rows] == [[(0.1, 0.4)], [(0.25, 0.75)], [], [], [(0.1, 0.0)]]
    assert [shares(row, "wait") for row in rows] == [[(0, 0.1)], [(0, 0.25)], [(0, 0.2)], [(0, 1)], [(0.15, 0)]]
    assert rows[0][0].text == "bucket 0: completed, waited 2 s, ran 8 s on host-1"
    assert rows[2][0].text == "bucket 2: failed, waited 4 s"


@pytest.mark.long
def test_pages_of_refreshes_neither_repeat_nor_skip(
    lake_case: LakeCase, lake_site: StartDashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where most had nothing to do and are passed over."""
    monkeypatch.setattr(table_page, "PAGE", 2)
    monkeypatch.setattr(table_page, "LOOKED", 4)
    ids = ids_of(lake_case)
    for number in range(11):
        if number in (3, 9):
            lake_case.add("clicks", [(number,)])
        lake_case.refresh("visits")
    everything = [
        row[0] for row in lake_case.pg("select id from lake.refresh where dt_id = %s order by id desc", ids["visits"])
    ]
    site = lake_site()
    for idle, wanted in ((True, everything), (False, None)):
        seen: list[int] = []
        place: int | None = None
        for _ in range(20):
            given = {"before": place} if place else {}
            answer = site.json(f"/api/tables/{ids['visits']}", idle=idle, **given)
            seen += [one["id"] for one in answer["refreshes"]]
            place = answer["next"]
            if place is None:
                break
        assert place is None
        assert len(seen) == len(set(seen))
        assert seen == wanted if wanted else len(seen) == 3


def test_operators_refresh_suspend_and_resume_and_viewers_do_not(
    lake_case: LakeCase, lake_site: StartDashboard
) -> None:
    ids = ids_of(lake_case)
    site = lake_site()
    daily = f"/tables/{ids['daily']}"
    token = site.token(daily)
    assert site.post(f"{daily}/suspend", token=token, confirmed="yes").status_code == 303
    states = {table["name"]: table["state"] for table in site.json("/api/tables")["tables"]}
    assert states == {"main.daily": "suspended", "main.totals": "suspended", "main.visits": "fresh"}
    (root,) = site.json("/api/tables")["roots"]
    assert (root["suspended_by"], root["below"]) == ("user", 1)
    refused = site.post(f"/tables/{ids['totals']}/resume", token=token, confirmed="yes")
    assert refused.status_code == 409
    assert "cannot be resumed while main.daily is suspended" in refused.text
    assert "Refreshed by the schedule again: main.daily, main.totals." in _done(site, f"{daily}/resume", token)
    assert "refreshes main.totals and what it reads" in _done(site, f"/tables/{ids['totals']}/refresh", token)
    assert "Nothing was done" in _done(site, f"{daily}/resume", token)
    assert site.post("/tables/999/refresh", token=token, confirmed="yes").status_code == 404
    audited = lake_case.pg("select action, subject, result from worker.audit order by id")
    assert audited == [
        ("table.suspend", f"table {ids['daily']}", "done"),
        ("table.resume", f"table {ids['totals']}", "refused"),
        ("table.resume", f"table {ids['daily']}", "done"),
        ("table.refresh", f"table {ids['totals']}", "done"),
        ("table.resume", f"table {ids['daily']}", "done"),
        ("table.refresh", "table 999", "refused"),
    ]
    viewer = lake_site(user=VIEWER)
    page = viewer.get(daily).text
    assert "Refresh now" not in page
    sent = viewer.post(
        f"{daily}/suspend", token=viewer.token("/tables") if 'name="token"' in page else "", confirmed="yes"
    )
    assert sent.status_code == 403


def _done(site: DashboardSite, path: str, token: str) -> str:
    assert site.post(path, token=token, confirmed="yes").status_code == 303
    return site.get("/tables").text


@pytest.mark.long
def test_a_preview_shows_every_value_exactly_and_changes_nothing(
    lake_case: LakeCase, lake_site: StartDashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "SECONDS", 200)
    lake_case.sql(
        "CREATE TABLE wide AS SELECT 99999999999999999999999999999999999999::DECIMAL(38,0) AS big, 0.1::DOUBLE AS d,"
        " NULL::INTEGER AS none, 'NULL' AS word, '' AS empty, ? AS long, [{'a': 1, 'b': NULL}] AS nested,"
        " TIMESTAMPTZ '2026-03-29 01:30:00+00' AS at, '\\xFF'::BLOB AS raw, ? AS hostile",
        ["é" * 5000, HOSTILE],
    )
    lake_case.create("CREATE DYNAMIC TABLE copy TARGET_LAG = '1 hour' AS SELECT * FROM wide")
    table_id = lake_case.find("copy")
    site = lake_site(seconds=200)
    refused = site.get(f"/api/tables/{table_id}/preview")
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        409,
        "the rows cannot be read: main.copy has not been filled yet",
    )
    lake_case.refresh("copy")
    head = lake_case.head()
    answer = site.json(f"/api/tables/{table_id}/preview")
    (row,) = answer["rows"]
    cells = dict(zip((column["name"] for column in answer["columns"]), row, strict=True))
    assert cells["big"]["text"] == "9" * 38
    assert (cells["d"]["text"], cells["none"]["text"], cells["word"]["text"]) == ("0.1", None, "NULL")
    assert (cells["empty"]["text"], cells["raw"]["text"], cells["at"]["text"]) == (
        "",
        "\\xFF",
        "2026-03-29 01:30:00+00",
    )
    assert (cells["long"]["text"], cells["long"]["length"]) == ("é" * 2000, 5000)
    assert cells["nested"]["text"] == "[{'a': 1, 'b': NULL}]"
    check_answers(site, f"/api/tables/{table_id}/preview")
    page = site.get(f"/tables/{table_id}/preview").text
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    assert lake_case.head() == head
    redacting = lake_site(seconds=200, shown=Shown(redact=lambda _, part, row: {"word": part, "big": row["big"]}))
    (row,) = redacting.json(f"/api/tables/{table_id}/preview")["rows"]
    assert [cell["text"] for cell in row] == ["9" * 38, "row"]
    hidden = lake_site(seconds=200, shown=Shown(hides_values=True)).json(f"/api/tables/{table_id}/preview")
    assert (hidden["rows"], hidden["reason"]) == ([], "This dashboard shows no values.")


def test_without_a_lake_or_its_extra_the_screen_says_what_to_type(
    dashboard: StartDashboard, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = dashboard()
    answer = site.json("/api/tables")
    assert (answer["has_lake"], answer["tables"]) == (False, [])
    assert "catchment table create tables.sql --lake ./lake" in site.get("/tables").text
    assert site.get("/tables/1").status_code == 404
    assert site.post("/tables/1/refresh", token=site.token(), confirmed="yes").status_code == 404
    with psycopg.connect(db) as conn:
        assert conn.execute("select to_regnamespace('lake')").fetchone() == (None,)
    monkeypatch.setattr(LAKE, "modules", ("no_such_module",))
    assert "pip install &#39;catchment[lake]&#39;" in site.get("/tables").text


def test_tables_stand_right_of_what_they_read_and_none_overlaps() -> None:
    keys = [f"t{n}" for n in range(30)]
    edges = [(f"t{n // 3}", f"t{n}") for n in range(1, 30)] + [("t0", "t29"), ("t1", "t28")]
    layers = layers_of(keys, edges)
    assert all(layers[source] < layers[reader] for source, reader in edges)
    places, ways = arrange(keys, edges)
    assert all(way[0].layer + len(way) - 1 == way[-1].layer for way in ways)
    everything = {id(place): place for way in ways for place in way} | {id(place): place for place in places.values()}
    for layer in set(layers.values()):
        column = sorted((p for p in everything.values() if p.layer == layer), key=lambda p: p.y)
        for above, below in pairwise(column):
            assert below.y - above.y >= (above.height + below.height) / 2 - 0.1
    assert layers_of(["a", "b"], [("a", "b"), ("b", "a")])  # it ends


MANY = """
with d as (
  insert into lake.dt (schema_name, name, definition, definition_hash, properties, target_lag, strategy, layout, state,
                       physical_id)
  select 'main', 'many_' || lpad(n::text, 4, '0'), 'SELECT 1', 'x', '{}', '1 minute', 'delta', '{"visible": []}',
         'active', 1000000 + n
    from generate_series(1, 200) as n
  returning id
), f as (
  insert into lake.frontier (dt_id, epoch, data_snapshot, data_at, commit_snapshot, checked_snapshot, rows, round_id)
  select id, 1, 1, now(), 1, 1, 1, 1 from d
), o as (
  insert into lake.round (trigger, snapshot, data_at, created_at, closed_at)
  select 'scheduled', 1, now() - n * interval '1 minute', now(), now() from generate_series(1, 50) as n
  returning id
)
insert into lake.refresh (round_id, dt_id, generation, state, action, rows_after, created_at, started_at, finished_at)
select o.id, d.id, 1, 'SUCCEEDED', case when o.id % 5 = 0 then 'full' else 'no_data' end, 1, now(), now(), now()
  from o, d
"""


def test_lists_read_the_newest_refreshes_by_index(lake_case: LakeCase) -> None:
    """With 200 tables and 10,000 refreshes, a page reads a few rows of the history for each table that it shows."""
    with psycopg.connect(lake_case.dsn) as conn:
        conn.execute(MANY)
        conn.execute("analyze lake.refresh, lake.round, lake.dt, lake.frontier")
        ids = [row[0] for row in conn.execute("select id from lake.dt order by id").fetchall()]
        statements: list[tuple[str, dict[str, Any], int]] = [
            (sql("tables"), {"id": None, "most": 1000}, 1200),
            (sql("tables_lag"), {"ids": ids[:50], "most": 30}, 5000),
            (sql("table_refreshes"), {"id": ids[0], "before": None, "looked": 2000, "idle": False, "page": 21}, 300),
            (sql("table_lag"), {"id": ids[0], "since": "2020-01-01", "piece": 1.0, "most": 5000}, 300),
        ]
        for statement, values, most in statements:
            plan = conn.execute(f"explain (analyze, format json) {statement}", values).fetchone()  # type: ignore[call-overload]
            assert plan is not None
            assert _read_of(plan[0][0]["Plan"], "refresh") <= most, (statement, json.dumps(plan[0], indent=1))


def _read_of(node: dict[str, Any], table: str) -> float:
    own = 0.0
    if node.get("Relation Name") == table:
        own = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    return own + sum(_read_of(child, table) for child in node.get("Plans", ()))


def test_names_with_any_sign_are_shown(lake_case: LakeCase, lake_site: StartDashboard) -> None:
    lake_case.make("s", "k BIGINT", [(1,)])
    name = 'a/b "c" <i>'
    lake_case.create(f"CREATE DYNAMIC TABLE {quoted(name)} TARGET_LAG = '1 hour' AS SELECT k FROM s")
    site = lake_site()
    (table,) = site.json("/api/tables", name=name)["tables"]
    assert table["name"] == f"main.{name}"
    page = site.get(f"/tables/{table['id']}").text
    assert "a/b &#34;c&#34; &lt;i&gt;" in page
    # What is shown to be typed names the table, as the commands read it.
    shown = [unescape(one) for one in re.findall(r'data-copy="(catchment table [^"]+)"', page)]
    assert site.post(f"/tables/{table['id']}/suspend", token=site.token(), confirmed="yes").status_code == 303
    shown += [unescape(one) for one in re.findall(r'data-copy="(catchment table why [^"]+)"', site.get("/tables").text)]
    named = {(words[2], words[3]) for words in map(shlex.split, shown) if len(words) > 3}
    assert {("explain", f"main.{quoted(name)}"), ("why", f"main.{quoted(name)}")} <= named
    assert {one for _, one in named} == {f"main.{quoted(name)}"}
    assert "<i>" not in page


def test_a_hook_leaves_columns_of_a_preview_away() -> None:
    columns = [table_preview.PreviewColumn(name=name, type="VARCHAR", is_number=False) for name in "abcd"]
    rows = [[Cell(text=text) for text in ("1", None, "3", "4")], [Cell(text=text) for text in ("5", "6", "7", "8")]]

    def hook(_command: str, _part: str, row: Any) -> Any:
        left = {"a": row["a"], "b": row["b"], "d": {"x": [1.5]}}
        return left if row["a"] == "1" else {"a": "é"}

    answer = table_preview.redacted(Shown(redact=hook), "main.t", columns, rows)
    assert [column.name for column in answer["columns"]] == ["a", "b", "d"]
    texts = [[cell.text for cell in row] for row in answer["rows"]]
    assert texts == [["1", None, '{"x": [1.5]}'], ["é", "(not shown)", "(not shown)"]]
