"""*Start a task*: a form from the schema of a command. It enqueues what any client could, and runs no code itself."""

from __future__ import annotations

from typing import Annotated, Any, cast

import psycopg
from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from catchment.dashboard.database import Actor, Reader
from catchment.dashboard.errors import Problem
from catchment.dashboard.form import FormField, fields_of, problems_of, read_field, read_json_text
from catchment.dashboard.payload_schema import fault_of
from catchment.dashboard.screen import Action, Answer, Done, Form, FormInvalid, Query, Screen, sql
from catchment.dashboard.values import dump_exactly, pretty
from catchment.task.encode import has_nul

MOST = 1000
_MARK = "payload."
_LONGEST_DELAY = 100 * 366 * 86_400

CommandName = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class StartQuery(Query):
    command: CommandName | None = Field(None, description="The command to start.")
    as_json: bool = Field(False, description="Write the payload as JSON, whatever the schema has.")


class CommandChoice(Answer):
    command: str
    queue: str
    handler_kind: str
    description: str | None


class FieldAnswer(Answer):
    """A field of the form: one parameter of the payload."""

    name: str
    kind: str
    is_required: bool
    takes_null: bool
    default: str | None = Field(description="JSON text.")
    help: str
    format: str
    choices: list[str] = Field(description="JSON text of each.")


class StartAnswer(Answer):
    """The commands to choose from; or one of them, with its form."""

    commands: list[CommandChoice]
    command: CommandChoice | None
    priority: int | None
    fields: list[FieldAnswer] | None = Field(description="Null if the payload has to be written as JSON.")
    payload_schema: dict[str, Any] | None
    schema_fault: str | None = Field(description="Why the schema of the command cannot be used, if it cannot.")


async def read(reader: Reader, query: StartQuery) -> StartAnswer:
    if query.command is None:
        rows = await reader.rows(sql("start_commands"), most=MOST)
        return StartAnswer(
            commands=[CommandChoice(**row) for row in rows],
            command=None,
            priority=None,
            fields=None,
            payload_schema=None,
            schema_fault=None,
        )
    row = await _command(reader, query.command)
    fields = None if query.as_json else fields_of(row["payload_schema"])
    return StartAnswer(
        commands=[],
        command=CommandChoice(**{name: row[name] for name in CommandChoice.model_fields}),
        priority=row["priority"],
        fields=None if fields is None else [_shown(one) for one in fields],
        payload_schema=row["payload_schema"],
        schema_fault=row["schema_fault"],
    )


def _shown(one: FormField) -> FieldAnswer:
    return FieldAnswer(
        name=one.name,
        kind=one.kind,
        is_required=one.is_required,
        takes_null=one.takes_null,
        default=one.default,
        help=one.help,
        format=one.format,
        choices=one.choices,
    )


async def _command(reader: Reader, name: str) -> dict[str, Any]:
    row = await reader.row(sql("start_command"), command=name)
    if row is None:
        raise Problem(
            404, f"there is no command {name!r}", "A worker registers the commands of its app when it starts."
        )
    schema = row["payload_schema"]
    row["schema_fault"] = None if schema is None else fault_of(schema)
    if row["schema_fault"] is not None:
        row["payload_schema"] = None
    return row


def _title(answer: StartAnswer) -> str:
    return "Start a task" if answer.command is None else f"Start {answer.command.command}"


SCREEN = Screen(
    name="start",
    path="/start",
    summary="The form to start a task with.",
    query=StartQuery,
    answer=StartAnswer,
    read=read,
    title=_title,
    template="start.html",
    section="tasks",
)


def _as_object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("expected an object: { … }")
    try:
        text = dump_exactly(value)
        text.encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except UnicodeEncodeError:
        raise ValueError("it has half a character, which cannot be stored") from None
    if has_nul(text):
        raise ValueError("it contains a NUL character (\\u0000), which PostgreSQL cannot store in JSON")
    return cast("dict[str, Any]", value)


class StartBody(Query):
    """A task to be made."""

    command: CommandName
    # Not in the audit table: the task has it.
    payload: Annotated[Any, AfterValidator(_as_object), WithJsonSchema({"type": "object"})] = Field(
        default_factory=dict[str, Any], exclude=True, description="The arguments of the command."
    )
    lane: Annotated[str, StringConstraints(max_length=500)] | None = None
    priority: int | None = Field(None, ge=-(2**31), le=2**31 - 1, description="Smaller runs first.")
    delay_seconds: float | None = Field(None, ge=0, le=_LONGEST_DELAY, description="Do not start it before that.")


async def _read_form(reader: Reader, given: dict[str, str]) -> dict[str, Any]:
    """The values of the body, from the fields of the page."""
    query = StartQuery.model_validate(_page_of(given))
    if query.command is None:
        raise FormInvalid({"": "choose a command first"})
    row = await _command(reader, query.command)
    fields = None if query.as_json else fields_of(row["payload_schema"])
    errors: dict[str, str] = {}
    payload: Any = {}
    if fields is None:
        try:
            payload = read_json_text(given.get("payload", "{}"))
        except ValueError as error:
            raise FormInvalid({"payload": str(error)}) from error
    else:
        for one in fields:
            text = given.get(_MARK + one.name)
            try:
                if text is not None:
                    payload[one.name] = read_field(one, text)
                elif one.is_required and one.takes_null:
                    payload[one.name] = None
            except ValueError as error:
                errors[_MARK + one.name] = str(error)
    names = {one.name for one in fields or ()}
    for name, said in problems_of(row["payload_schema"], payload).items():
        place = _MARK + name if name in names else "payload"
        errors.setdefault(place, said if name in names or not name else f"{name}: {said}")
    if errors:
        raise FormInvalid(errors)
    others = {name: given[name] for name in ("lane", "priority", "delay_seconds") if name in given}
    return {"command": query.command, "payload": payload, **others}


def _page_of(given: dict[str, str]) -> dict[str, Any]:
    return {name: given[name] for name in ("command", "as_json") if name in given}


async def _start(actor: Actor, body: StartBody) -> Done:
    row = await _command(actor, body.command)
    problems = problems_of(row["payload_schema"], body.payload)
    if problems:
        raise Problem(400, f"the payload does not fit: {FormInvalid(problems)}", "See the schema of the command.")
    try:
        task_id = await actor.value(
            sql("start_task"),
            command=body.command,
            payload=dump_exactly(body.payload),
            lane=body.lane,
            priority=body.priority,
            delay=body.delay_seconds,
        )
    except psycopg.DataError as error:
        raise Problem(400, f"the payload cannot be stored: {str(error).strip()}") from error
    return Done(f"Task {task_id} was enqueued.", "pending", to=f"/tasks/{task_id}")


def _consequence(body: StartBody) -> str:
    said = [f"A task of {body.command} is enqueued"]
    if body.lane is not None:
        said.append(f"in lane {body.lane}")
    if body.priority is not None:
        said.append(f"with priority {body.priority}")
    if body.delay_seconds:
        said.append(f"to start in {body.delay_seconds:g} seconds or later")
    return f"{', '.join(said)}. Its payload is:"


START = Action(
    name="task.start",
    path="/start",
    summary="Make a task of a registered command.",
    body=StartBody,
    run=_start,
    verb=lambda body: f"Start {body.command}",
    consequence=_consequence,
    subject=lambda body: f"command {body.command}",
    back="/start",
    form=Form(
        screen=SCREEN,
        query=_page_of,
        read=_read_form,
        preview=lambda body: pretty(dump_exactly(body.payload)),
    ),
)
