"""Settings of Ray from the environment. Where the cluster is, and its token, are variables of Ray itself."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any, cast

from pydantic import Field, field_validator

from catchment.model.settings import Settings

# Less than a second is less than a busy machine needs for a heartbeat: each task would be abandoned and run again.
Seconds = Annotated[float, Field(ge=1, le=1_000_000, allow_inf_nan=False)]
LONGEST_BEAT = 5.0


class RaySettings(Settings):
    """How a worker speaks to a cluster of Ray."""

    ray_connect_seconds: Seconds = Field(60, description="Time to connect to the cluster, or to start a local one.")
    ray_start_seconds: Seconds = Field(
        300, description="Time that a task waits for resources of the cluster; then it is put off."
    )
    ray_silence_seconds: Seconds = Field(
        60, description="A task that is silent for this long is given up, and runs again."
    )
    ray_runtime_env: str | None = Field(
        None, description="Runtime environment of Ray for the tasks, as a JSON object; by default none."
    )

    @field_validator("ray_runtime_env")
    @classmethod
    def _check_runtime_env(cls, value: str | None) -> str | None:
        try:
            is_object = value is None or isinstance(json.loads(value), dict)
        except ValueError:
            is_object = False
        if not is_object:
            raise ValueError('expected a JSON object, such as {"working_dir": "."}')
        return value

    @property
    def cluster(self) -> str:
        """What messages call the cluster."""
        address = os.environ.get("RAY_ADDRESS")
        return f"the cluster of Ray at {address}" if address else "the cluster of Ray"

    @property
    def beat(self) -> float:
        """How often a body says that it lives."""
        return min(LONGEST_BEAT, self.ray_silence_seconds / 4)

    def to_driver(self) -> dict[str, Any]:
        """What the driver has to know."""
        environment = None if self.ray_runtime_env is None else cast("object", json.loads(self.ray_runtime_env))
        return {"beat": self.beat, "runtime_env": environment}
