"""Send each e-mail once, although a handler may run again.

No queue can make the outside world exactly-once: a worker may die after the mail has left and before that is recorded.
So the mail gets a key that does not change between attempts, which mail services accept as an idempotency key and use
to drop the second one. Your own record of it commits with the task.
"""

import asyncio
import os

import psycopg

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="mail")
delivered: dict[str, str] = {}


async def mail_service(key: str, to: str) -> None:
    """A stand-in for the service: it accepts a key once."""
    delivered.setdefault(key, to)


@app.command(max_attempts=3, retry=catchment.Retry(delay=0.01))
async def send(ctx: catchment.Context, to: str) -> None:
    await mail_service(key=f"task-{ctx.task_id}", to=to)
    if ctx.attempt == 1:
        raise ConnectionError("the connection was lost after the mail had left")
    async with ctx.transaction() as conn:
        await conn.execute("insert into sent_mail (recipient) values (%s)", [to])


async def main() -> None:
    with psycopg.connect(app.dsn, autocommit=True) as conn:
        conn.execute("create table if not exists sent_mail (recipient text)")
        conn.execute("truncate sent_mail")
        async with app, app.worker():
            await (await send.enqueue(to="ada@example.org")).result(timeout=60)
        print(
            len(delivered), "delivered,", *conn.execute("select count(*) from sent_mail").fetchone() or (), "recorded"
        )


if __name__ == "__main__":
    asyncio.run(main())
# prints: 1 delivered, 1 recorded
