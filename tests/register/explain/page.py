"""The table of docs/register/operate.md, written from the situations.

python -m tests.register.explain.page
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import psycopg

import catchment_register
from catchment.store import embedded
from tests.fixtures.register import fill_codes, open_session, rolled_back
from tests.register.explain.situations import SITUATIONS, Row, Situation, Stage

PAGE = Path(__file__).parents[3] / "docs" / "register" / "operate.md"
TABLE = re.compile(r"(?<=<!-- situations -->\n).*?(?=<!-- end of situations -->)", re.DOTALL)
HEAD = "\n| situation | kind | words | remedy |\n|---|---|---|---|\n"


class Names:
    """Ids as small numbers, in the order in which they appear: each database gives others."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}

    def __call__(self, text: str) -> str:
        text = re.sub(
            r"\b(made|last,|failed in \S+ \(task \d+\)|failed|since) (at )?2\d{3}-[^()]*\([^()]*\)", r"\1 \2…", text
        )
        text = re.sub(r"\b([Tt]ask (?:why |show )?|id = )(\d+)", lambda m: m[1] + self._small("task", m[2]), text)
        text = re.sub(r"\b([Rr]ound )(\d+)", lambda m: m[1] + self._small("round", m[2]), text)
        text = re.sub(r"((?:legal_unit|enterprise)/)(\d+)", lambda m: m[1] + self._small("unit", m[2]), text)
        return re.sub(r"(job |approve )(\d+)", lambda m: m[1] + self._small("job", m[2]), text)

    def _small(self, kind: str, number: str) -> str:
        count = sum(known == kind for known, _ in self._known)
        return self._known.setdefault((kind, number), str(count + 1))


def row_of(situation: Situation, answer: list[Row]) -> str:
    """The lines of a situation: its blocking conditions, or all if none is blocking."""
    name = Names()
    shown = [one for one in answer if one["is_blocking"]] or answer
    lines = [
        f"| {situation.title if n == 0 else ''} | `{one['kind']}` | {name(one['words'])} |"
        f" {'`' + name(one['remedy']) + '`' if one['remedy'] else ''} |"
        for n, one in enumerate(shown)
    ]
    return "".join(f"{re.sub(' +', ' ', line)}\n" for line in lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        dsn = embedded.start(Path(folder) / "data")
        with psycopg.connect(dsn, autocommit=True) as conn:
            catchment_register.migrate(conn)
            fill_codes(conn)
        rows: list[str] = []
        with open_session(dsn) as conn:
            for situation in SITUATIONS:
                with rolled_back(conn) as reg:
                    stage = Stage(reg)
                    rows.append(row_of(situation, stage.explain(situation.build(stage))))
        embedded.stop(Path(folder) / "data")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda _: HEAD + "".join(rows) + "\n", text), encoding="utf-8")


if __name__ == "__main__":
    main()
