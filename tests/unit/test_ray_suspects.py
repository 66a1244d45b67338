"""Nodes whose bodies were given up as silent get no body for a while, unless there is no other."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from catchment.runtime.ray import suspects
from catchment.runtime.ray.suspects import SUSPECTED_SECONDS, Suspects

BEAT = 2.0


def _node(name: str, *, cpus: int = 2, is_alive: bool = True) -> dict[str, Any]:
    return {"NodeID": name, "Alive": is_alive, "Resources": {"CPU": cpus, "memory": 1000}}


NODES = [_node("head", cpus=0), _node("one"), _node("two")]
AVOIDING_ONE = {"ray.io/node-id": "!in(one)"}


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [time.monotonic()]
    monkeypatch.setattr(suspects.time, "monotonic", lambda: now[0])

    def later(seconds: float) -> None:
        now[0] += seconds

    return later


@pytest.fixture
def silent(wait: Callable[[float], None]) -> Suspects:
    """Node one has had a body that was given up after four beats."""
    made = Suspects(BEAT)
    made.started("lost", "one")
    wait(4 * BEAT)
    made.cancelled("lost")
    made.ended("lost")
    return made


def test_the_node_of_a_silent_body_is_avoided_for_a_while(silent: Suspects, wait: Callable[[float], None]) -> None:
    assert silent.avoided(NODES, {"num_cpus": 1, "memory": None}) == AVOIDING_ONE
    wait(SUSPECTED_SECONDS - 1)
    assert silent.avoided(NODES, {}) == AVOIDING_ONE
    wait(2)
    assert silent.avoided(NODES, {}) == {}


def test_a_body_that_is_cancelled_while_it_is_heard_of_accuses_no_node(wait: Callable[[float], None]) -> None:
    made = Suspects(BEAT)
    made.started("call", "one")
    for _ in range(5):
        wait(BEAT)
        made.heard("call")
    made.cancelled("call")
    made.cancelled("unknown")
    assert made.avoided(NODES, {}) == {}


def test_a_node_that_is_heard_of_again_is_trusted(silent: Suspects) -> None:
    silent.started("next", "two")
    assert silent.avoided(NODES, {}) == AVOIDING_ONE
    silent.started("another", "one")
    assert silent.avoided(NODES, {}) == {}


def test_nothing_is_avoided_if_no_other_node_could_run_the_body(silent: Suspects) -> None:
    assert silent.avoided([_node("head", cpus=0), _node("one")], {}) == {}
    assert silent.avoided([_node("one"), _node("two", is_alive=False)], {}) == {}
    for wanted in ({"num_cpus": 3}, {"num_gpus": 1}, {"memory": 1001}):
        assert silent.avoided(NODES, wanted) == {}
    assert silent.avoided([_node("head", cpus=0), _node("one")], {"num_cpus": 0}) == AVOIDING_ONE


def test_a_suspect_that_has_been_declared_dead_needs_no_selector(silent: Suspects) -> None:
    assert silent.avoided([_node("one", is_alive=False), _node("two")], {}) == {}
    assert silent.avoided([], {}) == {}
