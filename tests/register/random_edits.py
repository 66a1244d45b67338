"""Edits of a register that a generator chooses: any sequence of them leaves base data that keep the rules.

An edit is a verb and four small numbers; what they mean depends on what is there, so that any numbers do. An edit that
the rules refuse changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import psycopg
from hypothesis import strategies as st
from psycopg import sql

from tests.fixtures.register import TODAY
from tests.fixtures.register_driver import Register, Row
from tests.register.breaking import break_once

START = date(2022, 1, 1)
# Plain SQL may leave an enterprise without a primary unit, and says so by nothing but this rule.
NOT_KEPT = "an enterprise that has units has a primary one"
REFUSALS = {"RG001", "RG002", "RG003", "RG005", "RG006", "RG018", "RG019", "RG023", "23505", "23514"}
ACTIVITIES = ("A.01.1", "G.47.5.2", "J.62.0.1")
REGIONS = ("03.01", "11.03", "46.26")
STAGES = (
    "derive_statistical_unit",
    "statistical_unit_refresh_batch",
    "statistical_unit_flush_staging",
    "derive_statistical_history_period",
    "statistical_unit_facet_reduce",
    "derive_statistical_history_facet",
)


@dataclass(frozen=True)
class Edit:
    verb: str
    a: int
    b: int
    day: int
    value: int

    @property
    def at(self) -> date:
        """A day of three years, often the first of a month."""
        return START + timedelta(days=self.day * 31)

    def pick(self, rows: list[Row]) -> Row | None:
        return rows[self.a % len(rows)] if rows else None


class Editor:
    """Applies edits to a register by plain SQL."""

    refusals = frozenset(REFUSALS)

    def __init__(self, reg: Register) -> None:
        self.reg = reg
        self.made = 0
        self.breaks: str | None = None
        reg.insert("stat_definition", code="motto", type="string", name="Motto", priority=8)
        reg.insert("stat_definition", code="listed", type="bool", name="Listed", priority=9)

    def apply(self, edit: Edit) -> bool:
        """Whether the edit changed something; refused ones do not."""
        verb: Callable[[Edit], Any] = getattr(self, edit.verb)
        try:
            with self.reg.conn.transaction():
                verb(edit)
        except psycopg.Error as error:
            if error.sqlstate not in self.refusals:
                raise
            return False
        return True

    def break_round(self, edit: Edit) -> None:
        """The next round breaks in a stage, if it comes to it."""
        self.breaks = STAGES[edit.value]

    def let_break(self) -> None:
        """What waits is derived, if a round is to break; the tasks that failed are forgotten."""
        stage, self.breaks = self.breaks, None
        if stage is not None:
            break_once(self.reg, stage)
            self.reg.value("select worker.delete_settled('infinity', 'infinity', 100000)")

    def slices(self, table: str) -> list[Row]:
        return self.reg.rows(f"select * from register.{table} order by id, valid_from")

    def ident(self) -> str:
        self.made += 1
        return f"{self.made:05}"

    def until(self, edit: Edit) -> date | str:
        return "infinity" if edit.b % 2 else edit.at + timedelta(days=1 + edit.value * 40)

    def new_legal_unit(self, edit: Edit) -> None:
        status = "passive" if edit.value == 3 else "active"
        birth = edit.at if edit.value == 2 else None
        self.reg.lu(self.ident(), str(edit.at), str(self.until(edit)), status=status, birth_date=birth)

    def new_establishment(self, edit: Edit) -> None:
        owner = edit.pick(self.slices("legal_unit"))
        if owner is None:
            return
        status = "passive" if edit.value == 3 else "active"
        made = self.reg.insert(
            "establishment",
            valid_from=max(edit.at, owner["valid_from"]),
            valid_until=owner["valid_until"],
            name=f"Place {edit.value}",
            status_id=self.reg.code("status", status),
            legal_unit_id=owner["id"],
            primary_for_legal_unit=False,
        )
        self.reg.insert("external_ident", type_id=1, ident=self.ident(), establishment_id=made["id"])

    def new_informal(self, edit: Edit) -> None:
        self.reg.informal(self.ident(), str(edit.at), str(self.until(edit)), name=f"Stall {edit.value}")

    def change(self, edit: Edit) -> None:
        table = ("legal_unit", "establishment")[edit.b % 2]
        slice_ = edit.pick(self.slices(table))
        if slice_ is None:
            return
        columns: list[tuple[str, Any]] = [
            ("name", f"Name {edit.day}"),
            ("status_id", self.reg.code("status", ("active", "passive")[edit.day % 2])),
            ("birth_date", edit.at),
            ("death_date", edit.at),
            ("unit_size_id", self.reg.code("unit_size", ("tny", "lrg")[edit.day % 2])),
            ("data_source_id", self.reg.code("data_source", ("nlr", "survey")[edit.day % 2])),
            ("sector_id", self.reg.code("sector", ("2100", "8200")[edit.day % 2])),
        ]
        if table == "legal_unit":
            columns.append(("legal_form_id", self.reg.code("legal_form", ("AS", "ENK")[edit.day % 2])))
        column, value = columns[(edit.value + edit.a) % len(columns)]
        self.reg.conn.execute(
            f"update register.{table} set {column} = %s, edit_at = clock_timestamp() where id = %s and valid_from = %s",
            [value, slice_["id"], slice_["valid_from"]],
        )

    def split(self, edit: Edit) -> None:
        """A slice becomes two at a day, the second with another name."""
        table = ("legal_unit", "establishment")[edit.b % 2]
        slice_ = edit.pick(self.slices(table))
        if slice_ is None or not slice_["valid_from"] < edit.at < slice_["valid_until"]:
            return
        generated = slice_ | {"valid_from": edit.at, "name": f"Later {edit.value}"}
        columns = sql.SQL(", ").join(map(sql.Identifier, generated))
        marks = sql.SQL(", ").join([sql.Placeholder()] * len(generated))
        query = sql.SQL(
            "with cut as (update register.{table} set valid_until = %s where id = %s and valid_from = %s)"
            " insert into register.{table} ({columns}) values ({marks})"
        ).format(table=sql.Identifier(table), columns=columns, marks=marks)
        self.reg.conn.execute(query, [edit.at, slice_["id"], slice_["valid_from"], *generated.values()])

    def move_legal_unit(self, edit: Edit) -> None:
        slice_ = edit.pick(self.slices("legal_unit"))
        others = self.reg.rows("select id from register.enterprise order by id")
        if slice_ is None:
            return
        self.reg.conn.execute(
            "update register.legal_unit set enterprise_id = %s, primary_for_enterprise = %s"
            " where id = %s and valid_from = %s",
            [others[edit.b % len(others)]["id"], edit.value % 2 == 0, slice_["id"], slice_["valid_from"]],
        )

    def move_establishment(self, edit: Edit) -> None:
        slice_ = edit.pick(self.slices("establishment"))
        owners = self.slices("legal_unit")
        enterprises = self.reg.rows("select id from register.enterprise order by id")
        if slice_ is None or not owners:
            return
        formal = edit.value % 3 != 0
        values = (
            [owners[edit.b % len(owners)]["id"], None, False, None]
            if formal
            else [None, enterprises[edit.b % len(enterprises)]["id"], None, edit.value % 2 == 0]
        )
        self.reg.conn.execute(
            "update register.establishment set legal_unit_id = %s, enterprise_id = %s, primary_for_legal_unit = %s,"
            " primary_for_enterprise = %s, sector_id = null where id = %s and valid_from = %s",
            [*values, slice_["id"], slice_["valid_from"]],
        )

    def add_detail(self, edit: Edit) -> None:
        table = ("legal_unit", "establishment")[edit.b % 2]
        slice_ = edit.pick(self.slices(table))
        if slice_ is None:
            return
        start = max(edit.at, slice_["valid_from"])
        end = slice_["valid_until"] if edit.day % 3 == 0 else min(slice_["valid_until"], start + timedelta(days=70))
        slot: Row = {f"{table}_id": slice_["id"], "valid_from": start, "valid_until": end}
        reg, n = self.reg, edit.value + edit.day
        match edit.value % 6:
            case 0:
                category = reg.code("activity_category", ACTIVITIES[n % 3])
                reg.insert("activity", **slot, type=("primary", "secondary")[edit.day % 2], category_id=category)
            case 1:
                region = reg.code("region", REGIONS[n % 3])
                country = reg.code("country", "NO", column="iso_2")
                place = {"region_id": region, "address_part1": f"Street {n}", "country_id": country}
                reg.insert("location", **slot, type=("physical", "postal")[edit.day % 2], **place)
            case 2:
                reg.insert("contact", **slot, email_address=f"{n}@example.org")
            case 3:
                reg.insert(
                    "stat_for_unit", **slot, stat_definition_id=reg.code("stat_definition", "employees"), value_int=n
                )
            case 4:
                code, value = (
                    ("turnover", {"value_float": n * 1.1, "data_source_id": reg.code("data_source", "skatt")}),
                    ("motto", {"value_string": ("Onward", "Inward")[n % 2]}),
                    ("listed", {"value_bool": edit.day % 2 == 0}),
                )[edit.a % 3]
                reg.insert("stat_for_unit", **slot, stat_definition_id=reg.code("stat_definition", code), **value)
            case _:
                reg.insert("person_for_unit", **slot, person_id=reg.insert("person", family_name="P")["id"])

    def drop_details(self, edit: Edit) -> None:
        table = ("activity", "location", "contact", "stat_for_unit", "person_for_unit")[edit.value % 5]
        self.reg.conn.execute(
            f"delete from register.{table} where ctid = (select ctid from register.{table}"
            f" order by coalesce(legal_unit_id, -establishment_id), valid_from offset %s limit 1)",
            [edit.a],
        )

    def drop_unit(self, edit: Edit) -> None:
        table = ("legal_unit", "establishment", "establishment")[edit.b % 3]
        slice_ = edit.pick(self.slices(table))
        if slice_ is None:
            return
        for detail in (
            "activity",
            "location",
            "contact",
            "stat_for_unit",
            "person_for_unit",
            "external_ident",
            "tag_for_unit",
        ):
            self.reg.conn.execute(f"delete from register.{detail} where {table}_id = %s", [slice_["id"]])
        self.reg.conn.execute(f"delete from register.{table} where id = %s", [slice_["id"]])
        self.reg.conn.execute(
            "delete from register.enterprise as e"
            " where not exists (select from register.legal_unit where enterprise_id = e.id)"
            " and not exists (select from register.establishment where enterprise_id = e.id)"
        )

    def relate(self, edit: Edit) -> None:
        units = self.slices("legal_unit")
        if len(units) < 2:
            return
        one, two = units[edit.a % len(units)], units[edit.b % len(units)]
        self.reg.insert(
            "legal_relationship",
            influencing_id=one["id"],
            influenced_id=two["id"],
            type_id=self.reg.code("legal_rel_type", "ownership"),
            valid_from=max(edit.at, one["valid_from"], two["valid_from"]),
            valid_until=min(one["valid_until"], two["valid_until"]),
        )

    def unrelate(self, edit: Edit) -> None:
        self.reg.conn.execute(
            "delete from register.legal_relationship where ctid = (select ctid from register.legal_relationship"
            " order by id, valid_from offset %s limit 1)",
            [edit.a],
        )

    def name_group(self, edit: Edit) -> None:
        table = ("enterprise", "power_group")[edit.b % 2]
        self.reg.conn.execute(
            f"update register.{table} set short_name = %s, edit_at = clock_timestamp()"
            f" where id = (select id from register.{table} order by id offset %s limit 1)",
            [f"Short {edit.value}" if edit.value else None, edit.a],
        )

    def label(self, edit: Edit) -> None:
        """A unit gets a tag or a second identifier, or loses both."""
        table = ("legal_unit", "establishment", "enterprise", "power_group")[edit.b % 4]
        unit = edit.pick(self.reg.rows(f"select distinct id from register.{table} order by id"))
        if unit is None:
            return
        owner = {f"{table}_id": unit["id"]}
        match edit.value % 3:
            case 0:
                self.reg.insert("tag_for_unit", **owner, tag_id=self.reg.code("tag", "watch"))
            case 1:
                kind = self.reg.code("external_ident_type", "stat_ident")
                self.reg.insert("external_ident", **owner, type_id=kind, ident=f"S{edit.day}")
            case _:
                for named in ("tag_for_unit", "external_ident"):
                    self.reg.conn.execute(f"delete from register.{named} where {table}_id = %s", [unit["id"]])

    def choose_root(self, edit: Edit) -> None:
        """A group gets a root of somebody's choice, or loses it."""
        member = edit.pick(
            self.reg.rows(
                "select distinct r.derived_power_group_id as power_group_id, e.id from register.legal_relationship as r"
                " cross join lateral (values (r.influencing_id), (r.influenced_id)) as e (id)"
                " where r.derived_power_group_id is not null order by 1, 2"
            )
        )
        if member is not None:
            self.reg.conn.execute(
                "delete from register.power_root where power_group_id = %s", [member["power_group_id"]]
            )
            if edit.value % 3:
                root = {"power_group_id": member["power_group_id"], "custom_root_legal_unit_id": member["id"]}
                self.reg.insert("power_root", **root, valid_from=edit.at if edit.b else START)

    def move_today(self, edit: Edit) -> None:
        self.reg.today(TODAY + timedelta(days=edit.day * 7))
        self.reg.value("select worker.enqueue_collect_changes()")

    def count_passive(self, edit: Edit) -> None:
        counts = edit.value % 2 == 0
        self.reg.conn.execute("update register.status set used_for_counting = %s where code = 'passive'", [counts])


VERBS = (
    *("new_legal_unit", "new_establishment", "new_informal", "change", "change", "split"),
    *("move_legal_unit", "move_establishment", "add_detail", "add_detail", "add_detail", "drop_details", "drop_unit"),
    *("relate", "relate", "unrelate", "name_group", "label", "choose_root", "count_passive", "move_today"),
    "break_round",
)
small = st.integers(0, 7)
edits = st.builds(Edit, st.sampled_from(VERBS), small, small, st.integers(0, 36), st.integers(0, 5))
# Something to edit.
BEGINNING = (
    Edit("new_legal_unit", 0, 1, 0, 0),
    Edit("new_legal_unit", 0, 1, 3, 0),
    Edit("new_establishment", 0, 1, 5, 1),
    Edit("new_informal", 0, 1, 2, 0),
    Edit("add_detail", 0, 0, 6, 3),
    Edit("relate", 0, 1, 8, 0),
)
