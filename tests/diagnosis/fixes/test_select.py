"""Choosing fixes.

What a fix needs, the order, and the user's own figures in it.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from postmortem.core.findings import Gpu
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.select import select_fixes
from postmortem.rules.base import load
from postmortem.rules.cause_rules import Conditions, FixRule, build_fix_rule
from tests.diagnosis.fixes.runs import case

ROOT = Path(__file__).resolve().parents[3]
KNOWLEDGE = load()
A100, V100 = Gpu("A100 (80 GB)", 1, 79.0, 8.0), Gpu("V100 (32 GB)", 1, 31.7, 7.0)
GPU_CALL = re.compile(r"torch\.cuda|nvidia-smi|\.cuda\(|['\"]cuda['\"]")


def entry(name: str, kind: str = "change", **more: Any) -> FixRule:
    """A fix of a made-up cause."""
    written = {
        "id": name,
        "causes": ["a.cause"],
        "kind": kind,
        "title": {"en": f"{name} ${{x|X}}", "zh": f"{name} ${{x|X}}"},
        "why": {"en": "because", "zh": "因为"},
        "safety": "safe",
        "snippets": {
            "any": {"language": "bash", "code": f"{name} ${{last_checkpoint|CHECKPOINT}}"}
        },
        **more,
    }
    return build_fix_rule(written, Conditions((), ()))


@pytest.mark.parametrize(
    ("needs", "run", "extra", "is_offered"),
    [
        ("gpu", case({"device": "cpu"}), {}, False),
        ("gpu", case({"device": "cpu"}, A100), {}, True),
        ("gpu", case({"device": "cuda:0"}), {}, True),
        ("gpu", case(), {}, True),
        ("gpu", case(packages={"torch": "2.5.0+cpu"}), {}, False),
        ("gpu", case(packages={"torch": "2.5.0+cu121"}), {}, True),
        ("several-samples-per-step", case({"per_device_train_batch_size": "1"}), {}, False),
        ("several-samples-per-step", case({"batch_size": 1}), {}, False),
        ("several-samples-per-step", case({"per_device_train_batch_size": "2"}), {}, True),
        ("several-samples-per-step", case(), {}, True),
        ("good-checkpoint", case(), {"checkpoint_before_first_bad": "no"}, False),
        ("good-checkpoint", case(), {"checkpoint_before_first_bad": "yes"}, True),
        ("good-checkpoint", case(), {"checkpoint_before_first_bad": "unknown"}, True),
        ("good-checkpoint", case(), None, True),
    ],
)
def test_a_fix_is_dropped_only_where_its_need_is_known_to_be_missing(
    needs: str, run: Case, extra: dict[str, str] | None, *, is_offered: bool
) -> None:
    """What nobody said forbids nothing."""
    knowledge = replace(KNOWLEDGE, fixes=(entry("a.one", needs=needs), entry("a.two")))
    assert [fix.id for fix in select_fixes("a.cause", run, knowledge, extra=extra)] == (
        ["a.one", "a.two"] if is_offered else ["a.two"]
    )


@pytest.mark.parametrize(
    ("is_proved", "expected"),
    [
        pytest.param(False, ["c1", "a", "b", "c", "c2", "d", "e", "p"], id="one check first"),
        pytest.param(True, ["a", "b", "c", "d", "c1", "c2", "e", "p"], id="proved: changes first"),
    ],
)
def test_the_first_ones_are_a_check_and_the_changes_that_help_most(
    *, is_proved: bool, expected: list[str]
) -> None:
    """Within a kind the smaller order comes first, and prevention comes last."""
    entries = (
        entry("p", "prevent", order=1),
        entry("c2", "check", order=20),
        entry("c1", "check", order=10),
        entry("e"),
        entry("d", order=40),
        entry("c", order=30),
        entry("b", order=20),
        entry("a", order=10),
    )
    assert [
        fix.id
        for fix in select_fixes(
            "a.cause", case(), replace(KNOWLEDGE, fixes=entries), is_proved=is_proved
        )
    ] == expected


def test_title_and_snippet_are_filled() -> None:
    """The values reach every text of a fix."""
    (fix,) = select_fixes(
        "a.cause",
        case({"x": "3"}),
        replace(KNOWLEDGE, fixes=(entry("a.one"),)),
        extra={"last_checkpoint": "out/step-7"},
    )
    assert (fix.title.en, fix.snippet.en) == ("a.one 3", "a.one out/step-7")


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        pytest.param(
            A100,
            ["check-data", "use-bf16", "clip-gradients", "gentler-steps"],
            id="where bf16 is to be had",
        ),
        pytest.param(
            V100,
            ["check-fp32", "clip-gradients", "gentler-steps", "loss-scaling"],
            id="where it is not",
        ),
    ],
)
def test_overflow_is_met_by_range_before_rate(gpu: Gpu, expected: list[str]) -> None:
    """The rate is no cause of an overflow.

    A wider type comes first, and half the rate says why it may help all the same.
    """
    found = select_fixes("numerics.fp16-overflow", case({}, gpu), KNOWLEDGE)
    assert [fix.id.removeprefix("numerics.") for fix in found[:4]] == expected
    assert "not the cause" in next(
        fix.why.en for fix in found if fix.id == "numerics.gentler-steps"
    )


def offered(cause: str, run: Case, **extra: str) -> dict[str, str]:
    """The fixes of a cause by id, with title and snippet."""
    return {
        fix.id: f"{fix.title}\n{fix.why}\n{fix.snippet}"
        for fix in select_fixes(cause, run, KNOWLEDGE, extra=extra)
    }


@pytest.mark.parametrize(
    ("cause", "fix", "run", "extra", "wanted"),
    [
        (
            "environment.missing-package",
            "environment.install-package",
            case(frameworks=("deepspeed", "transformers-trainer")),
            {"capture_module": "flash_attn"},
            "pip install flash-attn ",
        ),
        (
            "environment.missing-package",
            "environment.check-interpreter",
            case(),
            {"capture_module": "cv2"},
            "pip show opencv-python ",
        ),
        (
            "environment.abi-mismatch",
            "environment.rebuild-extension",
            case(frameworks=("deepspeed",)),
            {"capture_library": "libcudart.so.11.0"},
            "--no-deps PACKAGE",
        ),
        (
            "data.schema",
            "data.find-bad-records",
            case(),
            {"capture_field": "label"},
            'want = {"label"}',
        ),
        (
            "data.schema",
            "data.rename-columns",
            case(),
            {"capture_field": "label"},
            "The code reads label;",
        ),
        (
            "unknown.no-cause-shown",
            "unknown.find-traceback",
            case(),
            {"log": "out/run.log"},
            "' out/run.log\n",
        ),
        ("unknown.no-cause-shown", "unknown.find-traceback", case(), {}, "' run.log\n"),
        (
            "numerics.lr-divergence",
            "numerics.clip-gradients",
            case(frameworks=("mmengine",)),
            {},
            "max_norm=1.0",
        ),
        (
            "numerics.lr-divergence",
            "numerics.earlier-checkpoint",
            case(frameworks=("xtuner",)),
            {},
            "--resume CHECKPOINT_BEFORE_THE_NAN",
        ),
        (
            "numerics.lr-divergence",
            "numerics.earlier-checkpoint",
            case(frameworks=("xtuner",)),
            {"good_checkpoint": "w/iter_9.pth"},
            "--resume w/iter_9.pth",
        ),
        (
            "scheduler.time-limit",
            "scheduler.resume",
            case(),
            {"good_checkpoint": "w/step-9"},
            "--resume w/step-9",
        ),
    ],
)
def test_facts_of_the_message_stand_in_the_fix(
    cause: str, fix: str, run: Case, extra: dict[str, str], wanted: str
) -> None:
    """Package, key, log and checkpoint of this run, or a word that is plainly to be replaced."""
    assert wanted in offered(cause, run, **extra)[fix]


@pytest.mark.parametrize(
    ("cause", "fix", "run", "extra"),
    [
        (
            "numerics.lr-divergence",
            "numerics.earlier-checkpoint",
            case(),
            {"checkpoint_before_first_bad": "no"},
        ),
        (
            "numerics.fp16-overflow",
            "numerics.accumulate",
            case({"per_device_train_batch_size": 1}),
            {},
        ),
        ("memory.cuda-oom", "memory.halve-batch", case({"per_device_train_batch_size": 1}), {}),
        ("numerics.fp16-overflow", "numerics.use-bf16", case({"device": "cpu"}), {}),
        (
            "environment.missing-package",
            "environment.install-openmmlab",
            case(frameworks=("mmengine",)),
            {"capture_module": "flash_attn"},
        ),
    ],
)
def test_what_cannot_help_is_not_offered(
    cause: str, fix: str, run: Case, extra: dict[str, str]
) -> None:
    """No checkpoint from before, no batch to split, no GPU, another package."""
    assert fix not in offered(cause, run, **extra)


@pytest.mark.parametrize(
    "cause",
    [
        one
        for one in sorted(KNOWLEDGE.causes)
        if one.startswith(("numerics.", "learning.", "hang.", "healthy.", "performance."))
    ],
)
def test_no_snippet_calls_cuda_on_a_cpu(cause: str) -> None:
    """A run on the CPU gets nothing that fails there at once.

    A line that asks first may stay, and so may a comment.
    """
    for fix in select_fixes(cause, case({"device": "cpu"}), KNOWLEDGE):
        lines = [line.partition("#")[0] for line in fix.snippet.en.split("\n")]
        assert not [
            line for line in lines if GPU_CALL.search(line) and "is_available" not in line
        ], fix.id


@pytest.mark.parametrize(
    "path", sorted((ROOT / "patterns" / "fixes").glob("*.yaml")), ids=lambda path: path.stem
)
def test_defaults_are_plain_or_plainly_to_be_replaced(path: Path) -> None:
    """No default looks like a path or a rate of the user's own."""
    defaults = set(
        re.findall(
            r"\$\{(last_checkpoint|good_checkpoint|learning_rate\w*|model|torch_version|torch_release|distribution)(?:\|([^}]*))?\}",
            path.read_text(encoding="utf-8"),
        )
    )
    assert not {
        (name, default)
        for name, default in defaults
        if not re.fullmatch(r"[A-Z][A-Z_/]+|last|the last checkpoint|最后一个检查点", default)
    }
