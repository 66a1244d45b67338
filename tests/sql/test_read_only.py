"""A server that takes no writes is left: calls fail as on a lost connection, pools drop theirs, several hosts mean the
primary."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from catchment.store.connect import connect
from catchment.store.errors import Fault, fault_of
from catchment.store.pool import Pool


def test_a_refused_write_counts_as_a_lost_connection(tx: Connection[Any]) -> None:
    tx.execute("set transaction read only")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as refused:
        tx.execute("update worker.queue_registry set mode = mode")
    assert fault_of(refused.value) is Fault.LOST


def test_a_pool_does_not_keep_a_connection_that_was_refused_a_write(shared_db: str) -> None:
    pool = Pool(shared_db, 1, name="test")
    with pool.connection() as conn:
        first = conn.info.backend_pid
        conn.execute("set default_transaction_read_only = on")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), pool.connection() as conn:
        conn.execute("create table never ()")
    with pool.connection() as conn:
        assert conn.info.backend_pid != first
    pool.close()


def test_several_hosts_mean_the_one_that_takes_writes(shared_db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = conninfo_to_dict(shared_db)
    host, port = given.pop("host"), given.pop("port", "5432")
    several = make_conninfo(**given, host=f"/nowhere,{host}", port=f"{port},{port}")  # type: ignore[arg-type]
    with connect(several) as conn:
        assert conn.info.get_parameters()["target_session_attrs"] == "read-write"
    with connect(f"{several} target_session_attrs=any") as conn:
        assert conn.info.get_parameters().get("target_session_attrs", "any") == "any"
    monkeypatch.setenv("PGHOST", f"/nowhere,{host}")
    monkeypatch.setenv("PGPORT", f"{port},{port}")
    with connect(make_conninfo(**given)) as conn:  # type: ignore[arg-type]
        assert conn.info.get_parameters()["target_session_attrs"] == "read-write"
