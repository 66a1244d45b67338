"""How much of its memory this process may use and does: the container's limit first, else the machine's."""

from __future__ import annotations

from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")


def memory_usage(cgroup: Path = CGROUP, meminfo: Path = MEMINFO) -> float:
    """The share in use, 0 to 1. Cache that can be given back does not count; 0 where nothing can be read."""
    return _of_cgroup(cgroup) or _of_machine(meminfo)


def memory_limit(cgroup: Path = CGROUP, meminfo: Path = MEMINFO) -> int:
    """The bytes that this process may use; 4 GiB where nothing can be read."""
    try:
        kilobytes = {key: int(rest.split()[0]) for key, _, rest in _lines(meminfo) if key == "MemTotal"}
        machine = kilobytes["MemTotal"] * 1024
    except (OSError, ValueError, KeyError, IndexError):
        machine = 4 * 1024**3
    try:
        return min(machine, int((cgroup / "memory.max").read_text()))
    except (OSError, ValueError):
        return machine


def _of_cgroup(cgroup: Path) -> float | None:
    """Version 2 alone; without a limit of its own the machine counts."""
    try:
        limit = (cgroup / "memory.max").read_text().strip()
        if limit == "max":
            return None
        used = int((cgroup / "memory.current").read_text())
        stat = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        return max(0.0, used - int(stat.get("inactive_file", 0))) / int(limit)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _of_machine(meminfo: Path) -> float:
    try:
        kilobytes = {key: int(rest.split()[0]) for key, _, rest in _lines(meminfo)}
        return 1.0 - kilobytes["MemAvailable"] / kilobytes["MemTotal"]
    except (OSError, ValueError, KeyError, IndexError, ZeroDivisionError):
        return 0.0


def _lines(meminfo: Path) -> list[tuple[str, str, str]]:
    return [line.partition(":") for line in meminfo.read_text().splitlines()]
