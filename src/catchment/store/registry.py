"""Registers Python commands and their queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from catchment.store.foreign.sender import AsyncSender, Sender, Values

Definition = dict[str, Any]

# Asked first, because a refused call would break the caller's transaction.
_MAY_REGISTER = "select pg_catalog.has_function_privilege('worker.register_commands(jsonb, jsonb, boolean)', 'execute')"
_REGISTER = (
    "select worker.register_commands(%s::pg_catalog.text::pg_catalog.jsonb, %s::pg_catalog.text::pg_catalog.jsonb,"
    " %s::pg_catalog.text::boolean), pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.text"
)


_PROJECTS = "select distinct project from worker.command_registry where project is not null"
_FORGET = (
    "select worker.forget_projects(array(select jsonb_array_elements_text(%s::pg_catalog.text::pg_catalog.jsonb)))"
)


@dataclass(frozen=True, slots=True)
class Registered:
    """The number of rows that were written, and the transaction that it happened in."""

    rows: int
    transaction: str | None


async def may_register_async(sender: AsyncSender) -> bool:
    """May this user register commands?"""
    ((allowed,),) = await sender.rows(_MAY_REGISTER)
    return allowed


def may_register(sender: Sender) -> bool:
    """As ``may_register_async``, without asyncio."""
    ((allowed,),) = sender.rows(_MAY_REGISTER)
    return allowed


async def register_commands_async(
    sender: AsyncSender, queues: Sequence[Definition], definitions: Sequence[Definition], *, overwrite: bool
) -> Registered:
    """Register what is missing, and with ``overwrite`` change what differs."""
    if _have_projects(definitions) and (gone := _gone(await sender.rows(_PROJECTS))):
        await sender.rows(_FORGET, (gone,))
    ((count, transaction),) = await sender.rows(_REGISTER, _parameters(queues, definitions, overwrite))
    return Registered(count, transaction)


def register_commands(
    sender: Sender, queues: Sequence[Definition], definitions: Sequence[Definition], *, overwrite: bool
) -> Registered:
    """As ``register_commands_async``, without asyncio."""
    if _have_projects(definitions) and (gone := _gone(sender.rows(_PROJECTS))):
        sender.rows(_FORGET, (gone,))
    ((count, transaction),) = sender.rows(_REGISTER, _parameters(queues, definitions, overwrite))
    return Registered(count, transaction)


def _have_projects(definitions: Sequence[Definition]) -> bool:
    return any(row.get("project") is not None for row in definitions)


def _gone(rows: Sequence[Sequence[Any]]) -> str | None:
    """The projects whose folders no longer exist, as JSON: they were moved or removed."""
    gone = [project for (project,) in rows if not Path(project).is_dir()]
    return to_json(gone).decode() if gone else None


def _parameters(queues: Sequence[Definition], definitions: Sequence[Definition], overwrite: bool) -> Values:
    return to_json(list(queues)).decode(), to_json(list(definitions)).decode(), str(overwrite).lower()
