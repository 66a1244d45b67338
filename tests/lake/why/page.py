"""The table of docs/how-to/find-out-why-a-table-is-late.md, written from the situations.

python -m tests.lake.why.page
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import psycopg

from catchment.lake.duck.address import parse
from catchment.lake.settings import LakeSettings
from catchment.store import embedded
from catchment.store.migrate import migrate
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.lake.why.situations import SITUATIONS, Condition, Names, Situation, Stage, fill, stopped

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "find-out-why-a-table-is-late.md"
TABLE = re.compile(r"(?<=<!-- situations -->\n).*?(?=<!-- end of situations -->)", re.DOTALL)
HEAD = "\n| situation | kind | words | remedy |\n|---|---|---|---|\n"


def row_of(situation: Situation, answer: list[Condition]) -> str:
    """The lines of a situation: how old the data are, then what holds the table back, or what else there is to say."""
    name = Names()
    first, *rest = answer
    shown = [first, *([one for one in rest if one["is_blocking"]] or rest)]
    lines = [
        f"| {situation.title if n == 0 else ''} | `{one['kind']}` | {name(one['words'])} |"
        f" {'`' + name(one['remedy']) + '`' if one['remedy'] else ''} |"
        for n, one in enumerate(shown)
    ]
    return "".join(f"{re.sub(' +', ' ', line)}\n" for line in lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        dsn = embedded.start(folder / "data")
        with psycopg.connect(dsn, autocommit=True) as conn:
            migrate(conn)
        install_lake(dsn, parse(str(folder / "lake")), LakeSettings(**SETTINGS))
        case = LakeCase(stopped(dsn), folder / "lake")
        fill(case)
        rows: list[str] = []
        with psycopg.connect(dsn) as conn:
            for situation in SITUATIONS:
                stage = Stage(conn)
                rows.append(row_of(situation, stage.explain(situation.build(stage))))
                conn.rollback()
        case.close()
        embedded.stop(folder / "data")
    text = PAGE.read_text(encoding="utf-8")
    table = HEAD + "".join(rows) + "\n"
    PAGE.write_text(TABLE.sub(lambda _: table, text), encoding="utf-8")


if __name__ == "__main__":
    main()
