"""Sources that are written by clients who know nothing of us: unlocked, in several sessions, with overlapping commits.

Each session is a DuckDB of its own with the lake attached. A session may leave a transaction open while others commit
and while tables are refreshed; it may expire snapshots, merge and rewrite files and delete old ones. The commits are
made one after the other, so the tables as they are when a refresh has ended are what it had to show.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from tests.fixtures.lake_case import foreign_client
from tests.lake.fuzz.lakeside import Lakeside
from tests.lake.fuzz.together import Together

SESSIONS = 2
_ALIAS = "theirs"
_UPKEEP = (
    f"CALL ducklake_merge_adjacent_files('{_ALIAS}')",
    f"CALL ducklake_rewrite_data_files('{_ALIAS}', delete_threshold => 0.05)",
    f"CALL ducklake_expire_snapshots('{_ALIAS}', older_than => now())",
    f"CALL ducklake_cleanup_old_files('{_ALIAS}', cleanup_all => true)",
)


@dataclass
class Strangers(Lakeside):
    """``Lakeside``, with the sources in the hands of others. A context manager: it ends their sessions."""

    sessions: list[DuckDBPyConnection] = field(default_factory=list)
    open_in: set[int] = field(default_factory=set)
    held: ExitStack = field(default_factory=ExitStack)
    conflicts: int = 0
    writes_in: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for _ in range(SESSIONS):
            session = self.held.enter_context(foreign_client(self.case, _ALIAS))
            session.execute(f"USE {_ALIAS}")
            self.sessions.append(session)

    def __enter__(self) -> Strangers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in sorted(self.open_in):
            self.sessions[number].execute("ROLLBACK")
        for session in self.sessions:
            session.execute("USE memory")
        self.held.close()

    def edit(self) -> None:
        """Some statements in some tables, in any session, each a commit or part of a transaction that stays open."""
        tables = [name for name in self.generator.tables if name not in self.queries]
        for name in self.random.choices(tables, k=self.random.randint(1, 6)):
            number = self.random.randrange(SESSIONS)
            if number not in self.open_in and self.random.random() < 0.35:
                self._in(number, "BEGIN TRANSACTION")
                self.open_in.add(number)
            self._write(number, name)
            if number in self.open_in and self.random.random() < 0.5:
                self._commit(number)
        if self.random.random() < 0.25:
            self._in(self._free(), self.random.choice(_UPKEEP))

    def play(self, rounds: int) -> None:
        """As others do; then everybody commits, and once more."""
        super().play(rounds)
        for number in sorted(self.open_in):
            self._commit(number)
        self.refresh_every()

    def left_behind(self) -> dict[str, list[str]]:
        """Without files: those of snapshots that somebody let expire are DuckLake's to delete."""
        return {kind: found for kind, found in super().left_behind().items() if kind != "files"}

    def _write(self, number: int, name: str) -> None:
        self.writes_in = number
        self._statement(name)

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        """Statements of the fuzz: the first ones, before there are sessions, are ours."""
        if not self.sessions:
            return super()._run(sql)
        return self._in(self.writes_in, sql)

    def _free(self) -> int:
        """A session without a transaction; one is ended if none is left."""
        free = [number for number in range(SESSIONS) if number not in self.open_in]
        if not free:
            self._commit(0)
            free = [0]
        return free[0]

    def _commit(self, number: int) -> None:
        self.open_in.discard(number)
        self._in(number, "COMMIT")

    def _in(self, number: int, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement in a session. Two writers of one file conflict, and the second starts over: not at all."""
        self.statements.append(f"/* session {number} */ {sql}")
        try:
            return self.sessions[number].execute(sql).fetchall()
        except duckdb.Error as error:
            if "onflict" not in str(error) and "retry" not in str(error):
                raise AssertionError(f"seed {self.seed}, session {number}: {sql}: {error}") from error
        self.conflicts += 1
        self.statements.append(f"/* session {number} */ -- conflict")
        if number in self.open_in:
            self.open_in.discard(number)
            self.sessions[number].execute("ROLLBACK")
        return []


@dataclass
class StrangersTogether(Strangers, Together):
    """Tables that read each other, over sources in the hands of others."""
