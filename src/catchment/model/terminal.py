"""Text on its way to a terminal: without signs that a terminal obeys, and command lines that can be pasted."""

from __future__ import annotations

import re
import shlex

# What ends or changes a text in $'…'.
_SPECIAL = "'\\"
_BREAK = re.compile(r"\s*\n\s*")


def harmless(text: str) -> str:
    """A text without signs that a terminal obeys: they are shown as Python writes them, a tab as a space."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else " " if c == "\t" else repr(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """As ``harmless``, and in one line: a space for each end of a line."""
    if text.isprintable():
        return text
    return harmless(_BREAK.sub(" ", text.strip()))


def shell_command(start: str, *names: str) -> str:
    """A command line to paste: ``start`` as it is, then each name as one word. The same as ``worker.shell_command``."""
    end = " --" if any(name.startswith("-") for name in names) else ""
    return " ".join([f"{start}{end}", *map(shell_word, names)])


def shell_word(text: str) -> str:
    """A text as one word of a command line. The same as ``worker.shell_word``.

    One with signs that a terminal obeys or hides is written as $'…', with the octal digits of their bytes: that is what
    bash, zsh, ksh and busybox all read.
    """
    if text.isprintable():
        return shlex.quote(text)
    return f"$'{''.join(c if c.isprintable() and c not in _SPECIAL else _octal(c) for c in text)}'"


def _octal(sign: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in sign.encode())
