"""Registration: which commands of an app the database is known to have."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection, Connection
from psycopg.pq import TransactionStatus

from catchment.errors import CommandNotRegistered
from catchment.store import registry
from catchment.task.command import Command
from catchment.task.commands import Commands, definition

AnyConnection = AsyncConnection[Any] | Connection[Any]


class Registrar:
    """Registers each command before its first task, if it is missing. It never changes one that exists.

    What was registered inside somebody's transaction counts as known only when it is found again outside of one: that
    transaction may have been rolled back.
    """

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._known: set[str] = set()
        self._unsure: set[str] = set()
        self._may_register = True

    async def ensure_async(self, conn: AsyncConnection[Any], command: Command[..., Any] | str) -> None:
        """Register the command if it is missing and this user may; one given by name is taken as it is."""
        if isinstance(command, str) or command.name in self._known:
            return
        changed = 0
        is_committed = _commits(conn)
        self._may_register = await registry.may_register_async(conn)
        if self._may_register:
            queues, rows = [self._commands.queue_definition(command.options.queue)], [definition(command)]
            changed = await registry.register_commands_async(conn, queues, rows, overwrite=False)
        self._note(command.name, changed, is_committed)

    def ensure(self, conn: Connection[Any], command: Command[..., Any] | str) -> None:
        """As ``ensure_async``, without asyncio."""
        if isinstance(command, str) or command.name in self._known:
            return
        changed = 0
        is_committed = _commits(conn)
        self._may_register = registry.may_register(conn)
        if self._may_register:
            queues, rows = [self._commands.queue_definition(command.options.queue)], [definition(command)]
            changed = registry.register_commands(conn, queues, rows, overwrite=False)
        self._note(command.name, changed, is_committed)

    def _note(self, name: str, changed: int, is_committed: bool) -> None:
        if is_committed or (changed == 0 and name not in self._unsure):
            self._known.add(name)
            self._unsure.discard(name)
        else:
            self._unsure.add(name)

    def explain(self, error: CommandNotRegistered, command: Command[..., Any] | str) -> CommandNotRegistered:
        """Why a command of this app is missing in the database although it should have been registered."""
        if isinstance(command, str):
            return error
        self._known.discard(command.name)
        if self._may_register:
            return CommandNotRegistered(
                f"command {command.name} is no longer registered in this database",
                hint="Somebody has deleted it, or the database is another one now. Try again: that registers it.",
            )
        return CommandNotRegistered(
            f"command {command.name} is not registered in this database, and this user may not register it",
            hint="Start a worker with this app once, or call app.register() as a member of catchment_worker.",
        )

    async def register_async(self, conn: AsyncConnection[Any]) -> int:
        """Register all commands, changing those that differ; returns the number of rows written."""
        rows = self._commands.definitions()
        return await registry.register_commands_async(conn, self._commands.queue_definitions(), rows, overwrite=True)

    def register(self, conn: Connection[Any]) -> int:
        """As ``register_async``, without asyncio."""
        return registry.register_commands(
            conn, self._commands.queue_definitions(), self._commands.definitions(), overwrite=True
        )


def _commits(conn: AnyConnection) -> bool:
    """Will the next statement on this connection commit by itself?"""
    return conn.autocommit and conn.pgconn.transaction_status == TransactionStatus.IDLE
