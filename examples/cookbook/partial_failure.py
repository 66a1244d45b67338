"""Fan out, and use what succeeded, even if some parts failed for good.

A join runs when all children have completed. A child that may fail returns its failure as a value, after its last
attempt.
"""

import asyncio
import os

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="quotes")


@app.command(max_attempts=2, retry=catchment.Retry(delay=0.01))
async def ask(ctx: catchment.Context, supplier: str) -> int | None:
    try:
        if supplier == "offline":
            raise ConnectionError("no answer")
        return len(supplier)
    except ConnectionError:
        if not ctx.is_last_attempt:
            raise
        return None  # completed, without a price


@app.command
async def compare(ctx: catchment.Context, suppliers: list[str]) -> str:
    ctx.spawn_many(ask.item(supplier=supplier) for supplier in suppliers)
    return ctx.result_of_join()


@compare.join
async def choose(children: list[catchment.Child[int | None]]) -> str:
    prices = [child.result for child in children if child.result is not None]
    return f"best of {len(prices)} prices: {min(prices)}; {len(children) - len(prices)} without an answer"


async def main() -> None:
    async with app, app.worker():
        task = await compare.enqueue(suppliers=["acme", "globex", "offline"])
        print(await task.result(timeout=60))


if __name__ == "__main__":
    asyncio.run(main())
# prints: best of 2 prices: 4; 1 without an answer
