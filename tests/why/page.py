"""The table of docs/how-to/find-out-why-a-task-waits.md, written from the situations.

python -m tests.why.page
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import psycopg

from catchment.store import embedded
from catchment.store.migrate import migrate
from tests.fixtures.engine import HANDLERS, Engine
from tests.why.situations import SITUATIONS, Condition, Names, Situation, Stage

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "find-out-why-a-task-waits.md"
TABLE = re.compile(r"(?<=<!-- situations -->\n).*?(?=<!-- end of situations -->)", re.DOTALL)
HEAD = "\n| situation | kind | words | remedy |\n|---|---|---|---|\n"


def answer_of(situation: Situation, engine: Engine) -> list[Condition]:
    """What is said in a situation, made for it."""
    stage = Stage(engine)
    return stage.explain(situation.build(stage))


def row_of(situation: Situation, answer: list[Condition]) -> str:
    """The lines of a situation: what holds its task back, or else what there is to say."""
    name = Names()
    shown = [one for one in answer if one["is_blocking"]] or answer
    lines = [
        f"| {situation.title if n == 0 else ''} | `{one['kind']}` | {name(one['words'])} |"
        f" {'<br>'.join(f'`{line}`' for line in name(one['remedy'] or '').splitlines())} |"
        for n, one in enumerate(shown)
    ]
    return "".join(f"{re.sub(' +', ' ', line)}\n" for line in lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        dsn = embedded.start(Path(folder) / "data")
        rows: list[str] = []
        with psycopg.connect(dsn, autocommit=True) as conn:
            migrate(conn)
            conn.execute(HANDLERS)
            conn.autocommit = False
            for situation in SITUATIONS:
                rows.append(row_of(situation, answer_of(situation, Engine(conn))))
                conn.rollback()
        embedded.stop(Path(folder) / "data")
    text = PAGE.read_text(encoding="utf-8")
    table = HEAD + "".join(rows) + "\n"
    PAGE.write_text(TABLE.sub(lambda _: table, text), encoding="utf-8")


if __name__ == "__main__":
    main()
