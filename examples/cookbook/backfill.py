"""Run a command for every day of a year, at low priority and at most four days at a time, beside the daily work.

One parent holds the backfill together: `catchment task tree` shows its progress, cancelling it cancels what is left,
and retrying it runs the days that failed.
"""

import asyncio
import os
from datetime import date, timedelta

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="reports")
app.queue("backfill", max_running=4)


@app.command(queue="backfill", max_attempts=3, priority=1000)
async def build_day(day: date) -> int:
    return day.day


@app.command(queue="backfill", priority=1000)
async def backfill(ctx: catchment.Context, first: date, last: date) -> int:
    days = (last - first).days + 1
    ctx.spawn_many(build_day.item(day=first + timedelta(days=n)) for n in range(days))
    return ctx.result_of_join()


@backfill.join
async def count(children: list[catchment.Child[int]]) -> int:
    return len(children)


async def main() -> None:
    async with app, app.worker():
        task = await backfill.enqueue(first=date(2026, 1, 1), last=date(2026, 2, 28))
        print(await task.result(timeout=60), "days")


if __name__ == "__main__":
    asyncio.run(main())
# prints: 59 days
