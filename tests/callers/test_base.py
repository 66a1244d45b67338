"""The base needs none of the libraries whose connections it takes."""

from __future__ import annotations

import subprocess
import sys

BLOCKED = ("sqlalchemy", "asyncpg", "django", "psycopg2", "greenlet")
PROGRAM = f"""
import sys

for name in {BLOCKED}:
    sys.modules[name] = None

import psycopg
from catchment import App, Context, RequestRefused
import catchment.cli.main
import catchment.runtime.python_worker

app = App(sys.argv[1])

@app.command
def send(to: str) -> None: ...

with psycopg.connect(sys.argv[1]) as conn:
    assert send.sync.using(conn=conn).enqueue(to="a").id > 0

for wrong in (None, object(), "default"):
    try:
        send.sync.using(conn=wrong).enqueue(to="a")
    except RequestRefused as error:
        assert str(error).startswith("conn is "), error
    else:
        raise SystemExit("not refused")
app.sync.close()
assert all(sys.modules[name] is None for name in {BLOCKED})
"""


def test_the_base_works_where_none_of_them_can_be_imported(db: str) -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM, db], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr


def test_sqlalchemy_without_greenlet_is_enough_for_a_session(db: str) -> None:
    program = """
import sys

sys.modules["greenlet"] = None
import psycopg, sqlalchemy
from sqlalchemy.orm import Session
from catchment import App

app = App(sys.argv[1])
engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(sys.argv[1]))
with Session(engine) as session, session.begin():
    assert app.command(name="send")(lambda: None).sync.using(conn=session).enqueue().id > 0
"""
    ran = subprocess.run([sys.executable, "-c", program, db], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
