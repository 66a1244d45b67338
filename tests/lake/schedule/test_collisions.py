"""Many at once: refreshes that end, ticks and people, on the same tables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

from catchment.errors import ClaimLost, PublishVetoed
from tests.fixtures.lake_case import LakeCase
from tests.lake.control.support import publication
from tests.lake.schedule.support import add

HOUR = timedelta(hours=1)
OPEN = """
select r.id from lake.refresh as r
 where r.task_id is not null and r.finished_at is null and r.state = 'SCHEDULED' order by r.id limit 1 offset %s
"""


class Crowd:
    """Threads that do something over and over until all is done; what they raise is kept."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.errors: list[BaseException] = []
        self._threads: list[threading.Thread] = []

    def add(self, act: Callable[[], object], *, pause: float = 0.005) -> None:
        def repeat() -> None:
            try:
                while not self.stopping.wait(pause):
                    act()
            except BaseException as error:
                self.errors.append(error)
                self.stopping.set()

        self._threads.append(threading.Thread(target=repeat))

    def run(self, *, seconds: float) -> None:
        for thread in self._threads:
            thread.start()
        self.stopping.wait(seconds)
        self.stopping.set()
        for thread in self._threads:
            thread.join()
        assert self.errors == []


def test_nothing_deadlocks_and_no_round_is_left_behind(lake_case: LakeCase) -> None:
    control = lake_case.control
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    tables = {"a": ["s"], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["s"], "f": ["e"]}
    ids = [add(lake_case, name, *sources, lag=timedelta(seconds=1)).dt_id for name, sources in tables.items()]

    def work(place: int) -> None:
        """As a worker does it, with nothing to write; now and then it fails."""
        rows = lake_case.pg(OPEN, place)
        if not rows:
            return
        fence = lake_case.next_fence() * 10 + place
        try:
            order = control.begin_refresh(rows[0][0], fence, HOUR)
            if order.state == "EXECUTING" and fence % 7 == 0:
                control.fail_refresh(order.refresh_id, fence, "QUERY", "no")
                return
            if order.state == "EXECUTING":
                control.prepare_publish(order.refresh_id, fence, publication(lake_case, order, 0))
                control.move_frontier(order.refresh_id, fence)
            if order.state in ("EXECUTING", "PUBLISHED"):  # published: by an attempt that has lost its claim since
                control.finish_refresh(order.refresh_id, fence, {})
        except (ClaimLost, PublishVetoed):  # cancelled before, or while it was being published
            return

    crowd = Crowd()
    crowd.add(lambda: work(0))
    crowd.add(lambda: work(1))
    crowd.add(control.tick)
    crowd.add(lambda: control.request_round([ids[3], ids[5]]), pause=0.2)
    crowd.add(lambda: [control.cancel_refreshes(dt_id, "not now") for dt_id in ids[1:3]], pause=0.1)
    crowd.add(lambda: (control.suspend(ids[4]), control.resume(ids[4]), control.set_schedule()))
    crowd.run(seconds=3)

    for _ in range(1000):
        if not lake_case.pg(OPEN, 0):
            control.advance()
            if lake_case.pg("select count(*) from lake.round where closed_at is null") == [(0,)]:
                break
        work(0)
    assert lake_case.pg("select count(*) from lake.round where closed_at is null") == [(0,)]
    assert lake_case.pg("select count(*) from lake.refresh where finished_at is null") == [(0,)]
    assert lake_case.pg("select count(*) > 5 from lake.refresh where state = 'SUCCEEDED'") == [(True,)]
    # One table at a time, in the order of the rounds: no refresh of a table succeeded after a newer one had.
    assert lake_case.pg(
        """
        select count(*) from lake.refresh as r join lake.round as o on o.id = r.round_id
          join lake.refresh as n on n.dt_id = r.dt_id and n.id > r.id and n.state = 'SUCCEEDED'
         where r.state = 'SUCCEEDED'
           and coalesce(n.published_at, n.finished_at) < coalesce(r.published_at, r.finished_at)
        """
    ) == [(0,)]
    assert lake_case.pg("select * from worker.check_invariants()") == []
