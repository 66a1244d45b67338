"""The OpenAPI document, made from the same declarations as the pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from catchment.dashboard.endpoints import ActionAnswer
from catchment.dashboard.pages import ACTIONS
from catchment.dashboard.screen import Answer, AnyAction, AnyScreen
from catchment.model.release import VERSION

_PATH_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_REF = "#/components/schemas/{model}"


class ErrorText(Answer):
    """What is the matter, and what to do."""

    title: str
    message: str
    hint: str | None


class ErrorAnswer(Answer):
    """Every error response."""

    error: ErrorText


def document(root: str, screens: Iterable[AnyScreen]) -> dict[str, Any]:
    """The whole document, for a dashboard with these screens that is mounted under ``root``."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for screen in screens:
        path = f"/api{screen.path.rstrip('/') or '/now'}"
        paths.setdefault(_plain(path), {})["get"] = _read(screen, path, schemas)
    for action in ACTIONS:
        path = f"/api{action.path}"
        paths.setdefault(_plain(path), {})["post"] = _act(action, path, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Catchment dashboard", "version": VERSION},
        "servers": [{"url": root or "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _plain(path: str) -> str:
    return _PATH_PARAMETER.sub(r"{\1}", path)


def _read(screen: AnyScreen, path: str, schemas: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": screen.name,
        "summary": screen.summary,
        "parameters": _parameters(screen.query, path, schemas, in_query=True),
        "responses": _responses(screen.answer, schemas, ("400", "401", "404", "503")),
    }


def _act(action: AnyAction, path: str, schemas: dict[str, Any]) -> dict[str, Any]:
    inner = set(_PATH_PARAMETER.findall(path))
    schema = _schema(action.body, schemas)
    body = {
        **schema,
        "properties": {key: value for key, value in schema.get("properties", {}).items() if key not in inner},
        "required": [key for key in schema.get("required", []) if key not in inner],
    }
    return {
        "operationId": action.name,
        "summary": action.summary,
        "parameters": _parameters(action.body, path, schemas, in_query=False),
        "requestBody": {"required": bool(body["required"]), "content": {"application/json": {"schema": body}}},
        "responses": _responses(ActionAnswer, schemas, ("400", "401", "403", "404", "409", "413", "503")),
    }


def _parameters(model: type[BaseModel], path: str, schemas: dict[str, Any], *, in_query: bool) -> list[dict[str, Any]]:
    inner = set(_PATH_PARAMETER.findall(path))
    schema = _schema(model, schemas)
    made: list[dict[str, Any]] = []
    for name, value in schema.get("properties", {}).items():
        if name in inner or in_query:
            made.append(
                {
                    "name": name,
                    "in": "path" if name in inner else "query",
                    "required": name in inner,
                    "schema": {key: part for key, part in value.items() if key != "description"},
                    "description": value.get("description", ""),
                    # A list is one value with commas.
                    **({"explode": False} if _has_list(value) else {}),
                }
            )
    return made


def _has_list(part: dict[str, Any]) -> bool:
    return any(choice.get("type") == "array" for choice in part.get("anyOf", [part]))


def _without_nul(part: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value in a request: PostgreSQL has no text with a NUL character."""
    if "anyOf" in part:
        return {**part, "anyOf": [_without_nul(choice) for choice in part["anyOf"]]}
    is_free = part.get("type") == "string" and not {"pattern", "format", "enum", "const"} & {*part}
    return {**part, "pattern": "^[^\\u0000]*$"} if is_free else part


def _responses(model: type[BaseModel], schemas: dict[str, Any], problems: tuple[str, ...]) -> dict[str, Any]:
    for kind in (model, ErrorAnswer):
        schemas[kind.__name__] = _schema(kind, schemas)
    return {
        "200": _response("The requested data.", _REF.format(model=model.__name__)),
        **{status: _response("What is the matter.", _REF.format(model="ErrorAnswer")) for status in problems},
    }


def _response(description: str, ref: str) -> Mapping[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": {"$ref": ref}}}}


def _schema(model: type[BaseModel], schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema of a model; those that it needs are added to ``schemas``."""
    mode = "serialization" if issubclass(model, Answer) else "validation"
    schema = model.model_json_schema(ref_template=_REF, mode=mode)
    schemas.update(schema.pop("$defs", {}))
    if mode == "validation":
        schema["properties"] = {name: _without_nul(part) for name, part in schema.get("properties", {}).items()}
    return schema
