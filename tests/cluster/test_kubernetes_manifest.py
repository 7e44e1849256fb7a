"""The manifest for Kubernetes: valid, unprivileged, bounded, and a command line that there is."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from postmortem.interfaces.cli.triage_command import command

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "cluster" / "kubernetes"
MANIFEST = (FOLDER / "triage.yaml").read_text(encoding="utf-8")
DOCUMENTS: list[dict[str, Any]] = list(yaml.safe_load_all(MANIFEST))
BY_KIND = {one["kind"]: one for one in DOCUMENTS}
PODS: dict[str, dict[str, Any]] = {
    "DaemonSet": BY_KIND["DaemonSet"]["spec"]["template"],
    "CronJob": BY_KIND["CronJob"]["spec"]["jobTemplate"]["spec"]["template"],
}
UNITS = {"m": 1e-3, "Mi": 2**20, "Gi": 2**30, "": 1.0}

pods = pytest.mark.parametrize("kind", [*PODS])


def amount(text: str) -> float:
    """A quantity of Kubernetes as a number."""
    digits = text.rstrip("mMGi")
    return float(digits) * UNITS[text[len(digits) :]]


def containers(kind: str) -> list[dict[str, Any]]:
    """The containers of a pod."""
    found: list[dict[str, Any]] = PODS[kind]["spec"]["containers"]
    return found


@pytest.mark.parametrize("version", ["1.25", "1.30", "1.34"])
def test_kubernetes_would_take_it(version: str) -> None:
    """Each document fits the schema of its kind, with no field that there is not."""
    validator = pytest.importorskip("kubernetes_validate", reason="needs kubernetes-validate")
    for document in DOCUMENTS:
        validator.validate(document, version, strict=True)


@pods
def test_nothing_runs_as_root(kind: str) -> None:
    """No root, no further rights, no token, and nothing of the image is written to."""
    pod = PODS[kind]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for container in containers(kind):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


@pods
def test_everything_is_bounded(kind: str) -> None:
    """Requests within limits of processors and memory."""
    for container in containers(kind):
        resources = container["resources"]
        for what in ("cpu", "memory"):
            assert 0 < amount(resources["requests"][what]) <= amount(resources["limits"][what])


@pods
def test_what_is_mounted_is_there(kind: str) -> None:
    """Each mount has its volume, each claim its document; paths of the node are only read."""
    volumes = {one["name"]: one for one in PODS[kind]["spec"]["volumes"]}
    claims = {
        one["metadata"]["name"] for one in DOCUMENTS if one["kind"] == "PersistentVolumeClaim"
    }
    mounts = [mount for one in containers(kind) for mount in one["volumeMounts"]]
    assert {mount["name"] for mount in mounts} == {*volumes}
    for mount in mounts:
        volume = volumes[mount["name"]]
        assert "hostPath" not in volume or mount["readOnly"] is True
        if claim := volume.get("persistentVolumeClaim"):
            assert claim["claimName"] in claims


def test_the_command_line_is_one_of_ours() -> None:
    """Options that there are, results into the volume for them, workers within the limit."""
    (container,) = containers("CronJob")
    name, *arguments = container["args"]
    assert name == command.name
    asked = command.make_context("triage", list(arguments)).params
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert [*asked["places"]] == ["/logs"]
    assert mounts["/logs"]["readOnly"] is True
    assert not mounts[str(asked["output"])].get("readOnly")
    held = asked["workers"] * asked["memory"] * 2**20
    assert held + 2**29 <= amount(container["resources"]["limits"]["memory"])


def test_the_store_is_a_secret() -> None:
    """The address with its password comes from the secret and stands in no argument."""
    (container,) = containers("CronJob")
    (given,) = (one for one in container["env"] if one["name"] == "STORE")
    reference = given["valueFrom"]["secretKeyRef"]
    secret = BY_KIND["Secret"]
    assert reference["name"] == secret["metadata"]["name"]
    assert secret["stringData"][reference["key"]].startswith("postgresql://")
    assert "--store=$(STORE)" in container["args"]


def test_runs_do_not_pile_up() -> None:
    """One at a time, with an end, none tried again and again."""
    spec = BY_KIND["CronJob"]["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] <= 3600
    assert spec["jobTemplate"]["spec"]["backoffLimit"] <= 1


def test_the_copy_takes_the_namespaces_and_no_other(tmp_path: Path) -> None:
    """One round of the DaemonSet's loop: pods of the namespaces are copied as they lie there."""
    pods_of_node, logs = tmp_path / "node", tmp_path / "logs"
    uid = "0c9a37e2-6a5b-4a86-9f0a-1d3e5b7c9d21"
    for name in (f"training_run-worker-0_{uid}", f"kube-system_dns_{uid}"):
        (pods_of_node / name / "main").mkdir(parents=True)
        (pods_of_node / name / "main" / "0.log").write_text("line\n")
    logs.mkdir()
    (container,) = containers("DaemonSet")
    (script,) = container["args"]
    loop = script.replace("/var/log/pods", str(pods_of_node)).replace("/logs", str(logs))
    once = loop.replace("sleep 240 & wait $!", "exit 0")
    assert once != loop
    subprocess.run(
        ["/bin/sh", "-c", once],
        env={"PATH": "/usr/bin:/bin", "NAMESPACES": "training research", "DAYS": "30"},
        check=True,
        timeout=60,
    )
    assert [one.name for one in logs.iterdir()] == [f"training_run-worker-0_{uid}"]
    assert (logs / f"training_run-worker-0_{uid}" / "main" / "0.log").read_text() == "line\n"
