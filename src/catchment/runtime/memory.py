"""How much memory this process may use, and the share in use: by the limits of its cgroups, else of the machine.

``/proc/self/cgroup`` says which groups the process is in. The limits of the groups above count as well, up to the mount
point. In a container the path may start above the mount point; then the mount point itself is the nearest group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
MEMINFO = Path("/proc/meminfo")

# Version 1 writes "no limit" as the largest number of whole pages.
_NO_LIMIT = 1 << 60


@dataclass(frozen=True, slots=True)
class _Kind:
    """What one version of cgroups calls things."""

    limit: str
    used: str
    cache: str


_V2 = _Kind("memory.max", "memory.current", "inactive_file")
_V1 = _Kind("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def memory_usage(cgroup: Path = CGROUP, membership: Path = MEMBERSHIP, meminfo: Path = MEMINFO) -> float:
    """The share in use, 0 to 1: of the fullest group with a limit that the process is in, else of the machine.

    Cache that can be given back does not count; 0 where nothing can be read.
    """
    shares = [used / limit for limit, used in _limits(cgroup, membership)]
    return max(shares) if shares else _of_machine(meminfo)


def memory_limit(cgroup: Path = CGROUP, membership: Path = MEMBERSHIP, meminfo: Path = MEMINFO) -> int:
    """The bytes that this process may use; 4 GiB where nothing can be read."""
    try:
        machine = _kilobytes(meminfo)["MemTotal"] * 1024
    except (OSError, ValueError, KeyError, IndexError):
        machine = 4 * 1024**3
    return min([machine, *(limit for limit, _ in _limits(cgroup, membership))])


def _limits(cgroup: Path, membership: Path) -> Iterator[tuple[int, float]]:
    """Each limit from the process's own group upwards, with the bytes in use there."""
    try:
        text = membership.read_text()
    except OSError:
        text = "0::/"
    for kind, group in _groups(cgroup, text):
        limit = _read(kind, group)
        if limit is not None:
            yield limit


@lru_cache(maxsize=8)
def _groups(cgroup: Path, membership: str) -> list[tuple[_Kind, str]]:
    """Version and folder of the groups that account for memory, upwards. Both versions may be mounted side by side."""
    groups: list[tuple[_Kind, str]] = []
    for line in membership.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if ".." in path.split("/"):
            path = "/"  # outside of this process's cgroup namespace
        if "memory" in controllers.split(","):
            groups += _upwards(_V1, cgroup / "memory", path)
        elif number == "0" and not controllers:
            groups += [*_upwards(_V2, cgroup, path), *_upwards(_V2, cgroup / "unified", path)]
    return groups


def _upwards(kind: _Kind, root: Path, path: str) -> Iterator[tuple[_Kind, str]]:
    folder = root / path.lstrip("/")
    for group in (folder, *folder.parents):
        yield kind, str(group)
        if group == root:
            break


def _read(kind: _Kind, group: str) -> tuple[int, float] | None:
    """Limit and bytes in use of one group, if it has a limit."""
    try:
        limit = int(_text(f"{group}/{kind.limit}"))
        if not 0 < limit < _NO_LIMIT:
            return None
        used = int(_text(f"{group}/{kind.used}"))
        _, _, rest = f"\n{_text(f'{group}/memory.stat')}".partition(f"\n{kind.cache} ")
        return limit, max(0.0, used - int(rest.partition("\n")[0] or 0))
    except (OSError, ValueError):
        return None


def _text(path: str) -> str:
    """As ``Path.read_text``, at half the cost: an idle worker asks at each heartbeat."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def _of_machine(meminfo: Path) -> float:
    try:
        kilobytes = _kilobytes(meminfo)
        return 1.0 - kilobytes["MemAvailable"] / kilobytes["MemTotal"]
    except (OSError, ValueError, KeyError, IndexError, ZeroDivisionError):
        return 0.0


def _kilobytes(meminfo: Path) -> dict[str, int]:
    """Of the whole machine: ``MemTotal`` and ``MemAvailable``."""
    pairs = (line.partition(":") for line in _text(str(meminfo)).splitlines() if line.startswith(("MemT", "MemA")))
    return {key: int(rest.split()[0]) for key, _, rest in pairs}
