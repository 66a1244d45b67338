"""Settings from the environment: ``CATCHMENT_`` and the name of a field in capitals.

A few names without the prefix are accepted as well, after those with it. An empty value counts as none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, ValidationError

from catchment.errors import RequestRefused

PREFIX = "CATCHMENT_"


def also(name: str) -> AliasChoices:
    """The names of a setting that is accepted without the prefix as well."""
    return AliasChoices(PREFIX + name, name)


class Settings(BaseModel):
    """Fields that are read from environment variables, whatever the case of their letters. Those that are given come
    first."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, hide_input_in_errors=True, populate_by_name=True, validate_default=True
    )

    def __init__(self, /, **given: Any) -> None:
        sources = {field: self.source(field) for field in type(self).model_fields if field not in given}
        super().__init__(**{field: os.environ[name] for field, name in sources.items() if name}, **given)

    @classmethod
    def read(cls) -> Self:
        """Raises ``RequestRefused`` with the name of a variable that cannot be read, and the reason."""
        try:
            return cls()
        except ValidationError as error:
            field = cls._field(str(error.errors(include_url=False)[0]["loc"][0]))
            raise RequestRefused(cls.problems(error)[field], hint=cls._advice(field)) from error

    @classmethod
    def problems(cls, error: ValidationError) -> dict[str, str]:
        """What is wrong with each field, in a sentence."""
        problems: dict[str, str] = {}
        for problem in error.errors(include_url=False):
            field = cls._field(str(problem["loc"][0]))
            name = cls.source(field) or cls.names(field)[0]
            problems[field] = f"{name} in the environment is invalid: it is {problem['input']!r}. {problem['msg']}"
        return problems

    @classmethod
    def without(cls, fields: Iterable[str]) -> Self:
        """All settings, with the defaults of these fields whatever the environment says."""
        return cls(**{field: cls.model_fields[field].default for field in fields})

    @classmethod
    def names(cls, field: str) -> tuple[str, ...]:
        """The variables that a field is read from: the first that is set counts."""
        alias = cls.model_fields[field].validation_alias
        if isinstance(alias, AliasChoices):
            return tuple(str(choice) for choice in alias.choices)
        return (PREFIX + field.upper(),)

    @classmethod
    def source(cls, field: str) -> str | None:
        """The variable that sets a field now; None: it has its default."""
        given = {name.upper(): name for name, value in os.environ.items() if value}
        return next((given[name] for name in cls.names(field) if name in given), None)

    @classmethod
    def _field(cls, place: str) -> str:
        """The field that an error is about, which may be named by its variable."""
        return next(field for field in cls.model_fields if place.upper() in (field.upper(), *cls.names(field)))

    @classmethod
    def _advice(cls, field: str) -> str:
        default = cls.model_fields[field].default
        return "Change it, or unset it" + (f": its default is {default}." if default is not None else ".")
