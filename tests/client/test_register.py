"""Registration: what the first enqueue does, what ``register`` does, and what neither may."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from catchment import (
    App,
    Child,
    CommandNotRegistered,
    DefinitionRefused,
    Limit,
    NameTaken,
    QueueNotRegistered,
    RequestRefused,
    Retry,
    SchemaMismatch,
)
from catchment.store import registry
from catchment.store.foreign.of_psycopg import PsycopgSender
from tests.client.support import Shop
from tests.fixtures.engine import Engine


def registered(engine: Engine, command: str) -> dict[str, Any] | None:
    return engine.value("select to_jsonb(c) from worker.command_registry as c where command = %s", command)


def as_user_in(engine: Engine, role: str, db: str) -> str:
    """The DSN of a user that is a member of this role alone."""
    user = f"member_{engine.value('select current_database()')}_{role}"
    engine.conn.execute(f"create role {user} login in role {role}")
    return make_conninfo(db, user=user)


def test_the_first_enqueue_registers_the_command_and_its_queue(shop: Shop) -> None:
    shop.run(lambda: shop.send.enqueue(to="a"))
    row = registered(shop.engine, "send")
    assert row is not None
    assert (row["handler_kind"], row["queue"], row["max_attempts"]) == ("python", "mail", 3)
    assert shop.engine.value("select mode from worker.queue_registry where queue = 'mail'") == "concurrent"
    assert registered(shop.engine, "gather") is None


def test_the_first_enqueue_changes_nothing_that_exists(shop: Shop) -> None:
    shop.engine.queue("other")
    shop.engine.command("send", "other", handler_kind="python", max_attempts=9)
    shop.run(lambda: shop.send.enqueue(to="a"))
    row = registered(shop.engine, "send")
    assert row is not None
    assert (row["queue"], row["max_attempts"]) == ("other", 9)


def test_register_makes_all_commands(shop: Shop) -> None:
    assert shop.run(shop.app.register) == 3
    row = registered(shop.engine, "gather")
    assert row is not None
    assert (row["dedup"], row["merge"]) == (["customer"], {"items": "union"})


def test_register_changes_only_what_differs(shop: Shop) -> None:
    shop.run(shop.app.register)
    shop.engine.conn.execute("update worker.command_registry set max_attempts = 9 where command = 'send'")
    assert shop.run(shop.app.register) == 1
    assert shop.run(shop.app.register) == 0
    row = registered(shop.engine, "send")
    assert row is not None
    assert row["max_attempts"] == 3


def test_register_leaves_a_queue_as_it_is(shop: Shop) -> None:
    shop.engine.queue("mail", mode="serial", concurrency=5)
    shop.run(shop.app.register)
    row = shop.engine.conn.execute("select mode, concurrency from worker.queue_registry where queue = 'mail'")
    assert row.fetchone() == ("serial", 5)


def test_a_queue_of_an_app_allows_any_depth_and_one_made_by_sql_keeps_its_own(shop: Shop) -> None:
    def depth(queue: str) -> int | None:
        return shop.engine.value("select max_depth from worker.queue_registry where queue = %s", queue)

    shop.engine.queue("from_sql")
    shop.engine.queue("raised")
    shop.app.queue("from_sql", concurrency=2)
    shop.app.queue("raised", max_depth=3)
    shop.app.queue("limited", max_depth=1)
    shop.run(shop.app.register)
    assert [depth(queue) for queue in ("mail", "from_sql", "raised", "limited")] == [None, 1, 3, 1]


def test_the_first_enqueue_makes_a_queue_as_the_app_describes_it(shop: Shop) -> None:
    shop.app.queue("mail", mode="serial", max_depth=2)
    shop.run(lambda: shop.send.enqueue(to="a"))
    row = shop.engine.conn.execute("select mode, max_depth from worker.queue_registry where queue = 'mail'").fetchone()
    assert row == ("serial", 2)


def test_register_writes_every_option(db: str, connect: Any) -> None:
    app = App(db)

    @app.command(
        name="all",
        queue="q",
        priority=5,
        max_attempts=2,
        retry=Retry(factor=3, jitter=0),
        timeout=1.5,
        dedup=(),
        merge={"n": {"op": "max", "type": "numeric"}},
        on_failure="continue",
        description="all of them",
    )
    def handler(n: int) -> None: ...

    @handler.join
    def collect(children: list[Child]) -> None: ...

    app.sync.register()
    app.sync.close()
    row = registered(Engine(connect()), "all")
    assert row is not None
    del row["created_at"]
    assert row.pop("payload_schema")["properties"]["n"]["type"] == "integer"
    assert row == {
        "command": "all",
        "queue": "q",
        "handler_kind": "python",
        "handler_procedure": f"{__name__}:{handler.fn.__qualname__}",
        "handler_signature": None,
        "join_signature": None,
        "before_procedure": None,
        "after_procedure": None,
        "join_procedure": f"{__name__}:{collect.__qualname__}",
        "priority": 5,
        "max_attempts": 2,
        "retry_delay": "00:00:01",
        "retry_factor": 3,
        "retry_max_delay": "00:01:00",
        "retry_jitter": 0,
        "timeout": "00:00:01.5",
        "dedup": [],
        "merge": {"n": {"op": "max", "type": "numeric"}},
        "on_failure": "continue",
        "is_batched": True,
        "limit_key": None,
        "max_running": None,
        "rate": None,
        "rate_per": "00:00:01",
        "description": "all of them",
        "project": None,
    }


def test_a_sql_command_never_becomes_a_python_one(shop: Shop) -> None:
    shop.engine.queue("mail")
    shop.engine.command("send", "mail", handler_procedure="public.send")
    for verb in (shop.app.register, lambda: shop.send.enqueue(to="a")):
        with pytest.raises(NameTaken, match=r"command send is registered with the SQL handler public\.send"):
            shop.run(verb)
    row = registered(shop.engine, "send")
    assert row is not None
    assert row["handler_kind"] == "sql"


def test_a_command_of_an_unknown_queue_is_refused(shop: Shop) -> None:
    sender = PsycopgSender(shop.engine.conn)
    with pytest.raises(QueueNotRegistered, match="unknown queue 'nowhere' of command x"):
        registry.register_commands(sender, [], [{"command": "x", "queue": "nowhere"}], overwrite=False)


def test_a_registered_command_is_found_while_another_transaction_changes_it(shop: Shop) -> None:
    shop.app.sync.register()
    with shop.engine.conn.transaction():
        shop.engine.conn.execute("update worker.command_registry set description = 'x'")
        shop.run(lambda: shop.send.enqueue(to="a"))


def test_the_error_for_a_user_that_may_not_register_says_what_to_do(shop: Shop, db: str) -> None:
    app = App(as_user_in(shop.engine, "catchment_enqueue", db))
    send = app.command(queue="mail")(shop.send.fn)
    with pytest.raises(
        CommandNotRegistered, match="send is not registered in this database, and this user may not"
    ) as caught:
        send.sync.enqueue(to="a")
    assert "Start a worker with this app once" in (caught.value.hint or "")
    app.sync.close()


def test_a_user_that_may_not_register_enqueues_what_is_registered(shop: Shop, db: str) -> None:
    shop.app.sync.register()
    app = App(as_user_in(shop.engine, "catchment_enqueue", db))
    task = app.command(queue="mail")(shop.send.fn).sync.enqueue(to="a").id
    app.sync.close()
    assert shop.engine.state(task) == "pending"


def test_the_transaction_of_a_user_that_may_not_register_goes_on(shop: Shop, db: str) -> None:
    shop.app.sync.register()
    dsn = as_user_in(shop.engine, "catchment_enqueue", db)
    app = App(dsn)
    send = app.command(queue="mail")(shop.send.fn)
    with psycopg.connect(dsn) as conn:
        task = send.sync.using(conn=conn).enqueue(to="a").id
    assert shop.engine.state(task) == "pending"


def test_a_user_that_only_enqueues_may_not_read_results(shop: Shop, db: str) -> None:
    shop.app.sync.register()
    app = App(as_user_in(shop.engine, "catchment_enqueue", db))
    task = app.command(queue="mail")(shop.send.fn).sync.enqueue(to="a").id
    with pytest.raises(RequestRefused, match="this user may not read tasks") as caught:
        app.sync.task(task).result(timeout=1)
    assert "catchment_read" in (caught.value.hint or "")
    app.sync.close()


def test_a_worker_user_may_register(shop: Shop, db: str) -> None:
    app = App(as_user_in(shop.engine, "catchment_worker", db))
    task = app.command(queue="mail")(shop.send.fn).sync.enqueue(to="a").id
    app.sync.close()
    assert shop.engine.state(task) == "pending"


def test_a_command_that_was_deleted_is_registered_again_at_the_second_try(shop: Shop) -> None:
    shop.send.sync.enqueue(to="a")
    shop.engine.conn.execute("delete from worker.command_registry where command = 'send'")
    with pytest.raises(CommandNotRegistered, match="send is no longer registered"):
        shop.send.sync.enqueue(to="b")
    shop.send.sync.enqueue(to="c")
    assert shop.column("payload ->> 'to'") == ["a", "c"]


def test_two_apps_that_register_at_once_do_not_collide(shop: Shop, db: str) -> None:
    names = [f"c{n}" for n in range(50)]
    apps = [App(db), App(db)]
    for app, order in zip(apps, (names, names[::-1]), strict=True):
        for name in order:
            app.command(name=name, queue=f"q{name}")(shop.send.fn)
    threads = [threading.Thread(target=app.sync.register) for app in apps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for app in apps:
        app.sync.close()
    assert shop.engine.value("select count(*) from worker.command_registry where queue like 'qc%%'") == 50


def test_a_database_without_the_schema_says_how_to_install_it(shop: Shop, server: str) -> None:
    app = App(server)
    send = app.command(shop.send.fn)
    for verb in (
        lambda: send.sync.enqueue(to="a").id,
        lambda: app.sync.enqueue("other").id,
        lambda: app.sync.task(1).info(),
    ):
        with pytest.raises(
            SchemaMismatch, match=r"Catchment is not installed in this database.* \(database .* on "
        ) as caught:
            verb()
        assert caught.value.hint == "Run: catchment migrate"
    app.sync.close()


def test_only_python_commands_are_made(shop: Shop) -> None:
    shop.engine.queue("q")
    row = {"command": "x", "queue": "q", "handler_kind": "sql", "handler_procedure": "pg_catalog.anything"}
    shop.engine.value("select worker.register_commands('[]', %s)", Jsonb([row]))
    made = registered(shop.engine, "x")
    assert made is not None
    assert (made["handler_kind"], made["handler_procedure"]) == ("python", "pg_catalog.anything")


def test_register_writes_limits_and_queues(db: str, connect: Any) -> None:
    app = App(db)
    app.queue("mail", mode="serial", max_running=3, rate=10, per=60)

    @app.command(queue="mail", limit=Limit("customer", max_running=2, rate=5, per=timedelta(minutes=1)))
    def send(customer: int) -> None: ...

    app.sync.register()
    app.sync.close()
    engine = Engine(connect())
    row = registered(engine, "send")
    assert row is not None
    assert (row["limit_key"], row["max_running"], row["rate"], row["rate_per"]) == (["customer"], 2, 5, "00:01:00")
    queue = engine.value("select to_jsonb(q) from worker.queue_registry as q where queue = 'mail'")
    assert (queue["mode"], queue["max_running"], queue["rate"], queue["rate_per"]) == ("serial", 3, 10, "00:01:00")


def test_register_changes_of_a_queue_only_what_is_said(db: str, connect: Any) -> None:
    engine = Engine(connect())
    engine.conn.execute("insert into worker.queue_registry (queue, mode, concurrency) values ('mail', 'serial', 7)")
    app = App(db)
    app.queue("mail", max_running=3)
    assert app.sync.register() == 1
    assert app.sync.register() == 0
    app.sync.close()
    queue = engine.value("select to_jsonb(q) from worker.queue_registry as q where queue = 'mail'")
    assert (queue["mode"], queue["concurrency"], queue["max_running"]) == ("serial", 7, 3)


def test_limit_names_parameters_of_the_handler(db: str) -> None:
    with pytest.raises(DefinitionRefused, match="limit of send names tenant"):

        @App(db).command(limit=Limit("tenant", max_running=1))
        def send(customer: int) -> None: ...
