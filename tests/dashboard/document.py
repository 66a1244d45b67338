"""Compares answers with the OpenAPI document."""

from __future__ import annotations

import re
from typing import Any

import jsonschema_rs

from tests.fixtures.dashboard import DashboardSite


def check_answers(site: DashboardSite, *paths: str) -> None:
    """What these addresses answer is as the document says."""
    document = site.json("/api/openapi.json")
    for path in paths:
        schema = {"$ref": _schema_of(document, path), "components": document["components"]}
        errors = jsonschema_rs.validator_for(schema).iter_errors(site.get(path).json())
        said = [f"{path}: {error}" for error in errors]
        assert not said, "\n".join(said)


def _schema_of(document: dict[str, Any], path: str) -> str:
    """The schema of the answer of a page, of the address that fits best."""
    plain = path.partition("?")[0]
    fitting = [one for one in document["paths"] if re.fullmatch(re.sub(r"{\w+}", "[^/]+", one), plain)]
    content = document["paths"][min(fitting, key=lambda one: one.count("{"))]["get"]["responses"]["200"]["content"]
    return content["application/json"]["schema"]["$ref"]
