"""How far the rules carry over to messages that are cut or worded otherwise.

A sample of the rules' own examples is cut at the end, or names other libraries, classes and
numbers; most of them must still name a cause that the whole text names.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import postmortem
from postmortem.rules.compile import iter_rules

SIGNATURES: Final = Path(__file__).parents[1] / "patterns" / "signatures"
EACH: Final = 19
"""One example in so many is looked at."""
LIBRARIES: Final = re.compile(
    r"\b(?:torch|nccl|deepspeed|transformers|lightning|mmcv|mmengine|megatron|accelerate|peft|trl"
    r"|datasets|numpy|jax|keras|paddle|horovod|ray|apex|fairseq|c10d|c10|triton|wandb)\b(?=[._:/ ])"
)
EXCEPTIONS: Final = re.compile(r"\b(?:[a-zA-Z_]\w*\.){0,6}(?!Runtime)[A-Z]\w*(?:Error|Exception)\b")


@cache
def whole() -> tuple[tuple[str, frozenset[str]], ...]:
    """Texts of the sample, with the causes that they name as they stand."""
    texts = [
        example["text"]
        for _, rule in iter_rules(SIGNATURES)
        if rule["role"] == "cause" and not rule.get("broad")
        for example in rule["examples"]["fires"]
    ]
    return tuple((text, frozenset(causes(text))) for text in texts[::EACH])


def causes(text: str) -> list[str]:
    """The causes of a text, best first, without those that say that there is none."""
    found = [cause.id for cause in postmortem.analyze(text.encode()).analysis.causes]
    return [] if found[0].startswith(("unknown.", "healthy.")) else found


def cut_by_half(text: str) -> str:
    """The first half of a text."""
    return text[: len(text) // 2]


def cut_late(text: str) -> str:
    """A text without its last third, nearly."""
    return text[: len(text) * 7 // 10]


def reworded(text: str) -> str:
    """A text of another library, with another exception and other numbers."""
    text = LIBRARIES.sub("flowkit", EXCEPTIONS.sub("RuntimeError", text))
    return re.sub(r"[1-9]", lambda digit: str(int(digit[0]) % 9 + 1), text)


@pytest.mark.parametrize(
    ("change", "floor"), [(cut_by_half, 0.26), (cut_late, 0.48), (reworded, 0.76)]
)
def test_a_message_that_is_cut_or_worded_otherwise_still_names_its_cause(
    change: Callable[[str], str], floor: float
) -> None:
    """The share of the sample for which it does is at least the floor."""
    kept = [
        bool(known.intersection(causes(change(text))[:1]))
        for text, known in whole()
        if change(text).strip()
    ]
    assert sum(kept) / len(kept) >= floor
