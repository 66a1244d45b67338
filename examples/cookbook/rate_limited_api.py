"""Call an API that allows 20 requests per second, from any number of workers.

The limit holds over all workers. Waiting tasks take no slot, and an answer "429" moves one task to later without using
up an attempt.
"""

import asyncio
import os
import time
from datetime import timedelta

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="api")
refused: set[int] = set()


@app.command(max_attempts=5, limit=catchment.Limit(rate=20, per=timedelta(seconds=1)))
async def fetch(page: int) -> int:
    if page == 7 and page not in refused:  # the service is busy, once
        refused.add(page)
        raise catchment.RetryLater(0.1, "429: slow down", uses_attempt=False)
    return page


async def main() -> None:
    began = time.monotonic()
    async with app, app.worker():
        tasks = await fetch.enqueue_many(fetch.item(page=page) for page in range(30))
        pages = [await task.result(timeout=60) for task in tasks]
    print(f"{len(pages)} pages, slower than 20 at once: {time.monotonic() - began > 0.4}")


if __name__ == "__main__":
    asyncio.run(main())
# prints: 30 pages, slower than 20 at once: True
