"""How an answer to *why* is shown: what holds something back comes first, each with what to type."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.padding import Padding

from catchment.commands.output import console
from catchment.commands.times import localized
from catchment.model.terminal import harmless
from catchment.model.why import Condition


def print_conditions(headline: str, conditions: Iterable[Condition]) -> None:
    """A headline, then each condition with its command."""
    console.print(f"[bold]{escape(harmless(headline))}[/]")
    for condition in sorted(conditions, key=lambda one: not one.is_blocking):
        style = "yellow" if condition.is_blocking else "dim"
        print_indented(f"[{style}]{escape(condition.kind)}[/]  {escape(harmless(localized(condition.words)))}", 2)
        # Not by splitlines: a name may have other signs that end a line.
        for line in condition.remedy.split("\n") if condition.remedy else ():
            print_command(f"[dim]{escape(harmless(line))}[/]", 6)


def print_indented(text: str, indent: int) -> None:
    """A text that a terminal breaks between words."""
    if console.is_pipe:
        console.print(" " * indent + text)
    else:
        console.print(Padding(text, (0, 0, 0, indent), expand=False))


def print_command(text: str, indent: int) -> None:
    """A command is one line, however long, so that it can be copied; a terminal breaks it where it likes."""
    console.print(" " * indent + text, soft_wrap=True)
