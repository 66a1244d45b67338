"""Deploy a new version while tasks of the old one wait and run.

Old and new workers run side by side: a worker takes only tasks of commands that it has. A new parameter gets a
default, so tasks of the old version still fit; a stopped worker finishes what it runs.
"""

import asyncio
import os

import catchment

DSN = os.environ.get("DATABASE_URL")
old = catchment.App(DSN, queue="mail")
new = catchment.App(DSN, queue="mail")


@old.command(name="send")
async def send_v1(to: str) -> str:
    return f"old mail to {to}"


@new.command(name="send")
async def send_v2(to: str, language: str = "en") -> str:
    return f"{language} mail to {to}"


async def main() -> None:
    async with old, new:
        async with old.worker():
            first = await send_v1.enqueue(to="ada")
            print(await first.result(timeout=60))
            waiting = await send_v1.using(delay=0.5).enqueue(to="bob")  # by the old version, for later
        async with new.worker():
            print(await waiting.result(timeout=60))
            print(await (await send_v2.enqueue(to="eve", language="no")).result(timeout=60))


if __name__ == "__main__":
    asyncio.run(main())
# prints: old mail to ada
# prints: en mail to bob
# prints: no mail to eve
