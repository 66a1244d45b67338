"""Reads what a request says: its parameters, its form, its JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
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


def read_query(request: Request, kind: type[Q], *, is_typed: bool) -> Q:
    """The parameters of the path and the query string. If people have typed them into a form, they have no blanks
    around them, and empty ones are not there."""
    given: dict[str, Any] = {}
    for key, value in request.query_params.multi_items():
        if not is_typed:
            given[key] = value
        elif value.strip():
            given[key] = value.strip()
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


async def read_json(request: Request, model: type[Query]) -> dict[str, Any]:
    """The JSON object of a body, with exact decimals and values of the documented types; an empty body is an empty
    object."""
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
    check_types(cast("dict[str, Any]", value), _schema_of(model))
    return cast("dict[str, Any]", value)


@cache
def _schema_of(model: type[Query]) -> dict[str, Any]:
    return model.model_json_schema()


def check_types(given: dict[str, Any], schema: dict[str, Any]) -> None:
    """Refuse a value of another JSON type than the schema has: a text is no number, and neither is true."""
    for name, value in given.items():
        expected = _types(schema.get("properties", {}).get(name, {}), schema)
        if expected and not _types_of(value) & expected:
            what = " or ".join(sorted(expected))
            raise Problem(400, f"{name} is {str(value)[:100]!r}, expected JSON of type {what}")


def _types(part: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    """The types that a schema allows; none means any."""
    if "$ref" in part:
        return _types(schema["$defs"][part["$ref"].rpartition("/")[2]], schema)
    if "anyOf" in part:
        each = [_types(choice, schema) for choice in part["anyOf"]]
        return set[str]().union(*each) if all(each) else set()
    return {part["type"]} if "type" in part else set()


def _types_of(value: Any) -> set[str]:
    match value:
        case None:
            return {"null"}
        case bool():
            return {"boolean"}
        case int():
            return {"number", "integer"}
        case float() | Decimal():
            return {"number", "integer"} if _is_whole(value) else {"number"}
        case str():
            return {"string"}
        case _:
            return {"array" if isinstance(value, list) else "object"}


def _is_whole(number: float | Decimal) -> bool:
    """Not by int(), which would write out all digits of 1e999999."""
    if not isinstance(number, Decimal):
        return float(number).is_integer()
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and (exponent >= 0 or number == number.to_integral_value())
