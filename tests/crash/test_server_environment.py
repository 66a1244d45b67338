"""The embedded server in environments that speak of other servers, locales and folders."""

from __future__ import annotations

import os

import pytest

from tests.fixtures.embedded import Own

# What shells of people with servers elsewhere have, and a locale that is not installed.
ELSEWHERE = {
    "PGHOSTADDR": "127.0.0.1",
    "PGHOST": "db.example.org",
    "PGPORT": "1",
    "PGUSER": "nobody",
    "PGDATABASE": "nothing",
    "PGSSLMODE": "require",
    "PGSSLROOTCERT": "system",
    "PGGSSENCMODE": "require",
    "PGCHANNELBINDING": "require",
    "PGTARGETSESSIONATTRS": "read-only",
    "PGREQUIREPEER": "nobody",
    "LANG": "xx_YY.UTF-8",
    "LC_ALL": "xx_YY.UTF-8",
}


@pytest.mark.long
def test_variables_of_other_servers_do_not_lead_there(own: Own) -> None:
    listed = own.command("queue", "list", "--json", **ELSEWHERE)
    assert listed.returncode == 0, listed.stderr
    asked = own.command("psql", "-XAt", "-c", "show data_directory", **ELSEWHERE)
    assert asked.stdout.splitlines() == [str(own.data)], asked.stderr
    (own.at / "t.sql").write_text("CREATE DYNAMIC TABLE t TARGET_LAG = '1 hour' AS SELECT 1 AS i;")
    made = own.command("table", "create", "t.sql", "--lake", str(own.at / "lake"), **ELSEWHERE)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("name", ["PGSERVICE", "PGREQUIREAUTH"])
def test_a_variable_that_no_dsn_overrides_is_refused(own: Own, name: str) -> None:
    refused = own.command("queue", "list", **{name: "password"})
    assert refused.returncode == 1
    assert f"{name} is set in the environment" in refused.stderr
    assert not own.data.exists()


@pytest.mark.long
def test_a_time_zone_that_the_server_does_not_know_is_named(ready: Own) -> None:
    """libpq sends it with each connection. The keeper of the server sends none: it has to see who uses the server."""
    assert ready.command("queue", "list").returncode == 0
    refused = ready.command("queue", "list", PGTZ="Nowhere/Land")
    assert refused.returncode == 3
    assert "That is PGTZ of the environment" in refused.stderr.replace("\n", " ")


def test_a_folder_of_another_version_is_not_touched(own: Own) -> None:
    own.data.mkdir()
    (own.data / "PG_VERSION").write_text("15\n")
    refused = own.command("queue", "list")
    assert "those of PostgreSQL 15" in refused.stderr
    assert os.listdir(own.data) == ["PG_VERSION"]


def test_a_current_folder_that_was_removed_is_said(own: Own) -> None:
    program = "import os, runpy, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone');"
    program += " sys.argv = ['catchment', 'queue', 'list']; runpy.run_module('catchment', run_name='__main__')"
    refused = own.run("-c", program, CATCHMENT_DATA="relative")
    assert refused.returncode == 3
    assert "cannot be found from here" in refused.stderr
    assert "Traceback" not in refused.stderr
