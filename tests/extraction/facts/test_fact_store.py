"""Environment and settings.

Typed, the stronger statement wins, GPUs are looked up, precision is told from what is printed.
"""

import itertools

import pytest

from postmortem.core.findings import Gpu, Setting
from postmortem.core.log_text import parse_number
from postmortem.extraction.facts.fact_store import FactStore, build_environment, parse_value
from postmortem.rules.base import load

TABLE = load().gpus


def store_of(
    *facts: tuple[str, str] | tuple[str, str, int] | tuple[str, str, int, int],
) -> FactStore:
    """A store with facts: name, value, strength (1), line (its place in the list)."""
    store = FactStore()
    for line, fact in enumerate(facts, 1):
        name, value, *rest = fact
        store.add(
            str(name),
            str(value),
            int(rest[0]) if rest else 1,
            0,
            int(rest[1]) if len(rest) > 1 else line,
        )
    return store


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("8", 8, id="whole"),
        pytest.param("1,234", 1234, id="thousands"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param("2e-05", 2e-05, id="exponent"),
        pytest.param("1.0", 1.0, id="decimal"),
        pytest.param("-3", -3, id="negative"),
        pytest.param(".5", 0.5, id="no leading zero"),
        pytest.param("True", True, id="truth"),
        pytest.param("false", False, id="lower case"),
        pytest.param("None", False, id="None"),
        pytest.param("enabled", True, id="enabled"),
        pytest.param("adamw_torch", "adamw_torch", id="a word"),
        pytest.param("0x1f", "0x1f", id="hexadecimal"),
        pytest.param("1.2.3", "1.2.3", id="a version"),
        pytest.param("e5", "e5", id="an exponent alone"),
        pytest.param("9" * 400, "9" * 400, id="beyond any float"),
        pytest.param("1e999", "1e999", id="infinite"),
    ],
)
def test_printed_values_are_typed(text: str, expected: object) -> None:
    """Numbers, truth values, or the text itself."""
    assert (parse_value(text), type(parse_value(text))) == (expected, type(expected))


@pytest.mark.parametrize(
    "text", ["", "-", ".", "e", "1e", "nan", "inf", "abc", "1 2", "++1", "1e999"]
)
def test_what_is_no_finite_number(text: str) -> None:
    """Neither words nor halves of numbers, nor anything infinite."""
    assert parse_number(text) is None


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(
            [("package_torch", "2.4.1", 2), ("package_torch", "2.5", 0)],
            "2.4.1",
            id="a hint does not beat a dump",
        ),
        pytest.param(
            [("package_torch", "2.5", 0), ("package_torch", "2.4.1", 1)],
            "2.4.1",
            id="a program beats a hint",
        ),
        pytest.param(
            [("package_torch", "2.4.1", 1), ("package_torch", "2.5", 1)],
            "2.5",
            id="of equal ones the later",
        ),
        pytest.param(
            [("package_torch", "'2.4.1',", 1)], "2.4.1", id="quotes and commas are taken off"
        ),
        pytest.param(
            [("package_torch", "  ", 2), ("package_torch", "2.4", 0)],
            "2.4",
            id="nothing says nothing",
        ),
    ],
)
def test_the_stronger_statement_wins(facts: list[tuple[str, str, int]], expected: str) -> None:
    """Strength first, then the order of the log."""
    assert store_of(*facts).get("package.torch") == expected


def test_order_matters_only_among_equals() -> None:
    """Whatever the order, the strongest is known."""
    facts = [("env_python", "3.8", 0), ("env_python", "3.10.14", 2), ("env_python", "3.9", 1)]
    assert {store_of(*order).get("env.python") for order in itertools.permutations(facts)} == {
        "3.10.14"
    }


def test_names_say_where_a_value_goes() -> None:
    """Packages by their printed names, settings typed, the rest by kind."""
    store = store_of(
        ("package_flash_attn", "2.5.8"),
        ("setting_learning_rate", "2e-5"),
        ("framework_deepspeed", "0.14.2"),
        ("env_os", "linux"),
        ("env_exit_status", "137"),
        ("env_world_size", "8"),
        ("checkpoint", "out/checkpoint-500"),
    )
    found = build_environment(store, TABLE)
    assert found.packages == {"flash-attn": "2.5.8"}
    assert (found.os, found.exit_status, found.world_size) == ("linux", 137, 8)
    assert store.settings() == {"learning_rate": Setting(2e-5, 0, 2)}
    assert store.get("framework.deepspeed") == "0.14.2"
    assert [fact.value for fact in store.checkpoints] == ["out/checkpoint-500"]


@pytest.mark.parametrize(
    ("facts", "gpus"),
    [
        pytest.param(
            [("gpu_name", "NVIDIA A100-SXM4-80GB", 2)],
            (Gpu("A100 (80 GB)", 1, 80, 8.0),),
            id="A100",
        ),
        pytest.param(
            [("gpu_name", "Tesla V100-SXM2-32GB", 2)], (Gpu("V100 (32 GB)", 1, 32, 7.0),), id="V100"
        ),
        pytest.param([("gpu_name", "Tesla T4", 2)], (Gpu("T4", 1, 16, 7.5),), id="T4"),
        pytest.param(
            [("gpu_name", "NVIDIA GeForce RTX 4090", 2)],
            (Gpu("GeForce RTX 4090", 1, 24, 8.9),),
            id="RTX 4090",
        ),
        pytest.param(
            [("gpu_name", "NVIDIA H100 80GB HBM3", 2)], (Gpu("H100", 1, 80, 9.0),), id="H100"
        ),
        pytest.param(
            [("gpu_name", "Strange Card 9", 2)],
            (Gpu("Strange Card 9", 1, None, None),),
            id="unknown",
        ),
        pytest.param(
            [("gpu_name", "Tesla V100-SXM2-16GB", 2), ("gpu_memory_mib", "32510", 2)],
            (Gpu("V100 (16 GB)", 1, 32510 / 1024, 7.0),),
            id="the printed memory counts",
        ),
        pytest.param(
            [
                ("gpu_name", "Tesla T4", 2, 10),
                ("gpu_name", "Tesla T4", 2, 12),
                ("gpu_name", "Tesla T4", 2, 14),
            ],
            (Gpu("T4", 3, 16, 7.5),),
            id="a list",
        ),
        pytest.param(
            [
                ("gpu_name", "Tesla T4", 2, 10),
                ("gpu_name", "Tesla T4", 2, 500),
                ("gpu_name", "Tesla T4", 2, 900),
            ],
            (Gpu("T4", 1, 16, 7.5),),
            id="the dumps of three ranks",
        ),
        pytest.param(
            [("gpu_name", "Tesla T4", 2), ("gpu_count", "4", 2)],
            (Gpu("T4", 4, 16, 7.5),),
            id="a printed count",
        ),
        pytest.param(
            [("gpu_name", "Tesla T4", 0), ("gpu_name", "Tesla V100-SXM2-32GB", 2)],
            (Gpu("V100 (32 GB)", 1, 32, 7.0),),
            id="prose about another card",
        ),
        pytest.param([("gpu_count", "4", 2)], (), id="a count of nothing"),
        pytest.param([], (), id="none"),
    ],
)
def test_gpus_are_looked_up(facts: list[tuple[str, str, int]], gpus: tuple[Gpu, ...]) -> None:
    """Name, count, memory and compute capability of every model."""
    assert build_environment(store_of(*facts), TABLE).gpus == gpus


@pytest.mark.parametrize(
    ("facts", "precision"),
    [
        pytest.param([("setting_fp16", "True")], "fp16", id="fp16"),
        pytest.param([("setting_bf16", "true")], "bf16", id="bf16"),
        pytest.param(
            [("setting_fp16", "False"), ("setting_bf16", "True")], "bf16", id="one of two"
        ),
        pytest.param([("setting_fp16", "False"), ("setting_bf16", "False")], "fp32", id="neither"),
        pytest.param([("setting_fp16", "False")], None, id="half an answer"),
        pytest.param([("env_precision", "16-mixed")], "fp16", id="Lightning"),
        pytest.param([("env_precision", "bf16-mixed")], "bf16", id="Lightning, bf16"),
        pytest.param([("setting_mixed_precision", "bf16")], "bf16", id="accelerate"),
        pytest.param([("setting_mixed_precision", "no")], None, id="accelerate says no"),
        pytest.param([("setting_torch_dtype", "torch.float16")], "fp16", id="dtype"),
        pytest.param([("setting_torch_dtype", "bfloat16")], "bf16", id="dtype, bf16"),
        pytest.param([("setting_torch_dtype", "auto")], None, id="dtype auto"),
        pytest.param(
            [("setting_torch_dtype", "bfloat16"), ("setting_fp16", "True")],
            "fp16",
            id="the switch counts before the dtype of the weights",
        ),
        pytest.param(
            [("env_precision", "fp16"), ("setting_torch_dtype", "float32")],
            "fp16",
            id="what was printed as precision",
        ),
        pytest.param([], None, id="nothing"),
    ],
)
def test_precision(facts: list[tuple[str, str]], precision: str | None) -> None:
    """The training precision, or None where nothing says so."""
    assert build_environment(store_of(*facts), TABLE).precision == precision


def test_merging_equals_one_store() -> None:
    """Strength counts over sources as it does within one."""
    first, second = (
        store_of(
            ("package_torch", "2.4.1", 2), ("gpu_name", "Tesla T4", 1), ("setting_fp16", "True", 0)
        ),
        store_of(
            ("package_torch", "2.5", 1),
            ("gpu_name", "Tesla T4", 2),
            ("setting_fp16", "False", 1),
            ("gpu_memory_gib", "15"),
        ),
    )
    first.framework_lines, second.framework_lines = {"a": 1}, {"a": 2, "b": 1}
    first.merge(second)
    assert (first.get("package.torch"), first.get("setting.fp16")) == ("2.4.1", "False")
    assert (first.cards.names["Tesla T4"].strength, first.cards.largest_gib()) == (2, 15)
    assert first.framework_lines == {"a": 3, "b": 1}


def test_what_is_kept_is_bounded() -> None:
    """A log that invents names without end does not fill the memory.

    Huge figures are no crash.
    """
    store = FactStore()
    for line in range(20_000):
        for name, value in (
            (f"setting_x{line}", "1"),
            ("gpu_name", f"Card {line}"),
            ("checkpoint", f"c{line}"),
        ):
            store.add(name, value * (1 if line else 5000), 1, 0, line)
    assert len(store.facts) <= 2001
    assert len(store.cards.names) <= 2001
    assert len(store.checkpoints) <= 1000
    assert max(len(fact.value) for fact in store.facts.values()) <= 400
    store = store_of(
        ("env_world_size", "9" * 399),
        ("env_exit_status", "1e999"),
        ("gpu_name", "T4"),
        ("gpu_count", "9" * 399),
        ("gpu_memory_mib", "9" * 399),
    )
    assert build_environment(store, TABLE).world_size is None
