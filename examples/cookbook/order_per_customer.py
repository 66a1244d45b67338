"""Process the orders of each customer in turn, and different customers at the same time.

A lane is a line: its tasks run one after another, on whichever worker, each with all of its children.
"""

import asyncio
import os

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="orders")
processed: list[str] = []


@app.command(max_attempts=3)
async def process(customer: str, order: int) -> None:
    await asyncio.sleep(0.01 / order)  # later orders are quicker, and still come later
    processed.append(f"{customer}{order}")


async def main() -> None:
    orders = [(customer, order) for order in (1, 2, 3) for customer in ("ada", "bob")]
    async with app, app.worker():
        tasks = await process.enqueue_many(
            process.using(lane=customer).item(customer=customer, order=order) for customer, order in orders
        )
        for task in tasks:
            await task.result(timeout=60)
    for customer in ("ada", "bob"):
        print(*(name for name in processed if name.startswith(customer)))


if __name__ == "__main__":
    asyncio.run(main())
# prints: ada1 ada2 ada3
# prints: bob1 bob2 bob3
