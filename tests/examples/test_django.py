"""The example for Django runs as its README says: migrations, its own tests, a worker, and a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.examples.programs import Example, example
from tests.fixtures.worker import wait_until

ORDER = {"email": "ada@example.org", "title": "Notes", "cents": 1250}
STAFF = """
from django.contrib.auth.models import User
User.objects.create_user("staff", password="staff", is_staff=True)
User.objects.create_superuser("chief", password="chief")
User.objects.create_user("guest", password="guest")
from django.test import Client
for name in ("staff", "chief", "guest"):
    client = Client()
    assert client.login(username=name, password=name)
    print("cookie", name, client.cookies["sessionid"].value)
"""


@pytest.fixture
def empty(server: str, template: str) -> Iterator[str]:
    """A database without the schema, on a server where another one has roles."""
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute("create database bookshop")
        yield make_conninfo(server, dbname="bookshop")
        conn.execute("drop database bookshop with (force)")


@pytest.fixture
def bookshop(empty: str, tmp_path: Path) -> Iterator[Example]:
    mail = {"EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend", "EMAIL_FILE_PATH": str(tmp_path / "m")}
    with example("django", empty, tmp_path, DJANGO_SETTINGS_MODULE="bookshop.settings", **mail) as made:
        yield made


def test_its_own_tests_pass_and_leave_no_database(bookshop: Example, server: str) -> None:
    assert "Ran 3 tests" in bookshop.run("manage.py", "test")
    with psycopg.connect(server) as conn:
        assert conn.execute("select datname from pg_database where datname like 'test_book%'").fetchall() == []


@pytest.mark.long
def test_an_order_reaches_its_customer(bookshop: Example, tmp_path: Path) -> None:
    assert "the schema is up to date" in bookshop.run("manage.py", "migrate")
    assert "was up to date already" in bookshop.run("manage.py", "catchment_migrate")
    cookies = dict(re.findall(r"^cookie (\w+) (\w+)$", bookshop.run("manage.py", "shell", "-c", STAFF), re.MULTILINE))
    bookshop.start("manage.py", "catchment_worker", until="serves")
    with bookshop.serve("bookshop.asgi:application") as client:
        placed = client.post("/orders/", json=ORDER)
        assert placed.status_code == 201
        wait_until(lambda: client.get(f"/orders/{placed.json()['id']}/").json()["receipt_sent_at"])
        wait_until(lambda: len(list((tmp_path / "m").iterdir())) == 2)
        sent = "".join(file.read_text() for file in (tmp_path / "m").iterdir())
        assert {*re.findall(r"^Subject: (.*)$", sent, re.MULTILINE)} == {"Your order", "Thank you"}

        task = client.post("/reports/2026/").json()["task"]
        wait_until(lambda: client.get(f"/reports/results/{task}/").json()["state"] == "completed")
        assert client.get(f"/reports/results/{task}/").json()["cents"] == 1250

        assert client.get("/jobs/").status_code == 401
        for name, status in (("guest", 401), ("staff", 200), ("chief", 200)):
            page = client.get("/jobs/", headers={"Cookie": f"sessionid={cookies[name]}"})
            assert page.status_code == status, f"{name}: {page.text}"
    bookshop.stop()
    # The program finds the app too, and sets Django up.
    assert "serves bookshop" in bookshop.run("-m", "catchment", "worker", "--app", "orders.tasks", "--stop-when-idle")
