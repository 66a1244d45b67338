"""Names that say nothing: one alias for several modules, a variable for whatever was looked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


def nodes(words: str) -> Iterator[tuple[str, ast.AST]]:
    """What is in the files that have such words."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(words, text, re.MULTILINE):
            for node in ast.walk(ast.parse(text)):
                yield str(path.relative_to(SOURCE)), node


def test_an_alias_means_one_module() -> None:
    modules: dict[str, set[str]] = {}
    for _, node in nodes(r"import .* as |^ +\w+ as \w+,$"):
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                if name.asname is not None and name.asname != name.name:
                    modules.setdefault(name.asname, set()).add(f"{node.module}.{name.name}")
    assert {alias: sorted(meant) for alias, meant in modules.items() if len(meant) > 1} == {}


def test_no_variable_is_called_found() -> None:
    places = [
        f"{path}:{node.lineno}"
        for path, node in nodes(r"\bfound\b")
        if (isinstance(node, ast.Name) and node.id == "found") or (isinstance(node, ast.arg) and node.arg == "found")
    ]
    assert places == []
