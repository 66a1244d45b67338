"""Two like trees, lanes, lines and limits, in which any two verbs can meet; made once, and put back again and again."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.engine import history
from tests.fixtures.engine import Engine

FAILED = Jsonb({"kind": "probe", "message": "failed", "retryable": False})
CHILD = {"command": "work", "payload": {}}
# Builders live an hour before those who collide, so that retries, scheduled tasks and deadlines are due for the latter.
BUILD_TIME, COLLISION_TIME = "2030-01-01 12:00+00", "2030-01-01 13:00+00"
# A session that locks a row waits a little before it locks the next, so that the verbs really meet.
SLOW_LOCKS = """
create function probe.linger() returns trigger language plpgsql as $$
begin
  perform pg_sleep(random() * 0.003);
  return coalesce(new, old);
end;
$$;
create trigger linger before update or delete on worker.running for each row execute function probe.linger();
create trigger linger before update or delete on worker.scope for each row execute function probe.linger();
create trigger linger before update or delete on worker.lane for each row execute function probe.linger();
create trigger linger before update or delete on worker.gate for each row execute function probe.linger();
create trigger linger before delete on worker.blocked for each row execute function probe.linger();
create trigger linger before delete on worker.ready for each row execute function probe.linger();
create trigger linger before delete on worker.outcome for each row execute function probe.linger();
"""

Claim = tuple[int, int]


def prepare(engine: Engine) -> None:
    """The queues and commands of the world. Queue ``work`` and command ``act`` run in SQL."""
    engine.queue("line", mode="serial")
    engine.queue("flow", mode="concurrent", max_depth=3)
    engine.queue("tight", mode="concurrent", max_running=4)
    engine.command("step", "line", handler_kind="python", timeout="1 minute")
    engine.command("line_twin", "line", handler_kind="python", dedup=[])
    engine.command("work", "flow", handler_kind="python", timeout="1 minute")
    engine.command("twin", "flow", handler_kind="python", dedup=[], priority=50)
    engine.command("narrow", "tight", handler_kind="python", limit_key=[], max_running=3)
    engine.conn.execute(SLOW_LOCKS)
    engine.conn.execute("select set_config('worker.now', %s, false)", [BUILD_TIME])


class World:
    """What is in the database, and which claims each of two sides holds in both trees."""

    def __init__(self, conn: Connection[Any]) -> None:
        self.conn = conn
        history.clear(conn)
        self.worker_id = self.value("select worker_id from worker.register_worker('probe')")
        self.held: list[list[Claim]] = [[], []]
        self.crossing: list[list[Claim]] = [[], []]
        self.heads: list[list[Claim]] = [[], []]
        self.limited: list[list[Claim]] = [[], []]
        self.build_failures()
        self.build_heads()
        self.build_trees()
        self.build_limits()
        self.build_sql()
        self.build_lines()
        self.save()

    def build_failures(self) -> None:
        # A lane that halted on a failed scope and was skipped, so that it has no row any more.
        self.failed_scope = self.enqueue("work", lane="c")
        self.complete(self.claim_all()[0], spawns=1)
        self.fail(self.claim_all()[0])
        self.conn.execute("select worker.skip_halted('flow', 'c')")
        self.failed_root = self.enqueue("work")
        self.fail(self.claim_all()[0])
        # A lane that has halted, with tasks behind.
        self.failed_head = self.enqueue("work", lane="halted")
        self.fail(self.claim_all()[0])
        for _ in range(2):
            self.enqueue("work", lane="halted")

    def build_heads(self) -> None:
        """Lanes whose head is held, with two tasks behind: each side has two of them."""
        lanes = ["d", "e", "f", "g"]
        for lane in lanes:
            self.enqueue("work", lane=lane)
        for n, claim in enumerate(self.claim_all()):
            self.heads[n % 2].append(claim)
        self.queued = [self.enqueue("work", lane=lane) for lane in lanes * 2]

    def build_trees(self) -> None:
        """In each tree a child has failed, one waits for two grandchildren, one is held, one is ready."""
        self.roots = [self.enqueue("work", lane=lane) for lane in "ab"]
        for claim in self.claim_all():
            self.complete(claim, spawns=4)
        children = self.claim_all()
        trees = [children[:4], children[4:]]
        self.failed_children = [failed[0] for failed, *_ in trees]
        self.ready_children = [ready[0] for *_, ready in trees]
        for side, (failed, parent, held, _) in enumerate(trees):
            self.fail(failed)
            self.complete(parent, spawns=2)
            self.held[side].append(held)
        grandchildren = self.claim_all()
        for *_, ready in trees:
            self.release(ready)
        for n, claim in enumerate(grandchildren):
            self.held[n % 2].append(claim)
        # A child of one tree with a grandchild of the other: the deeper scope comes first, whichever tree does.
        self.crossing = [[self.held[0][0], grandchildren[2]], [self.held[1][0], grandchildren[1]]]

    def build_lines(self) -> None:
        """Tasks that wait in both queues, in the lanes of the trees, and for their time."""
        self.enqueue("step")
        self.held[0][:0] = self.claim_all("line")
        for command, lane in [("step", None), ("line_twin", None), ("work", "a"), ("work", "b"), ("twin", None)]:
            self.enqueue(command, lane=lane)
        self.conn.execute("select worker.admit_arrivals()")
        self.arrived = [self.enqueue("work", lane=lane) for lane in "abc"]
        self.scheduled = self.value(
            "select worker.enqueue('work', p_scheduled_at => worker.now() + interval '5 minutes')"
        )

    def build_limits(self) -> None:
        """Two tasks hold their place in a limit, one was let in and has not started, two stand at the gate."""
        self.let_in = [self.enqueue("narrow") for _ in range(3)]
        claims = self.claim_all("tight")
        self.release(claims.pop())
        for side, claim in enumerate(claims):
            self.limited[side].append(claim)
        for _ in range(2):
            self.enqueue("narrow")

    def build_sql(self) -> None:
        """A parent with children, and a second one behind it, all with handlers in SQL."""
        engine = Engine(self.conn)
        self.sql_roots = [engine.enqueue("act", spawn=[{"sleep": 0.002}] * 3, sleep=0.002) for _ in range(2)]

    def save(self) -> None:
        """Keep all of it, to be put back."""
        self.conn.execute("drop schema if exists saved cascade; create schema saved")
        for table in history.DATA:
            self.conn.execute(f"create table saved.{table} as table worker.{table}")  # type: ignore[arg-type]
        self.sides = deepcopy((self.held, self.crossing, self.heads, self.limited))

    def restore(self) -> None:
        """Everything as it was when it was saved."""
        with self.conn.transaction():
            self.conn.execute("set local session_replication_role = replica; set local lock_timeout = 0")
            for table in history.DATA:
                self.conn.execute(
                    f"delete from worker.{table};"  # type: ignore[arg-type]
                    f" insert into worker.{table} overriding system value table saved.{table}"
                )
        self.held, self.crossing, self.heads, self.limited = deepcopy(self.sides)

    def forget_ended_claims(self) -> None:
        running = set(self.conn.execute("select id, fence from worker.running").fetchall())
        for claims in (*self.held, *self.crossing, *self.heads, *self.limited):
            claims[:] = [claim for claim in claims if claim in running]

    def value(self, sql: str, *arguments: Any) -> Any:
        row = self.conn.execute(sql, arguments).fetchone()  # type: ignore[arg-type]
        return None if row is None else row[0]

    def enqueue(self, command: str, *, lane: str | None = None) -> int:
        return self.value("select worker.enqueue(%s, p_lane => %s)", command, lane)

    def claim_all(self, queue: str = "flow") -> list[Claim]:
        sql = "select id, fence from worker.claim_tasks(%s, array[%s], 100) order by id"
        return self.conn.execute(sql, [self.worker_id, queue]).fetchall()

    def complete(self, claim: Claim, *, spawns: int) -> None:
        sql = "select worker.complete_task(%s, %s, p_spawns => %s)"
        self.conn.execute(sql, [*claim, Jsonb([CHILD] * spawns)])

    def fail(self, claim: Claim) -> None:
        self.conn.execute("select worker.fail_task(%s, %s, %s)", [*claim, FAILED])

    def release(self, claim: Claim) -> None:
        self.conn.execute("select worker.release_task(%s, %s)", claim)
