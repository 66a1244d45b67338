"""``CREATE DYNAMIC TABLE`` as text becomes ``Definition``.

No SQL parser knows this statement, so its head is read here, token by token, and what follows ``AS`` is kept as it was
written: ``parse`` looks into it. One text may hold several statements.

    CREATE [OR REPLACE | OR ALTER] DYNAMIC TABLE [IF NOT EXISTS] [schema.]name
        TARGET_LAG = '5 minutes' | DOWNSTREAM
        [property = value …]
    AS SELECT …
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from catchment.errors import TableRefused
from catchment.lake.names import HIDDEN
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import Definition, Executor, Mode, Properties, Strategy, TableRef

DEFAULT_SCHEMA = "main"
_UNITS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "day": 86400, "d": 86400}
_LAG = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*", re.IGNORECASE)
_LINE = re.compile(r"line (\d+): ")
_PLACE = re.compile(r"line (\d+), column")
_SHAPE = (
    "CREATE [OR REPLACE | OR ALTER] DYNAMIC TABLE [IF NOT EXISTS] [schema.]name TARGET_LAG = '5 minutes' … AS SELECT …"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One of the statements of a text: its place among them and the line that it begins on, and what it says or why it
    is not understood. ``query_line`` is the line that its query begins on."""

    number: int
    line: int
    query_line: int
    definition: Definition | None
    error: TableRefused | None

    def refused(self, error: TableRefused) -> TableRefused:
        """The error with the place of the statement, and the line of the text if it is known better."""
        said = str(error)
        head, better = _LINE.match(said), _PLACE.search(said)
        line = head[1] if head else better[1] if better else self.line
        what = said[head.end() :] if head else said
        return TableRefused(f"statement {self.number}, line {line}: {what}", code=error.code, hint=error.hint)


def parse_statements(text: str) -> list[Definition]:
    """Every statement of the text, in order; TableRefused if one is not understood or if there is none."""
    return [_Statement(text, part).read() for part in _tokens(text)]


def parse_each(text: str) -> list[Statement]:
    """Every statement of the text, also those that are not understood; TableRefused if there is none, or if it is not
    known where one ends."""
    return [_read(text, part, number) for number, part in enumerate(_tokens(text), 1)]


def _read(text: str, tokens: Sequence[Token], number: int) -> Statement:
    reader, line = _Statement(text, tokens), tokens[0].line
    try:
        definition = reader.read()
    except TableRefused as error:
        return Statement(number, line, line, None, error)
    return Statement(number, line, tokens[reader.at].line, definition, None)


def _tokens(text: str) -> list[list[Token]]:
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except TokenError as error:
        raise refused(
            Reason.PARSE_ERROR,
            f"the text ends inside a string, a quoted name or a comment: {error}",
            hint="Close it with the quote (or */) that opened it.",
        ) from error
    parts = _split(tokens)
    if not parts:
        raise refused(Reason.PARSE_ERROR, "there is no statement in the text", hint=f"Expected: {_SHAPE}")
    return parts


def parse_name(text: str) -> TableRef:
    """A table's name as SQL has it: ``name`` or ``schema.name``, quoted where it has other characters. TableRefused."""
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except TokenError:
        tokens = []
    if not tokens:
        raise refused(
            Reason.PARSE_ERROR, f"{text!r} is not the name of a table", hint='Write name, schema.name or "my table".'
        )
    return _Statement(text, tokens).read_name()


def parse_lag(text: str) -> timedelta | None:
    """``'5 minutes'`` as a time, ``DOWNSTREAM`` as None; TableRefused for anything else and below one second."""
    if text.strip().lower() == "downstream":
        return None
    match = _LAG.fullmatch(text)
    unit = match.group(2).lower() if match else ""
    if match is None or unit not in _UNITS:
        raise _bad_value("TARGET_LAG", text, "'90 seconds', '5 minutes', '1 hour', '2 days' or DOWNSTREAM")
    try:
        lag = timedelta(seconds=float(match.group(1)) * _UNITS[unit])
    except OverflowError as error:
        raise _bad_value("TARGET_LAG", text, "less than a million years") from error
    if lag < timedelta(seconds=1):
        raise _bad_value("TARGET_LAG", text, "at least 1 second")
    return lag


def set_property(properties: Properties, name: str, value: str) -> Properties:
    """The properties with one of them changed, given as text the way the statement has it. ``DEFAULT`` resets one."""
    known = name.lower()
    if known not in _READERS:
        raise refused(
            Reason.PARSE_ERROR,
            f"{name!r} is not a property of a dynamic table",
            hint=f"The properties are {', '.join(PROPERTIES)}.",
        )
    if value.lower() == "default" and known not in _WITHOUT_DEFAULT:
        return replace(properties, **{known: getattr(Properties(), known)})
    changes: dict[str, Any] = {known: _READERS[known](known.upper(), value)}
    return replace(properties, **changes)


class _Statement:
    """Reads the tokens of one statement from left to right."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0

    def read(self) -> Definition:
        self._expect("CREATE")
        or_replace = self._take("OR", "REPLACE")
        or_alter = not or_replace and self._take("OR", "ALTER")
        self._expect("DYNAMIC")
        self._expect("TABLE")
        if_not_exists = self._take("IF", "NOT", "EXISTS")
        if (or_replace or or_alter) and if_not_exists:
            way = "OR REPLACE" if or_replace else "OR ALTER"
            raise self._refused(f"{way} and IF NOT EXISTS do not go together", "Leave one of them out.")
        ref = self._name()
        properties = self._properties(ref)
        return Definition(
            ref=ref,
            query=self._query(ref),
            properties=properties,
            or_replace=or_replace,
            or_alter=or_alter,
            if_not_exists=if_not_exists,
        )

    def read_name(self) -> TableRef:
        """The name that is all there is."""
        ref = self._name()
        if self.at < len(self.tokens):
            extra = self.tokens[self.at].text
            raise self._refused(f"{extra!r} follows the name {ref}", 'Quote a name with other characters: "my table".')
        return ref

    def _name(self) -> TableRef:
        parts = [self._part()]
        while self._take("."):
            parts.append(self._part())
        if len(parts) > 2:
            raise self._refused(f"the name {'.'.join(parts)} has {len(parts)} parts", "Write name or schema.name.")
        ref = TableRef(parts[0] if len(parts) == 2 else DEFAULT_SCHEMA, parts[-1])
        if any(part.startswith(HIDDEN) for part in parts):
            raise refused(Reason.RESERVED_NAME, f"the table name {ref} starts with two underscores")
        return ref

    def _part(self) -> str:
        token = self._next("a table name")
        is_word = token.token_type == TokenType.IDENTIFIER or re.fullmatch(r"[^\W\d][\w$]*", token.text)
        if not is_word or not token.text or "\0" in token.text:
            raise self._refused(
                f"{token.text!r} is not a table name", 'Quote a name with other characters: "my table".'
            )
        return token.text

    def _properties(self, ref: TableRef) -> Properties:
        properties, seen = Properties(), set[str]()
        while not self._take("AS"):
            if self.at >= len(self.tokens):
                raise self._refused(f"the definition of {ref} has no AS SELECT …", f"Expected: {_SHAPE}")
            name = self._next("a property").text
            self._take("=")
            properties = set_property(properties, name, self._value(name))
            if name.lower() in seen:
                raise self._refused(f"{name.upper()} is given twice for {ref}", "Give it once.")
            seen.add(name.lower())
            self._take(",")
        if "target_lag" not in seen and properties.scheduler:
            raise self._refused(
                f"{ref} has no TARGET_LAG",
                "Add TARGET_LAG = '5 minutes', TARGET_LAG = DOWNSTREAM or SCHEDULER = DISABLE.",
            )
        return properties

    def _value(self, name: str) -> str:
        sign = "-" if self._take("-") else ""
        token = self._next(f"a value for {name.upper()}")
        if token.token_type == TokenType.ALIAS:
            raise self._refused(f"{name.upper()} has no value", f"Write {name.upper()} = value.")
        return sign + token.text

    def _query(self, ref: TableRef) -> str:
        if self.at >= len(self.tokens):
            raise self._refused(f"nothing follows AS in the definition of {ref}", f"Expected: {_SHAPE}")
        return self.text[self.tokens[self.at].start : self.tokens[-1].end + 1]

    def _take(self, *words: str) -> bool:
        """Step over these words if all of them come next, unquoted."""
        following = self.tokens[self.at : self.at + len(words)]
        quoted = (TokenType.IDENTIFIER, TokenType.STRING)
        texts = ["" if token.token_type in quoted else token.text.upper() for token in following]
        if texts != list(words):
            return False
        self.at += len(words)
        return True

    def _expect(self, word: str) -> None:
        if not self._take(word):
            got = repr(self.tokens[self.at].text) if self.at < len(self.tokens) else "the end"
            raise self._refused(f"expected {word}, found {got}", f"Expected: {_SHAPE}")

    def _next(self, what: str) -> Token:
        if self.at >= len(self.tokens):
            raise self._refused(f"the statement ends where {what} should be", f"Expected: {_SHAPE}")
        self.at += 1
        return self.tokens[self.at - 1]

    def _refused(self, message: str, hint: str) -> TableRefused:
        line = self.tokens[min(self.at, len(self.tokens) - 1)].line
        return refused(Reason.PARSE_ERROR, f"line {line}: {message}", hint=hint)


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _bad_value(name: str, value: str, expected: str) -> TableRefused:
    return refused(Reason.PARSE_ERROR, f"{name} = {value!r} is not valid", hint=f"Expected {expected}.")


def _read_lag(_: str, value: str) -> timedelta | None:
    return parse_lag(value)


def _read_flag(name: str, value: str) -> bool:
    flag = {"true": True, "on": True, "false": False, "off": False}.get(value.lower())
    if flag is None:
        raise _bad_value(name, value, "TRUE or FALSE")
    return flag


def _read_count(name: str, value: str) -> int:
    least = 1 if name == "MAX_PARALLELISM" else 0
    if not re.fullmatch(r"\d{1,18}", value) or int(value) < least:
        raise _bad_value(name, value, f"a whole number from {least} on")
    return int(value)


def _read_share(name: str, value: str) -> float:
    if not re.fullmatch(r"\d*\.?\d+", value) or not 0 < float(value) <= 1:
        raise _bad_value(name, value, "a number above 0, at most 1")
    return float(value)


def _read_scheduler(name: str, value: str) -> bool:
    is_on = {"enable": True, "disable": False}.get(value.lower())
    if is_on is None:
        raise _bad_value(name, value, "ENABLE or DISABLE")
    return is_on


def _read_word(*words: str) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if value.lower() not in words:
            raise _bad_value(name, value, " or ".join(word.upper() for word in words))
        return value.lower()

    return read


ADAPTIVE = "adaptive"
"""Another word for AUTO: by changes, unless the whole is expected to be cheaper this time."""


def _read_mode(name: str, value: str) -> Mode:
    word = _read_word(*Mode, ADAPTIVE)(name, value)
    return Mode.AUTO if word == ADAPTIVE else Mode(word)


def _read_strategy(name: str, value: str) -> Strategy:
    return Strategy(_read_word(*Strategy)(name, value))


def _read_executor(name: str, value: str) -> Executor:
    return Executor(_read_word(*Executor)(name, value))


def _read_text(_: str, value: str) -> str:
    return value


_READERS: dict[str, Callable[[str, str], object]] = {
    "target_lag": _read_lag,
    "refresh_mode": _read_mode,
    "initialize": _read_word("on_create", "on_schedule"),
    "scheduler": _read_scheduler,
    "comment": _read_text,
    "allow_parallel_refresh": _read_flag,
    "parallel_threshold": _read_count,
    "max_parallelism": _read_count,
    "parallel_strategy": _read_strategy,
    "cardinality_threshold": _read_share,
    "executor": _read_executor,
}
_WITHOUT_DEFAULT = ("target_lag", "comment")
PROPERTIES = tuple(name.upper() for name in _READERS)
"""Every property that the statement takes, in the order of the reference."""
