"""``app.schedule``: a command again and again, by a cron expression or an interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from catchment.errors import DefinitionRefused
from catchment.model.check import shown
from catchment.model.duration import Duration
from catchment.task.command import Command
from catchment.task.commands import Commands
from catchment.task.item import Item
from catchment.task.schedule import Missed, Overlap, Zone, read_rhythm, schedule_of_command, schedule_of_item

AnyCommand = TypeVar("AnyCommand", bound=Command[..., Any, Any])


class Scheduling:
    """The schedules of an app. Its workers declare them when they start."""

    commands: Commands

    @overload
    def schedule(
        self,
        /,
        *,
        cron: str | None = None,
        every: Duration | None = None,
        tz: Zone | None = None,
        name: str | None = None,
        missed: Missed = "one",
        overlap: Overlap = "allow",
        due: str | None = None,
    ) -> Callable[[AnyCommand], AnyCommand]: ...

    @overload
    def schedule(
        self,
        item: Item[Any],
        /,
        *,
        cron: str | None = None,
        every: Duration | None = None,
        tz: Zone | None = None,
        name: str | None = None,
        missed: Missed = "one",
        overlap: Overlap = "allow",
        due: str | None = None,
    ) -> None: ...

    def schedule(
        self,
        item: Item[Any] | None = None,
        /,
        *,
        cron: str | None = None,
        every: Duration | None = None,
        tz: Zone | None = None,
        name: str | None = None,
        missed: Missed = "one",
        overlap: Overlap = "allow",
        due: str | None = None,
    ) -> Any:
        """Decorator of a command: run it on a schedule. A worker with the app registers the schedule.

        It goes above ``@app.command``. A command that needs arguments gets them as an item instead:
        ``app.schedule(send.item(to="a@b.org"), cron="0 6 * * *")``. The item may have a lane and a priority.

        - ``cron``: five fields, as in ``"30 4 * * mon"``, or a short form such as ``"@daily"``
        - ``every``: an interval in seconds or as a timedelta, one second or more; one of the two must be given
        - ``tz``: the time zone of ``cron``, a name or a ``ZoneInfo``. Defaults to UTC.
        - ``name``: Defaults to the name of the command. Another schedule of the same command needs another name.
        - ``missed``: what happens to the times that passed while no worker was alive: ``one`` enqueues one task for all
          of them, ``all`` one for each time of the last seven days, ``skip`` none
        - ``overlap``: what happens at a scheduled time if the previous task has not settled: ``allow`` enqueues another
          one, ``skip`` none, ``wait`` enqueues it when that task has settled, ``cancel`` cancels that task and enqueues
          another one
        - ``due``: the parameter that receives the scheduled time, an aware ``datetime`` in UTC

        Raises ``DefinitionRefused`` for an expression that is invalid or never fires, an unknown time zone, a command
        that needs arguments, and a name that is used twice.
        """
        rhythm = read_rhythm(cron=cron, every=every, tz=tz, missed=missed, overlap=overlap, due=due)
        if item is not None:
            command = self.commands.find(item.name) if isinstance(item, Item) else None  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
            if command is None:
                raise DefinitionRefused(
                    f"{shown(item)} is given to app.schedule, expected an item of a command of this app",
                    hint="app.schedule(command.item(…), cron=…), or the decorator: @app.schedule(cron=…).",
                )
            self.commands.add_schedule(schedule_of_item(command, item, name, rhythm))
            return None

        def define(command: AnyCommand) -> AnyCommand:
            if self.commands.find(getattr(command, "name", None)) is not command:
                raise DefinitionRefused(
                    f"@app.schedule is above {shown(command)}, expected a command of this app",
                    hint="Put @app.command below it: the lower decorator comes first.",
                )
            self.commands.add_schedule(schedule_of_command(command, name, rhythm))
            return command

        return define
