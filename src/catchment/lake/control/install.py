"""Makes a database have a lake: the control schema, DuckLake's catalog, and the guard that ties the two together.

Safe to run repeatedly, and by several processes at once: a process that finds everything in order changes nothing. The
first attach of DuckLake is not safe against another one, so it happens under a lock here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import Connection
from psycopg.sql import SQL, Identifier

from catchment.errors import LakeUnavailable, RequestRefused
from catchment.lake.control.grants import LOCK, grant_catalog
from catchment.lake.delta.layout import ROW_GROUP
from catchment.lake.duck.address import LakeAddress, is_remote
from catchment.lake.duck.catalog import read_address
from catchment.lake.duck.duck import Duck
from catchment.lake.duck.verify import GUARD, has_lake, verify
from catchment.lake.names import ALIAS, DT_SCHEMA, literal, quoted
from catchment.lake.settings import LakeSettings
from catchment.lake.sql import LAKE
from catchment.schema.alone import alone
from catchment.schema.files import fingerprint
from catchment.store import registry
from catchment.store.connect import connect_ours
from catchment.store.foreign.of_psycopg import PsycopgSender
from catchment.store.migrate import check_version
from catchment.task.commands import Commands

CATALOG_TABLES = (
    "ducklake_column",
    "ducklake_data_file",
    "ducklake_delete_file",
    "ducklake_file_partition_value",
    "ducklake_inlined_data_tables",
    "ducklake_metadata",
    "ducklake_partition_column",
    "ducklake_partition_info",
    "ducklake_schema",
    "ducklake_snapshot",
    "ducklake_snapshot_changes",
    "ducklake_table",
    "ducklake_table_stats",
    "ducklake_view",
)
"""Tables of DuckLake that ours read, through views of the same names in schema ``lake``."""

DELETION_LIST = "ducklake_files_scheduled_for_deletion"
"""The one that ours add rows to, through such a view."""

_IDENTITY = "select current_database(), pg_postmaster_start_time()"

OnStep = Callable[[str], None]


def install(
    dsn: str,
    address: LakeAddress | None,
    settings: LakeSettings,
    commands: Callable[[], Commands],
    *,
    default: LakeAddress | None = None,
    on_step: OnStep = lambda _: None,
) -> LakeAddress:
    """Give the database a lake, or see that the one it has is in order; returns where that is.

    ``commands`` gives the commands of refreshes. It is called only if there is something to install.

    ``default`` is where a new lake is put if no address is given. Raises ``LakeUnavailable`` without either,
    ``RequestRefused`` when the address names another place than the lake has, and what attaching raises.
    """
    with connect_ours(dsn, name="catchment lake") as conn:
        check_version(conn)
        if address is not None and address.catalog is not None:
            _check_catalog(conn, address.catalog)
        installed = _ready_address(conn)
        if installed is None:
            with _alone(conn, on_step):
                installed = _ready_address(conn) or _install(conn, dsn, address, settings, commands, default, on_step)
    _check_place(installed, address)
    return installed


def is_made(dsn: str) -> bool:
    """Has this database a lake? Nothing is made."""
    with connect_ours(dsn, name="catchment lake") as conn:
        check_version(conn)
        return _recorded(conn) is not None


def _ready_address(conn: Connection[Any]) -> LakeAddress | None:
    """Where the lake is, if this code or a newer version has installed all of it."""
    if not has_lake(conn):
        return None
    row = conn.execute("select i.fingerprint from lake.installed as i").fetchone()
    if row is None or (row[0] != fingerprint(LAKE.package) and LAKE.newer(conn) is None):
        return None
    return read_address(conn) if not verify(conn) else None


@contextmanager
def _alone(conn: Connection[Any], on_step: OnStep) -> Generator[None]:
    try:
        with alone(conn, LOCK, on_wait=on_step):
            yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise LakeUnavailable(
            f"this user may not install a lake: {error.diag.message_primary}",
            code="NO_LAKE",
            hint="Run 'catchment table init --lake …' once as the user that has run 'catchment migrate'.",
        ) from error


def _install(
    conn: Connection[Any],
    dsn: str,
    address: LakeAddress | None,
    settings: LakeSettings,
    commands: Callable[[], Commands],
    default: LakeAddress | None,
    on_step: OnStep,
) -> LakeAddress:
    where = _recorded(conn) or address or default
    if where is None:
        raise LakeUnavailable(
            "this database has no lake yet",
            code="NO_LAKE",
            hint="Set where its data is stored: --lake or CATCHMENT_LAKE.",
        )
    _check_place(where, address)
    site = LAKE.find_site(conn)
    LAKE.apply_migrations(conn, on_step, site)
    on_step("catalog")
    duck = _prepare_catalog(dsn, where, settings)
    if _own_folder(conn, where.metadata_schema):
        duck.close()  # it knows the folder that was
    on_step("views of the catalog")
    owner = Identifier(str(site.owner))
    _make_views(conn, where.metadata_schema, owner)
    if site.has_roles:
        grant_catalog(conn, where.metadata_schema)
    LAKE.recreate_routines(conn, on_step, site)
    if LAKE.newer(conn) is None:
        on_step("commands")
        _register(conn, commands())
    on_step("guard")
    _make_guard(conn, where, settings, owner)
    return where


def _recorded(conn: Connection[Any]) -> LakeAddress | None:
    if not has_lake(conn):
        return None
    row = conn.execute("select l.data_path, l.metadata_schema from lake.lake as l").fetchone()
    return None if row is None else LakeAddress(data_path=row[0], metadata_schema=row[1])


def _prepare_catalog(dsn: str, address: LakeAddress, settings: LakeSettings) -> Duck:
    """Attach, which makes a catalog where there is none, and set what has to be set before the first write."""
    if not is_remote(address.data_path):
        try:
            Path(address.data_path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LakeUnavailable(
                f"the folder of the lake, {address.data_path}, cannot be made: {error.strerror}",
                hint="Choose another one: --lake or CATCHMENT_LAKE.",
            ) from error
    duck = Duck.open(dsn, settings, address=address)
    # Changes to inlined rows are dated wrongly by the change feed once they are flushed; so they never are inlined.
    duck.run(f"CALL {quoted(ALIAS)}.set_option('data_inlining_row_limit', 0)")
    duck.run(f"CREATE SCHEMA IF NOT EXISTS {quoted(ALIAS, DT_SCHEMA)}")
    duck.run(
        f"CALL {quoted(ALIAS)}.set_option('parquet_row_group_size', {ROW_GROUP:d}, schema => {literal(DT_SCHEMA)})"
    )
    return duck


def _own_folder(conn: Connection[Any], metadata_schema: str) -> bool:
    """Give the content of dynamic tables a folder that no other lake has, also one with the same data path: what is in
    it and not in the catalog was left by a process that died, and may be removed. Returns whether it had none yet."""
    changed = _format(
        conn,
        "update {} as s set path = %s where s.schema_name = %s and s.path = %s"
        " and not exists (select from {} as t where t.schema_id = s.schema_id)",
        Identifier(metadata_schema, "ducklake_schema"),
        Identifier(metadata_schema, "ducklake_table"),
        parameters=[f"{DT_SCHEMA}-{secrets.token_hex(4)}/", DT_SCHEMA, f"{DT_SCHEMA}/"],
    )
    return changed > 0


def _make_views(conn: Connection[Any], metadata_schema: str, owner: Identifier) -> None:
    """Views over the catalog for our functions, which run as the owner of the control schema."""
    with conn.transaction():
        _format(conn, "grant usage on schema {} to {}", Identifier(metadata_schema), owner)
        for table in (*CATALOG_TABLES, DELETION_LIST):
            original = Identifier(metadata_schema, table)
            _format(conn, "grant select on {} to {}", original, owner)
            if table == DELETION_LIST:
                _format(conn, "grant insert on {} to {}", original, owner)
            _format(conn, "set local role {}", owner)
            _format(conn, "create or replace view {} as select * from {}", Identifier("lake", table), original)
            conn.execute("reset role")


def _make_guard(conn: Connection[Any], address: LakeAddress, settings: LakeSettings, owner: Identifier) -> None:
    """Set the trigger, and note where the lake is: with that the installation is complete."""
    trigger, changes = Identifier(GUARD), Identifier(address.metadata_schema, "ducklake_snapshot_changes")
    with conn.transaction():
        _format(
            conn,
            "create or replace trigger {} before insert on {} for each row execute function lake.guard()",
            trigger,
            changes,
        )
        _format(conn, "alter table {} enable trigger {}", changes, trigger)
        _format(conn, "set local role {}", owner)
        conn.execute(
            "insert into lake.lake (data_path, metadata_schema, history, compact_files, compact_deletes, expire_after,"
            " orphans_after) values (%s, %s, make_interval(days => %s), %s, %s, make_interval(secs => %s),"
            " make_interval(secs => %s)) on conflict (is_one) do nothing",
            [
                address.data_path,
                address.metadata_schema,
                settings.lake_history_days,
                settings.lake_compact_files,
                settings.lake_compact_deletes,
                settings.lake_expire_days * 86400 or None,
                settings.lake_orphan_days * 86400 or None,
            ],
        )


def _register(conn: Connection[Any], commands: Commands) -> None:
    """Make the commands of refreshes known, so that rounds can be asked for before any worker has started."""
    definitions = commands.queue_definitions(), commands.definitions()
    registry.register_commands(PsycopgSender(conn), *definitions, overwrite=True)


def _format(conn: Connection[Any], text: LiteralString, *names: Identifier, parameters: Sequence[Any] = ()) -> int:
    """Execute a statement with these names; returns the number of rows that it changed."""
    return conn.execute(SQL(text).format(*names), list(parameters) or None).rowcount


def _check_place(installed: LakeAddress, asked: LakeAddress | None) -> None:
    if asked is None:
        return
    if (installed.data_path, installed.metadata_schema) != (asked.data_path, asked.metadata_schema):
        raise RequestRefused(
            f"the lake of this database is at {installed.data_path} (schema {installed.metadata_schema}), "
            f"not at {asked.data_path} (schema {asked.metadata_schema})",
            hint="A database has one lake: omit --lake and CATCHMENT_LAKE, or use another database.",
        )


def _check_catalog(conn: Connection[Any], catalog: str) -> None:
    """The catalog must be in the engine's database: only then are a commit and its frontier one transaction."""
    with connect_ours(catalog, name="catchment lake") as other:
        if other.execute(_IDENTITY).fetchone() != conn.execute(_IDENTITY).fetchone():
            raise RequestRefused(
                f"the lake's catalog is in database {other.info.dbname}, and the engine is in {conn.info.dbname}",
                hint="They must be one database, so that a commit to the lake and our record of it are one. "
                "Leave catalog= away, or give --dsn the same database.",
            )
