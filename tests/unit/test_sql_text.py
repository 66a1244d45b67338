"""Which statements would end a transaction, and which only look like it."""

from __future__ import annotations

import pytest

from catchment.store.sql_text import transaction_end

ENDING = {
    "commit": "COMMIT",
    " Commit work;": "COMMIT",
    "/* x */ END": "END",
    "-- a\nabort": "ABORT",
    "rollback": "ROLLBACK",
    "rollback transaction and no chain": "ROLLBACK",
    "insert into t values (1); rollback; insert into t values (2)": "ROLLBACK",
    "prepare transaction 'x'": "PREPARE TRANSACTION",
    "/* a /* b */ ' */ rollback": "ROLLBACK",
    "commit prepared 'x'": "COMMIT",
    "select 1;;commit": "COMMIT",
    "savepoint a; rollback to a; commit and chain": "COMMIT",
    r"select E'\'; ' ; commit": "COMMIT",
    r"select '\'; commit": "COMMIT",
    "do $$ begin end $$; commit": "COMMIT",
    "select $1; commit; select $2": "COMMIT",
    "close all": "CLOSE ALL",
    "x" * 3000 + "; commit": "COMMIT",
}
HARMLESS = [
    "rollback to a",
    "rollback work to savepoint a",
    "rollback to savepoint commit",
    "select case when a then b end",
    "select 'x; commit'",
    "select 'it''s; commit'",
    r"select E'\'; commit'",
    'select "; rollback;"',
    "do $$ begin commit; end $$",
    "do $a$ begin; commit; $$ ; rollback; $a$",
    "prepare x as select 1",
    "select 1 -- ; commit",
    "/* ; commit */ select 1",
    "create function f() returns int begin atomic; select 1; end; select 2",
    "create function f() returns text language sql begin atomic select case when true then 'a' end; end",
    "select a.commit from commit a; ",
    "(select 1); (select abort)",
    "release savepoint a",
    "close all_of_them",
    "unlisten *",
]


@pytest.mark.parametrize("text", ENDING, ids=lambda text: text[:40])
def test_a_statement_that_ends_the_transaction_is_found(text: str) -> None:
    assert transaction_end(text.encode()) == ENDING[text]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_statement_that_only_looks_like_it_is_not(text: str) -> None:
    assert transaction_end(text.encode()) is None
