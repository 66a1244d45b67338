"""Wait for a person to approve, if necessary for days.

The task reads the decision from a table and snoozes until it is there. Meanwhile it holds no slot, no thread and no
connection.
"""

import asyncio
import os

import psycopg

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="payments")


@app.command
async def pay(ctx: catchment.Context, invoice: int) -> str:
    async with ctx.transaction() as conn:
        cursor = await conn.execute("select is_approved from approval where invoice = %s", [invoice])
        row = await cursor.fetchone()
    if row is None:
        await ctx.snooze(0.1, "waits for an approval")  # in production: minutes
        raise AssertionError("a snooze ends the attempt")
    return "paid" if row[0] else "rejected"


async def main() -> None:
    with psycopg.connect(app.dsn) as conn:
        conn.execute("create table if not exists approval (invoice integer primary key, is_approved boolean not null)")
        conn.execute("truncate approval")
    async with app, app.worker():
        task = await pay.enqueue(invoice=17)
        while (await task.info()).snoozes == 0:
            await asyncio.sleep(0.02)
        print("waiting for a decision")
        with psycopg.connect(app.dsn) as conn:  # the person decides
            conn.execute("insert into approval values (17, true)")
        print(await task.result(timeout=60))


if __name__ == "__main__":
    asyncio.run(main())
# prints: waiting for a decision
# prints: paid
