"""What keys of configurations mean: nested YAML and JSON as flat names, and the facts they state."""

import pickle
import re
from typing import Any

import pytest

from postmortem.extraction.formats.config_files import KeyTable, read_config
from postmortem.extraction.formats.plain_values import Leaf, load_plain_value, parse_leaves
from postmortem.rules.base import load

TABLE = KeyTable(load().keys)


@pytest.mark.parametrize(
    ("text", "expected", "broken"),
    [
        pytest.param("a: 1\nb:\n  c: x\n", [("a", "1", 1), ("b.c", "x", 3)], None, id="YAML"),
        pytest.param(
            '{"a": [1, 2],\n "b": [{"c": 3}]}',
            [("a", "[1, 2]", 1), ("b.0.c", "3", 2)],
            None,
            id="JSON",
        ),
        pytest.param(
            "a:\n- x\n- y: 2\n  z: 3\n",
            [("a.1.y", "2", 3), ("a.1.z", "3", 4)],
            None,
            id="a list of both",
        ),
        pytest.param('{\n\t"a": 1\n}', [("a", "1", 2)], None, id="tabs"),
        pytest.param("a: &x 1\nb: *x\n", [("a", "1", 1)], None, id="an alias says nothing"),
        pytest.param("a: 1\n---\nb: 2\n", [("a", "1", 1)], None, id="the first document"),
        pytest.param('{"a": 1,\n"b": 2,\n"c": 0.0', [("a", "1", 1), ("b", "2", 2)], 3, id="cut"),
        pytest.param("plain text", [], None, id="no mapping"),
        pytest.param("a: null\nb: ''\n", [("a", "null", 1)], None, id="nothing"),
        pytest.param("", [], None, id="empty"),
    ],
)
def test_a_configuration_is_flattened(
    text: str, expected: list[tuple[str, str, int]], broken: int | None
) -> None:
    """Each value under the names that lead to it, at its line."""
    assert parse_leaves(text) == ([Leaf(*one) for one in expected], broken)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"lr": "1e-3"}, {"setting_learning_rate": "1e-3"}, id="a short name"),
        pytest.param({"a.b.optimizer.lr": "0.1"}, {"setting_learning_rate": "0.1"}, id="below others"),
        pytest.param({"x.lr": "0.1"}, {}, id="a short name below others says nothing"),
        pytest.param({"lr": "${optim.lr}"}, {}, id="what names another"),
        pytest.param({"lr": "auto"}, {}, id="auto"),
        pytest.param({"lr": "0.1", "learning_rate": "0.2"}, {"setting_learning_rate": "0.2"}, id="the best key"),
        pytest.param({"LR-Scheduler.Warmup-Steps": "10"}, {"setting_warmup_steps": "10"}, id="spelling"),
        pytest.param({"seed": "null", "seed_everything": "3"}, {"setting_seed": "3"}, id="null"),
        pytest.param({"trainer.precision": "bf16-mixed"}, {"env_precision": "bf16"}, id="a word for a precision"),
        pytest.param({"mixed_precision": "no"}, {}, id="a word that is not known"),
        pytest.param({"fp16.enabled": "true", "bf16": "False"}, {"setting_fp16": "True", "setting_bf16": "False"}, id="flags"),
        pytest.param({"optim": "true"}, {}, id="a flag is no word"),
        pytest.param({"batch_size": "0.5"}, {}, id="no whole number"),
        pytest.param(
            {"zero_optimization.stage": "2"},
            {"setting_zero_stage": "2", "setting_deepspeed": "True"},
            id="what follows from a key",
        ),
    ],
)  # fmt: skip
def test_keys_state_facts(values: dict[str, str], expected: dict[str, str]) -> None:
    """The facts under the names that printed lines give them."""
    given = [Leaf(name, value, 1) for name, value in values.items()]
    assert {one.name: one.value for one in TABLE.stated(given)} == expected


def test_every_key_is_read_by_somebody() -> None:
    """No key stands twice in a row, and none hides behind a shorter one of the row."""
    for row in load().keys:
        keys = row["keys"]
        assert len(set(keys)) == len(keys)
        assert all(re.fullmatch(r"(?:\*\.)?[a-z_][a-z0-9_.]*", key) for key in keys)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("- optim.lr=0.1", ("optim.lr", "0.1"), id="a value"),
        pytest.param("- +trainer.devices=4", ("trainer.devices", "4"), id="added"),
        pytest.param("- model=vit", ("model", "vit"), id="a group"),
        pytest.param("- optim/group=adam", ("optim.group", "adam"), id="a group below"),
        pytest.param("- ~trainer.logger", None, id="deleted"),
        pytest.param("[]", None, id="none"),
    ],
)
def test_overrides_of_hydra(line: str, expected: tuple[str, str] | None) -> None:
    """Each states a value."""
    found = read_config("run/.hydra/overrides.yaml", f"{line}\n").leaves
    assert [(leaf.name, leaf.value) for leaf in found] == ([] if expected is None else [expected])


class _Code:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("run",)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": [1, 2.5, None, True, False], "b": {"c": ("x", "y")}}, id="nested"),
        pytest.param([[1, 70_000, -3, 2**40], [], {}, ()], id="numbers"),
        pytest.param({str(n): n for n in range(300)}, id="many"),
    ],
)
def test_a_pickle_of_plain_values_is_read(value: object, protocol: int) -> None:
    """The same as the standard library gives."""
    assert load_plain_value(pickle.dumps(value, protocol=protocol)) == value


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(pickle.dumps(_Code()), id="a call"),
        pytest.param(pickle.dumps({"a": [_Code()]}), id="a call within"),
        pytest.param(pickle.dumps(_Code), id="a class"),
        pytest.param(b"\x80\x02}q\x00(h\x00h\x00u.", id="a dictionary as its own key"),
        pytest.param(b"\x80\x02X\xff\xff\xff\x7fabc.", id="a length that is not there"),
        pytest.param(b"(" * 10_000, id="marks without end"),
        pytest.param(b"\x80\x02]Nu.", id="values without a mark"),
        pytest.param(b"\x80\x02N(Ne.", id="a list that is none"),
        pytest.param(b"\x80\x02(NNu.", id="nothing to put them into"),
        pytest.param(b"garbage", id="no pickle"),
        pytest.param(b"", id="empty"),
    ],
)
def test_any_other_pickle_is_refused(data: bytes) -> None:
    """Nothing of it is run."""
    with pytest.raises(ValueError, match=r"."):
        load_plain_value(data)
