"""Commands of other packages: a broken one is an error of its own command, and nothing else suffers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catchment.cli.main import run
from catchment.commands import lazy_app
from catchment.commands.output import errors
from catchment.errors import DefinitionRefused

TYPER = "import typer\napp = typer.Typer()\n"
FINE = f"{TYPER}@app.command(help='Says yes.')\ndef yes(): print('yes')\n"
# Each with what its line in the list says.
BROKEN = {
    "class B(BaseException): pass\nraise B('x')": "B: x",
    "raise GeneratorExit": "GeneratorExit",
    "class E(Exception):\n    def __str__(self): raise ValueError('no')\nraise E": "E: <exception str() failed>",
    "class C:\n    def __repr__(self): raise ValueError\nraise SystemExit(C())": "SystemExit, which cannot be shown",
    "raise SystemExit(7)": "it calls sys.exit(7)",
    "raise SystemExit": "it calls sys.exit()",
    "raise MemoryError": "MemoryError",
    "raise RecursionError('x' * 10**6)": "RecursionError: xxx",
    "raise ValueError('a [red]b[/red] [/x] \\\\[c]')": "ValueError: a [red]b[/red] [/x] \\[c]",
    "raise ValueError('at nomod:x: and q:1234:b')": "ValueError: at nomod:x: and q:1234:b",
    "raise ValueError('a\\x1b[31m [b]\\0')": "ValueError: a\\x1b[31m [b]\\x00",
    "raise ExceptionGroup('two\\n\\nlines', [ValueError()])": "ExceptionGroup: two lines (1 sub-exception)",
    "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module'",
    "def app(:": "SyntaxError: ",
    "pass": "AttributeError: module ",
    "app = 5": "app is an int, expected a typer.Typer",
    "app = None": "app is None, expected a typer.Typer",
    "def app(): pass": "app is a function, expected a typer.Typer",
    TYPER: "RuntimeError: Could not get a command for this Typer instance",
    "from catchment.commands import lazy_app\nlazy_app('x', 'X.', {'y': 'z'})": "command 'y' of a lazy_app is 'z'",
}

Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def catchment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """The exit code, output and errors of a call in this process."""
    monkeypatch.setenv("COLUMNS", "2000")
    monkeypatch.setattr(errors, "width", 2000)  # made when it was imported, maybe for another test

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["catchment", *words])
        with pytest.raises(SystemExit) as ended:
            run()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return int(ended.value.code or 0), out, err

    return call


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Packages with an entry point, or with whatever else is in that file."""

    def make(package: str, entries: str = "", **modules: str) -> None:
        folder = tmp_path / package
        info = folder / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[catchment.commands]\n{entries}")
        for name, body in modules.items():
            (folder / f"{name}.py").write_text(body)
        monkeypatch.syspath_prepend(folder)

    return make


def test_whatever_a_plug_in_raises_spoils_its_own_command_alone(catchment: Said, install: Any) -> None:
    bodies = {f"broken{number}": body for number, body in enumerate(BROKEN)}
    entries = "\n".join(f"{name} = {name}_module:app" for name in bodies)
    install("broken", entries, **{f"{name}_module": body for name, body in bodies.items()})
    install("fine", "yes = fine_module:app", fine_module=FINE)
    code, listed, err = catchment("--help")
    assert (code, err) == (0, "")
    assert "Says yes." in listed
    assert "List queues" in listed
    for name, says in zip(bodies, BROKEN.values(), strict=True):
        assert f"{name} " in listed
        module = re.compile(f"{name}_module[.:]")
        assert f"Cannot be used: {says}" in module.sub("", listed)
        code, out, err = catchment(name, "--any", "thing")
        assert (code, out) == (1, "")
        assert f"error: catchment {name} cannot be used: {says}" in module.sub("", err)
        assert f"It is at {name}_module:app" in err or "expected a typer.Typer" in err or "lazy_app" in err
    assert catchment("yes") == (0, "yes\n", "")


def test_entry_points_that_cannot_be_read_are_those_of_their_package_alone(catchment: Said, install: Any) -> None:
    install("malformed", "no equals sign\n")
    install("fine", "yes = fine_module:app", fine_module=FINE)
    code, listed, err = catchment("--help")
    assert code == 0
    assert "Says yes." in listed
    assert "statistical business register" in listed
    assert "warning: the entry points of malformed cannot be read" in err
    assert catchment("yes") == (0, "yes\n", "")


def test_a_name_that_catchment_has_stays_its_own_and_the_list_says_so(catchment: Said, install: Any) -> None:
    install("thief", "task = thief_module:app\nregister = thief_module:app", thief_module=FINE)
    code, listed, err = catchment("--help")
    assert code == 0
    assert "Says yes." not in listed
    for name in ("task", "register"):
        warning = f"warning: {name} of thief (thief_module:app) is not used, catchment has this command"
        assert err.count(warning) == 1
    assert "List tasks" in catchment("task", "--help")[1]
    assert "statistical business register" in catchment("register", "--help")[1]


def test_a_name_that_two_packages_have_is_used_by_neither(catchment: Said, install: Any) -> None:
    install("one", "yes = one_module:app", one_module=FINE)
    install("two", "yes = two_module:app", two_module=FINE)
    code, listed, _ = catchment("--help")
    assert code == 0
    assert "Cannot be used: two packages have a command of this name: " in listed
    code, _, err = catchment("yes")
    assert code == 1
    assert "one (one_module:app)" in err
    assert "two (two_module:app)" in err
    assert "hint: Remove one of them." in err


def test_the_help_of_a_plug_in_may_have_any_brackets(catchment: Said, install: Any) -> None:
    body = FINE.replace("Says yes.", "Says [bold]yes[/bold] or [no[/x].")
    install("odd", "yes = odd_module:app", odd_module=body)
    for words in (("--help",), ("yes", "--help")):
        code, out, err = catchment(*words)
        assert (code, err) == (0, "")
        assert "Says [bold]yes[/bold] or [no[/x]." in out


LAZY = """
from catchment.commands import lazy_app
app = lazy_app("shop", "The [/x] shop.", {
    "gone": ("no_such_place:verb", "Is [/x] gone."),
    "number": ("shop_verbs:number", "Is a number."),
    "missing": ("shop_verbs:missing", "Is missing."),
    "leave": ("shop_leaves:verb", "Leaves."),
    "brackets": ("shop_verbs:brackets", "Has brackets in its help."),
    "group": ("shop_verbs:group", "Has brackets in verbs."),
    "count": ("shop_verbs:count", "Counts [bold]all[/bold] [of them] or [all]."),
})
"""
VERBS = """
from typing import Annotated
import typer
number = 5
def count(): print('counted')
def brackets(number: Annotated[int, typer.Option(help='A [number].')] = 1):
    '''See [/x].'''
group = typer.Typer()
group.command('one')(brackets)
group.command('two', epilog='See [/x].')(count)
"""


def test_a_lazy_command_that_cannot_be_imported_is_a_separate_error(catchment: Said, install: Any) -> None:
    install("shop", "shop = shop_app:app", shop_app=LAZY, shop_verbs=VERBS, shop_leaves="raise SystemExit(4)")
    code, listed, err = catchment("shop", "--help")
    assert (code, err) == (0, "")
    assert "The [/x] shop." in listed
    assert "Is [/x] gone." in listed
    assert "Counts all [of them] or [all]." in listed
    assert "The [/x] shop." in catchment("--help")[1]
    assert catchment("shop", "count") == (0, "counted\n", "")
    for verb, says in {
        "gone": "ModuleNotFoundError: No module named 'no_such_place'",
        "number": "shop_verbs:number is an int, expected a function or a typer.Typer",
        "missing": "AttributeError: module 'shop_verbs' has no attribute 'missing'",
        "leave": "it calls sys.exit(4)",
    }.items():
        for words in ((verb,), (verb, "--help")):
            code, out, err = catchment("shop", *words)
            assert (code, out) == (1, "")
            assert f"shop {verb} cannot be used: {says}" in err
    for words in (("brackets",), ("group", "one")):
        code, out, err = catchment("shop", *words, "--help")
        assert (code, err) == (0, "")
        assert "See [/x]." in out
        assert "A [number]." in out
    code, _, err = catchment("shop", "group", "two", "--help")
    assert code == 1
    assert "error: the help cannot be shown: closing tag '[/x]'" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((5, "text", {}), "name of a lazy_app is 5, expected a text"),
        (("name", None, {}), "text of a lazy_app is None, expected a text"),
        (("name", "text", 5), "places of a lazy_app is an int, expected a mapping"),
        (("name", "text", {5: ("a:b", "")}), "command 5 of a lazy_app is"),
        (("name", "text", {"a": ("nowhere", "line")}), "command 'a' of a lazy_app is .*, expected"),
        (("name", "text", {"a": (":b", "line")}), "expected"),
        (("name", "text", {"a": ("b:", "line")}), "expected"),
        (("name", "text", {"a": ("b:c", 5)}), "expected"),
        (("", "text", {}), "name of a lazy_app is '', expected letters"),
        (("name", "text", {"--a": ("b:c", "line")}), "command '--a'"),
        (("name", "text", {"a b": ("b:c", "line")}), "command 'a b'"),
        (("name", "text", {"a": ("b: c", "line")}), "expected"),
        (("name", "text", {"a": (".b:c", "line")}), "expected"),
    ],
)
def test_a_lazy_app_of_another_form_is_refused(arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(DefinitionRefused, match=says):
        lazy_app(*arguments)
    with pytest.raises(DefinitionRefused, match="group of a lazy_app is <class 'int'>"):
        lazy_app("name", "text", {}, group=int)  # type: ignore[arg-type]
