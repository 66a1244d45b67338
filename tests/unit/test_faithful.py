"""Arguments reach the handler, and results their caller, as they were given; or they are refused."""

from __future__ import annotations

import datetime as dt
import enum
import json
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, Base64Bytes, BaseModel, ConfigDict, Field, Json, SecretStr, computed_field
from typing_extensions import TypedDict

from catchment import App, ArgumentsInvalid, DefinitionRefused, ResultRefused
from catchment.task.faithful import is_plain, same
from catchment.task.parameters import Signature
from catchment.task.payload import Payload
from catchment.task.returns import Returns
from catchment.task.signature import read_signature

ZONES = st.sampled_from(
    [dt.UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata"), dt.timezone(dt.timedelta(hours=-3))]
)


class Colour(enum.Enum):
    RED = "red"
    DEEP = ("blue", 1)


class Letter(BaseModel):
    to: str
    at: dt.datetime | None = None
    size: float = 1.0


class Parcel(Letter):
    weight: int = 0


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    n: int

    @computed_field
    @property
    def twice(self) -> int:
        return 2 * self.n


class Forgetful(BaseModel):
    kept: int
    lost: int = Field(default=0, exclude=True)


@dataclass
class Point:
    x: float
    tags: tuple[str, ...] = ()
    raw: bytes = b""


class Pair(NamedTuple):
    a: int
    b: str


class Note(TypedDict, total=False):
    text: str
    when: dt.date


TEXT = st.text(max_size=8)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.dates() | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.integers(), inner, max_size=3) | st.tuples(inner)
    ),
    max_leaves=5,
)
LETTERS = st.builds(Letter, to=TEXT, at=st.none() | st.datetimes(timezones=ZONES), size=st.floats())
KINDS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, TEXT),
    (int, st.integers() | st.just(10**5000)),
    (float, st.floats() | st.integers()),
    (bool, st.booleans()),
    (bytes, st.binary(max_size=9)),
    (uuid.UUID, st.uuids()),
    (dt.date, st.dates()),
    (dt.datetime, st.datetimes() | st.datetimes(timezones=ZONES)),
    (dt.time, st.times() | st.times(timezones=ZONES)),
    (dt.timedelta, st.timedeltas()),
    (Decimal, st.decimals()),
    (Colour, st.sampled_from(Colour)),
    (Literal["a", 1], st.sampled_from(["a", 1])),
    (list[int], st.lists(st.integers(), max_size=3)),
    (dict[str, bytes | None], st.dictionaries(TEXT, st.none() | st.binary(max_size=3), max_size=3)),
    (dict[int, str], st.dictionaries(st.integers(), TEXT, max_size=3)),
    (set[dt.date], st.sets(st.dates(), max_size=3)),
    (frozenset[str], st.frozensets(TEXT, max_size=3)),
    (tuple[int, str], st.tuples(st.integers(), TEXT)),
    (OrderedDict[str, int], st.dictionaries(TEXT, st.integers(), max_size=3).map(OrderedDict)),
    (Sequence[int], st.lists(st.integers(), max_size=2) | st.tuples(st.integers())),
    (str | bytes, TEXT | st.binary(max_size=4)),
    (int | float | bool, st.integers() | st.floats() | st.booleans()),
    (int | str | None, st.integers() | TEXT | st.none()),
    (Letter, LETTERS | st.builds(Parcel, to=TEXT, weight=st.integers())),
    (Letter | Parcel, LETTERS | st.builds(Parcel, to=TEXT, weight=st.integers())),
    (Strict, st.builds(Strict, n=st.integers())),
    (Forgetful, st.builds(Forgetful, kept=st.integers(), lost=st.integers())),
    (SecretStr, st.builds(SecretStr, TEXT)),
    (Json[list[int]], st.lists(st.integers(), max_size=2)),
    (Base64Bytes, st.binary(max_size=5)),
    (Annotated[str, AfterValidator(lambda text: text[1:])], TEXT),
    (Point, st.builds(Point, x=st.floats(), tags=st.lists(TEXT, max_size=2).map(tuple), raw=st.binary(max_size=3))),
    (Pair, st.builds(Pair, st.integers(), TEXT)),
    (Note, st.fixed_dictionaries({}, optional={"text": TEXT, "when": st.dates()})),
    (dict[str, Any], st.dictionaries(TEXT, ANY, max_size=2)),
    (Any, ANY),
]
DRAWN = st.integers(0, len(KINDS) - 1).flatmap(lambda place: st.tuples(st.just(place), KINDS[place][1]))
often = settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@cache
def payload_of(place: int) -> Payload:
    def take(value: Any) -> None: ...

    take.__annotations__["value"] = KINDS[place][0]
    return Payload("take", read_signature(take))


def jsonb(text: str) -> str:
    """JSON as jsonb has it: no exponents, no -0, another order of keys."""

    def written(part: Any) -> str:
        if isinstance(part, dict):
            keys = sorted(part, key=lambda key: (len(key.encode()), key.encode()))
            return f"{{{', '.join(f'{json.dumps(key)}: {written(part[key])}' for key in keys)}}}"
        if isinstance(part, list):
            return f"[{', '.join(map(written, part))}]"
        return format(part or Decimal("0.0"), "f") if isinstance(part, Decimal) else json.dumps(part)

    return written(json.loads(text, parse_float=Decimal))


@cache
def returns_of(place: int) -> Returns:
    return Returns("take", "take", KINDS[place][0])


@often
@given(DRAWN)
def test_an_argument_reaches_the_handler_as_it_is_given_or_is_refused(drawn: tuple[int, Any]) -> None:
    place, value = drawn
    payload = payload_of(place)
    try:
        text = payload.dump({"value": value})
    except ArgumentsInvalid:
        return
    read = payload.load(jsonb(text))["value"]
    # What the annotation says about any value has been done to the given one before it was written.
    validated = payload.given.validate_python({"value": value}).__dict__["value"]
    assert same(validated, read)
    assert payload.dump({"value": value}) == text


@often
@given(DRAWN)
def test_a_result_comes_back_as_it_was_returned_or_is_refused(drawn: tuple[int, Any]) -> None:
    place, value = drawn
    returns = returns_of(place)
    try:
        text = returns.dump(value)
    except ResultRefused:
        return
    assert same(value, returns.load(None if text is None else json.loads(jsonb(text))))


@pytest.mark.parametrize(
    ("annotation", "value", "reason"),
    [
        (SecretStr, SecretStr("sesame"), "the SecretStr is another value"),
        (Letter, Parcel(to="a", weight=1), "the Parcel is another value"),
        (list[Letter], [Parcel(to="a")], "the list is another value"),
        (str | bytes, b"abc", "the bytes is another value"),
        (Forgetful, Forgetful(kept=1, lost=2), "the Forgetful is another value"),
        (Any, dt.datetime(2026, 1, 1), "the datetime is another value"),
        (Any, (1, 2), "the tuple is another value"),
        (Any, {1: "a"}, "the dict is another value"),
        (Sequence[int], (1, 2), "the tuple is another value"),
        (OrderedDict[str, int], OrderedDict(b=1, a=2), "the OrderedDict is another value"),
        (Any, 1e23, "the float is another value"),
        (int | float, 1e23, "the float is another value"),
        pytest.param(int, 10**5000, "cannot be read back from JSON", id="a long number"),
    ],
)
def test_a_value_that_would_be_another_one_is_refused_by_its_name(annotation: Any, value: Any, reason: str) -> None:
    def take(first: int, value: Any) -> None: ...

    take.__annotations__["value"] = annotation
    payload = Payload("take", read_signature(take))
    with pytest.raises(ArgumentsInvalid, match=reason) as caught:
        payload.dump({"first": 1, "value": value})
    assert "value of take" in str(caught.value) or "value" in reason or "read back" in reason
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (bytes, b"\xff\x00"),
        (Strict, Strict(n=1)),
        (Base64Bytes, b"\xff"),
        (Json[list[int]], [1, 2]),
        (Point, Point(float("nan"), ("a",), b"\xff")),
        (dt.datetime, dt.datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))),
    ],
)
def test_a_result_that_json_does_not_have_comes_back(annotation: Any, value: Any) -> None:
    returns = Returns("take", "take", annotation)
    assert same(value, returns.load(json.loads(returns.dump(value) or "null")))


@pytest.mark.parametrize(
    ("annotation", "value", "written"),
    [
        (int, "5", "int"),
        (int, None, "int"),
        (None, 5, "None"),
        (list[int], (1, 2), r"list\[int\]"),
        (Letter, Parcel(to="a"), "Letter"),
        (Letter, {"to": "a"}, "Letter"),
        (dict[str, Any], {"at": dt.date(2026, 1, 1)}, r"dict\[str, typing.Any\]"),
        (dict[str, Any], {"size": 1e23}, r"dict\[str, typing.Any\]: the dict that was returned is another value"),
        (SecretStr, SecretStr("sesame"), "SecretStr"),
    ],
)
def test_a_result_that_does_not_fit_names_the_annotation(annotation: Any, value: Any, written: str) -> None:
    with pytest.raises(
        ResultRefused, match=f"the result of take does not fit its return annotation {written}"
    ) as caught:
        Returns("take", "take", annotation).dump(value)
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [float("nan"), b"x", {1: 2, "1": 3}, {1: "a"}, (1, 2), [b"x"], {"n": float("inf")}, dt.date(2026, 1, 1), {1}, 1e23],
    ids=repr,
)
def test_a_result_without_an_annotation_that_is_no_json_value_is_refused(value: Any) -> None:
    kind = type(value).__name__
    with pytest.raises(ResultRefused, match=f"the {kind} that was returned is another value .* annotate the handler"):
        Returns("take", "take", Any).dump(value)


@pytest.mark.parametrize("value", ["a", 1, 1.5, True, None, [1, "a", None], {"a": {"b": [1.5]}}], ids=repr)
def test_a_json_value_without_an_annotation_comes_back(value: Any) -> None:
    returns = Returns("take", "take", Any)
    assert same(value, returns.load(json.loads(returns.dump(value) or "null")))


class Page(BaseModel):
    scan: bytes


class Sealed(Page):
    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


def test_bytes_of_a_model_that_are_no_text_name_the_parameter_and_the_setting() -> None:
    def take(first: Page, second: list[Page]) -> None: ...

    payload = Payload("take", read_signature(take))
    text = payload.dump({"first": Page(scan=b"ink"), "second": []})
    assert payload.load(text)["first"] == Page(scan=b"ink")
    with pytest.raises(ArgumentsInvalid, match="second of take cannot be written as JSON") as caught:
        payload.dump({"first": Page(scan=b"ink"), "second": [Page(scan=b"\xff")]})
    assert 'ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")' in (caught.value.hint or "")
    with pytest.raises(ResultRefused, match="ser_json_bytes"):
        Returns("take", "take", Page).dump(Page(scan=b"\xff"))
    returns = Returns("take", "take", Sealed)
    assert returns.load(json.loads(returns.dump(Sealed(scan=b"\xff")) or "")) == Sealed(scan=b"\xff")


@pytest.mark.parametrize("annotation", [Any, str, Letter])
def test_a_coroutine_that_is_returned_was_not_awaited(annotation: Any) -> None:
    async def write() -> None: ...

    coroutine = write()
    with pytest.raises(ResultRefused, match="it is a coroutine that was not awaited; return its value"):
        Returns("take", "take", annotation).dump(coroutine)
    coroutine.close()


def test_types_that_are_always_read_back_are_not_compared() -> None:
    plain = [
        str,
        int,
        float,
        bool,
        bytes,
        uuid.UUID,
        dt.date,
        list[str],
        dict[str, int],
        str | None,
        Literal["a"],
        None,
    ]
    assert [is_plain(one) for one in plain] == [True] * len(plain)
    others = [Any, dt.datetime, str | bytes, SecretStr, Letter, dict[int, str], Sequence[int], set[int], Literal[1]]
    assert [is_plain(one) for one in others] == [False] * len(others)


def test_a_default_that_would_be_another_value_is_refused_at_definition() -> None:
    def take(value: Letter = Parcel(to="a")) -> None: ...  # noqa: B008

    with pytest.raises(DefinitionRefused, match=r"the default of value in .* is another value"):
        Payload("take", read_signature(take))


def test_the_signature_of_a_handler_knows_what_it_returns() -> None:
    def take() -> Letter: ...  # type: ignore[empty-body]

    signature: Signature = read_signature(take)
    assert signature.returns is Letter
    assert App().command(take).returns.annotation is Letter


class Patch(BaseModel):
    kind: Literal["patch"] = "patch"
    name: str | None = None
    tags: list[str] = Field(default_factory=list)


class Other(BaseModel):
    kind: Literal["other"] = "other"
    name: str | None = None


class Stamped(BaseModel):
    name: str | None = None
    day: dt.date = Field(default_factory=dt.date.today)


def _taken(annotation: Any, value: Any) -> tuple[Any, Any]:
    """The value as the handler gets it, and as its caller gets it as a result."""

    def take(value: Any, size: int = 3) -> None: ...

    take.__annotations__["value"] = annotation
    payload, returns = Payload("take", read_signature(take)), Returns("take", "take", annotation)
    text = payload.dump({"value": value})
    assert json.loads(text)["size"] == 3
    result = returns.dump(value)
    assert result is not None
    return payload.load(text)["value"], returns.load(json.loads(result))


def test_fields_that_nobody_has_set_stay_unset() -> None:
    for value in (Patch(), Patch(name=None), Patch(tags=["a"]), Patch(kind="patch", name="x")):
        for read in _taken(Patch, value):
            assert (read, read.model_fields_set) == (value, value.model_fields_set)
        for (read,) in _taken(list[Patch], [value]):
            assert (read, read.model_fields_set) == (value, value.model_fields_set)


def test_fields_are_written_where_the_value_would_be_another_one_without() -> None:
    """A union is told apart by its fields, and a factory may make another value when the handler runs."""
    union = Annotated[Patch | Other, Field(discriminator="kind")]
    assert [*_taken(union, Other(name="x"))] == [Other(name="x")] * 2
    assert [*_taken(Patch | Other, Other())] == [Other()] * 2
    for read in _taken(Stamped, Stamped(name="x")):
        assert read.model_fields_set == {"name", "day"}
