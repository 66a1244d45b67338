"""Find phrases that the documentation avoids, in every text that a reader of the project sees.

python docs/check_words.py [FILE…]

Prints each with its line and what to write instead, and exits with 1 if there is one. Of Python files it reads comments
and strings, of all others the whole text. ``make check`` runs it.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "docs", "examples", "deploy", "bench")
KINDS = {".py", ".md", ".sql", ".html", ".js", ".yaml", ".yml", ".toml", ".txt"}
# Pattern, and what to write instead.
PHRASES = {
    r"\btold\b": "detected, reported, asked, notified",
    r"\banew\b": "again, rebuilt, recreated",
    r"\bso many\b": "the number, or N",
    r"\b(?:somebody|someone)\b": "who: a user, another session",
    r"\bwhoever\b": "who: the caller, the worker that",
    r"\bof (?:its|their) own\b": "its own …, a separate …",
    r"\bof our own\b": "our, a separate …",
    r"\bthat (?:is|are) (?-i:none)\b": "invalid",
    r"\b(?:left|leave|leaves|leaving) out\b": "skipped, omitted",
    r"\bgive?s? back what\b": "returns",
    r"\bdefaults to the [\w ]+'s(?=[,.;])": "name what belongs to it: the command's priority",
    r"\bunless given\b": "Defaults to X.",
    r"\bas the \w+'s(?=[,.;])": "like App.enqueue",
    r"\bconsidered and left\b": "rejected",
    r"\bfor ever\b(?! happen)": "forever",
    r"\bmend (?:it|the|them|what)\b|\bto be mended\b": "fix, correct",
    r"\bhow far (?:it|that|they) (?:is|are)\b": "progress",
    r"\bhow far (?:an?|one|each|the) (?:bulk|job|task|load|file|statement|children)\b": "progress",
    r"\bto see to before\b": "must fix before",
    r"\bas it stands now\b": "current, now",
    r"\bgoes? on (?:where|naming)\b": "resumes, continues",
    r"\bwell kept\b": "well maintained",
    r"\bwithout further words\b": "by default",
    r"\bbefore its equals\b": "ahead of others of the same priority",
    r"\bbecame of\b": "the state, the outcome",
    r"\bif need be\b": "if necessary, if it does not exist",
    r"\bany number of times\b": "repeatedly",
    r"\bshows? what there is\b": "shows all queues, lists the tables",
    r"\bmay be given again\b": "can be repeated",
    r"\b(?:go|goes|going|went|gone) on\b": "continue, resume",
    r"\b(?:is|are|nobody else is) at it\b": "works on it, holds it",
    r"\b(?:made|edit|job|loaded|report) as asked\b": "invalid, as requested",
    r"\bwhatever the planner (?:believes|takes|knows)\b": "regardless of the plan",
    r"\bwhat (?:else )?there is to say\b": "further facts",
    r"\bin what is the future\b": "in the future",
    r"\bhas its way\b": "wins, counts",
    r"\bnothing else is said\b": "by default",
    r"\bgoes its own way\b": "is separate",
    r"\bin its hands\b": "holds",
    r"\bsee to it that\b": "make sure that",
    r"\b(?:is|are|was|were) asked for\b": "requested",
    r"\b(?:is|are) (?:being )?(?:ready|paused|suspended|halted|running|refreshed|waiting) since\b": "has been … since",
    r"\bgives? its changes back\b|\bgave its changes back\b": "returns its changes to the log",
    r"\banother one each time\b": "a different one each time",
    r"\bwhat (?:a time gets|a task takes of|times get)\b": "what happens at a time, the resources that a task takes",
}
PATTERN = re.compile("|".join(f"({phrase})" for phrase in PHRASES), re.IGNORECASE | re.MULTILINE)
ADVICE = list(PHRASES.values())
SELF = Path(__file__).resolve()


def files() -> list[Path]:
    inside = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    return sorted(path for path in (*ROOT.iterdir(), *inside) if path.suffix in KINDS and path != SELF)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a file with the lines on which they begin."""
    source = path.read_text(encoding="utf-8")
    if not PATTERN.search(source):
        return
    if path.suffix != ".py":
        yield 1, source
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string


def complaints(path: Path) -> Iterator[str]:
    for first, text in texts(path):
        for match in PATTERN.finditer(text):
            line = first + text.count("\n", 0, match.start())
            advice = ADVICE[(match.lastindex or 1) - 1]
            yield f"{path.relative_to(ROOT)}:{line}: “{match[0]}” ({advice})"


def main(arguments: list[str]) -> int:
    chosen = [Path(argument).resolve() for argument in arguments] or files()
    lines = [line for path in chosen for line in complaints(path)]
    print("\n".join(lines) if lines else f"{len(chosen)} files: nothing to fix")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
