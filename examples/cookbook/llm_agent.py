"""An agent that asks a model, runs the tools it chooses, and asks again, until it has an answer.

Each model call and each tool call is a child task: recorded, retried alone, visible as a tree, and not paid for twice
after a crash. The next turn is a follow-up, so no handler waits while a tool runs.
"""

import asyncio
import os

import psycopg

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="agents")
app.queue("agents", max_running=10)  # model calls at a time, over all workers


async def call_model(messages: list[str]) -> str:
    """A stand-in for the API of a model: it asks for a tool once, and then answers."""
    return "answer: 12 degrees" if any("weather" in message for message in messages[1:]) else "tool: weather in Oslo"


@app.command(max_attempts=5, timeout=60)
async def ask_model(messages: list[str]) -> str:
    return await call_model(messages)


@app.command(max_attempts=3)
async def use_tool(call: str) -> str:
    return f"{call.removeprefix('tool: ')}: 12 degrees"


@app.command
async def turn(ctx: catchment.Context, messages: list[str]) -> str:
    last = messages[-1]
    if last.startswith("tool: "):
        ctx.spawn(use_tool, call=last)
    else:
        ctx.spawn(ask_model, messages=messages)
    return ctx.result_of_join()


@turn.join
async def go_on(ctx: catchment.Context, messages: list[str], children: list[catchment.Child[str]]) -> str:
    said = children[0].result
    if not said.startswith("answer: "):
        ctx.follow_up(turn, messages=[*messages, said])
    else:
        async with ctx.transaction() as conn:
            await conn.execute("insert into answer (text) values (%s)", [said])
    return said


async def main() -> None:
    with psycopg.connect(app.dsn, autocommit=True) as conn:
        conn.execute("create table if not exists answer (text text)")
        conn.execute("truncate answer")
        async with app, app.worker():
            await (await turn.enqueue(messages=["How warm is it in Oslo?"])).result(timeout=60)
            while (row := conn.execute("select text from answer").fetchone()) is None:
                await asyncio.sleep(0.02)
        print(row[0])


if __name__ == "__main__":
    asyncio.run(main())
# prints: answer: 12 degrees
