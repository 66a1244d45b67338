"""What to type instead of a name that leads to no app, and where the lines of an error are. Nothing here raises."""

from __future__ import annotations

import difflib
import os
import re
import sys
import sysconfig
import traceback
from pathlib import Path
from types import ModuleType

import catchment
from catchment.client.app import App

_APP = re.compile(r"^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*App\(", re.MULTILINE)
_COMMAND = re.compile(r"^@(?:\w+\.)*\w+\.command\b", re.MULTILINE)
_MOST_FRAMES = 5
_MOST_FILES = 500


def is_path(name: str) -> bool:
    """Is this the path of a file or a folder, and not a module?"""
    path = name.partition(":")[0]
    return "/" in path or "\\" in path or path.endswith(".py")


def type_for_path(name: str, typed: str) -> str:
    """What to type for the path of a file, with or without its ``.py``, or of a folder. Only modules that exist are
    named."""
    path, _, attribute = name.partition(":")
    given = Path(path.replace("\\", "/"))
    file = given if given.suffix == ".py" else Path(f"{given}.py")
    try:
        files = [file] if file.is_file() else sorted(given.glob("*.py"))[:_MOST_FILES]
    except OSError:
        files = []
    apps = [(each, app) for each in files for app in ([attribute] if attribute else _APP.findall(_text(each)))]
    if apps:
        return _ways(apps, typed)
    if files == [file]:
        return f"{file} has no App: define one, app = catchment.App(). {_ways([(file, 'app')], typed)}"
    what = f"There is no {file}" if not files else f"No file in {given} has an App"
    return f"{what}. Write the module as in an import: {typed} shop.tasks:app for app in shop/tasks.py."


def _ways(apps: list[tuple[Path, str]], typed: str) -> str:
    """What to type for one of these apps, each by its file; of files that are no modules of this folder, the first."""
    ways = [f"{typed} {module}:{app}" for file, app in apps if (module := _module_of(file)) is not None]
    if ways:
        return f"Type: {' or '.join(ways)}"
    file, app = apps[0]
    return f"Go to the folder of {file.name}, then type: {typed} {file.stem}:{app}"


def _module_of(file: Path) -> str | None:
    """The module by which a file is imported from the current folder; None if it is elsewhere, or not a valid name."""
    try:
        parts = Path(os.path.normpath(file.absolute())).relative_to(Path.cwd()).with_suffix("").parts
    except (OSError, ValueError):
        return None
    parts = parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts
    return ".".join(parts) if all(part.isidentifier() for part in parts) else None


def type_one_of(module: ModuleType, apps: dict[str, App], typed: str) -> str:
    """What to type for a module with these apps."""
    name = module.__name__
    if apps:
        return f"Type: {' or '.join(f'{typed} {name}:{app}' for app in apps)}"
    inside = _apps_inside(module)
    if inside:
        ways = " or ".join(f"{typed} {place}" for place in inside)
        twins = any(place.startswith(f"{name}.{name}:") for place in inside)
        return f"Type: {ways}{f'. Or go to the folder {name}, and type the same' if twins else ''}."
    return f"{name} has no App: define one, app = catchment.App(), and type: {typed} {name}:app"


def what_is(module: ModuleType) -> str:
    """What was imported as this module: ``the file fan.py``, or a folder."""
    file = getattr(module, "__file__", None)
    if file is not None:
        return f"the file {_shown(Path(file))}"
    folders = [_shown(Path(path)) for path in getattr(module, "__path__", [])]
    return f"the folder {folders[0]}" if folders else "no file"


def _shown(path: Path) -> str:
    """Without the current folder."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)


def _apps_inside(module: ModuleType) -> list[str]:
    """Apps in the files of a folder, as ``module:app``; by their text, since they were not imported."""
    places: list[str] = []
    for folder in getattr(module, "__path__", []):
        files = sorted(Path(folder).glob("*.py"))[:_MOST_FILES]
        places += [f"{module.__name__}.{file.stem}:{app}" for file in files for app in _APP.findall(_text(file))]
    return places


def type_for_missing(name: str, typed: str) -> str:
    """What to type for a module that is not there: a similar one, or another folder."""
    first, _, rest = name.partition(".")
    try:
        here = Path.cwd()
        modules = _modules_in(here)
    except OSError:
        return "Go to the folder that has the module."
    if here.name == first and rest:
        return f"This folder is {first} itself: go to the folder above it, and type the same."
    if first in modules:
        similar = [f"{first}.{module}" for module in difflib.get_close_matches(rest, _modules_in(here / first), n=1)]
    else:
        similar = [f"{module}.{rest}".rstrip(".") for module in difflib.get_close_matches(first, modules, n=1)]
    if similar:
        return f"Type: {typed} {similar[0]}:app"
    return f"Go to the folder that has {first}.py or {first}/, and type the same."


def _modules_in(folder: Path) -> list[str]:
    """Modules and packages, those without ``__init__.py`` included."""
    paths = [path for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()]
    return sorted(path.stem for path in paths if path.stem.isidentifier())


def apps_of(module: ModuleType) -> dict[str, App]:
    """The apps that a module has, by name; each once."""
    apps: dict[str, App] = {}
    for name, value in list(vars(module).items()):
        if isinstance(value, App) and value not in apps.values():
            apps[name] = value
    return apps


def where_commands_are(module: ModuleType, place: str) -> str:
    """Why an app may have no commands, and what to do."""
    name, _, attribute = place.partition(":")
    others = [f"{name}:{other}" for other, app in apps_of(module).items() if len(app.commands) and other != attribute]
    if others:
        return f"{name} has another App with commands: type {' or '.join(others)}"
    twin = _imported_twice(module)
    if twin is not None:
        return f"Its file was imported twice, as {name} and as {twin}, which has the commands: type {twin}:{attribute}"
    unread = _modules_with_commands(module)
    if unread:
        listed = ", ".join(repr(each) for each in unread)
        return f"Commands are in {', '.join(unread)}, which nothing imports: {attribute} = App(imports=[{listed}])"
    return (
        f"Decorate a function with @{attribute}.command. If it is in a module that nothing imports:"
        f" {attribute} = App(imports=['shop.mail'])"
    )


def _imported_twice(module: ModuleType) -> str | None:
    file = getattr(module, "__file__", None)
    for name, other in list(sys.modules.items()):
        is_same = other is not module and file is not None and getattr(other, "__file__", None) == file
        if is_same and any(len(app.commands) for app in apps_of(other).values()):
            return name
    return None


def _modules_with_commands(module: ModuleType) -> list[str]:
    """Modules beside this one, and below, that import it and look as if they define commands, and were not imported."""
    file = getattr(module, "__file__", None)
    if file is None:
        return []
    folder = Path(file).parent
    package = getattr(module, "__package__", None) or ""
    imports_it = re.compile(
        rf"^\s*(?:from|import)\b.*\b{re.escape(module.__name__.rpartition('.')[2])}\b", re.MULTILINE
    )
    unread: list[str] = []
    for path in sorted(folder.glob("*.py") if not package else folder.rglob("*.py"))[:_MOST_FILES]:
        parts = [*package.split("."), *path.relative_to(folder).with_suffix("").parts]
        name = ".".join(part for part in parts if part and part != "__init__")
        text = _text(path)
        if name not in sys.modules and _COMMAND.search(text) and imports_it.search(text):
            unread.append(name)
    return unread


def user_lines(name: str, error: BaseException) -> tuple[str, list[str]]:
    """The deepest line of the user's, as `` (file, line 3)``, and the lines on the way to it, each with its text."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        text = (error.text or "").rstrip("\n")
        mark = [f"    {' ' * (error.offset - 1)}^"] if error.offset and text else []
        return f" ({error.filename}, line {error.lineno})", [f"    {text}", *mark] if text else []
    lines = _ranked(name, error)
    best = max((rank for rank, _, _ in lines), default=0)
    own = [(file, line) for rank, file, line in lines if rank == best]
    if not own:
        return "", []
    shown = [f"  {file}, line {line}: {_line(file, line)}" for file, line in own[-_MOST_FRAMES:]]
    return f" ({own[-1][0]}, line {own[-1][1]})", shown


def _ranked(name: str, error: BaseException) -> list[tuple[int, str, int]]:
    """The lines that an error came through: 2 for one outside of libraries, 1 for one in the package of the app."""
    libraries = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
    ours = str(Path(catchment.__file__).parent)
    ranked: list[tuple[int, str, int]] = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith((ours, "<")):
            is_in_package = str(frame.f_globals.get("__name__")).partition(".")[0] == name.partition(".")[0]
            ranked.append((2 if not file.startswith(libraries) else int(is_in_package), file, line))
    return ranked


def _line(file: str, line: int) -> str:
    lines = _text(Path(file)).splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
