"""Groups of commands that are imported when they are used. To list them, or to run one of them, imports no other.

A command that cannot be imported is an error of that command alone, and so is a help text that Rich cannot read.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, ClassVar, TypeVar, cast

import typer
from rich.default_styles import DEFAULT_STYLES
from rich.errors import MarkupError, StyleSyntaxError
from rich.markup import escape, render
from rich.style import Style
from typer.core import DEFAULT_MARKUP_MODE, TyperCommand, TyperGroup

from catchment.errors import CatchmentError, DefinitionRefused, a_kind

F = TypeVar("F", bound=Callable[..., None])
Places = Mapping[str, tuple[str, str]]
_LONGEST = 500
_TAG = re.compile(r"(\\*)\[([a-z#/@][^[]*?)\]")
_NAME = re.compile(r"\w[\w-]*")
_SETTINGS = "_context_settings"
_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class LazyCommand(TyperCommand):
    """A name and a line of help, until it is used: then the function or the ``typer.Typer`` at ``module:attribute``."""

    def __init__(self, name: str, place: str, line: str) -> None:
        super().__init__(name, help=readable(line))
        self._title = name
        self._place = place

    def load(self) -> Any:
        """Import the command."""
        module, _, attribute = self._place.partition(":")
        loaded = getattr(import_module(module), attribute)
        outer = typer.Typer(add_completion=False)
        if isinstance(loaded, typer.Typer):
            outer.add_typer(loaded, name=self._title)
        elif inspect.iscoroutinefunction(loaded):
            raise DefinitionRefused(
                f"{self._place} is an async function, expected one that is not", hint="Let it call asyncio.run."
            )
        elif inspect.isroutine(loaded):
            outer.command(self._title, context_settings=getattr(loaded, _SETTINGS, None))(loaded)
        else:
            raise DefinitionRefused(f"{self._place} is {a_kind(loaded)}, expected a function or a typer.Typer")
        return make_readable(typer.main.get_group(outer).commands[self._title])

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        try:
            made = self.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an import may raise anything
            command = f"{parent.command_path} {info_name}" if parent else self._title
            raise cannot_be_used(command, self._place, error) from error
        return made.make_context(info_name, args, parent, **extra)


class LazyGroup(TyperGroup):
    """The commands that were added, and those of ``places``, in this order."""

    places: ClassVar[Places] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.help = readable(self.help)
        for name, (place, line) in self.places.items():
            self.add_command(LazyCommand(name, place, line))


def passing_on(fn: F) -> F:
    """Decorator of a command: arguments that it does not know are in the ``args`` of its context, as they are."""
    setattr(fn, _SETTINGS, {"ignore_unknown_options": True, "allow_extra_args": True})
    return fn


def taking_words(fn: F) -> F:
    """A command that says itself what is wrong with words that belong to no option: ``context.args``."""
    setattr(fn, _SETTINGS, {"allow_extra_args": True})
    return fn


def lazy_app(name: str, text: str, places: Places, *, group: type[LazyGroup] = LazyGroup) -> typer.Typer:
    """A group of commands: each by its name, with where it is (``module:attribute``) and the first paragraph of its
    help. ``text`` is the help of the group.

    Raises ``DefinitionRefused`` for arguments that are not of this form. Nothing is imported to check them.
    """
    return make_app(name, text, places, group, is_program=False)


def make_app(name: str, text: str, places: Places, group: type[LazyGroup], *, is_program: bool) -> typer.Typer:
    """As ``lazy_app``. A program has options that make a shell complete its commands."""
    _check(name, text, places, group)
    return typer.Typer(
        name=name,
        cls=type(group.__name__, (group,), {"places": places}),
        # Makes it a group to typer, which knows of no command yet.
        callback=lambda: None,
        help=text,
        no_args_is_help=True,
        add_completion=is_program,
        pretty_exceptions_enable=False,
    )


def said(error: BaseException) -> str:
    """What was raised, on one line: whatever its class, and even if it cannot be shown."""
    try:
        if isinstance(error, SystemExit):
            text = f"it calls sys.exit({'' if error.code is None else repr(error.code)})"
        elif isinstance(error, CatchmentError):
            text = str(error)
        elif isinstance(error, SyntaxError):
            text = f"{type(error).__name__}: {error.msg}"
        else:
            text = "".join(traceback.format_exception_only(error))
    except Exception:
        text = f"{type(error).__name__}, which cannot be shown"
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text[: 2 * _LONGEST].split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def cannot_be_used(command: str, place: str, error: BaseException) -> CatchmentError:
    """The error of a command whose import, at ``module:attribute``, raised this."""
    module = place.partition(":")[0].strip()
    remedy = f"It is at {place}: install what it needs, or remove its package."
    return CatchmentError(
        f"{command} cannot be used: {said(error)}",
        hint=(isinstance(error, CatchmentError) and error.hint)
        or f"{remedy} For the whole traceback: python -c 'import {module}'",
    )


def plain(text: str) -> str:
    """A text as the help of a command, with brackets and colons as they are: ``:x:`` would be an emoji."""
    return text if DEFAULT_MARKUP_MODE is None else escape(text).replace(":", ":[none][/]")


def readable(text: str | None) -> str | None:
    """The help of a command, which may have Rich markup; brackets that are not markup are shown literally."""
    if text is None or DEFAULT_MARKUP_MODE is None:
        return text
    marked = _TAG.sub(_tag, text)
    try:
        render(marked)
    except MarkupError:
        return plain(text)
    return marked


def make_readable(command: Any) -> Any:
    """The same command, with such help for itself, its parameters and its verbs."""
    for part in (command, *command.params):
        if isinstance(getattr(part, "help", None), str):
            part.help = readable(part.help)
        _take_no_value(part)
    find_help = command.get_help_option

    def find_flag(ctx: Any) -> Any:
        return _take_no_value(find_help(ctx))

    command.get_help_option = find_flag
    if isinstance(command, TyperGroup):
        for verb in command.commands.values():
            if not isinstance(verb, LazyCommand):
                make_readable(verb)
    return command


def _take_no_value(option: Any) -> Any:
    """The same option; if it is a flag, help does not show it with ``<bool>``, as if it took a value."""
    if getattr(option, "is_flag", False) and option.metavar is None:
        option.metavar = ""
    return option


def _tag(tag: re.Match[str]) -> str:
    """What looks like a tag: as it is if it is one, else as text."""
    slashes, name = tag[1], tag[2]
    if len(slashes) % 2 or name.startswith(("/", "@")) or name in DEFAULT_STYLES:
        return tag[0]
    try:
        Style.parse(name)
    except StyleSyntaxError:
        return f"\\{tag[0]}"
    return tag[0]


def _check(name: Any, text: Any, places: Any, group: Any) -> None:
    for what, value in (("name", name), ("text", text)):
        if not isinstance(value, str):
            raise DefinitionRefused(f"{what} of a lazy_app is {value!r}, expected a text")
    if not _NAME.fullmatch(name):
        raise DefinitionRefused(f"name of a lazy_app is {name!r}, expected letters, digits and hyphens")
    if not (isinstance(group, type) and issubclass(group, LazyGroup)):
        raise DefinitionRefused(f"group of a lazy_app is {group!r}, expected a subclass of LazyGroup")
    if not isinstance(places, Mapping):
        raise DefinitionRefused(f"places of a lazy_app is {a_kind(places)}, expected a mapping")
    for key, value in cast("Mapping[Any, Any]", places).items():
        match key, value:
            case str(), (str(place), str()) if _NAME.fullmatch(key) and _PLACE.fullmatch(place):
                continue
            case _:
                expected = "('module:attribute', 'Its line of help.')"
                raise DefinitionRefused(f"command {key!r} of a lazy_app is {value!r}, expected {expected}")
