"""Payloads: what a function's parameters make of JSON, on the way in and on the way out."""

from __future__ import annotations

import enum
import json
import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field

from catchment import Context
from catchment.errors import ArgumentsInvalid, DefinitionRefused
from catchment.task.payload import Payload, dump_any
from catchment.task.signature import read_signature


class Colour(enum.Enum):
    RED = "red"


class Address(BaseModel):
    street: str
    post_code: str = Field(alias="postCode")


@dataclass
class Point:
    x: int
    y: int


def payload_of(fn: Any) -> Payload:
    return Payload(fn.__name__, read_signature(fn))


def send(to: str, body: str = "", copies: int = 1) -> None: ...


def test_defaults_are_stored_with_the_payload() -> None:
    assert json.loads(payload_of(send).dump({"to": "a"})) == {"to": "a", "body": "", "copies": 1}


def test_missing_keys_get_their_defaults_when_read() -> None:
    assert payload_of(send).load('{"to": "a"}') == {"to": "a", "body": "", "copies": 1}


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def nothing() -> None: ...

    payload = payload_of(nothing)
    assert payload.dump({}) == "{}"
    assert payload.load(b"{}") == {}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (datetime, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (date, date(2026, 1, 2)),
        (timedelta, timedelta(seconds=1.5)),
        (Decimal, Decimal("1.10")),
        (uuid.UUID, uuid.UUID(int=7)),
        (bytes, b"\xff\x00"),
        (float, math.inf),
        (Colour, Colour.RED),
        (Path, Path("a/b")),
        (set[int], {1, 2}),
        (tuple[int, str], (1, "a")),
        (dict[str, list[int]], {"a": [1]}),
        (Point, Point(1, 2)),
        (Address, Address(street="s", postCode="1")),
        (int | None, None),
    ],
)
def test_a_value_of_any_common_type_is_read_back_as_it_was(annotation: Any, value: object) -> None:
    def take(value: Any) -> None: ...

    take.__annotations__["value"] = annotation
    payload = payload_of(take)
    assert payload.load(payload.dump({"value": value})) == {"value": value}


def test_parameters_without_annotation_take_anything() -> None:
    def take(value, other=None): ...  # type: ignore[no-untyped-def]

    assert payload_of(take).load('{"value": [1, {"a": null}]}') == {"value": [1, {"a": None}], "other": None}


@pytest.mark.parametrize("name", ["json", "copy", "schema", "model_name", "construct", "dict"])
def test_a_parameter_may_be_called_as_a_method_of_pydantic(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def take({name}: int) -> None: ...", scope)  # noqa: S102
    payload = payload_of(scope["take"])
    assert payload.load(payload.dump({name: 1})) == {name: 1}


def test_an_error_names_command_field_reason_and_json_type() -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        payload_of(send).load('{"to": 3}')
    assert str(caught.value) == (
        "the payload of send is invalid: to: Input should be a valid string, got a JSON number"
    )
    assert caught.value.hint == "send takes: to, body, copies."


async def read() -> str:
    return "text"


def test_a_call_names_what_was_given_as_python_does() -> None:
    def take(value: Any) -> None: ...

    for given, says in ((3, "got an int"), (None, "got None"), (b"\xff", "got a bytes")):
        with pytest.raises(ArgumentsInvalid, match=rf"{says}(\n|$)"):
            payload_of(send).dump({"to": given})
    for payload, name in ((payload_of(send), "to"), (payload_of(take), "value")):
        coroutine = read()
        with pytest.raises(ArgumentsInvalid, match="coroutine") as caught:
            payload.dump({name: coroutine})
        coroutine.close()
        assert caught.value.hint == f"{name} was not awaited: {name}=await …"
    coroutine = read()
    with pytest.raises(ArgumentsInvalid, match="coroutine") as caught:
        dump_any("other", {"name": coroutine})
    coroutine.close()
    assert caught.value.hint == "name was not awaited: name=await …"


@dataclass
class Sealed:
    data: bytes


def test_a_text_for_bytes_is_encoded_in_a_call_and_is_base64_in_json() -> None:
    def take(data: bytes, more: Sealed, rest: dict[str, bytes | None], end: bytes = "mark") -> None: ...  # type: ignore[assignment]

    payload = payload_of(take)
    text = payload.dump({"data": "abcd", "more": {"data": "über"}, "rest": {"a": "no base64!"}})
    assert payload.load(text) == {
        "data": b"abcd",
        "more": Sealed("über".encode()),
        "rest": {"a": b"no base64!"},
        "end": b"mark",
    }
    assert payload.load('{"data": "YWJjZA==", "more": {"data": "_w=="}, "rest": {}}')["data"] == b"abcd"
    with pytest.raises(ArgumentsInvalid, match="data: Data should be valid base64"):
        payload.load('{"data": "no base64!", "more": {"data": ""}, "rest": {}}')


def _even(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number


def test_the_message_of_a_validator_is_shown_as_it_is_written() -> None:
    def take(number: Annotated[int, AfterValidator(_even)]) -> None: ...

    for call in (lambda: payload_of(take).dump({"number": 7}), lambda: payload_of(take).load('{"number": 7}')):
        with pytest.raises(ArgumentsInvalid, match="number: Value error, 7 is odd, got "):
            call()


def test_missing_and_unknown_fields_are_named() -> None:
    with pytest.raises(ArgumentsInvalid, match="to is missing; cc is not a parameter"):
        payload_of(send).dump({"cc": "x"})


def test_an_error_never_shows_the_payload() -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        payload_of(send).dump({"body": "secret", "copies": "sesame"})
    assert "secret" not in f"{caught.value}{caught.value.__cause__}"
    assert "sesame" not in f"{caught.value}{caught.value.__cause__}"


def test_only_the_first_problems_are_listed() -> None:
    with pytest.raises(ArgumentsInvalid, match="and 3 more"):
        payload_of(send).dump(dict.fromkeys("abcde", 1))


def test_a_value_that_json_cannot_hold_is_refused() -> None:
    def take(value: Any) -> None: ...

    with pytest.raises(ArgumentsInvalid, match="cannot be written as JSON"):
        payload_of(take).dump({"value": object()})


def test_a_default_of_none_allows_none() -> None:
    def take(value: str = None) -> None: ...  # type: ignore[assignment] # noqa: RUF013

    assert payload_of(take).load('{"value": null}') == {"value": None}


def test_a_default_that_does_not_fit_its_annotation_is_refused_at_definition() -> None:
    def take(value: int = "many") -> None: ...  # type: ignore[assignment]

    with pytest.raises(DefinitionRefused, match=r"the default of value in .*take is 'many'"):
        payload_of(take)


def test_a_default_that_json_cannot_hold_is_refused_at_definition() -> None:
    def take(value: Any = object()) -> None: ...  # noqa: B008

    with pytest.raises(DefinitionRefused, match="the default of value"):
        payload_of(take)


def test_a_type_that_pydantic_does_not_know_is_refused_at_definition() -> None:
    def take(value: json.JSONEncoder) -> None: ...

    with pytest.raises(DefinitionRefused, match="no payload can be made"):
        payload_of(take)


def test_a_mutable_default_is_not_shared_between_loads() -> None:
    def take(value: list[int] = []) -> None: ...  # noqa: B006

    payload = payload_of(take)
    payload.load("{}")["value"].append(1)
    assert payload.load("{}") == {"value": []}


def test_the_payload_of_an_unknown_command_can_be_any_object() -> None:
    assert dump_any("other", {"a": [1, None]}) == '{"a":[1,null]}'


def test_the_payload_of_an_unknown_command_must_be_an_object() -> None:
    with pytest.raises(ArgumentsInvalid, match="are a list, expected a mapping"):
        dump_any("other", [1])  # type: ignore[arg-type]


def test_a_nul_character_is_refused_with_the_name_of_its_parameter() -> None:
    def send(to: str, texts: list[str]) -> None: ...

    payload = Payload("send", read_signature(send))
    assert payload.load(payload.dump({"to": "a\\u0000", "texts": ["\\"]}))["to"] == "a\\u0000"
    with pytest.raises(ArgumentsInvalid, match="texts of send contains a NUL character"):
        payload.dump({"to": "a", "texts": ["b\0"]})
    with pytest.raises(ArgumentsInvalid, match="to of mail contains a NUL character"):
        dump_any("mail", {"to": "\0"})


def test_a_field_of_pydantic_as_default_and_an_optional_context_are_refused_in_our_words() -> None:
    def send(to: int = Field(5, gt=3)) -> None: ...
    def steer(ctx: Context | None, to: int) -> None: ...

    with pytest.raises(DefinitionRefused, match=r"the default of to in .*send is a Field of pydantic") as refused:
        Payload("send", read_signature(send))
    assert refused.value.hint == "Put it into the annotation: to: Annotated[…, Field(…)] = …"
    with pytest.raises(DefinitionRefused, match=r"the context ctx of .*steer is .*, expected Context alone"):
        read_signature(steer)


def test_items_that_can_be_read_once_are_refused_at_the_definition() -> None:
    """Each enqueue would be refused: what was compared cannot be sent any more."""

    def send(to: str, items: Iterable[int]) -> None: ...

    def nested(groups: dict[str, Iterable[int]]) -> None: ...

    with pytest.raises(
        DefinitionRefused, match=r"parameter items of .*send is .*Iterable\[int\], whose items"
    ) as refused:
        payload_of(send)
    assert "list[" in str(refused.value.hint)
    with pytest.raises(DefinitionRefused):
        payload_of(nested)

    def takes(items: Sequence[int], names: Mapping[str, int]) -> None: ...

    assert payload_of(takes).dump({"items": [1], "names": {"a": 1}}) == '{"items":[1],"names":{"a":1}}'
