"""What every unit is on a day, from the rows of the base tables that are valid on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from catchment_register.dates import read_open_ends

Row = dict[str, Any]
Unit = tuple[str, int]
DATED = (
    *("legal_unit", "establishment", "activity", "location", "contact", "stat_for_unit", "person_for_unit"),
    *("legal_relationship", "power_root"),
)
PLAIN = ("enterprise", "power_group", "status", "stat_definition", "activity_category", "region", "sector")
FROM_SLICE = ("name", "birth_date", "death_date", "sector_id", "status_id", "legal_form_id", "unit_size_id")
ADDRESS = ("address_part1", "address_part2", "address_part3", "postcode", "postplace", "region_id", "country_id")
CONTACT = ("web_address", "email_address", "phone_number")


@dataclass
class Base:
    """The base tables: those with validity, and the others by id."""

    today: date
    dated: dict[str, list[Row]]
    plain: dict[str, dict[int, Row]]

    def on(self, table: str, day: date) -> list[Row]:
        return [r for r in self.dated[table] if r["valid_from"] <= day < r["valid_until"]]

    def days(self) -> set[date]:
        """Days on which something begins, or is not there any more."""
        return {r[c] for rows in self.dated.values() for r in rows for c in ("valid_from", "valid_until")}


@dataclass
class State:
    """What a unit is on a day; the values of its statistics by code, each as often as it is there."""

    about: Row
    counts: bool
    values: dict[str, list[Any]] = field(default_factory=dict)

    def without_parts(self) -> Row:
        return {k: v for k, v in self.about.items() if not k.endswith("_ids") or k == "data_source_ids"}


def read(conn: Connection[Any]) -> Base:
    read_open_ends(conn)
    with conn.cursor(row_factory=dict_row) as cursor:
        tables = {t: cursor.execute(f"select * from register.{t}").fetchall() for t in (*DATED, *PLAIN)}
        (settings,) = cursor.execute("select today from register.settings").fetchall()
    plain = {t: {r["id"]: r for r in tables[t]} for t in PLAIN}
    return Base(settings["today"] or date.today(), {t: tables[t] for t in DATED}, plain)


def units_on(base: Base, day: date) -> dict[Unit, State]:
    """All units that are there on a day."""
    details: defaultdict[Unit, list[tuple[str, Row]]] = defaultdict(list)
    for table in ("activity", "location", "contact", "stat_for_unit"):
        for row in base.on(table, day):
            owner = next((t, row[f"{t}_id"]) for t in ("legal_unit", "establishment") if row[f"{t}_id"] is not None)
            details[owner].append((table, row))
    slices = {(t, r["id"]): r for t in ("legal_unit", "establishment") for r in base.on(t, day)}
    found: dict[Unit, State] = {}
    for unit, row in sorted(slices.items()):
        found[unit] = _own(base, row, details[unit])
        if unit[0] == "establishment":
            mine = found[unit].about
            mine |= _lists({"establishment": [(unit[1], found[unit].counts)]}, owner=True)
            mine["related_legal_unit_ids"] = [row["legal_unit_id"]] if row["legal_unit_id"] is not None else None
            mine["related_enterprise_ids"] = [row["enterprise_id"]] if row["enterprise_id"] is not None else None
    for unit, row in slices.items():
        if unit[0] == "legal_unit":
            _include_places(unit[1], row, found, slices)
    for number, enterprise in base.plain["enterprise"].items():
        state = _enterprise(number, enterprise, found, slices)
        if state is not None:
            found[("enterprise", number)] = state
    for number, state in _groups(base, day, found, slices):
        found[("power_group", number)] = state
    return found


def _own(base: Base, row: Row, details: list[tuple[str, Row]]) -> State:
    def one(table: str, kind: str | None = None) -> Row:
        return next((r for t, r in details if t == table and (kind is None or r["type"] == kind)), {})

    physical, postal, contact = one("location", "physical"), one("location", "postal"), one("contact")
    about = {c: row.get(c) for c in FROM_SLICE} | {c: contact.get(c) for c in CONTACT}
    about |= {f"physical_{c}": physical.get(c) for c in ADDRESS} | {f"postal_{c}": postal.get(c) for c in ADDRESS}
    about["primary_activity_category_id"] = one("activity", "primary").get("category_id")
    about["secondary_activity_category_id"] = one("activity", "secondary").get("category_id")
    sources = [row, *(r for t, r in details if t != "contact" and r.get("type") != "ancilliary")]
    about["data_source_ids"] = sorted({r["data_source_id"] for r in sources if r["data_source_id"] is not None}) or None
    values: dict[str, list[Any]] = {}
    for table, stat in details:
        if table == "stat_for_unit":
            variable = base.plain["stat_definition"][stat["stat_definition_id"]]
            values[variable["code"]] = [stat[f"value_{variable['type']}"]]
    return State(about, base.plain["status"][row["status_id"]]["used_for_counting"], values)


def _include_places(number: int, row: Row, found: dict[Unit, State], slices: dict[Unit, Row]) -> None:
    places = {
        unit[1]: found[unit]
        for unit, place in slices.items()
        if unit[0] == "establishment" and place["legal_unit_id"] == number
    }
    state = found[("legal_unit", number)]
    state.about |= _lists({"establishment": [(i, p.counts) for i, p in places.items()]})
    state.about |= _lists({"legal_unit": [(number, state.counts)]}, owner=True)
    state.about["related_enterprise_ids"] = [row["enterprise_id"]]
    sources = {s for p in (state, *places.values()) for s in p.about["data_source_ids"] or []}
    state.about["data_source_ids"] = sorted(sources) or None
    state.values = _together([state, *(p for p in places.values() if p.counts)]) if state.counts else {}


def _enterprise(number: int, enterprise: Row, found: dict[Unit, State], slices: dict[Unit, Row]) -> State | None:
    parts = {u: found[u] for u, row in slices.items() if row["enterprise_id"] == number}
    if not parts:
        return None
    primary = {u[0]: u[1] for u in parts if slices[u]["primary_for_enterprise"]}
    source = next((parts[(t, primary[t])] for t in ("legal_unit", "establishment") if t in primary), None)
    state = State(_described(source, enterprise["short_name"]), source is not None and source.counts)
    places = [(u[1], s.counts) for u, s in parts.items() if u[0] == "establishment"]
    for unit in parts:
        if unit[0] == "legal_unit":
            places += [
                (i, found[("establishment", i)].counts) for i in found[unit].about["related_establishment_ids"] or []
            ]
    state.about |= _lists({"establishment": places})
    state.about |= _lists({"legal_unit": [(u[1], s.counts) for u, s in parts.items() if u[0] == "legal_unit"]})
    state.about["related_enterprise_ids"] = [number]
    state.about["primary_legal_unit_id"] = primary.get("legal_unit")
    state.about["primary_establishment_id"] = primary.get("establishment")
    state.values = _together([p for p in parts.values() if p.counts]) if state.counts else {}
    return state


def _groups(base: Base, day: date, found: dict[Unit, State], slices: dict[Unit, Row]) -> Iterator[tuple[int, State]]:
    """Power groups: units that relationships of any time connect; in one on a day is who is related on that day."""
    label: dict[int, int] = {}
    for row in base.dated["legal_relationship"]:
        one, two = (label.setdefault(row[end], row[end]) for end in ("influencing_id", "influenced_id"))
        for unit, mark in label.items():
            if mark == two:
                label[unit] = one
    for mark in sorted(set(label.values())):
        everything = [r for r in base.dated["legal_relationship"] if label[r["influencing_id"]] == mark]
        now = [r for r in everything if r["valid_from"] <= day < r["valid_until"]]
        if not now:
            continue
        (number,) = {r["derived_power_group_id"] for r in everything}
        members = {r[end] for r in now for end in ("influencing_id", "influenced_id")}
        root = _root(base, day, number, members, everything, now)
        group = base.plain["power_group"][number]
        state = State(_described(found[("legal_unit", root)], group["short_name"] or group["name"]), True)
        counting = [m for m in sorted(members) if found[("legal_unit", m)].counts]
        state.about |= _lists({"legal_unit": [(m, m in counting) for m in members]})
        places = [
            (i, found[("establishment", i)].counts)
            for m in counting
            for i in found[("legal_unit", m)].about["related_establishment_ids"] or []
        ]
        state.about |= _lists({"establishment": places})
        state.about["related_enterprise_ids"] = sorted({slices[("legal_unit", m)]["enterprise_id"] for m in members})
        state.about["primary_legal_unit_id"] = root
        state.values = _together([found[("legal_unit", m)] for m in counting])
        yield number, state


def _root(base: Base, day: date, number: int, members: set[int], everything: list[Row], now: list[Row]) -> int:
    ever_led = {r["influenced_id"] for r in everything}
    chosen = [
        r["custom_root_legal_unit_id"]
        for r in base.on("power_root", day)
        if r["power_group_id"] == number and r["custom_root_legal_unit_id"] is not None
    ]
    units = {r[end] for r in everything for end in ("influencing_id", "influenced_id")}
    if not chosen and len(units - ever_led) != 1:
        chosen = [min(units, key=lambda u: (-len(_below(u, everything)), u))]
    if chosen and chosen[0] in members:
        return chosen[0]
    led = {r["influenced_id"] for r in now}
    for free in (members - ever_led, members - led, members):
        if free:
            return min(free)
    raise AssertionError("a group without units")


def _below(unit: int, relationships: list[Row]) -> set[int]:
    reached, size = {unit}, 0
    while size != len(reached):
        size = len(reached)
        reached |= {r["influenced_id"] for r in relationships if r["influencing_id"] in reached}
    return reached - {unit}


def _described(source: State | None, name: str | None) -> Row:
    about = source.without_parts() if source is not None else {}
    return about | {"name": name or about.get("name")}


def _lists(parts: dict[str, list[tuple[int, bool]]], *, owner: bool = False) -> Row:
    found: Row = {}
    for kind, units in parts.items():
        found[f"related_{kind}_ids"] = sorted({i for i, _ in units}) or None
        found[f"included_{kind}_ids"] = sorted({i for i, counts in units if counts}) or None
        if not owner:
            found[f"excluded_{kind}_ids"] = sorted({i for i, counts in units if not counts}) or None
    return found


def _together(states: list[State]) -> dict[str, list[Any]]:
    values: defaultdict[str, list[Any]] = defaultdict(list)
    for state in states:
        for code, some in state.values.items():
            values[code] += some
    return dict(values)
