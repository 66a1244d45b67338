"""Test a tree of tasks without a worker, and without a database.

`run_inline` runs a command with its children, join and follow-ups in this process. With pytest, the fixtures
`catchment_tx` and `catchment_drain` run the real engine in a transaction that is rolled back.
"""

import asyncio
import os

import catchment
from catchment.testing import run_inline_async

app = catchment.App(os.environ.get("DATABASE_URL"), queue="invoices")
sent: list[str] = []


@app.command
async def price(item: str) -> int:
    return {"ink": 3, "paper": 5}[item]


@app.command
async def invoice(ctx: catchment.Context, items: list[str]) -> int:
    ctx.spawn_many(price.item(item=item) for item in items)
    ctx.follow_up(send)
    return ctx.result_of_join()


@invoice.join
async def add(children: list[catchment.Child[int]]) -> int:
    return sum(child.result for child in children)


@app.command
async def send() -> None:
    sent.append("invoice")


async def main() -> None:
    run = await run_inline_async(app, invoice, items=["ink", "paper"])
    assert run.result == 8
    assert sent == ["invoice"]
    run = await run_inline_async(app, invoice, items=["gold"])
    print(run.state, run.children[0].state)


if __name__ == "__main__":
    asyncio.run(main())
# prints: failed failed
