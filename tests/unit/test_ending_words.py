"""How the end of an attempt is said: whose time it is, which failure, and when the next attempt comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.model.ending import failure_words
from catchment.runtime.words import completed_words, end_words


@pytest.mark.parametrize(
    ("number", "most", "is_last", "again_in", "words"),
    [
        (1, 4, False, 2.04, "failure 1 of 4, again in 2 s"),
        (2, 4, False, 0.31, "failure 2 of 4, again in 0.3 s"),
        (3, 4, False, 130.0, "failure 3 of 4, again in 2 min 10 s"),
        (1, 4, False, 0.0, "failure 1 of 4, again now"),
        (1, 4, False, None, "failure 1 of 4"),
        (4, 4, True, None, "failure 4 of 4, the last"),
        (1, 4, True, None, "failure 1 of 4, not retried"),
        (1, 1, True, None, ""),
        (None, None, False, None, ""),
    ],
)
def test_a_failure_is_counted_and_says_what_follows(
    number: int | None, most: int | None, is_last: bool, again_in: float | None, words: str
) -> None:
    assert failure_words(number, most, is_last=is_last, again_in=again_in) == words


def test_the_log_names_the_function_whose_time_it_is() -> None:
    assert end_words("send 7", "completed", 12.04, is_join=False, error=None) == "send 7 completed, handler 12.0 ms"
    assert completed_words("send 7", 12.04, is_join=False) == "send 7 completed, handler 12.0 ms"
    said = end_words("sum 8", "pending", 1, is_join=True, error="no", failures=1, max_attempts=3, again_in=2.0)
    assert said == "sum 8 failed, join 1.0 ms, failure 1 of 3, again in 2 s: no"


@given(st.floats(0, 1e9), st.booleans())
def test_a_completed_attempt_has_the_same_words_in_both_ways(milliseconds: float, is_join: bool) -> None:
    full = end_words("send 7", "completed", round(milliseconds, 1), is_join=is_join, error=None)
    assert completed_words("send 7", milliseconds, is_join=is_join) == full
