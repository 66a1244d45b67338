"""Attaches the lake to a DuckDB: the statement, its connection to the catalog, and the key of the store."""

from __future__ import annotations

from duckdb import DuckDBPyConnection
from psycopg.conninfo import make_conninfo

from catchment.errors import LakeUnavailable
from catchment.lake.duck import extensions
from catchment.lake.duck.address import METADATA_SCHEMA, LakeAddress, is_remote
from catchment.lake.names import ALIAS, literal, quoted
from catchment.lake.settings import LakeSettings
from catchment.store.connect import OURS, connect_ours, start_up_options
from catchment.store.pinned import pinned


def attach(
    instance: DuckDBPyConnection,
    dsn: str,
    address: LakeAddress,
    settings: LakeSettings,
    *,
    is_read_only: bool = False,
    at: str | None = None,
) -> None:
    """Attach the lake; ``at`` is the option that names a snapshot. Raises ``LakeUnavailable`` if it is in
    a bucket and there is no key, and DuckDB's own errors."""
    prepare(instance, address.data_path, settings)
    instance.execute(attach_statement(_in_english(dsn), address, is_read_only=is_read_only, at=at))


def prepare(instance: DuckDBPyConnection, data_path: str, settings: LakeSettings) -> None:
    """Let an instance read and write where the data are. Raises ``LakeUnavailable``."""
    if is_remote(data_path):
        extensions.load_remote(instance)
        instance.execute(_secret(settings))


def _in_english(dsn: str) -> str:
    """The DSN with messages in English, if this user may ask for them: DuckLake decides by their text whether a commit
    can be tried again. ``catchment doctor`` says where it has to do without."""
    with connect_ours(dsn, name="catchment lake") as conn:
        (may_set,) = conn.execute("select has_parameter_privilege('lc_messages', 'set')").fetchall()
    if may_set != (True,):
        return dsn
    return make_conninfo(dsn, options=start_up_options(dsn, {"lc_messages": "C"}))


def attach_statement(
    dsn: str, address: LakeAddress, *, alias: str = ALIAS, is_read_only: bool = False, at: str | None = None
) -> str:
    """The statement that attaches the lake, as this package does it. It holds the password if the DSN does."""
    options = [f"DATA_PATH {literal(address.data_path)}", "DATA_INLINING_ROW_LIMIT 0"]
    if address.metadata_schema != METADATA_SCHEMA:
        options.append(f"METADATA_SCHEMA {literal(address.metadata_schema)}")
    if is_read_only:
        options.append("READ_ONLY")
    if at is not None:
        options.append(at)
    where = literal(f"ducklake:postgres:{_conninfo(dsn)}")
    return f"ATTACH {where} AS {quoted(alias)} ({', '.join(options)})"


def _conninfo(dsn: str) -> str:
    """As key/value pairs, which DuckDB wants. The catalog's session lies idle in its transaction while data are
    written, so a limit on that must not apply to it."""
    options = start_up_options(dsn, {**OURS, "idle_in_transaction_session_timeout": "0"})
    return make_conninfo(
        pinned(dsn), options=options, application_name="catchment lake", connect_timeout=10, client_encoding="utf8"
    )


def _secret(settings: LakeSettings) -> str:
    """The S3 secret; each instance needs one, or the first read goes to the public endpoint."""
    key_id, secret = settings.s3_key_id, settings.s3_secret
    if not key_id or secret is None:
        raise LakeUnavailable(
            "the data of this lake are in a bucket, and there is no key for it",
            code="NO_SECRET",
            hint="Set CATCHMENT_S3_KEY_ID and CATCHMENT_S3_SECRET, and for a store of your own CATCHMENT_S3_ENDPOINT.",
        )
    parts = ["TYPE s3", f"KEY_ID {literal(key_id)}", f"SECRET {literal(secret.get_secret_value())}"]
    if settings.s3_region:
        parts.append(f"REGION {literal(settings.s3_region)}")
    if settings.s3_endpoint:
        parts.append(f"ENDPOINT {literal(settings.s3_endpoint)}")
    parts.append(f"URL_STYLE {literal(settings.s3_url_style)}")
    parts.append(f"USE_SSL {str(settings.s3_use_ssl).lower()}")
    return f"CREATE OR REPLACE SECRET catchment_lake ({', '.join(parts)})"
