"""The counters of a worker, without a worker."""

from __future__ import annotations

from catchment.runtime.metrics import MOST_COMMANDS, MOST_KINDS, OTHER, SHOWN, Histogram, Metrics


def test_every_counter_is_shown_and_nothing_else() -> None:
    counted = {name for name, value in vars(Metrics()).items() if isinstance(value, int | Histogram)}
    assert set(SHOWN) == counted


def test_a_claim_counts_with_its_size_and_its_time() -> None:
    metrics = Metrics()
    metrics.claimed(0, 0.001)
    metrics.claimed(7, 0.002)
    assert (metrics.claims, metrics.claim_size.sum, metrics.claim_seconds.count) == (2, 7, 2)


def test_a_sql_handler_counts_by_the_state_it_left() -> None:
    metrics = Metrics()
    for state in ("completed", "waiting", "cancelled", "lost", "pending", "failed", "snoozed"):
        metrics.processed("tally", "books", state, 0.1)
    figures = metrics.of("tally", "books")
    assert {outcome: seconds.count for outcome, seconds in figures.seconds.items()} == {
        "completed": 2, "failed": 1, "retried": 1, "cancelled": 1, "interrupted": 0, "snoozed": 1, "lost": 1,
    }  # fmt: skip
    assert (figures.kinds["sql"], metrics.fenced_writes) == (2, 1)


def test_names_of_commands_and_of_error_classes_make_a_bounded_number_of_series() -> None:
    metrics = Metrics([("known", "mail")])
    for number in range(3 * MOST_COMMANDS):
        metrics.processed(f"made_up_{number}", f"queue_{number}", "completed", 0.1)
        metrics.of_app("known").failed(f"Error{number}")
    assert len(metrics.commands) == MOST_COMMANDS + 1
    assert sum(figures.seconds["completed"].count for figures in metrics.commands.values()) == 3 * MOST_COMMANDS
    assert metrics.of("one more", "anywhere") is metrics.commands[OTHER, OTHER]
    kinds = metrics.of_app("known").kinds
    assert (len(kinds), kinds.total()) == (MOST_KINDS + 1, 3 * MOST_COMMANDS)
    assert metrics.of_app("known") is metrics.commands["known", "mail"]
