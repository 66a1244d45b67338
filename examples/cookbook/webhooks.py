"""Take webhooks that the sender repeats: each event is processed once.

The id of the event is a unique row in your own table. The row and the task are one commit, so a repeated delivery, or
one that is cut off, changes nothing.
"""

import asyncio
import os

import psycopg

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="webhooks")
handled: list[str] = []


@app.command(max_attempts=5)
async def handle(event: str) -> None:
    handled.append(event)


def receive(event: str) -> str:
    """What the web framework calls for each delivery."""
    with psycopg.connect(app.dsn) as conn:
        new = conn.execute("insert into delivery (event) values (%s) on conflict do nothing returning event", [event])
        if new.fetchone() is None:
            return "200: known already"
        handle.sync.using(conn=conn).enqueue(event=event)
    return "200: accepted"


async def main() -> None:
    with psycopg.connect(app.dsn) as conn:
        conn.execute("create table if not exists delivery (event text primary key)")
        conn.execute("truncate delivery")
    async with app, app.worker():
        for event in ("evt_1", "evt_2", "evt_1"):
            print(event, await asyncio.to_thread(receive, event))
        while len(handled) < 2:
            await asyncio.sleep(0.02)
    print(sorted(handled))


if __name__ == "__main__":
    asyncio.run(main())
# prints: evt_1 200: accepted
# prints: evt_2 200: accepted
# prints: evt_1 200: known already
# prints: ['evt_1', 'evt_2']
