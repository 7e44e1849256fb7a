"""The knowledge base as typed rules."""

import json
from pathlib import Path

import pytest

from postmortem.core import resources
from postmortem.core.errors import PatternError
from postmortem.rules.base import NEARBY, Rule, _build_knowledge_base, load
from postmortem.rules.cause_rules import CauseRule
from postmortem.rules.compile import compile_folders, strip_examples

CAUSE = """\
id: io.disk-full
explanation: {en: It is full., zh: 满了。}
whose: user
retry: after-fix
for:
  - if: [mine-is-told]
    level: strong
    text: {en: it says so, zh: 如此说明}
"""
CONDITION = """\
- id: mine-is-told
  meaning: {en: the site's message was seen, zh: 出现站点的信息}
  holds: {signature: io.disk-full.errno28}
  examples: {holds: [{signatures: [io.disk-full.errno28]}], fails: [{shapes: [zero-loss]}]}
"""


def written(folder: Path, **files: str) -> Path:
    """A user's folder with one file a kind."""
    for kind, text in files.items():
        (folder / kind).mkdir(parents=True)
        (folder / kind / "mine.yaml").write_text(text, encoding="utf-8")
    return folder


def test_rules_are_typed_and_name_their_conditions() -> None:
    """Every cause of the taxonomy has a rule, and what is named is a condition with a predicate."""
    knowledge = load()
    assert set(knowledge.causes) == set(knowledge.titles)
    rule = knowledge.cause("numerics.fp16-overflow")
    first = rule.supporting[0]
    assert [one.id for one in first.asked.wanted] == [
        "training-loss-not-finite",
        "computes-in-fp16",
    ]
    assert all(one.predicate and set(one.meaning) == {"en", "zh"} for one in first.asked.wanted)
    assert (rule.whose, first.level, first.group) == ("user", "strong", "precision")
    with pytest.raises(AttributeError):
        rule.whose = "data"  # type: ignore[misc]


def test_an_unknown_cause_has_a_rule_without_evidence() -> None:
    """Whoever asks needs no special case."""
    assert load().cause("no.such-cause") == CauseRule("no.such-cause", {})


def test_the_form_of_the_wheel_gives_the_same_rules() -> None:
    """What is left out there does not change an answer."""
    value = compile_folders([resources.find_folder("patterns")])
    stored = json.loads(json.dumps(strip_examples(value)))
    whole, bare = _build_knowledge_base(value), _build_knowledge_base(stored)
    for name in ("version", "causes", "titles", "precedence", "fixes", "advisories", "gpus"):
        assert getattr(whole, name) == getattr(bare, name)
    assert [one.match for one in whole.signatures] == [one.match for one in bare.signatures]


def test_a_users_cause_names_the_users_condition(tmp_path: Path) -> None:
    """A folder of the user's own may bring conditions, as the built-in rules do."""
    knowledge = load([written(tmp_path, causes=CAUSE, conditions=CONDITION)])
    (argument,) = knowledge.cause("io.disk-full").supporting
    assert [one.predicate for one in argument.asked.wanted] == [
        {"signature": "io.disk-full.errno28"}
    ]


@pytest.mark.parametrize(
    ("files", "what"),
    [
        pytest.param(
            {"causes": CAUSE.replace("[mine-is-told]", "{shape: zero-loss}")},
            "a predicate stands where names belong",
            id="an inline predicate",
        ),
        pytest.param(
            {"conditions": CONDITION.replace("signature: io.disk-full.errno28", "condition: gone")},
            "names gone, which is not there",
            id="a condition that names one that is not there",
        ),
    ],
)
def test_a_users_rule_that_cannot_be_used_says_how_to_mend_it(
    tmp_path: Path, files: dict[str, str], what: str
) -> None:
    """With the file, and without a traceback."""
    with pytest.raises(PatternError) as caught:
        load([written(tmp_path, **files)])
    assert what in caught.value.what
    assert "mine.yaml" in str(caught.value.where)
    assert "condition" in caught.value.mend


def test_words_beside_a_match_may_stand_on_either_side_within_reach() -> None:
    """Each of them must be there, near the match or in it, in whatever order."""
    raw = {"beside": [r"\bgpu\b", "(?i)failed"]}
    rule = Rule("an.example", (b"memory",), "memory", raw)
    for text in ("gpu memory: Failed", "FAILED for want of memory on gpu 3"):
        assert rule.search(text) is not None, text
    for text in ("gpu memory", "memory failed", f"gpu failed {'.' * NEARBY} memory"):
        assert rule.search(text) is None, text
