"""Registers Python commands and their queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    ((count, transaction),) = await sender.rows(_REGISTER, _parameters(queues, definitions, overwrite))
    return Registered(count, transaction)


def register_commands(
    sender: Sender, queues: Sequence[Definition], definitions: Sequence[Definition], *, overwrite: bool
) -> Registered:
    """As ``register_commands_async``, without asyncio."""
    ((count, transaction),) = sender.rows(_REGISTER, _parameters(queues, definitions, overwrite))
    return Registered(count, transaction)


def _parameters(queues: Sequence[Definition], definitions: Sequence[Definition], overwrite: bool) -> Values:
    return to_json(list(queues)).decode(), to_json(list(definitions)).decode(), str(overwrite).lower()
