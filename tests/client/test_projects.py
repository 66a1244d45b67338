"""Projects that share the embedded server: none changes a command that another one uses."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from catchment.errors import NameTaken
from catchment.store import registry
from catchment.store.foreign.of_psycopg import PsycopgSender
from catchment.task.command import path_of
from catchment.task.project import project_of
from tests.fixtures.embedded import Own
from tests.fixtures.worker import wait_until

SHOP = """
import catchment
app = catchment.App(queue="mail")

@app.command()
async def send(to: str) -> str:
    return to

if __name__ == "__main__":
    print(send.sync.enqueue(to="main").id)
"""
ENQUEUE = "from shop import app, send\nprint(send.sync.enqueue(to='a').id)"
WORKER = ("-m", "catchment", "worker", "--app", "shop:app")


def _project_of(fn: Callable[..., Any]) -> str | None:
    return project_of(fn.__module__)


def _load(file: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("file", "module", "mark", "project"),
    [
        ("shop.py", "shop_1", None, "."),
        ("pack/mail/send.py", "pack.mail.send", None, "."),
        ("pack/mail/__init__.py", "pack.mail", None, "."),
        ("src/pack/send.py", "pack.send", "pyproject.toml", "."),
        ("a/b/c/send.py", "send_2", "a/.git", "a"),
    ],
)
def test_a_project_is_a_folder(
    tmp_path: Path, file: str, module: str, mark: str | None, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("def send() -> None: ...\n")
    if mark is not None:
        (tmp_path / mark).touch()
    assert _project_of(_load(tmp_path / file, module, monkeypatch).send) == str((tmp_path / project).resolve())


def test_what_is_of_a_library_or_in_no_file_is_of_no_project(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _project_of(wait_until) == str(Path(__file__).parents[2])
    assert _project_of(registry.register_commands) is None
    assert _project_of(pytest.fail) is None
    monkeypatch.delattr(sys.modules[__name__], "__file__")
    assert _project_of(_load) is None


@pytest.mark.parametrize(
    ("file", "spec", "name"),
    [
        ("/srv/mails.py", None, "mails"),
        ("/srv/shop/mails.py", "shop.mails", "shop.mails"),
        ("/srv/my-mails.py", None, "__main__"),
        (None, None, "__main__"),
    ],
)
def test_a_command_of_the_program_itself_is_found_by_the_name_of_its_file(
    file: str | None, spec: str | None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = ModuleType("__main__")
    program.__spec__ = None if spec is None else ModuleSpec(spec, None)
    if file is not None:
        program.__file__ = file
    monkeypatch.setitem(sys.modules, "__main__", program)

    def send() -> None: ...

    send.__module__, send.__qualname__ = "__main__", "send"
    assert path_of(send) == f"{name}:send"


def _register(tx: Connection[Any], project: str | None, *, attempts: int, overwrite: bool = False) -> int:
    row = {"command": "send", "queue": "mail", "max_attempts": attempts, "project": project}
    return registry.register_commands(PsycopgSender(tx), [{"queue": "mail"}], [row], overwrite=overwrite).rows


def _registered(tx: Connection[Any]) -> tuple[Any, ...] | None:
    return tx.execute("select project, max_attempts from worker.command_registry where command = 'send'").fetchone()


def _folders(at: Path) -> tuple[str, str]:
    """Two projects, of which the name of one begins with that of the other."""
    for name in ("a", "ab"):
        (at / name).mkdir()
    return str(at / "a"), str(at / "ab")


def test_a_command_that_nobody_uses_is_taken_over(tx: Connection[Any], tmp_path: Path) -> None:
    one, other = _folders(tmp_path)
    _register(tx, one, attempts=1)
    # Its own project, folders within, and what is of no project change nothing without being told to.
    for project in (one, str(tmp_path), f"{one}/inside", None):
        assert _register(tx, project, attempts=2) == 0
    assert _registered(tx) == (one, 1)
    assert _register(tx, None, attempts=3, overwrite=True) == 1
    assert _registered(tx) == (one, 3)
    assert _register(tx, other, attempts=4) == 1
    assert _registered(tx) == (other, 4)


def test_a_command_with_an_unfinished_task_is_not_taken_over(tx: Connection[Any], tmp_path: Path) -> None:
    one, other = _folders(tmp_path)
    _register(tx, one, attempts=1)
    task = tx.execute("select worker.enqueue('send', %s)", [Jsonb({"to": "a"})]).fetchall()[0][0]
    for overwrite in (False, True):
        with (
            pytest.raises(NameTaken, match=f"project in {one}, and its task {task} is pending") as caught,
            tx.transaction(),
        ):
            _register(tx, other, attempts=2, overwrite=overwrite)
        assert "CATCHMENT_DATA" in str(caught.value.hint)
    tx.execute("select worker.cancel(%s)", [task])
    assert _register(tx, other, attempts=2) == 1


def test_a_project_that_was_moved_keeps_its_commands(tx: Connection[Any], tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    _register(tx, str(old), attempts=1)
    tx.execute("select worker.enqueue('send', %s)", [Jsonb({"to": "a"})])
    with pytest.raises(NameTaken), tx.transaction():
        _register(tx, str(new), attempts=2, overwrite=True)
    old.rmdir()
    assert _register(tx, str(new), attempts=2, overwrite=True) == 1
    assert _registered(tx) == (str(new), 2)


@pytest.mark.long
def test_projects_that_share_the_embedded_server_do_not_mix(ready: Own) -> None:
    one, two = ready.at / "one", ready.at / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "shop.py").write_text(SHOP)
    ready.start(*WORKER, at=one)
    # As a script and as a module it is one project.
    assert ready.run("shop.py", at=one).returncode == 0
    assert ready.run("-c", ENQUEUE, at=one).returncode == 0
    waiting = "select count(*) from worker.tasks where state <> 'completed'"
    wait_until(lambda: ready.command("psql", "-Atc", waiting).stdout == "0\n")
    for refused in (ready.run("-c", ENQUEUE, at=two), ready.run(*WORKER, at=two)):
        assert refused.returncode == 1
        assert f"command send belongs to the project in {one}, and worker " in refused.stderr
        assert f"this one is in {two}" in refused.stderr
