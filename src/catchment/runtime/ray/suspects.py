"""Nodes of a cluster that no body should be sent to, because one there was given up as silent. No I/O here.

Ray takes a node whose link is cut for alive for a minute or more, and gives the next task to the process that it has
there. A task that avoids the node gets another process at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

# Longer than Ray takes to declare a node dead. Then one that is still silent costs a body once more.
SUSPECTED_SECONDS = 300.0
# A body says that it lives after each beat, and is given up after four at the earliest.
SILENT_BEATS = 3
NODE_LABEL = "ray.io/node-id"
# What a task takes by default.
DEFAULTS = {"num_cpus": 1}
NAMES = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}


class Suspects:
    """Heard of bodies, by their calls. ``beat`` is how often a body says that it lives."""

    def __init__(self, beat: float) -> None:
        self._silence = SILENT_BEATS * beat
        self._heard: dict[str, tuple[str, float]] = {}
        self._since: dict[str, float] = {}

    def started(self, token: str, node: str) -> None:
        """The body of a call has started on this node."""
        self._heard[token] = (node, 0.0)
        self.heard(token)

    def heard(self, token: str) -> None:
        """The body of a call has said something: its node can be reached."""
        if token in self._heard:
            node, _ = self._heard[token]
            self._heard[token] = (node, time.monotonic())
            self._since.pop(node, None)

    def cancelled(self, token: str) -> None:
        """A call is cancelled. Its node is suspect if its body has been silent."""
        node, heard = self._heard.get(token, ("", 0.0))
        now = time.monotonic()
        if node and now - heard > self._silence:
            self._since[node] = now

    def ended(self, token: str) -> None:
        """A call is over."""
        self._heard.pop(token, None)

    def avoided(self, nodes: Iterable[Mapping[str, Any]], resources: Mapping[str, Any]) -> dict[str, str]:
        """The ``label_selector`` of a call that takes these resources; empty if only suspects could run it.

        ``nodes`` are those of ``ray.nodes()``."""
        limit = time.monotonic() - SUSPECTED_SECONDS
        self._since = {node: since for node, since in self._since.items() if since > limit}
        suspects = {node["NodeID"] for node in nodes if node["Alive"] and node["NodeID"] in self._since}
        wanted = {**DEFAULTS, **{name: value for name, value in resources.items() if value is not None}}
        others = any(
            node["Alive"]
            and node["NodeID"] not in suspects
            and all(node["Resources"].get(NAMES[name], 0) >= value for name, value in wanted.items())
            for node in nodes
        )
        return {NODE_LABEL: f"!in({','.join(sorted(suspects))})"} if suspects and others else {}
