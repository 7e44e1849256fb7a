"""The advice is what an expert of the stack would say first.

The table was written from the documentation and sources of the stacks, not from the fixes. What a
failure lacks is shown by `python tools/first_actions.py tests/data/first_actions/*.yaml`. Figures
alone are asserted: what stands in a case of the check part is not to be printed.
"""

import functools
import re
from pathlib import Path

import pytest
from first_actions import Advised, advised, by, share, triples

from postmortem.rules.compile import read_yaml

ROOT = Path(__file__).resolve().parents[3]
TABLE = triples(sorted((ROOT / "tests" / "data" / "first_actions").glob("*.yaml")))
STACKS = sorted({triple.stack for triple in TABLE})


@functools.cache
def judged() -> tuple[Advised, ...]:
    """All of the table, judged once."""
    return tuple(advised(triple) for triple in TABLE)


def test_most_cases_are_met() -> None:
    """Every action of a case is among the first fixes, in 85 of 100 cases."""
    met = share(judged())
    assert met >= 0.85


@pytest.mark.parametrize("stack", STACKS)
def test_each_stack_is_met(stack: str) -> None:
    """No stack with five cases or more is left behind."""
    cases = by(lambda one: one.triple.stack, judged())[stack]
    met = share(cases) if len(cases) >= 5 else 1.0
    assert met >= 0.7


def test_no_advice_for_another_stack() -> None:
    """Words of another stack or platform stand in no fix."""
    never = sum(bool(one.forbidden) for one in judged())
    assert never == 0


def test_the_table_is_well_formed() -> None:
    """Names are unique, causes exist, logs have a size that is real, patterns compile."""
    causes = read_yaml(ROOT / "patterns" / "taxonomy.yaml")["causes"]
    assert len({triple.name for triple in TABLE}) == len(TABLE) >= 140
    for triple in TABLE:
        assert {triple.cause, *triple.also} <= set(causes), triple.name
        assert 8 <= len(triple.log.splitlines()) <= 60, triple.name
        for words in (*triple.actions, triple.never):
            assert all(re.compile(word) for word in words), triple.name
