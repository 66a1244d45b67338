"""The files in deploy/ are what their tools accept, and agree with the package. Images are not built here, and no
cluster is asked."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from psycopg import Connection

from catchment.runtime.settings import WorkerSettings
from catchment.store.connect import DSN_VARIABLE
from tests.fixtures.prometheus import NO_PROMETHEUS, PROMTOOL

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
BIN = Path(sys.executable).parent
OTHERS = {DSN_VARIABLE, "CATCHMENT_DASHBOARD_PASSWORD", "CATCHMENT_APP"}


def _resources(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def _pods() -> list[dict[str, Any]]:
    every = [resource for path in MANIFESTS for resource in _resources(path)]
    return [resource["spec"]["template"]["spec"] for resource in every if "template" in resource["spec"]]


def _check(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hadolint_has_nothing_to_say_about_the_image() -> None:
    _check(BIN / "hadolint", DEPLOY / "Dockerfile")
    text = (DEPLOY / "Dockerfile").read_text()
    assert len(re.findall(r"^FROM ", text, re.MULTILINE)) == 2
    assert re.search(r"^USER (\d+)", text, re.MULTILINE)[1] != "0"  # type: ignore[index]
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    assert all((ROOT / name).exists() for names in copied for name in names.split())


def test_the_compose_file_is_one_and_mounts_what_exists() -> None:
    path = DEPLOY / "compose" / "compose.yaml"
    _check(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", path)
    services = yaml.safe_load(path.read_text())["services"]
    assert {*services} == {"postgres", "migrate", "worker", "dashboard", "prometheus", "grafana"}
    mounts = [m.split(":")[0] for s in services.values() for m in s.get("volumes", []) if m.startswith(".")]
    assert [m for m in mounts if m != "./app" and not (path.parent / m).exists()] == []
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert all(port.startswith("127.0.0.1:") for port in published)


@pytest.mark.skipif(PROMTOOL is None, reason=NO_PROMETHEUS)
def test_prometheus_accepts_its_configuration(tmp_path: Path) -> None:
    for name in ("compose/prometheus.yml", "prometheus/alerts.yml"):
        shutil.copy(DEPLOY / name, tmp_path)
    _check(str(PROMTOOL), "check", "config", tmp_path / "prometheus.yml")


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_kubernetes_accepts_a_manifest(path: Path) -> None:
    for resource in _resources(path):
        if "keda.sh" in resource["apiVersion"]:
            continue  # its schema comes with the cluster; what the query returns is tested below
        for version in kubernetes_validate.latest_version(), "1.29":
            kubernetes_validate.validate(resource, version, strict=True)


def test_pods_are_not_root_and_their_settings_exist() -> None:
    known = {WorkerSettings.names(name)[0] for name in WorkerSettings.model_fields} | OTHERS
    assert len(_pods()) == 3
    for pod in _pods():
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["automountServiceAccountToken"]
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert {variable["name"] for variable in container["env"]} <= known
        ports = {port["name"] for port in container.get("ports", [])}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            for kind, where in container.get(probe, {}).items():
                assert kind not in ("httpGet", "tcpSocket") or where["port"] in ports
    (worker,) = (pod for pod in _pods() if pod["containers"][0]["name"] == "worker")
    assert worker["terminationGracePeriodSeconds"] > WorkerSettings().shutdown_grace_seconds


def test_the_query_of_the_autoscaler_returns_a_number(tx: Connection[Any]) -> None:
    scaled, authentication = _resources(DEPLOY / "kubernetes" / "keda.yaml")
    (trigger,) = scaled["spec"]["triggers"]
    assert trigger["authenticationRef"]["name"] == authentication["metadata"]["name"]
    assert scaled["spec"]["scaleTargetRef"]["name"] in {r["metadata"]["name"] for r in _resources(MANIFESTS[-1])}
    tx.execute("insert into worker.queue_registry (queue, mode) values ('mail', 'concurrent')")
    tx.execute("insert into worker.command_registry (command, queue, handler_kind) values ('send', 'mail', 'python')")
    query = trigger["metadata"]["query"]
    tx.execute("set local role catchment_read")
    assert tx.execute(query).fetchone() == (0,)
    tx.execute("reset role")
    tx.execute("select worker.enqueue('send')")
    assert tx.execute(query).fetchone() == (1,)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_systemd_accepts_a_unit(unit: Path, tmp_path: Path) -> None:
    text = unit.read_text().replace("/srv/catchment/.venv/bin/catchment", "/bin/true")
    (tmp_path / unit.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / unit.name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
