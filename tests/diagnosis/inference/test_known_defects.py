"""Known defects: each is told where it is, and nowhere else, through the whole program."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import postmortem
from postmortem.diagnosis.inference.example_cases import build_example_case, find_advisory_errors
from postmortem.diagnosis.inference.known_defects import find_symptom, is_applicable
from postmortem.rules.base import load
from postmortem.rules.cause_rules import Conditions, build_advisory

FOLDER = Path(__file__).resolve().parents[3] / "patterns" / "advisories"
ENTRIES = {
    entry["id"]: entry
    for path in sorted(FOLDER.glob("*.yaml"))
    for entry in yaml.safe_load(path.read_text(encoding="utf-8"))
}
FEWEST = 80
KNOWLEDGE = load()
SPELT = {"model": "model_name_or_path"}


def dump(example: dict[str, Any]) -> str:
    """An environment dump as torch.utils.collect_env and pip would print it."""
    environment = example["environment"]
    packages = dict(environment.get("packages", {}))
    lines = ["Collecting environment information..."]
    if "torch" in packages:
        lines.append(f"PyTorch version: {packages['torch']}")
    lines.append(f"OS: {environment.get('os', 'Ubuntu 22.04.4 LTS (x86_64)')}")
    if gcc := packages.pop("gcc", ""):
        lines.append(f"GCC version: (Ubuntu {gcc}-1ubuntu1~22.04) {gcc}")
    if nvcc := packages.pop("nvcc", ""):
        lines.append(f"CUDA runtime version: {nvcc}")
    lines += ["GPU models and configuration:"]
    lines += [f"GPU {i}: {one['name']}" for i, one in enumerate(environment.get("gpus", ()))]
    if driver := environment.get("driver"):
        lines.append(f"Nvidia driver version: {driver}")
    if precision := environment.get("precision"):
        lines.append(f"- mixed_precision: {precision}")
    lines += ["", "Versions of relevant libraries:"]
    lines += [f"[pip3] {name}=={version}" for name, version in packages.items()]
    return "\n".join(lines) + "\n"


def log(example: dict[str, Any]) -> str:
    """What the example shows of a run, as a program would print it."""
    settings = ", ".join(
        f"{SPELT.get(name, name)}={value!r}" for name, value in example.get("settings", {}).items()
    )
    lines = [f"Namespace({settings})"] if settings else []
    for one in example.get("tracebacks", ()):
        lines += [
            "Traceback (most recent call last):",
            '  File "/env/lib/python3.10/site-packages/anything/module.py", line 10, in call',
            "    return inner(value)",
            f"{one['exception']}: {one['message']}",
        ]
    return "\n".join(lines) + "\n"


def told(tmp_path: Path, name: str, example: dict[str, Any]) -> bool:
    """Whether the whole program tells of a defect: as a remark, or as evidence."""
    environment = tmp_path / "env.txt"
    environment.write_text(dump(example), encoding="utf-8")
    paths, beside = [str(environment)], []
    if log(example).strip():
        run = tmp_path / "run.log"
        run.write_text(log(example), encoding="utf-8")
        paths, beside = [str(run)], [str(environment)]
    report = json.loads(postmortem.analyze(paths, env=beside).render("json", redact=False))
    remarks = "\n".join(report["warnings"])
    evidence = {item["id"] for cause in report["causes"] for item in cause["evidence"]}
    return any(
        ENTRIES[one]["symptom"]["en"] in remarks or one in evidence for one in mended_alike(name)
    )


def mended_alike(name: str) -> list[str]:
    """The defects that the same version mends: one remark stands for them."""
    key = (ENTRIES[name]["package"], ENTRIES[name].get("install", name))
    return [
        one
        for one, entry in ENTRIES.items()
        if (entry["package"], entry.get("install", one)) == key
    ]


def test_there_are_many_and_each_says_where_it_was_read() -> None:
    """No advisory without a reference."""
    assert len(ENTRIES) >= FEWEST
    assert [name for name, entry in ENTRIES.items() if not entry["references"]] == []


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_it_is_told_where_it_is_and_not_with_the_version_that_mends_it(
    tmp_path: Path, name: str
) -> None:
    """A dump of its own, with what the run printed where that is part of it."""
    examples = ENTRIES[name]["examples"]
    sound = {**examples["fires"][0], "environment": examples["silent"][0]["environment"]}
    assert told(tmp_path, name, examples["fires"][0])
    assert not told(tmp_path, name, sound)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"range": "== 9.9"}, "is silent in example 1 of `fires`"),
        ({"range": ">= 1.0"}, "fires in example 1 of `silent`"),
        ({"message": "never printed"}, "is silent in example 1 of `fires`"),
        ({"with": {"numpy": "< 2.0"}}, "is silent in example 1 of `fires`"),
        ({}, ""),
    ],
)
def test_the_check_proves_examples(change: dict[str, Any], what: str) -> None:
    """An advisory that says otherwise than its examples is a fault."""
    entry = {**ENTRIES["torch.before-2-3-numpy-2"], **change}
    faults = [str(fault) for fault in find_advisory_errors([entry], Conditions((), ()))]
    assert (what in faults[0]) if what else not faults


@pytest.mark.parametrize(
    ("packages", "message", "is_affected", "is_shown"),
    [
        ({"torch": "2.2.2+cu121", "numpy": "2.0.1"}, "Numpy is not available", True, True),
        ({"torch": "2.2.2+cu121", "numpy": "2.0.1"}, "out of memory", True, False),
        ({"torch": "2.2.2+cu121", "numpy": "1.26.4"}, "Numpy is not available", False, True),
        ({"torch": "2.2.2+cu121"}, "Numpy is not available", False, True),
        ({"numpy": "2.0.1"}, "Numpy is not available", False, True),
    ],
)
def test_versions_machine_and_symptom_are_asked_apart(
    packages: dict[str, str], message: str, *, is_affected: bool, is_shown: bool
) -> None:
    """What is not known is not affected."""
    entry = build_advisory(ENTRIES["torch.before-2-3-numpy-2"], Conditions((), ()))
    case = build_example_case(
        {
            "environment": {"packages": packages},
            "tracebacks": [{"exception": "RuntimeError", "message": message}],
        }
    )
    assert is_applicable(entry, case) == is_affected
    assert (find_symptom(entry, case) is not None) == is_shown


GROWTH = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
    " capacity of 79.15 GiB of which 1.06 GiB is free."
)


@pytest.mark.parametrize(
    ("training", "evaluation"),
    [
        pytest.param(
            "{{'loss': {loss}, 'grad_norm': 1.1, 'learning_rate': 1e-05, 'epoch': {step}.0}}",
            "{{'eval_loss': nan, 'eval_runtime': 9.5, 'epoch': {step}.0}}",
            id="Trainer",
        ),
        pytest.param(
            "epoch {step} train_loss {loss} lr 1e-05",
            "epoch {step} valid_loss nan",
            id="a loop of one's own",
        ),
        pytest.param(
            "step {step}00: loss = {loss}, lr = 1e-05",
            "step {step}00: val loss = nan",
            id="another loop",
        ),
    ],
)
def test_one_version_behind_nan_in_evaluation_and_memory(
    tmp_path: Path, training: str, evaluation: str
) -> None:
    """The version is the verdict, and the pip line for it the first fix."""
    lines = []
    for step, loss in enumerate((2.1, 1.9, 1.8, 1.7, 1.6), 1):
        lines += [training.format(step=step, loss=loss), evaluation.format(step=step)]
    run, environment = tmp_path / "run.log", tmp_path / "env.txt"
    run.write_text("\n".join([*lines, GROWTH]) + "\n", encoding="utf-8")
    environment.write_text(
        dump({"environment": {"packages": {"torch": "2.5.0+cu118"}}}), encoding="utf-8"
    )
    report = json.loads(postmortem.analyze([str(run)], env=[str(environment)]).render("json"))
    assert report["verdict"]["cause"] == "numerics.version-regression"
    first = report["causes"][0]["fixes"][0]
    assert "2.4.1 or 2.5.1" in first["title"]
    assert "torch==2.4.1" in first["snippet"]
    assert "whl/cu118" in first["snippet"]
