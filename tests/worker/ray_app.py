"""Handlers that run on a cluster of Ray."""

from __future__ import annotations

import logging
import os
import time
from typing import Any, Literal

from catchment import App
from tests.worker import probe

app = App(queue="ray")


@app.command(executor="ray")
def place(text: str) -> dict[str, Any]:
    """Says where it runs."""
    return {"pid": os.getpid(), "parent": os.getppid(), "text": text, "threads": os.environ.get("OMP_NUM_THREADS")}


@app.command(executor="ray", num_cpus=2, memory=3 * 2**30)
def heavy() -> list[str]:
    import ray

    return sorted(f"{name} {value:g}" for name, value in ray.get_runtime_context().get_assigned_resources().items())


@app.command(executor="ray", num_gpus=1)
def on_a_gpu() -> None:
    """No node of the test has one."""


@app.command(executor="ray")
def break_down(how: Literal["exit", "raise"]) -> None:
    if how == "exit":
        os._exit(3)
    raise LookupError("not on the cluster")


@app.command(executor="ray")
def linger(key: str, seconds: float = 600) -> int:
    """Runs until its gate is open."""
    with probe.span(key):
        began = time.monotonic()
        while not probe.is_open(key) and time.monotonic() - began < seconds:
            time.sleep(0.05)
    return os.getpid()


@app.command(executor="ray", timeout=3)
def overstay(key: str) -> None:
    with probe.span(key):
        time.sleep(600)


class Unruly(Exception):
    """One that cannot be pickled, and cannot be shown."""

    def __reduce__(self) -> str:
        raise TypeError("not to be pickled")

    def __str__(self) -> str:
        raise ValueError("not to be shown")


@app.command(executor="ray")
def misbehave(how: str) -> Any:
    """Returns what cannot be stored, or raises what cannot be sent."""
    if how == "unruly":
        raise Unruly
    if how == "surrogate":
        raise ValueError("a lone \ud800 and a \0")
    if how == "exit":
        raise SystemExit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
    values: dict[str, Any] = {
        "object": object(),
        "bytes": b"\xff",
        "half a pair": "\ud800",
        "nan": float("nan"),
        "huge": "x" * (64 * 2**20),
        "deep": _nested(100_000),
    }
    return values[how]


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@app.command(executor="ray")
def echo(text: str) -> str:
    return text


@app.command(executor="ray")
def speak(text: str) -> int:
    """Prints, with a colour, and logs."""
    print(f"\x1b[31m{text}\x1b[0m", flush=True)
    logging.getLogger("shop.mail").warning("logged %s", text, extra={"length": len(text)})
    return os.getpid()
