"""Memory is read from the groups that the process is in, whatever version and however deep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from catchment.runtime.memory import memory_limit, memory_usage

MIB = 1 << 20


@dataclass(frozen=True)
class Machine:
    """A folder tree like those of the kernel: a machine of 1,000 MiB, a quarter of it in use."""

    root: Path

    @property
    def places(self) -> tuple[Path, Path, Path]:
        return self.root / "cgroup", self.root / "membership", self.root / "meminfo"

    def join(self, *lines: str) -> None:
        self.places[1].write_text("".join(f"{line}\n" for line in lines))

    def group(self, path: str, *, limit: int | str, used: int, cache: int = 0, version: int = 2) -> None:
        """Sizes in MiB."""
        folder = self.places[0] / path
        folder.mkdir(parents=True, exist_ok=True)
        names = ("memory.max", "memory.current", "inactive_file")
        if version == 1:
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        (folder / names[0]).write_text(f"{limit * MIB if isinstance(limit, int) else limit}\n")
        (folder / names[1]).write_text(f"{used * MIB}\n")
        (folder / "memory.stat").write_text(f"anon 1\n{names[2]} {cache * MIB}\n")

    def usage(self) -> float:
        return memory_usage(*self.places)

    def limit(self) -> int:
        return memory_limit(*self.places) // MIB


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "meminfo").write_text(f"MemTotal: {1000 * 1024} kB\nMemFree: 1 kB\nMemAvailable: {750 * 1024} kB\n")
    return Machine(tmp_path)


def test_own_group_of_version_2_counts_and_not_the_root(machine: Machine) -> None:
    machine.join("0::/system.slice/worker.service")
    machine.group("", limit="max", used=900)
    machine.group("system.slice", limit="max", used=900)
    machine.group("system.slice/worker.service", limit=100, used=60, cache=10)
    assert machine.usage() == pytest.approx(0.5)
    assert machine.limit() == 100


def test_limit_of_a_group_above_counts(machine: Machine) -> None:
    machine.join("0::/pod/container")
    machine.group("pod", limit=200, used=180)
    machine.group("pod/container", limit="max", used=20)
    assert machine.usage() == pytest.approx(0.9)
    assert machine.limit() == 200


def test_of_several_limits_the_fullest_and_the_smallest_count(machine: Machine) -> None:
    machine.join("0::/pod/container")
    machine.group("pod", limit=200, used=100)
    machine.group("pod/container", limit=150, used=30)
    assert machine.usage() == pytest.approx(0.5)
    assert machine.limit() == 150


def test_memory_controller_of_version_1_is_read(machine: Machine) -> None:
    machine.join("9:name=systemd:/x", "4:cpu,memory:/docker/abc", "0::/")
    machine.group("memory", limit=str(9223372036854771712), used=900, version=1)
    machine.group("memory/docker/abc", limit=400, used=300, cache=100, version=1)
    assert machine.usage() == pytest.approx(0.5)
    assert machine.limit() == 400


def test_path_that_begins_above_the_mount_ends_at_the_mount(machine: Machine) -> None:
    machine.join("4:memory:/kubepods/burstable/pod1/abc")
    machine.group("memory", limit=100, used=70, version=1)
    assert machine.usage() == pytest.approx(0.7)


def test_group_outside_of_the_namespace_is_the_mount(machine: Machine) -> None:
    machine.join("0::/../../elsewhere")
    machine.group("", limit=100, used=30)
    assert machine.usage() == pytest.approx(0.3)


@pytest.mark.parametrize("lines", [(), ("0::/",), ("0::/nowhere", "4:memory:/nowhere"), ("nonsense", "::", "")])
def test_without_a_limit_the_machine_counts(machine: Machine, lines: tuple[str, ...]) -> None:
    machine.join(*lines)
    assert machine.usage() == pytest.approx(0.25)
    assert machine.limit() == 1000


def test_limit_above_the_machine_is_the_machine(machine: Machine) -> None:
    machine.join("0::/")
    machine.group("", limit=4000, used=100)
    assert machine.limit() == 1000


def test_broken_files_are_passed_over(machine: Machine) -> None:
    machine.join("0::/a/b")
    machine.group("a", limit=100, used=40)
    machine.group("a/b", limit="a lot", used=1)
    assert machine.usage() == pytest.approx(0.4)


def test_nothing_to_read_is_no_pressure(tmp_path: Path) -> None:
    nowhere = Machine(tmp_path)
    assert nowhere.usage() == 0.0
    assert nowhere.limit() == 4096
