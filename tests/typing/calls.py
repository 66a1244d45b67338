"""Calls, and what a type checker says about each: the comment has its verdict, or there is none."""

from typing import assert_type

from pydantic import BaseModel

from catchment import App, Child, Context, Retry, SyncTask, Task

app = App(queue="letters")


class Receipt(BaseModel):
    to: str
    pages: int


@app.command(max_attempts=3, retry=Retry(delay=5))
async def send(to: str, pages: int = 1) -> Receipt:
    return Receipt(to=to, pages=pages)


@app.command
def count(ctx: Context, words: list[str]) -> int:
    ctx.follow_up(send, to="archive")
    ctx.follow_up(send, to=7)  # error: an int for a str
    return len(words)


@app.command
async def send_all(ctx: Context, names: list[str]) -> int:
    ctx.spawn(send, to="first")
    ctx.spawn(send.using(priority=5), "second", pages=2)
    ctx.spawn(send)  # error: to is missing
    ctx.spawn(send, to="third", lane="x")  # error: lane is not a parameter
    ctx.spawn_many(send.item(to=name) for name in names)
    ctx.spawn_many([send.item(name=name) for name in names])  # error: no such parameter
    ctx.spawn("sql_command", {"any": "thing"}, priority=5)
    return ctx.result_of_join()


@send_all.join
async def add_up(children: list[Child[Receipt]]) -> int:
    return sum(child.result.pages for child in children)


@count.join  # error: the join returns a str, the handler an int
def spell(children: list[Child[Receipt]]) -> str:
    return str(len(children))


async def calls(task_id: int) -> None:
    task = await send.enqueue(to="ada")
    assert_type(task, Task[Receipt])
    assert_type(await task.result(timeout=10), Receipt)
    await send.enqueue("ada", 2)
    await send.enqueue()  # error: to is missing
    await send.enqueue(to=1)  # error: an int for a str
    await send.enqueue(to="ada", pages="2")  # error: a str for an int
    await send.enqueue(to="ada", copies=2)  # error: no such parameter
    await send.enqueue(to="ada", lane="order-17")  # error: lane is an option, for using
    await send.enqueue("ada", 2, 3)  # error: too many

    await send.using(lane="order-17", priority=5, delay=60).enqueue(to="ada")
    await send.using(lane=17).enqueue(to="ada")  # error: an int for a str
    await send.using(line="order-17").enqueue(to="ada")  # error: no such option

    await count.enqueue(words=["a"])
    await count.enqueue(Context.local(), words=["a"])  # error: callers do not give the context
    assert_type(await (await count.enqueue(["a"])).result(), int)
    assert_type(await (await send_all.enqueue(names=[])).result(), int)

    await send.enqueue_many([send.item(to="ada"), send.using(lane="x").item(to="bob")])
    await send.enqueue_many([{"to": "ada"}])  # error: a mapping is no item
    await send.enqueue_many([count.item(words=[])])  # error: an item of another command
    assert_type(await send.enqueue_many([]), list[Task[Receipt]])

    letter = send.task(task_id)
    assert_type(await letter.result(), Receipt)
    assert_type(await letter.cancel("not needed"), str)
    letter.result()  # error: it is not awaited

    assert_type(await send(to="ada"), Receipt)
    assert_type(count(Context.local(), words=[]), int)
    await send(to=1)  # error: an int for a str

    await app.enqueue("sql_command", {"any": "thing"}, lane="order-17")
    await app.enqueue(send, {"to": "ada"})  # error: a command is enqueued by itself


def calls_without_asyncio() -> None:
    task = send.sync.using(lane="order-17").enqueue(to="ada")
    assert_type(task, SyncTask[Receipt])
    assert_type(task.result(timeout=10), Receipt)
    send.sync.enqueue(to=1)  # error: an int for a str
    send.sync.enqueue_many([send.item(to="ada")])
    app.sync.enqueue("sql_command", {"any": "thing"})


@app.schedule(cron="0 6 * * *", tz="Europe/Oslo", overlap="skip")
@app.command
async def remind(kind: str = "short") -> int:
    return len(kind)


@app.schedule(every=60)  # error: a function, expected a command
async def forget() -> None: ...


async def schedules() -> None:
    assert_type(await (await remind.enqueue("long")).result(), int)
    await remind.enqueue(kind=1)  # error: an int for a str
    app.schedule(remind.item("long"), every=60, missed="all")
    app.schedule(remind.item(1), every=60)  # error: an int for a str
    app.schedule(remind, every=60)  # error: a command, expected an item
    app.schedule(remind.item(), every=60, overlap="maybe")  # error: no such policy
    app.schedule(every="1 hour")  # error: a str for seconds
