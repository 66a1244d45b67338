"""What a screen and an action are. The page, its JSON and the OpenAPI document are all made from one declaration."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Annotated, Any, Generic, LiteralString, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, field_validator

from catchment.dashboard.database import Actor, Reader
from catchment.model.check import is_text

_NUMBER = re.compile(r"[-+]?[\d_.]+(e[-+]?\d+)?", re.IGNORECASE)


def _refuse_number(value: object) -> object:
    if not isinstance(value, str | datetime) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
        raise ValueError("expected a time such as 2030-01-31T12:00:00Z")
    return value


GivenTime = Annotated[datetime, BeforeValidator(_refuse_number)]
"""A time in a request, written as one, and not as a number of seconds."""


class Query(BaseModel):
    """Parameters of a screen: those of its path and of the query string. Unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _without_nul(cls, value: Any) -> Any:
        if isinstance(value, str) and "\0" in value:
            raise ValueError("it contains a NUL character, which PostgreSQL cannot store")
        if isinstance(value, str) and not is_text(value):
            raise ValueError("it contains half of a character, which PostgreSQL cannot store")
        return value


class Answer(BaseModel):
    """What a screen shows, as plain data."""

    model_config = ConfigDict(frozen=True)


def _read_time(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return value


Moment = Annotated[datetime | str, BeforeValidator(_read_time)]
"""A time, also one out of JSON; text where Python cannot hold it."""

Q = TypeVar("Q", bound=Query)
A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, kw_only=True)
class Screen(Generic[Q, A]):
    """A page at ``path``, and the same data at ``/api`` + ``path``.

    - ``read`` returns the data. It runs in a READ ONLY transaction, and its cost has to be bounded, whatever there is.
    - ``title`` says what is on the page, from the data.
    - ``template`` shows the data: it gets ``answer``, ``query`` and what ``frame.html`` needs.
    - ``label``: its name in the rail. Without one it is not in the rail; ``section`` is what the rail marks then.
    - ``key``: pressed after ``g``, it leads here.
    """

    name: str
    path: str
    summary: str
    query: type[Q]
    answer: type[A]
    read: Callable[[Reader, Q], Awaitable[A]]
    title: Callable[[A], str]
    template: str
    label: str | None = None
    section: str | None = None
    key: str | None = None


B = TypeVar("B", bound=Query)


@dataclass(frozen=True, slots=True)
class Done:
    """What an action did, in a sentence. ``state`` is the new state of its subject, ``to`` the page of what it made."""

    message: str
    state: str | None = None
    to: str | None = None


class FormInvalid(Exception):
    """Fields of a form that cannot be used, each with what is wrong; the empty name is the form as a whole."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {said}" if name else said for name, said in errors.items()))
        self.errors = errors


@dataclass(frozen=True, kw_only=True)
class Form:
    """The page that an action is filled in on. What is wrong is shown there, beside its field.

    - ``screen``: the page; ``query`` makes its parameters from the fields.
    - ``read`` makes the values of the body from the fields, which are text. Raises ``FormInvalid``.
    - ``preview``: JSON text shown with the question, from the body.
    """

    screen: AnyScreen
    query: Callable[[dict[str, str]], dict[str, Any]]
    read: Callable[[Reader, dict[str, str]], Awaitable[dict[str, Any]]]
    preview: Callable[[Any], str]


@dataclass(frozen=True, kw_only=True)
class Action(Generic[B]):
    """Something that an operator does: POST to ``path``, and to ``/api`` + ``path``.

    - ``run`` does it in a transaction as the operating role, which also has its row of the audit table. What it raises
      as a ``CatchmentError`` is shown to the user and written to the audit table as refused.
    - ``verb`` is on the button, ``consequence`` in the dialog that asks for confirmation.
    - ``subject`` names what is acted on, for the audit table: ``task 17``.
    - ``back``: the page that is shown then. Defaults to the one above ``path``.
    - ``form``: where its fields are filled in, if they are more than a button has.
    """

    name: str
    path: str
    summary: str
    body: type[B]
    run: Callable[[Actor, B], Awaitable[Done]]
    verb: Callable[[B], str]
    consequence: Callable[[B], str]
    subject: Callable[[B], str]
    back: str | None = None
    is_destructive: bool = False
    form: Form | None = None

    def page_after(self, body: B) -> str:
        """The page that is shown when it is done, or left."""
        return _filled(self.back or self.path.rpartition("/")[0], body.model_dump())


@dataclass(frozen=True, slots=True)
class Button:
    """What a page needs for the button of an action."""

    path: str
    verb: str
    consequence: str
    fields: dict[str, Any]
    is_destructive: bool


_PATH_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


def _filled(path: str, values: dict[str, Any]) -> str:
    return _PATH_PARAMETER.sub(lambda part: str(values[part[1]]), path)


def button(action: Action[Any], values: dict[str, Any]) -> Button:
    """The button of an action on these values: those of its path are in the address, the others in fields."""
    body = action.body.model_validate(values)
    inner = {*_PATH_PARAMETER.findall(action.path)}
    return Button(
        path=_filled(action.path, values),
        verb=action.verb(body),
        consequence=action.consequence(body),
        fields={key: value for key, value in values.items() if key not in inner},
        is_destructive=action.is_destructive,
    )


@cache
def sql(name: str) -> LiteralString:
    """The statement in ``pages/name.sql``."""
    text = resources.files("catchment.dashboard.pages").joinpath(f"{name}.sql").read_text(encoding="utf-8")
    return cast("LiteralString", text)


AnyScreen = Screen[Any, Any]
AnyAction = Action[Any]
