"""Registration: which commands of an app the database is known to have."""

from __future__ import annotations

from catchment.client.connections import Connections
from catchment.client.imports import Imports
from catchment.errors import CommandNotRegistered
from catchment.store import registry
from catchment.store.foreign.sender import AsyncSender, Sender
from catchment.store.registry import Definition, Registered
from catchment.task.commands import Commands, definition
from catchment.task.verbs import AnyCommand, Defined

NOTHING = Registered(0, None)


class Registrar:
    """Registers each command before its first task, if it is missing. It never changes one that exists.

    What was registered in a transaction counts as known only when it is found again in another: the first one may have
    been rolled back.
    """

    def __init__(self, commands: Commands, imports: Imports, connections: Connections) -> None:
        self._commands = commands
        self._connections = connections
        self._imports = imports
        self._known: set[str] = set()
        self._place = connections.place
        # The transaction that registered a command, by its name.
        self._unsure: dict[str, str | None] = {}
        self._may_register = True

    async def ensure_async(self, sender: AsyncSender, command: AnyCommand) -> None:
        """Register the command if it is missing and this user may; one given by name is taken as it is."""
        if isinstance(command, str) or self._knows(command.name):
            return
        self._may_register = await registry.may_register_async(sender)
        done = NOTHING
        if self._may_register:
            done = await registry.register_commands_async(sender, *self._definitions(command), overwrite=False)
        self._note(command.name, done, sender.commits_itself)

    def ensure(self, sender: Sender, command: AnyCommand) -> None:
        """As ``ensure_async``, without asyncio."""
        if isinstance(command, str) or self._knows(command.name):
            return
        self._may_register = registry.may_register(sender)
        done = NOTHING
        if self._may_register:
            done = registry.register_commands(sender, *self._definitions(command), overwrite=False)
        self._note(command.name, done, sender.commits_itself)

    def is_known(self, command: AnyCommand) -> bool:
        """Is nothing to be done before its next task?"""
        return isinstance(command, str) or self._knows(command.name)

    def _knows(self, name: str) -> bool:
        if self._place != self._connections.place:
            self._place = self._connections.place
            self._known.clear()
            self._unsure.clear()
        return name in self._known

    def _note(self, name: str, done: Registered, is_committed: bool) -> None:
        if done.rows > 0 and not is_committed:
            self._unsure[name] = done.transaction
        elif is_committed or self._unsure.get(name) is None or self._unsure[name] != done.transaction:
            self._known.add(name)

    def explain(self, error: CommandNotRegistered, command: AnyCommand) -> CommandNotRegistered:
        """Why a command of this app is missing in the database although it should have been registered."""
        if isinstance(command, str):
            hint = self._commands.did_you_mean(command)
            return error if hint is None else CommandNotRegistered(str(error), hint=hint)
        self._known.discard(command.name)
        if self._may_register:
            return CommandNotRegistered(
                f"command {command.name} is no longer registered in this database",
                hint="It was deleted, or this is a different database now. Try again: that registers it.",
            )
        return CommandNotRegistered(
            f"command {command.name} is not registered in this database, and this user may not register it",
            hint="Start a worker with this app once, or call app.register() as a member of catchment_worker.",
        )

    async def register_async(self, sender: AsyncSender) -> int:
        """Register all commands, changing those that differ; returns the number of rows written."""
        return (await registry.register_commands_async(sender, *self._all(), overwrite=True)).rows

    def register(self, sender: Sender) -> int:
        """As ``register_async``, without asyncio."""
        return registry.register_commands(sender, *self._all(), overwrite=True).rows

    def _definitions(self, command: Defined) -> tuple[list[Definition], list[Definition]]:
        return [self._commands.queue_definition(command.options.queue)], [self._definition(command)]

    def _definition(self, command: Defined) -> Definition:
        return definition(command, with_project=self._connections.is_embedded)

    def _all(self) -> tuple[list[Definition], list[Definition]]:
        self._imports.load()
        return (
            self._commands.queue_definitions(),
            self._commands.definitions(with_project=self._connections.is_embedded),
        )
