"""Ways to break the engine in one database: statements as they are, or one text of one function replaced by another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection


@dataclass(frozen=True)
class Swap:
    """The engine's function with ``old`` replaced by ``new``. Where ``old`` is gone, there is nothing left to show."""

    function: str
    old: str
    new: str

    def apply(self, conn: Connection[Any]) -> None:
        sql = "select pg_get_functiondef(oid) from pg_proc where pronamespace = 'worker'::regnamespace and proname = %s"
        rows = conn.execute(sql, [self.function]).fetchall()
        assert len(rows) == 1, f"{len(rows)} functions worker.{self.function}"
        assert self.old in rows[0][0], f"worker.{self.function} has no {self.old!r}"
        conn.execute(rows[0][0].replace(self.old, self.new))


@dataclass(frozen=True)
class Statements:
    sql: str

    def apply(self, conn: Connection[Any]) -> None:
        conn.execute(self.sql)  # type: ignore[arg-type]


Break = Swap | Statements


def trigger(event: str, body: str) -> Statements:
    """A trigger of the engine's own that does what it must not do."""
    return Statements(
        f"""
        create function worker.spoil() returns trigger language plpgsql security definer
          set search_path = pg_catalog, pg_temp as $$ begin {body}; return null; end; $$;
        create trigger spoil after {event} execute function worker.spoil()
        """
    )
