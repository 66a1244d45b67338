from collections.abc import Callable

import psycopg

from books import build_book, build_page
from catchment.testing import Run


def test_a_page_has_its_words(catchment_inline: Callable[..., Run]) -> None:
    assert catchment_inline(build_page, title="Notes", n=7).result == 107


def test_a_book_is_bound_and_shipped(
    catchment_tx: psycopg.Connection, catchment_drain: Callable[[], dict[str, int]]
) -> None:
    catchment_tx.execute("create table books (title text primary key, words integer)")
    task = build_book.sync.enqueue(title="Notes", pages=3)
    assert catchment_drain() == {"completed": 5}
    assert task.result() == 303
    assert catchment_tx.execute("select words from books").fetchall() == [(303,)]
