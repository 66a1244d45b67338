"""The commands of the program ``catchment`` as commands of ``manage.py``, with the same options."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import import_string

from catchment.commands.group import LazyCommand
from catchment.contrib.django.migrate import hint_of
from catchment.contrib.django.settings import read_settings, variables_of
from catchment.errors import CatchmentError


class ProgramCommand(BaseCommand):
    """``place`` is the function of the command, ``without`` are the options that the project answers."""

    name: str
    place: str
    without: Sequence[str]
    # It uses no table of Django, and serves a database whose migrations may be ahead.
    requires_migrations_checks = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._command: Any = LazyCommand(self.name, self.place, "").load()
        self._hints = get_type_hints(import_string(self.place.replace(":", ".")))
        self._params = [param for param in self._command.params if param.name not in self.without and not param.hidden]

    def add_arguments(self, parser: ArgumentParser) -> None:
        for param in self._params:
            for flags, value in ((param.opts, True), (param.secondary_opts, False)):
                if flags:
                    parser.add_argument(
                        *flags, dest=param.name, default=None, **_how(param, value, self._hints[param.name])
                    )

    def handle(self, *_: Any, **options: Any) -> None:
        words = self.given(options)
        for param in self._params:
            words += _words(param, options.get(param.name))
        try:
            for name, value in variables_of(read_settings()).items():
                os.environ.setdefault(name, value)
            self._command.main(words, prog_name=f"manage.py {self.name}", standalone_mode=False)
        except CatchmentError as error:
            hint = hint_of(error)
            raise CommandError(f"{error}\n{hint}" if hint else str(error)) from error
        except Exception as error:
            if not hasattr(error, "format_message"):  # not of the parser of the program
                raise
            raise CommandError(str(error)) from error

    def given(self, options: dict[str, Any]) -> list[str]:  # noqa: ARG002 - for those that override it
        """What the project answers, as words of the command line."""
        return []


def _how(param: Any, value: bool, hint: Any) -> dict[str, Any]:
    """How argparse reads an option of the program."""
    text = (param.help or "").replace("%", "%%")
    if param.is_flag:
        return {"action": "store_const", "const": value, "help": text if value else None}
    if get_origin(hint) is Literal:
        return {"choices": get_args(hint), "help": text}
    return {"action": "append" if param.multiple else "store", "metavar": param.metavar or "VALUE", "help": text}


def _words(param: Any, value: Any) -> list[str]:
    if value is None:
        return []
    if param.is_flag:
        return [(param.opts if value else param.secondary_opts)[0]]
    values: list[Any] = value if isinstance(value, list) else [value]
    return [word for one in values for word in (param.opts[0], str(one))]
