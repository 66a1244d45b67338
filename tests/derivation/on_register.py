"""Derivation in PostgreSQL: legal units by legal form, as the facets of units report them."""

from __future__ import annotations

from collections.abc import Mapping

from tests.derivation.shape import Group, Sums
from tests.fixtures.register_driver import Register
from tests.register.breaking import break_once

BATCH = "statistical_unit_refresh_batch"
FLUSH = "statistical_unit_flush_staging"
SINCE = "2024-01-01"
# An establishment that changes in each round that is taken step by step; in no group, as groups are of legal units.
BESIDE = "beside"


class OnRegister:
    """Keys are enterprises: a unit is derived together with all that belongs to its enterprise."""

    groups = (None, "AS", "ENK", "FLI")

    def __init__(self, reg: Register) -> None:
        self._reg = reg
        self._changes = 0

    @classmethod
    def install(cls, reg: Register) -> OnRegister:
        """In a new register."""
        reg.conn.execute("update register.settings set batch_enterprises = 1")
        reg.informal(BESIDE, SINCE)
        return cls(reg)

    def put(self, member: int, group: Group, value: int) -> None:
        if self._reg.value("select true from register.external_ident where ident = %s", str(member)):
            unit_id = self._reg.unit_id(str(member))
            form = None if group is None else self._reg.code("legal_form", group)
            self._reg.conn.execute("update register.legal_unit set legal_form_id = %s where id = %s", [form, unit_id])
            self._reg.conn.execute(
                "update register.stat_for_unit set value_int = %s where legal_unit_id = %s", [value, unit_id]
            )
        else:
            self._reg.lu(str(member), SINCE, legal_form=group, employees=value)

    def drop(self, member: int) -> None:
        unit_id = self._reg.unit_id(str(member))
        with self._reg.conn.transaction():
            for table in ("stat_for_unit", "external_ident"):
                self._reg.conn.execute(f"delete from register.{table} where legal_unit_id = %s", [unit_id])
            self._reg.conn.execute("delete from register.legal_unit where id = %s", [unit_id])

    def begin(self) -> None:
        # A single batch would be derived in the stage that makes it.
        self._changes += 1
        self._reg.conn.execute(
            "update register.establishment set name = %s where id = %s",
            [f"Beside {self._changes}", self._reg.unit_id(BESIDE)],
        )
        self._step_until("select true from worker.tasks where command = %s and state = 'pending'", BATCH)

    def parts(self) -> list[frozenset[object]]:
        rows = self._reg.rows(
            "select register.id_array((payload ->> 'enterprise_ids')::int4multirange) as ids from worker.tasks"
            " where command = %s and state = 'pending'",
            BATCH,
        )
        beside = self._reg.enterprise_of(BESIDE)
        return [frozenset(row["ids"]) for row in rows if row["ids"] != [beside]]

    def keys_of(self, members: Mapping[int, Group]) -> frozenset[object]:
        return frozenset(self._reg.enterprise_of(str(member)) for member in members)

    def compute(self) -> None:
        self._step_until(
            "select not exists (select from worker.tasks where command = %s and state in ('pending', 'waiting'))", BATCH
        )

    def publish(self) -> None:
        self._reg.derive()

    def lose(self) -> None:
        break_once(self._reg, FLUSH)

    def derive(self) -> None:
        self._reg.derive()

    def published(self) -> Sums:
        rows = self._reg.rows(
            "select l.code, f.count, (f.stats_summary -> 'employees' ->> 'sum')::integer as total"
            " from register.statistical_unit_facet as f left join register.legal_form as l on l.id = f.legal_form_id"
            " where f.unit_type = 'legal_unit'"
        )
        assert len(rows) == len({row["code"] for row in rows}), rows
        return {row["code"]: (row["count"], row["total"]) for row in rows}

    def versions(self) -> object:
        return self._reg.rows("select xmin::text, facet_key from register.statistical_unit_facet_row order by 2")

    def _step_until(self, is_there: str, command: str) -> None:
        """Run one task after the other until the question is answered with yes."""
        for _ in range(20):
            if self._reg.value(is_there, command):
                return
            self._reg.conn.execute("call worker.process_tasks(p_queue => 'analytics', p_batch_size => 1)")
        raise AssertionError(f"not reached: {is_there % command!r}")
