"""Makes the screenshots in docs/images/dashboard: ``python docs/make_screenshots.py [SCREEN …]``.

It fills a database with the tasks of docs/screenshots/shop.py, which two workers run, with a lake and with a register,
serves the dashboard, and saves each screen in light, in dark and as wide as a phone. It needs Chromium, and takes some
minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from screenshots import lake

import catchment
from catchment.store import embedded

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "dashboard"
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}
COLOURS = 256
CATCHMENT = [sys.executable, "-m", "catchment"]
DEADLINE_SECONDS = 600.0
SCHEDULES = """
insert into worker.schedule (name, command, payload, cron, timezone)
values ('close the month', 'close_month', '{"month": "last"}', '30 4 1 * *', 'Europe/Oslo'),
       ('export orders', 'export_orders', '{"day": "yesterday"}', '0 6 * * mon-fri', 'Europe/Oslo');
insert into worker.schedule (name, command, every)
values ('update the search index', 'update_search_index', '1 second');
"""
# The parts of the addresses that differ between two runs.
NAMES = """
select (select min(id) from worker.tasks where command = 'build_catalogue') as fan_out,
       (select min(id) from worker.tasks where command = 'close_month') as scope,
       (select min(id) from worker.tasks where command = 'charge_card') as failed,
       (select min(id) from worker.tasks where lane = 'account-17' and state = 'pending') as blocked,
       (select id from lake.dt where name = 'daily_sales') as table,
       (select id from lake.dt where name = 'price_range') as late,
       (select id from lake.dt where name = 'orders_clean') as wide,
       (select id from register.legal_unit group by id order by count(*) desc, id limit 1) as unit
"""
SCREENS = {
    "now": "/",
    "tasks": "/tasks?state=failed",
    "scopes": "/scopes",
    "scope": "/scopes/{scope}",
    "scope-large": "/scopes/{fan_out}",
    "task-failed": "/tasks/{failed}",
    "task-blocked": "/tasks/{blocked}",
    "start": "/start?command=send_letter",
    "lanes": "/lanes",
    "schedules": "/schedules",
    "workers": "/workers",
    "tables": "/tables",
    "table": "/tables/{table}?hours=1",
    "table-late": "/tables/{late}?hours=1",
    "table-preview": "/tables/{wide}/preview",
    "register": "/register",
    "register-unit": "/register/units/legal_unit/{unit}",
    "health": "/health",
}


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="demo-", ignore_cleanup_errors=True)))
        dsn = stack.enter_context(database(folder))
        path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        os.environ.update(CATCHMENT_DSN=dsn, PYTHONPATH=path, PYTHONUNBUFFERED="1", LOGNAME="ada")
        subprocess.run([*CATCHMENT, "register", "demo", "--legal-units", "300", "--dsn", dsn], check=True)  # noqa: S603
        lake.fill(dsn, folder / "lake")
        address = stack.enter_context(dashboard())
        closed = stack.enter_context(dashboard(CATCHMENT_DASHBOARD_PASSWORD="a long password"))  # noqa: S106
        stack.enter_context(worker("shop:app", "pictures", places=24))
        stack.enter_context(worker("shop:app", "shop", "mail", "export", "maintenance", "bulk_changes", places=40))
        stack.enter_context(worker("catchment.lake.tasks.app:app", "lake", "lake_schedule", places=1))
        names = fill(dsn)
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        stack.callback(browser.close)
        screens = {name: address + path.format_map(names) for name, path in SCREENS.items()} | {"log-in": closed + "/"}
        save(browser, {name: screens[name] for name in sys.argv[1:] or screens})


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """The DSN of a database on a new embedded server, and the app in the folder: tracebacks name its path."""
    folder.chmod(0o755)
    shutil.copy(DOCS / "screenshots" / "shop.py", folder)
    server = embedded.start(folder / "data")
    dsn = make_conninfo(server, dbname="shop")
    with catchment.connect(server) as conn:
        conn.execute("create database shop")
    with catchment.connect(dsn) as conn:
        catchment.migrate(conn)
    yield dsn
    embedded.stop(folder / "data")


@contextmanager
def process(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A command of ``catchment``, which is stopped when the block ends."""
    command = [*CATCHMENT, *arguments]
    running = subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.PIPE, text=True)  # noqa: S603
    with running:
        try:
            yield running
        finally:
            running.kill()


@contextmanager
def dashboard(**environment: str) -> Iterator[str]:
    with process("dashboard", "--port", "0", **environment) as running:
        said = running.stdout.readline() if running.stdout else ""
        yield re.findall(r"http://\S+", said)[0]


def worker(app: str, *queues: str, places: int) -> AbstractContextManager[Any]:
    named = [part for queue in queues for part in ("--queue", queue)]
    options = ["--app", app, "--log-level", "error", *named]
    return process("worker", *options, CATCHMENT_MAX_CONCURRENT_TASKS=str(places))


def fill(dsn: str) -> dict[str, Any]:
    """Enqueue the tasks, wait until they are where the screenshots want them; returns the names of some."""
    with catchment.connect(dsn) as conn:
        wait_for(conn, "select count(*) = 3 from worker.worker", "workers")
        conn.execute("select worker.pause_queue('export')")
        conn.execute(SCHEDULES)
        subprocess.run([sys.executable, "-c", "import shop; shop.enqueue_all()"], check=True)
        wait_for(conn, "select count(*) >= 10 from worker.tasks where command = 'update_search_index'", "a schedule")
        conn.execute("update worker.schedule set every = '5 minutes' where every = '1 second'")
        wait_for(
            conn, "select count(*) = 3 from worker.tasks where command = 'charge_card' and state = 'failed'", "cards"
        )
        wait_for(
            conn,
            "select count(*) = 1 from worker.tasks where command = 'match_payments' and state = 'failed'",
            "a scope",
        )
        done = "select count(*) > 6150 from worker.tasks where command = 'resize_picture' and state = 'completed'"
        wait_for(conn, done, "pictures")
        return conn.cursor(row_factory=dict_row).execute(NAMES).fetchone() or {}


def wait_for(conn: Any, question: Any, what: str) -> None:
    until = time.monotonic() + DEADLINE_SECONDS
    while not conn.execute(question).fetchone()[0]:
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: not there after {DEADLINE_SECONDS:.0f} s")
        time.sleep(0.5)


def save(browser: Browser, screens: dict[str, str]) -> None:
    """Save each screen in each look, with few colours: the files stay small, and nobody sees it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    pages = {look: browser.new_page(reduced_motion="reduce", **options) for look, options in LOOKS.items()}
    for name, address in screens.items():
        for look, page in pages.items():
            page.goto(address)
            page.evaluate("document.querySelector('.trouble details')?.setAttribute('open', '')")
            page.wait_for_timeout(500)
            file = IMAGES / f"{name}-{look}.png"
            page.screenshot(path=file)
            with Image.open(file) as image:
                few = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            few.save(file, optimize=True)


if __name__ == "__main__":
    main()
