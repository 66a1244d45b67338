"""Hosts on one machine: network namespaces on a bridge, each with an address of the test's own.

A host whose link is down is partitioned: its packets are neither delivered nor refused.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache

NETWORK = "10.213.77"


@dataclass(frozen=True)
class Host:
    """A namespace, its address, and the end of its link at the bridge."""

    space: str
    address: str
    switch: str
    link: str

    def command(self, *command: str) -> list[str]:
        """The command that runs this one on the host."""
        return ["ip", "netns", "exec", self.space, *command]

    def cut(self) -> None:
        """Partition the host."""
        _ip("-n", self.switch, "link", "set", self.link, "down")

    def heal(self) -> None:
        _ip("-n", self.switch, "link", "set", self.link, "up")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@cache
def why_not() -> str | None:
    """Why this machine has no network namespaces for us; None if it has."""
    if shutil.which("ip") is None:
        return "the program ip is not installed"
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"probe{uuid.uuid4().hex[:6]}"
    try:
        _ip("netns", "add", name)
        try:
            _ip("-n", name, "link", "add", "b0", "type", "bridge")
        finally:
            _ip("netns", "del", name)
    except (subprocess.CalledProcessError, OSError) as error:
        return f"this machine allows no network namespaces: {error}"
    return None


@contextmanager
def hosts(*names: str) -> Iterator[list[Host]]:
    """Hosts of these names that reach each other, and nothing else."""
    mark = uuid.uuid4().hex[:4]
    switch = f"cm{mark}-switch"
    made = [
        Host(f"cm{mark}-{name}", f"{NETWORK}.{number}", switch, f"p{number}")
        for number, name in enumerate(names, start=1)
    ]
    try:
        _ip("netns", "add", switch)
        _ip("-n", switch, "link", "add", "b0", "type", "bridge")
        _ip("-n", switch, "link", "set", "b0", "up")
        for host in made:
            _ip("netns", "add", host.space)
            _ip("-n", switch, "link", "add", host.link, "type", "veth", "peer", "name", "eth0", "netns", host.space)
            _ip("-n", switch, "link", "set", host.link, "master", "b0")
            _ip("-n", switch, "link", "set", host.link, "up")
            _ip("-n", host.space, "addr", "add", f"{host.address}/24", "dev", "eth0")
            _ip("-n", host.space, "link", "set", "eth0", "up")
            _ip("-n", host.space, "link", "set", "lo", "up")
            # It leads nowhere: programs ask for it to learn the address of their host.
            _ip("-n", host.space, "route", "add", "default", "dev", "eth0")
        yield made
    finally:
        for space in (*(host.space for host in made), switch):
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", space)
