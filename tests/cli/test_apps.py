"""Which apps a worker serves: a name that leads to none says what to type, and so does an app without commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment.cli.app import AppNotFound, find_app, find_apps
from catchment.errors import DefinitionRefused, RequestRefused


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, **modules: str) -> None:
    """Write modules; two underscores stand for a dot."""
    for name, text in modules.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


APP = "import catchment\napp = catchment.App()\n"
SEND = "@app.command\nasync def send(): ...\n"


@pytest.mark.parametrize(
    ("name", "says", "typed"),
    [
        ("book.py", "'book.py' is not MODULE:APP, but a path", "Type: --app book:library"),
        ("./book.py:app", "but a path", "Type: --app book:app"),
        ("shop/tasks.py", "but a path", "Type: --app shop.tasks:app"),
        ("shop/tasks", "'shop/tasks' is not MODULE:APP, but a path", "Type: --app shop.tasks:app"),
        ("shop/", "but a path", "Type: --app shop.tasks:app"),
        ("my-shop/tasks.py", "but a path", "Go to the folder of tasks.py, then type: --app tasks:app"),
        ("plain.py", "but a path", "plain.py has no App: define one, app = catchment.App(). Type: --app plain:app"),
        ("mail/app", "but a path", "There is no mail/app.py. Write the module as in an import: --app shop.tasks:app"),
        ("/srv/no_such/book.py", "but a path", "There is no /srv/no_such/book.py. Write the module as in an import"),
        ("two", "'two' is not MODULE:APP", "Type: --app two:first or --app two:second"),
        ("book:", "'book:' is not MODULE:APP", "Type: --app book:library"),
        ("book:app", "app in book is not there, expected a catchment.App", "Type: --app book:library"),
        ("book:catchment", "catchment in book is a module, expected a catchment.App", "Type: --app book:library"),
        ("plain:app", "app in plain is not there", "plain has no App: define one, app = catchment.App()"),
        ("plain:app", "plain is the file plain.py", "plain has no App"),
        ("shop:app", "shop is the folder shop", "Type: --app shop.tasks:app."),
        ("fan:app", "fan is the folder fan", "Type: --app fan.fan:app. Or go to the folder fan, and type the same."),
        ("bok:library", "there is no module bok in ", "Type: --app book:app"),
        ("shop.tsks:app", "there is no module shop.tsks in ", "Type: --app shop.tasks:app"),
        ("", "'' is not MODULE:APP", "Write the module as in an import"),
        ("a-b:app", "'a-b:app' is not MODULE:APP", "Write the module as in an import"),
        ("nothing_like_it:app", "there is no module nothing_like_it", "Go to the folder that has nothing_like_it.py"),
    ],
)
def test_a_name_that_leads_to_no_app_says_what_to_type(project: Path, name: str, says: str, typed: str) -> None:
    two = APP.replace("app =", "first =") + "second = catchment.App()\n"
    write(project, book=APP.replace("app =", "library ="), plain="", two=two, shop__tasks=APP + SEND, fan__fan=APP)
    write(project, **{"my-shop__tasks": APP})
    with pytest.raises(AppNotFound) as refused:
        find_app(name)
    assert says in str(refused.value)
    assert typed in str(refused.value.hint)


def test_a_package_is_not_found_from_inside_itself(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, shop__tasks=APP)
    monkeypatch.chdir(project / "shop")
    with pytest.raises(AppNotFound) as refused:
        find_app("shop.tasks:app")
    assert "go to the folder above it" in str(refused.value.hint)


def test_an_app_has_the_commands_of_the_modules_it_names(project: Path) -> None:
    write(
        project,
        shop__app="import catchment\napp = catchment.App(imports=['shop.mail', 'shop.stock'])\n",
        shop__mail="from shop.app import app\n" + SEND,
        shop__stock="from shop.app import app\n@app.command\nasync def count(): ...\n",
    )
    assert find_apps(["shop.app:app"]).commands().names == ("send", "count")


@pytest.mark.parametrize("imports", ["'shop.mail'", "['.mail']", "[3]", "None"])
def test_imports_are_names_of_modules(project: Path, imports: str) -> None:
    write(project, book=f"import catchment\napp = catchment.App(imports={imports})\n")
    with pytest.raises(RequestRefused, match="imports of an App"):
        find_app("book:app")


def test_a_module_that_imports_names_and_that_is_not_there_is_named(project: Path) -> None:
    write(project, book="import catchment\napp = catchment.App(imports=['book_mail'])\n")
    with pytest.raises(DefinitionRefused, match="names the module book_mail, and there is no module book_mail"):
        find_apps(["book:app"]).commands()


def test_a_module_that_imports_names_and_that_fails_is_shown_with_its_line(project: Path) -> None:
    write(project, book="import catchment\napp = catchment.App(imports=['book_mail'])\n", book_mail="\n1 / 0\n")
    with pytest.raises(RequestRefused) as refused:
        find_apps(["book:app"]).commands()
    said = str(refused.value)
    assert "a module that imports of book:app names cannot be imported: ZeroDivisionError: division by zero" in said
    assert f"{project / 'book_mail.py'}, line 2: 1 / 0" in said


@pytest.mark.parametrize(
    ("modules", "hint"),
    [
        ({"book": APP, "stranger": APP + SEND}, "Decorate a function with @app.command"),
        ({"book": APP + "other = catchment.App()\n" + SEND.replace("app.", "other.")}, "type book:other"),
        (
            {"book": APP, "mail": "from book import app\n" + SEND},
            "Commands are in mail, which nothing imports: app = App(imports=['mail'])",
        ),
        (
            {"shop__book": APP, "shop__tasks__mail": "from shop.book import app\n" + SEND},
            "Commands are in shop.tasks.mail, which nothing imports: app = App(imports=['shop.tasks.mail'])",
        ),
        (
            {"shop__book": APP + "import book as other\n", "book": ""},
            "Decorate a function",
        ),
    ],
    ids=["none at all", "another app", "another module", "another module of the package", "another file"],
)
def test_an_app_without_commands_is_refused_with_the_likely_cause(
    project: Path, modules: dict[str, str], hint: str
) -> None:
    write(project, **modules)
    place = "shop.book:app" if "shop__book" in modules else "book:app"
    with pytest.raises(RequestRefused, match=f"{place} has no commands") as refused:
        find_apps([place]).commands()
    assert hint in str(refused.value.hint)


def test_a_file_that_was_imported_under_two_names_is_found_out(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, shop__book=APP + "import shop.mail\n", shop__mail="from shop.book import app\n" + SEND)
    monkeypatch.syspath_prepend(str(project))
    monkeypatch.chdir(project / "shop")
    with pytest.raises(RequestRefused) as refused:
        find_apps(["book:app"]).commands()
    assert "imported twice, as book and as shop.book, which has the commands: type shop.book:app" in str(
        refused.value.hint
    )


def test_two_apps_with_a_command_of_the_same_name_are_both_named(project: Path) -> None:
    write(project, shop=APP + SEND, mail=APP + SEND)
    with pytest.raises(DefinitionRefused) as refused:
        find_apps(["shop:app", "mail:app"]).commands()
    assert "command send is defined in shop:app and in mail:app: as shop:send and as mail:send" in str(refused.value)


def test_an_app_given_twice_is_served_once(project: Path) -> None:
    write(project, shop=APP + SEND, mail="from shop import app\n")
    assert find_apps(["shop:app", "mail:app", "shop:app"]).commands().names == ("send",)


def test_two_apps_that_describe_a_queue_in_two_ways_are_both_named(project: Path) -> None:
    describe = "app.queue('mails', max_running={})\n"
    write(project, shop=APP + describe.format(1), mail=APP + describe.format(2))
    with pytest.raises(DefinitionRefused, match="queue mails is described in shop:app and in mail:app"):
        find_apps(["shop:app", "mail:app"]).commands()


def test_a_worker_serves_the_database_of_its_app_unless_an_option_says_another(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = "import catchment\napp = catchment.App({!r})\n".format
    url = "postgresql://ada:secret@db.example.org/shop"
    write(project, mail=APP, post=APP, shop=given(url), book=given("dbname=book password=secret"))
    write(project, till=given("host=db.example.org dbname=shop user=ada password=secret"))
    monkeypatch.setenv("CATCHMENT_DSN", "dbname=environment")
    assert find_apps(["shop:app", "till:app"]).dsn("dbname=environment") == url
    assert find_apps(["shop:app", "mail:app"]).dsn(url) == url
    assert find_apps(["shop:app", "mail:app"]).dsn("dbname=option") == "dbname=option"
    assert find_apps(["mail:app", "post:app"]).dsn("dbname=environment") == "dbname=environment"
    assert find_apps(["mail:app", "post:app"]).dsn(None) is None
    shop = "the database shop on db.example.org as user ada"
    for apps, option, first, second in [
        (["shop:app", "book:app"], "dbname=environment", shop, "the database book"),
        (["mail:app", "shop:app"], "dbname=environment", "the database environment", shop),
        (["mail:app", "shop:app"], None, "the embedded server", shop),
    ]:
        with pytest.raises(RequestRefused) as refused:
            find_apps(apps).dsn(option)
        said = f"{apps[0]} uses {first}, and {apps[1]} uses {second}: one worker serves one database"
        assert str(refused.value) == said
