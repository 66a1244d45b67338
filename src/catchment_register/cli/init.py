"""``catchment register init``: the schema, the countries and the settings."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import psycopg
import typer
from psycopg import Connection
from psycopg.sql import SQL, Identifier

from catchment.commands import Dsn, Json, Roles, console, print_json
from catchment_register.cli.database import connect_register
from catchment_register.cli.numbers import LARGEST_INTEGER
from catchment_register.codes.edition import find_standard, use_region_version
from catchment_register.codes.load import load_countries
from catchment_register.errors import SettingRefused
from catchment_register.schema import REGISTER, migrate

# Settings that --set takes, and the values that the constraints of register.settings accept; the others have separate
# options.
TUNABLE = {
    "batch_enterprises": f"a whole number from 1 to {LARGEST_INTEGER}",
    "import_batch_rows": f"a whole number from 1 to {LARGEST_INTEGER}",
    "partition_count_target": "a whole number from 1 to 512",
    "rebuild_share": "a number from 0 to 1",
    "truncates_text": "true or false",
}

# History goes a hundred years back from today and to the end of its month: all of that is in the calendar.
FIRST_TODAY, LAST_TODAY = date(1000, 1, 1), date(9998, 12, 31)


def init(
    dsn: Dsn = None,
    country: Annotated[str | None, typer.Option(help="Home country, as its two-letter code.")] = None,
    activity_standard: Annotated[
        str | None, typer.Option(help="Standard of activity codes: isic_v4, nace_v2.1, or your own.")
    ] = None,
    region_version: Annotated[str | None, typer.Option(help="Version of the regions that new data refers to.")] = None,
    today: Annotated[str | None, typer.Option(help="Current day, as 2026-02-13; 'real' follows the clock.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help=f"Change a setting: {', '.join(TUNABLE)}.")
    ] = None,
    roles: Roles = None,
    as_json: Json = False,
) -> None:
    """Install or upgrade the register, and change its settings.

    Safe to run repeatedly, and while workers run.
    """
    with connect_register(dsn) as conn, REGISTER.translated():
        upgrade = migrate(conn, on_step=lambda step: None if as_json else console.print(f"  {step}"), roles=roles)
        countries = load_countries(conn)
        before = read_settings(conn)
        with conn.transaction():
            _choose(conn, country, activity_standard, region_version, today)
            for setting in settings or []:
                _tune(conn, setting)
        after = read_settings(conn)
    changed = {k: v for k, v in after.items() if v != before[k]}
    if as_json:
        print_json({"applied": upgrade.applied, "countries": countries.added, "changed": changed, "settings": after})
        return
    if countries.added:
        console.print(f"  {countries.added} countries")
    for key, value in changed.items():
        console.print(f"  {key} = {'real' if key == 'today' and value is None else value}", markup=False)
    if upgrade.requests_full_round:
        console.print("The rules of derivation have changed: everything is derived again as soon as a worker runs.")
    if upgrade.applied or upgrade.routines_changed or countries.added or changed:
        console.print("The register is ready.")
    else:
        console.print("The register was ready already.")
    if upgrade.has_roles and roles is False:
        console.print("It has roles, and keeps them: --no-roles is for a new schema.")


def read_settings(conn: Connection[Any]) -> dict[str, Any]:
    """All settings by name, codes instead of ids."""
    cursor = conn.execute(REGISTER.query("settings"))
    row = cursor.fetchone()
    names = [c.name for c in cursor.description or ()]
    return dict(zip(names, row or (), strict=True))


def _choose(
    conn: Connection[Any], country: str | None, standard: str | None, version: str | None, today: str | None
) -> None:
    if country is not None:
        row = conn.execute("select id from register.country where iso_2 = %s", [country.upper()]).fetchone()
        if row is None:
            raise SettingRefused(f"there is no country {country!r}", hint="Give its two letters, as NO.")
        conn.execute("update register.settings set country_id = %s", [row[0]])
    if standard is not None:
        chosen = find_standard(conn, standard)
        conn.execute("update register.settings set activity_category_standard_id = %s", [chosen.id])
    if version is not None:
        conn.execute("update register.settings set region_version_id = %s", [use_region_version(conn, version)])
    if today is not None:
        conn.execute("update register.settings set today = %s", [read_day(today)])


def read_day(text: str) -> date | None:
    """A day, or None for ``real``."""
    if text == "real":
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise SettingRefused(f"{text!r} is not a day", hint="Write it as 2026-02-13, or real for the clock.") from None
    if not FIRST_TODAY <= day <= LAST_TODAY:
        raise SettingRefused(f"today cannot be {day}", hint=f"Write a day from {FIRST_TODAY} to {LAST_TODAY}.")
    return day


def _tune(conn: Connection[Any], setting: str) -> None:
    key, separator, value = setting.partition("=")
    if not separator or key not in TUNABLE:
        raise SettingRefused(
            f"--set {setting} is not understood", hint=f"Write KEY=VALUE, KEY one of {', '.join(TUNABLE)}."
        )
    try:
        conn.execute(SQL("update register.settings set {key} = %s").format(key=Identifier(key)), [value])
    except (psycopg.DataError, psycopg.errors.CheckViolation, psycopg.errors.DatatypeMismatch) as error:
        raise SettingRefused(f"{key} cannot be {value!r}", hint=f"Write {TUNABLE[key]}.") from error
