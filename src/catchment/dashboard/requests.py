"""Reads what a request says: its parameters, its form, its JSON."""

from __future__ import annotations

import json
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl

from starlette.requests import Request

from catchment.dashboard.auth.check import Asker
from catchment.dashboard.errors import Problem
from catchment.dashboard.screen import Query
from catchment.dashboard.values import exact_number, refuse_constant

Q = TypeVar("Q", bound=Query)

LARGEST_BODY = 64 * 1024


def asker_of(request: Request) -> Asker:
    """Who sent the request. 401 if nobody that is known."""
    asker: Asker | None = request.state.asker
    if asker is None:
        raise Problem(
            401,
            "nobody is logged in",
            "A program sends a token: Authorization: Bearer …",
            headers={"WWW-Authenticate": 'Bearer realm="catchment"'},
        )
    return asker


def read_query(request: Request, kind: type[Q]) -> Q:
    """The parameters of the path and the query string. Empty ones, as forms send them, are not there."""
    given: dict[str, Any] = {}
    for key, value in request.query_params.multi_items():
        if value.strip():
            given[key] = value
    return kind.model_validate({**given, **request.path_params})


async def read_body(request: Request) -> bytes:
    """The body; 413 if it is too large."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_BODY:
            raise Problem(413, f"the request has more than {LARGEST_BODY:,} bytes")
        parts.append(part)
    return b"".join(parts)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(400, f"the form is {kind or 'of no type'}, expected application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl((await read_body(request)).decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise Problem(400, f"the form cannot be read: {error}") from error
    return dict(pairs)


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object of a body, with exact decimals; an empty body is an empty object."""
    body = await read_body(request)
    if not body.strip():
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(400, f"the body is {kind or 'of no type'}, expected application/json")
    try:
        value: Any = json.loads(body, parse_float=exact_number, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Problem(400, "the body is not a JSON object")
    return cast("dict[str, Any]", value)
