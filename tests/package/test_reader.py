"""Somebody reads a page with the wheel installed, in an empty folder: everything that it says happens."""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.fixtures.server import make_folder
from tests.package.environment import ROOT, Environment, clean_environment, find_pythons, make_fresh, make_quick
from tests.package.reader import Reader

README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
REGISTER = ROOT / "docs" / "register" / "tutorial.md"
DYNAMIC = ROOT / "docs" / "how-to" / "create-a-dynamic-table.md"
PAGES = [README, TUTORIAL, REGISTER, DYNAMIC]
PYTHONS = find_pythons()
# The extras, and the pages that can be read with them and a server of one's own.
WITH_A_SERVER = [("[lake]", README), ("", TUTORIAL), ("[register]", REGISTER), ("[lake]", DYNAMIC)]
# The extras, and the pages that can be read with nothing else.
EMBEDDED = [
    ("[embedded,lake]", README),
    ("[embedded]", TUTORIAL),
    *(("[all]", page) for page in PAGES),
]

# uvloop has 2.4 MB more for later versions than for 3.11.
MOST_BYTES = {"3.11": 60 * 2**20}
MOST_BYTES_LATER = 62 * 2**20
OF_EVERY_ENVIRONMENT = ("pip", "setuptools", "_distutils_hack", "distutils-precedence", "pkg_resources")

Read = Callable[..., int]


@pytest.fixture
def read() -> Iterator[Read]:
    """Reads a page in a new folder, with an environment and a DSN, or the server that comes with the package."""
    with ExitStack() as stack:

        def read_page(page: Path, environment: Environment, dsn: str | None = None) -> int:
            folder = make_folder("reader")
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            home = folder / "home"
            home.mkdir()
            desk = folder / "desk"
            desk.mkdir()
            # The server that comes with the package ends when its folder has gone.
            database = {"CATCHMENT_DATA": str(folder / "data")} if dsn is None else {"CATCHMENT_DSN": dsn}
            with ExitStack() as inner:
                reader = Reader(environment, desk, clean_environment(HOME=str(home), **database), inner)
                if dsn is not None:
                    reader.type("catchment migrate")
                return reader.read(page)

        yield read_page


@pytest.fixture(scope="module")
def shelf() -> Iterator[Path]:
    """Where environments are: a server's user has to get there."""
    folder = make_folder("environments")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_the_readme_works_in_an_empty_folder(wheel: Path, shelf: Path, read: Read) -> None:
    assert read(README, make_quick(shelf / "quick", wheel)) > 3


@pytest.fixture(scope="module")
def fresh(wheel: Path, shelf: Path) -> Callable[[str, str], Environment]:
    """A new environment for each Python and each choice of extras."""
    made: dict[tuple[str, str], Environment] = {}

    def find(version: str, extras: str) -> Environment:
        if (version, extras) not in made:
            place = shelf / f"{version}{extras.strip('[]')}"
            made[version, extras] = make_fresh(place, PYTHONS[version], wheel, extras)
        return made[version, extras]

    return find


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("version", PYTHONS)
def test_the_base_is_light(version: str, fresh: Callable[[str, str], Environment]) -> None:
    """What ``pip install catchment`` adds to an empty environment; see docs/performance.md."""
    packages = fresh(version, "").packages
    sizes = Counter[str]()
    for path in packages.rglob("*"):
        if path.is_file():
            sizes[path.relative_to(packages).parts[0]] += path.stat().st_size
    added = {name: size for name, size in sizes.items() if not name.startswith(OF_EVERY_ENVIRONMENT)}
    largest = {name: f"{size / 1e6:.1f} MB" for name, size in Counter(added).most_common(10)}
    assert sum(added.values()) <= MOST_BYTES.get(version, MOST_BYTES_LATER), largest


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize(("extras", "page"), EMBEDDED, ids=lambda value: getattr(value, "stem", value))
def test_a_page_works_with_the_embedded_server(
    extras: str, page: Path, version: str, fresh: Callable[[str, str], Environment], read: Read
) -> None:
    assert read(page, fresh(version, extras)) > 3


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize(("extras", "page"), WITH_A_SERVER, ids=lambda value: getattr(value, "stem", value))
def test_a_page_works_with_a_server_of_ones_own(
    extras: str, page: Path, version: str, fresh: Callable[[str, str], Environment], read: Read, server: str
) -> None:
    environment = fresh(version, extras)
    name = f"reader_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"create database {name}")
        try:
            dsn = make_conninfo(server, dbname=name)
            assert read(page, environment, dsn) > 3
        finally:
            conn.execute(f"drop database {name} with (force)")
