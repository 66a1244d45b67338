"""Let no tenant take everything: at most two tasks of each tenant run at a time, over all workers.

Tasks above the limit wait without taking a slot, so a tenant with a thousand tasks does not delay the others.
"""

import asyncio
import os
from collections import Counter

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="exports")
running: Counter[str] = Counter()
most: Counter[str] = Counter()


@app.command(limit=catchment.Limit("tenant", max_running=2))
async def export(tenant: str) -> None:
    running[tenant] += 1
    most[tenant] = max(most[tenant], running[tenant])
    await asyncio.sleep(0.02)
    running[tenant] -= 1


async def main() -> None:
    async with app, app.worker():
        tasks = await export.enqueue_many(export.item(tenant=tenant) for tenant in ["acme"] * 10 + ["globex"] * 3)
        for task in tasks:
            await task.result(timeout=60)
    print(dict(most))


if __name__ == "__main__":
    asyncio.run(main())
# prints: {'acme': 2, 'globex': 2}
