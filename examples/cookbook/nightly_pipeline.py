"""A nightly pipeline: extract in parallel, then transform, then publish.

Stages are children of a serial scope: each starts when the previous one is done, with all of its children. A stage
spawns its own children. A failed stage stops the rest, and a retry runs what did not complete.
"""

import asyncio
import os

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="nightly")
log: list[str] = []


@app.command(max_attempts=3)
async def extract_one(source: str) -> None:
    log.append(f"extract {source}")


@app.command
async def extract(ctx: catchment.Context) -> None:
    ctx.spawn_many(extract_one.item(source=source) for source in ("crm", "shop"))


@app.command
async def transform() -> None:
    log.append("transform")


@app.command
async def publish() -> None:
    log.append("publish")


@app.schedule(cron="30 2 * * *", tz="Europe/Oslo", overlap="skip")
@app.command
async def nightly(ctx: catchment.Context) -> None:
    with ctx.scope(mode="serial"):
        ctx.spawn(extract)
        ctx.spawn(transform)
        ctx.spawn(publish)


async def main() -> None:
    async with app, app.worker():
        await (await nightly.enqueue()).result(timeout=60)
    print(sorted(log[:2]), log[2:])


if __name__ == "__main__":
    asyncio.run(main())
# prints: ['extract crm', 'extract shop'] ['transform', 'publish']
