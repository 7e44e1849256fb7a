"""What the first line of a window tells of a rule holds whatever stands behind that line."""

import functools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.extraction.columnar.rule_verdicts import (
    find_required_word,
    has_no_match_start,
    must_match,
)
from postmortem.rules.base import Signature, load

NEWER = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
    " capacity of 79.15 GiB of which 1.20 GiB is free."
)
OLDER = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB total"
    " capacity; 14.25 GiB already allocated; 9.75 MiB free; 14.02 GiB reserved in total)"
)


@functools.lru_cache(maxsize=1)
def rules() -> dict[str, Signature]:
    """The rules of several lines."""
    return {rule.id: rule for rule in load().signatures if rule.lines > 1}


@functools.lru_cache(maxsize=1)
def texts() -> tuple[str, ...]:
    """What they fire on and what they do not, and what nobody looks at."""
    examples = [
        example["text"]
        for rule in rules().values()
        for group in ("fires", "silent")
        for example in rule.raw["examples"][group]
    ]
    return (*examples, NEWER, OLDER, "step 3 loss 0.25", "", " ", "RuntimeError:", "(")


def torn(choice: random.Random) -> list[str]:
    """Some of these texts one behind the other, torn at some of their blanks."""
    whole = choice.choice(["\n", " ", ""]).join(choice.choices(texts(), k=choice.randint(1, 4)))
    often = choice.choice([0.0, 0.05, 0.3])
    torn_ = [one if one != " " or choice.random() >= often else "\n" for one in whole]
    start = choice.choice([0, 0, choice.randrange(len(torn_) + 1)])
    return "".join(torn_[start:]).split("\n")


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32))
def test_nothing_behind_a_line_changes_what_is_known_of_it(seed: int) -> None:
    """Examples of all rules, torn and joined anyhow: the whole window is searched to compare."""
    choice = random.Random(seed)
    first, *behind = torn(choice)
    window = "\n".join([first, *behind, *torn(choice)])
    for rule in rules().values():
        found = rule.search(window)
        if must_match(rule, first):
            assert found is not None, rule.id
        if has_no_match_start(rule, first):
            assert found is None or found.start() > len(first), rule.id
        if found is not None:
            assert find_required_word(rule.match).decode() in found[0], rule.id


@pytest.mark.parametrize(
    ("rule", "text", "known"),
    [
        ("memory.cuda-oom.torch", NEWER, "holds"),
        ("memory.cuda-oom.torch-legacy", NEWER, "begins in no line"),
        ("memory.cuda-oom.short", NEWER, "begins in no line"),
        ("memory.cuda-oom.torch", OLDER, "begins in no line"),
        ("memory.cuda-oom.torch-legacy", OLDER, "holds"),
        ("memory.cuda-oom.short", OLDER, "begins in no line"),
        ("memory.cuda-oom.torch", NEWER.partition(" 2.00")[0], ""),
        ("memory.cuda-oom.short", "RuntimeError: CUDA out of memory.", ""),
        ("numerics.batch.figures-nan", "step 3 loss 0.25", ""),
    ],
)
def test_what_is_known_of_a_line(rule: str, text: str, known: str) -> None:
    """A message that goes on behind its line is not known; nor is what hangs on a border."""
    one = rules()[rule]
    is_known = {"holds": must_match(one, text), "begins in no line": has_no_match_start(one, text)}
    assert [name for name, is_so in is_known.items() if is_so] == ([known] if known else [])


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        (r"CUDA\s+out\s+of\s+memory(?!\.\s+Tried)", b"memory"),
        (r"(?:already|allocated)\s+\d+ bytes", b"bytes"),
        (r"fata?l errors?", b"error"),
        (r"one longer thing|another", b""),
        (r"(?i)out of memory", b""),
        (r"a b c", b""),
        (r"ab\hcd", b""),
    ],
)
def test_the_word_that_every_match_holds(pattern: str, word: bytes) -> None:
    """What is optional, one of several, or of either case is none."""
    assert find_required_word(pattern) == word
