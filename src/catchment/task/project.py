"""The project that a module is of: a folder. The same module may be ``__main__`` in one process and ``book`` in
another, so its name does not say it."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "manage.py", "uv.lock", ".git", ".hg")
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")


def importable(module: str) -> str:
    """The name by which other processes import a module: the program itself goes by the name of its file. One that is
    in no file, as in a notebook, stays ``__main__``."""
    program = sys.modules.get(module)
    if module != "__main__" or program is None:
        return module
    spec = getattr(program, "__spec__", None)  # of python -m
    name = Path(getattr(program, "__file__", None) or "").stem if spec is None else spec.name
    return name if all(part.isidentifier() for part in name.split(".")) else module


def project_of(module: str) -> str | None:
    """The folder that has the program of a module: the nearest one that looks like a project's, or the one that its
    package is in. None for a module of a library, and for one that is in no file, as in a notebook."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return None
    try:
        path = Path(file).resolve()
        if _is_library(path):
            return None
        return str(_marked(path) or _top(path, module))
    except OSError:
        return None


def are_apart(one: str, other: str) -> bool:
    """Are these the folders of two projects? Not if one is in the other. As ``worker.are_projects_apart``."""
    return not f"{one}/".startswith(f"{other}/") and not f"{other}/".startswith(f"{one}/")


def _is_library(path: Path) -> bool:
    folders = {sysconfig.get_path(name) for name in _LIBRARIES} | {str(Path(__file__).parents[2])}
    return any(path.is_relative_to(Path(folder).resolve()) for folder in folders)


def _marked(path: Path) -> Path | None:
    # A home folder may be a repository of settings; it is not a project.
    beyond = {Path.home().resolve(), Path(path.anchor)}
    for folder in path.parents:
        if folder in beyond:
            return None
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return None


def _top(path: Path, module: str) -> Path:
    """The folder that the module's top-level package is in."""
    depth = 0 if module == "__main__" else module.count(".") + (path.name == "__init__.py")
    return path.parents[min(depth, len(path.parents) - 1)]
