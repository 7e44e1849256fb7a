"""The user's own figures: from the settings, from what the caller knows, none that could act."""

import re
from typing import Any

import pytest

from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.figures import collect_user_values, set_in
from postmortem.rules.cause_rules import fill
from tests.diagnosis.fixes.runs import case


def figures_of(run: Case, extra: dict[str, str] | None = None) -> dict[str, str]:
    """The figures of a run of which nothing is known by default."""
    return collect_user_values(run, set_in(run), extra)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param("lr=${rate|1e-5}", "lr=3e-4", id="known"),
        pytest.param("lr=${other|RATE}", "lr=RATE", id="default"),
        pytest.param("lr=${other}", "lr=<other>", id="no default"),
        pytest.param("lr=${other|}", "lr=", id="an empty default"),
        pytest.param("lr=${empty|RATE}", "lr=RATE", id="an empty value is none"),
        pytest.param(
            'df "${TMPDIR:-/tmp}" $HOME {"a": 1}',
            'df "${TMPDIR:-/tmp}" $HOME {"a": 1}',
            id="the shell's own braces stay",
        ),
    ],
)
def test_fill_takes_the_value_or_the_default(template: str, expected: str) -> None:
    """A placeholder never comes out as it went in."""
    assert fill(template, {"rate": "3e-4", "empty": ""}) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param(
            {"learning_rate": "2e-4"},
            {
                "learning_rate": "0.0002",
                "learning_rate_half": "0.0001",
                "learning_rate_tenth": "2e-05",
                "learning_rate_tenfold": "0.002",
            },
            id="rate",
        ),
        pytest.param(
            {"per_device_train_batch_size": "8", "gradient_accumulation_steps": "4"},
            {"batch_size_half": "4", "accumulation_double": "8", "accumulation": "4"},
            id="batch and accumulation",
        ),
        pytest.param({"max_seq_length": "4096"}, {"max_seq_length_half": "2048"}, id="a length"),
        pytest.param(
            {"batch_size": 1, "gradient_accumulation_steps": 16},
            {"batch_size_half": "1", "accumulation_double": "16"},
            id="a batch of one is not split",
        ),
        pytest.param(
            {"gradient_accumulation_steps": 16},
            {"accumulation_double": "32", "batch_size_half": None},
            id="accumulation alone",
        ),
        pytest.param(
            {"max_seq_length": "4096"}, {"max_seq_length_half": "2048"}, id="half of the length"
        ),
        pytest.param(
            {},
            {
                "clip_norm": "1.0",
                "learning_rate": None,
                "batch_size_half": None,
                "accumulation_double": None,
            },
            id="nothing",
        ),
        pytest.param(
            {"max_grad_norm": "35"}, {"clip_norm": "1.0"}, id="a loose clip is tightened to 1"
        ),
        pytest.param({"max_grad_norm": "1.0"}, {"clip_norm": "0.5"}, id="a clip at 1 is halved"),
        pytest.param({"max_grad_norm": "0"}, {"clip_norm": "1.0"}, id="a clip of 0 is none"),
        pytest.param(
            {"batch_bins": "6000000", "max_duration": "601", "ratio": "0.05", "seed": "x"},
            {
                "batch_bins_half": "3000000",
                "max_duration_half": "300",
                "ratio_half": "0.025",
                "seed_half": None,
            },
            id="the half of any setting that is a number",
        ),
    ],
)
def test_numbers_come_from_the_settings(
    settings: dict[str, Any], expected: dict[str, str | None]
) -> None:
    """What a change would set is worked out from what the run had set."""
    values = figures_of(case(settings))
    assert {name: values.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("packages", "expected"),
    [
        pytest.param(
            {"torch": "2.5.0+cu118"},
            {"torch_version": "2.5.0+cu118", "torch_release": "2.5.0", "torch_cuda": "cu118"},
            id="CUDA build",
        ),
        pytest.param(
            {"torch": "2.5.0"}, {"torch_release": "2.5.0", "torch_cuda": None}, id="build not told"
        ),
        pytest.param(
            {"torch": "2.5.0+cpu"}, {"torch_release": "2.5.0", "torch_cuda": None}, id="CPU build"
        ),
    ],
)
def test_numbers_name_the_build_of_torch(
    packages: dict[str, str], expected: dict[str, str | None]
) -> None:
    """A release can be asked of pip, a local part cannot."""
    values = figures_of(case(packages=packages))
    assert {name: values.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("settings", "extra", "expected"),
    [
        pytest.param(
            {},
            {"last_checkpoint": "out/checkpoint-40"},
            {"last_checkpoint": "out/checkpoint-40"},
            id="checkpoint",
        ),
        pytest.param(
            {}, {"last_checkpoint": "500"}, {"last_checkpoint": None}, id="a step is no path"
        ),
        pytest.param(
            {},
            {"learning_rate": "1e-3"},
            {"learning_rate_half": "0.0005"},
            id="the printed rate where none was set",
        ),
        pytest.param(
            {"learning_rate": "2e-4"},
            {"learning_rate": "1e-3"},
            {"learning_rate_half": "0.0001"},
            id="a set rate is stronger",
        ),
        pytest.param(
            {"learning_rate": "auto"},
            {"learning_rate": "1e-3"},
            {"learning_rate_half": "0.0005"},
            id="auto is no rate",
        ),
        pytest.param(
            {},
            {"log": "logs/run 1.log"},
            {"log": None},
            id="a path with a space would fall apart in a command",
        ),
        pytest.param({}, {"log": "logs/run-1.log"}, {"log": "logs/run-1.log"}, id="log"),
        pytest.param({}, {"capture_key": "'label'"}, {"key": "label"}, id="key"),
        pytest.param(
            {}, {"capture_field": "train loss"}, {"key": "train loss"}, id="a field with a space"
        ),
        pytest.param(
            {},
            {"capture_library": "flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so"},
            {"extension": "flash_attn_2_cuda", "distribution": "flash-attn"},
            id="extension",
        ),
        pytest.param(
            {},
            {"capture_library": "libcudart.so.11.0"},
            {"capture_library": "libcudart.so.11.0", "extension": None, "distribution": None},
            id="a CUDA library is no package",
        ),
        pytest.param(
            {},
            {"capture_module": "torch._six", "capture_package": "torch"},
            {"module": "torch", "distribution": "torch"},
            id="submodule",
        ),
        pytest.param(
            {},
            {"capture_module": ""},
            {"module": None, "distribution": None},
            id="a group that took no part",
        ),
    ],
)
def test_numbers_take_what_the_caller_knows(
    settings: dict[str, Any], extra: dict[str, str], expected: dict[str, str | None]
) -> None:
    """Paths, rate and captures of the caller fill the same names; settings are stronger."""
    values = figures_of(case(settings), extra)
    assert {name: values.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    "value",
    [
        "a'; rm -rf ~ #",
        "$(reboot)",
        "`reboot`",
        "a\nb",
        "--force",
        'x" + y',
        "a|b",
        "a>b",
        "a&b",
        "x" * 300,
        "a\\b",
    ],
)
@pytest.mark.parametrize(
    "name", ["last_checkpoint", "log", "capture_key", "capture_library", "capture_module"]
)
def test_what_could_act_in_a_command_is_left_out(name: str, value: str) -> None:
    """A log may hold anything; what it holds becomes no part of a command."""
    values = figures_of(case({"model": value}), {name: value})
    assert not {
        key: told
        for key, told in values.items()
        if told == value
        or (
            key in {"key", "distribution", "module", "extension"}
            and not re.fullmatch(r"\w[\w .+-]*", told)
        )
    }
