"""Cancel everything of one tenant, running or not, with all of its children.

Tasks are rows, so a query finds them: here by the payload. Cancelling a root reaches its whole tree.
"""

import asyncio
import os

import psycopg

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="tenants")
OPEN_ROOTS = """
select id from worker.tasks
 where queue = 'tenants' and parent_id is null and payload ->> 'tenant' = %s
   and state not in ('completed', 'failed', 'cancelled')
"""


@app.command
async def crunch(tenant: str, hours: float) -> str:
    await asyncio.sleep(hours * 3600)
    return f"{tenant} is done"


@app.command
async def analyse(ctx: catchment.Context, tenant: str, hours: float) -> None:
    ctx.spawn(crunch, tenant=tenant, hours=hours)


async def main() -> None:
    async with app, app.worker():
        other = await analyse.enqueue(tenant="globex", hours=0)
        tasks = [await analyse.enqueue(tenant="acme", hours=8) for _ in range(3)]
        with psycopg.connect(app.dsn) as conn:
            for (task_id,) in conn.execute(OPEN_ROOTS, ["acme"]).fetchall():
                await app.task(task_id).cancel("acme has left")
        for task in tasks:
            try:
                await task.result(timeout=60)
            except catchment.TaskCancelled:
                print("cancelled")
        await other.result(timeout=60)
        print((await other.info()).state)


if __name__ == "__main__":
    asyncio.run(main())
# prints: cancelled
# prints: cancelled
# prints: cancelled
# prints: completed
