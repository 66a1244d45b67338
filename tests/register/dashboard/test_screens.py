"""What the screens of the register show, as JSON and as pages: the same figures as its tables, bounded, with the rights
of register_read."""

from __future__ import annotations

import re
import sys
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from catchment.dashboard import Plugin, plugin
from catchment_register.dashboard import PLUGIN, overview
from catchment_register.schema import REGISTER
from tests.fixtures.dashboard import DashboardSite, StartDashboard
from tests.fixtures.register_driver import Register, RegisterDatabase

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def fill(reg: RegisterDatabase) -> None:
    """Three legal units: in Oslo, one of them with an establishment and a past; and in Stavanger."""
    with reg.conn.transaction():
        reg.lu("100", "2023-01-01", "2024-07-01", name="Old Name", region="03.01", activity="A.01.1", employees=3)
        reg.lu("100", "2024-07-01", name=HOSTILE, birth_date="2023-01-01", region="11.03", activity="A.01.1")
        reg.es("110", "100", "2024-07-01", name="Its Place", region="11.03")
        reg.lu("200", "2024-01-01", name="Second Unit", region="03.01", activity="J.62.0.1", sector="2100")
        reg.lu("300", "2025-01-01", name="Third Unit", region="03.01", activity="G.47.5.2")
    reg.derive()


def choices(site: DashboardSite, dimension: str, **query: str) -> dict[str, int]:
    answer = site.json("/api/register", **query)
    (shown,) = (one for one in answer["dimensions"] if one["name"] == dimension)
    return {one["path"]: one["count"] for one in shown["next"]}


def test_the_overview_has_the_figures_of_the_reports(reg_db: RegisterDatabase, start_site: StartDashboard) -> None:
    fill(reg_db)
    site = start_site()
    answer = site.json("/api/register")
    assert (answer["is_current"], answer["count"], answer["round_id"]) == (True, 3, None)
    assert [one["kind"] for one in answer["conditions"]] == ["current"]
    assert choices(site, "region") == {"03": 2, "11": 1}
    assert choices(site, "region", region="03") == {"03.01": 2}
    assert choices(site, "activity", region="03") == {"J": 1, "G": 1}
    assert choices(site, "sector") == {"innl": 1}
    drilled = reg_db.value("select register.unit_facet_drilldown('legal_unit', register.today(), '03')")
    assert site.json("/api/register", region="03")["count"] == drilled["count"] == 2
    for resolution, first in (("year", 2023), ("year-month", 2023)):
        periods = site.json("/api/register", resolution=resolution)["periods"]
        told = reg_db.rows(
            "select countable_count, births, deaths from register.statistical_history where unit_type = 'legal_unit'"
            " and resolution = %s and year >= %s order by year, month",
            resolution,
            first,
        )[-len(periods) :]
        assert [(p["stock"], p["births"], p["deaths"]) for p in periods] == [tuple(row.values()) for row in told]
        # A place that everything lies in has the same history, from another table.
        assert site.json("/api/register", resolution=resolution, region="03")["periods"][-1]["stock"] == 2
    assert periods[-1]["label"] == "2026-02"
    page = site.get("/register", params={"region": "03"}).text
    assert "Oslo" in page
    assert "2026 counts until 2026-02-13." in page


def test_a_unit_is_found_and_has_its_periods(reg_db: RegisterDatabase, start_site: StartDashboard) -> None:
    fill(reg_db)
    site = start_site()
    unit_id = reg_db.unit_id("100")

    def names(**query: str) -> list[tuple[str, str]]:
        return [(one["unit_type"], one["name"]) for one in site.json("/api/register/units", **query)["units"]]

    assert names(text="second un") == [("enterprise", "Second Unit"), ("legal_unit", "Second Unit")]
    assert names(text="second", unit_type="legal_unit") == [("legal_unit", "Second Unit")]
    assert ("legal_unit", "Second Unit") in names(text="200")
    assert names(text=f"establishment/{reg_db.unit_id('110')}") == [("establishment", "Its Place")]
    assert ("legal_unit", HOSTILE) in names(text=str(unit_id))
    assert names(text="nobody") == names() == []
    unit = site.json(f"/api/register/units/legal_unit/{unit_id}")
    assert [(p["valid_from"], p["valid_to"], p["region"]) for p in unit["periods"]] == [
        ("2023-01-01", "2024-06-30", "03.01"),
        ("2024-07-01", None, "11.03"),
    ]
    assert unit["periods"][0]["figures"] == {"employees": "3"}
    assert unit["idents"] == {"tax_ident": "100"}
    for path in ("/register/units?text=100", f"/register/units/legal_unit/{unit_id}"):
        page = site.get(path).text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "&lt;script&gt;alert(1)" in page
    assert site.get("/api/register/units/legal_unit/999").status_code == 404
    assert site.get("/register/units/legal_unit/x").status_code == 400
    assert site.get("/api/register/why", params={"of": "nobody"}).status_code == 404


@pytest.mark.long
def test_the_document_describes_the_screens(reg_db: RegisterDatabase, start_site: StartDashboard) -> None:
    fill(reg_db)
    site = start_site()
    document = site.json("/api/openapi.json")
    schemas = document["components"]["schemas"]
    paths = [path for path in document["paths"] if path.startswith("/api/register")]
    assert len(paths) == len(PLUGIN.screens) == 4
    for path in paths:
        where = path.replace("{unit_type}", "legal_unit").replace("{unit_id}", str(reg_db.unit_id("200")))
        ref = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        assert set(site.json(where)) == set(schemas[ref.rpartition("/")[2]]["properties"]), path


@pytest.mark.long
def test_why_is_the_same_everywhere(reg_db: RegisterDatabase, start_site: StartDashboard, reg_cli: Any) -> None:
    fill(reg_db)
    site = start_site()
    reg_db.conn.execute("select worker.pause_queue('analytics')")
    reg_db.conn.execute("update register.legal_unit set name = 'Newer' where id = %s", [reg_db.unit_id("200")])
    of = f"legal_unit/{reg_db.unit_id('200')}"
    told = reg_db.rows("select kind, is_blocking, remedy from register.explain(%s)", of)
    answer = site.json("/api/register/why", of=of)
    assert answer["is_current"] is False
    by_kind = {one["kind"]: (one["is_blocking"], one["remedy"]) for one in told}
    assert {one["kind"]: (one["is_blocking"], one["remedy"]) for one in answer["conditions"]} == by_kind
    assert by_kind["paused"] == (True, "catchment queue resume analytics  # resume it")
    assert "Queue analytics has been paused" in site.get("/register/why", params={"of": of}).text
    assert "Queue analytics has been paused" in site.get(f"/register/units/{of}").text
    text = reg_cli("why", of).stdout
    assert text.startswith(f"{of} is not up to date yet.\n")
    assert "catchment queue resume analytics" in text
    assert '"kind": "paused"' in reg_cli("why", of, "--json").stdout
    assert "there is no legal_unit 999" in reg_cli("why", "legal_unit/999", code=1).stderr


def test_without_a_register_the_screens_are_absent(
    db: str, start_site: StartDashboard, reg_db: RegisterDatabase
) -> None:
    site = start_site(db)
    assert "Register</span>" not in site.get("/").text
    for path in ("/register", "/register/units", "/api/register/why"):
        answer = site.get(path)
        assert answer.status_code == 404
        assert "there is no register in this database" in answer.text.lower()
        assert "catchment register init" in answer.text
    assert not any("register" in path for path in site.json("/api/openapi.json")["paths"])
    assert "Register</span>" in start_site().get("/").text


def test_the_database_refuses_a_login_without_the_role(reg_db: RegisterDatabase, start_site: StartDashboard) -> None:
    name = f"looker_{reg_db.conn.info.dbname}"
    reg_db.conn.execute(f"create role {name} login password 'p' in role catchment_read")
    site = start_site(make_conninfo(reg_db.dsn, user=name, password="p"))  # noqa: S106
    try:
        assert site.get("/api/now").status_code == 200
        refused = site.get("/api/register")
        assert refused.status_code == 403
        assert refused.json()["error"]["hint"] == "Grant register_read to the login of the dashboard."
        reg_db.conn.execute(f"grant register_read to {name}")
        assert site.get("/api/register").status_code == 200
    finally:
        reg_db.conn.execute("select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = %s", [name])
        reg_db.conn.execute(f"drop role {name}")


def test_a_broken_plugin_is_skipped(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    entries = (
        EntryPoint("broken", "no_such_module:PLUGIN", plugin.GROUP),
        EntryPoint("odd", "catchment_register.dashboard:overview", plugin.GROUP),
        EntryPoint("register", "catchment_register.dashboard:PLUGIN", plugin.GROUP),
    )
    monkeypatch.setattr(plugin, "entry_points", lambda **_: entries)
    assert plugin.find_plugins() == (PLUGIN,)
    assert isinstance(PLUGIN, Plugin)
    assert "the screens of broken (no_such_module:PLUGIN) cannot be used" in caplog.text
    assert "expected a Plugin" in caplog.text


def _living(plan: str) -> str:
    """A plan without what is below a filter that is false: PostgreSQL 15 shows that part, and never runs it."""
    lines, dead = list[str](), sys.maxsize
    for line in plan.splitlines():
        indent = len(line) - len(line.lstrip())
        dead = dead if indent >= dead else sys.maxsize
        if re.search(r"One-Time Filter: .*\bfalse\b", line):
            dead = indent
        if indent < dead:
            lines.append(line)
    return "\n".join(lines)


def test_reads_are_by_index(reg: Register, tmp_path: Any) -> None:
    """Units by name, identifier and number, their rows, and each period of a place: none reads a large table whole."""
    for number in range(5):
        reg.lu(f"{number}", "2025-01-01", name=f"Unit {number}", region="03.01")
    reg.derive()
    unit_id = reg.unit_id("3")
    nowhere = {"unit_type": None, "at": None, "region": None, "activity": None, "sector": None, "limit": 51}
    asked = {"unit_type": "legal_unit", "first_month": 1, "region": "03", "activity": None, "sector": None}
    large = r"Seq Scan on (statistical_unit_row|statistical_history_facet_row|base_change_log|external_ident)\b"
    reg.conn.execute("set local enable_seqscan = off")
    for query, values in (
        ("search", {"text": "unit 3", **nowhere}),
        ("screen_unit", {"unit_type": "legal_unit", "unit_id": unit_id, "most": 201}),
        ("screen_history_place", {"resolution": "year", "first_year": 2025, **asked}),
        ("screen_history_place", {"resolution": "year-month", "first_year": 2025, **asked}),
    ):
        plan = "\n".join(row[0] for row in reg.conn.execute(f"explain {REGISTER.query(query)}", values))  # type: ignore[arg-type]
        assert not re.search(large, _living(plan)), plan
    # With so few rows any other index would do.
    reg.conn.execute("drop index register.statistical_unit_key, register.statistical_unit_facet_dims")
    reg.conn.execute("set local enable_indexscan = off")
    asked = {"text": "unit 3", **nowhere}
    plan = "\n".join(row[0] for row in reg.conn.execute(f"explain {REGISTER.query('search')}", asked))  # type: ignore[arg-type]
    assert "on statistical_unit_words" in plan, plan
    assert "on enterprise_words" in plan, plan
    assert overview.MOST_ROWS == 500_000
