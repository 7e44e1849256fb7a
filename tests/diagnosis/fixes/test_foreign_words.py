"""No fix speaks the language of another stack or platform, and none of a stack's is unsayable.

The words are those of `patterns/stacks`: what only the users of a stack type. A word is foreign to
a job where its stack neither speaks for it nor lies beneath it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import postmortem
from postmortem.rules.base import KnowledgeBase, load
from postmortem.rules.vocabulary import PLAIN, StackRule, compile_word_pattern

ROOT = Path(__file__).resolve().parents[3]
LOGS = sorted((ROOT / "sample_logs").rglob("*.log"))[::12]
TORCH = re.compile(r"\btorch(?:run)?\b")


@pytest.fixture(scope="module", name="rules")
def _rules() -> KnowledgeBase:
    return load()


def foreign(rules: KnowledgeBase, names: set[str]) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Give the words of trainers that are neither among these nor beneath them."""
    near = names.union(*(rules.stacks.list_below(name) for name in names))
    near |= {taken for name in near for taken in rules.stacks.list_taken(name)}
    near |= {one for name in near for one in rules.stacks.get(name).beside}
    own = {word for name in near for word in rules.stacks.get(name).words}
    for stack in rules.stacks:
        if stack.kind == "trainer" and stack.id not in near:
            yield from (
                (stack.id, compile_word_pattern(word)) for word in stack.words if word not in own
            )


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(ROOT / "sample_logs")))
def test_no_word_of_another_stack(rules: KnowledgeBase, log: Path) -> None:
    """What a report shows for its first cause holds no word of a stack that is not there."""
    report = postmortem.analyze(str(log))
    names = {one["name"] for one in report.to_dict()["frameworks"]}
    first = report.causes[0]
    subject = {stack.id for stack in rules.stacks if first.id in stack.causes}
    names |= subject | ({PLAIN} if not names else set())
    texts = [f"{fix.title}\n{fix.why}\n{fix.snippet}" for fix in first.fixes]
    said = [
        (stack, word.pattern)
        for stack, word in foreign(rules, names)
        if any(word.search(text) for text in texts)
    ]
    assert said == []


def test_snippets_can_be_said(rules: KnowledgeBase) -> None:
    """Title and reason hold no word that would keep the fix from a stack with a snippet for it."""
    fixes = {fix.id: fix for fix in rules.fixes}
    unsayable = [
        (stack.id, name)
        for stack in rules.stacks
        for name in stack.snippets
        if _is_unsayable(f"{fixes[name].title['en']} {fixes[name].why['en']}", stack, rules)
    ]
    assert unsayable == []


def _is_unsayable(text: str, stack: StackRule, rules: KnowledgeBase) -> bool:
    if stack.kind == "trainer":
        return PLAIN not in {stack.id, *rules.stacks.list_below(stack.id)} and bool(
            TORCH.search(text)
        )
    others = {word for one in rules.stacks if one.kind == stack.kind for word in one.words}
    return any(compile_word_pattern(word).search(text) for word in others - set(stack.words))
