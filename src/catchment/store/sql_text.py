"""Finds out whether the text of a statement would end the transaction: COMMIT, ROLLBACK and their other names, also as
one of several statements. So would CLOSE ALL, because the transaction is guarded by a cursor. Strings, comments and the
bodies of functions are passed over."""

from __future__ import annotations

import re
from functools import lru_cache

_SUSPECT = re.compile(rb"\b(?:commit|end|rollback|abort|prepare|close)\b", re.IGNORECASE)
_TOKEN = re.compile(
    rb"""
    (?P<comment> /\* )
  | (?P<line> --[^\n]* )
  | (?P<escaped> \b[eE]'(?:[^'\\]|\\.|'')*' )
  | (?P<text> '[^']*' | "[^"]*" )
  | (?P<dollar> (?<![\w$\x80-\xff]) \$(?P<tag>(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?)\$ .*? \$(?P=tag)\$ )
  | (?P<word> [A-Za-z_\x80-\xff][\w$\x80-\xff]* )
  | (?P<end> ; )
  | (?P<other> [^\s] )
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_COMMENT = re.compile(rb"/\*|\*/")
# Enough for ROLLBACK TRANSACTION TO SAVEPOINT.
_WORDS = 4
# Handlers execute the same few statements again and again; longer ones are mostly made for one occasion.
_REMEMBERED = 2000


def transaction_end(text: bytes) -> str | None:
    """The statement that would end the transaction, as people write it; None if there is none."""
    return _find(text) if len(text) > _REMEMBERED else _find_again(text)


def _find(text: bytes) -> str | None:
    if _SUSPECT.search(text) is None:
        return None
    words: list[str] = []
    last, is_atomic, position = "", False, 0
    while (token := _TOKEN.search(text, position)) is not None:
        position = token.end()
        match token.lastgroup:
            case "comment":
                position = _behind_comment(text, position)
            case "line":
                pass
            case "end":
                if (verb := _ends(words, is_atomic)) is not None:
                    return verb
                words = []
            case kind:
                word = token.group().decode("ascii", "replace").lower() if kind == "word" else ""
                # The body of CREATE FUNCTION … BEGIN ATOMIC …; END is several statements to us.
                is_atomic = is_atomic or (last == "begin" and word == "atomic")
                last = word
                if len(words) < _WORDS:
                    words.append(word)
    return _ends(words, is_atomic)


_find_again = lru_cache(maxsize=500)(_find)


def _behind_comment(text: bytes, position: int) -> int:
    """Comments can be nested."""
    depth = 1
    while depth > 0:
        mark = _IN_COMMENT.search(text, position)
        if mark is None:
            return len(text)
        position = mark.end()
        depth += 1 if mark.group() == b"/*" else -1
    return position


def _ends(words: list[str], is_atomic: bool) -> str | None:
    match words:
        case ["end", *_] if is_atomic:
            return None
        case [("commit" | "end" | "abort") as verb, *_]:
            return verb.upper()
        case ["rollback", *rest]:
            return None if "to" in rest[:2] else "ROLLBACK"
        case ["prepare", "transaction", *_]:
            return "PREPARE TRANSACTION"
        case ["close", "all", *_]:
            return "CLOSE ALL"
        case _:
            return None
