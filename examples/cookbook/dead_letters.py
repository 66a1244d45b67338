"""Look at tasks that failed for good, and run them again when the cause is fixed.

A failed task stays where it is, with the error of each attempt. There is no second queue to watch: `catchment task
list --state failed` lists them, the dashboard shows them first, and `catchment task retry --failed --queue mail` runs
all of them again.
"""

import asyncio
import os

import psycopg

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="mail")
outage = True


@app.command(max_attempts=2, retry=catchment.Retry(delay=0.01))
async def send(to: str) -> str:
    if outage:
        raise ConnectionError("the mail server is away")
    return f"sent to {to}"


async def main() -> None:
    global outage
    async with app, app.worker():
        tasks = [await send.enqueue(to=to) for to in ("ada", "bob")]
        for task in tasks:
            try:
                await task.result(timeout=60)
            except catchment.TaskFailed as failure:
                print(str(failure).partition("failed with ")[2])
        outage = False
        with psycopg.connect(app.dsn) as conn:
            failed = conn.execute("select id from worker.tasks where command = 'send' and state = 'failed' order by id")
            for (task_id,) in failed.fetchall():
                await app.task(task_id).retry()
        for task in tasks:
            print(await task.result(timeout=60))


if __name__ == "__main__":
    asyncio.run(main())
# prints: ConnectionError: the mail server is away
# prints: ConnectionError: the mail server is away
# prints: sent to ada
# prints: sent to bob
