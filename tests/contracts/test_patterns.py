"""The built-in knowledge: well formed, proved on its examples, complete, quiet on health."""

import collections
import json
import re
from pathlib import Path
from typing import Any

import pytest

from postmortem.core import resources
from postmortem.diagnosis.inference import example_cases
from postmortem.extraction import proof
from postmortem.rules import check
from postmortem.rules.base import load
from postmortem.rules.compile import KINDS, compile_folders
from postmortem.rules.schema import build_json_schema

PATTERNS = resources.find_folder("patterns")
COMPILED = compile_folders([PATTERNS])
RULES = {rule["id"]: rule for kind in ("signatures", "formats") for rule in COMPILED[kind]}


def test_every_file_is_well_formed() -> None:
    """No rule has an unknown key, an unknown cause, an invalid regex or a twin."""
    assert [str(fault) for fault in check.find_faults([PATTERNS])] == []


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rule_is_proved_on_its_own_examples(name: str) -> None:
    """Each rule fires on its firing examples and stays silent on its near misses."""
    assert [str(fault) for fault in proof.find_example_errors([RULES[name]])] == []


def test_every_cause_of_the_taxonomy_is_explained() -> None:
    """Each id has a cause file with explanation, whose problem it is, and whether to try again."""
    explained = {entry["id"] for entry in COMPILED["causes"]}
    assert explained == set(COMPILED["taxonomy"]["causes"])


def test_every_cause_can_be_suggested() -> None:
    """Each id is suggested by a signature, argued for in its file, or decided by the program."""
    suggested = {cause for rule in COMPILED["signatures"] for cause in rule.get("suggests") or {}}
    argued = {entry["id"] for entry in COMPILED["causes"] if entry.get("for")}
    missing = set(COMPILED["taxonomy"]["causes"]) - suggested - argued
    assert missing == set()


def test_every_failure_has_a_check_and_a_change() -> None:
    """Each cause has a fix that checks it and one that mends it.

    The healthy and unknown ones have none.
    """
    kinds = collections.defaultdict(set)
    for fix in COMPILED["fixes"]:
        for cause in fix["causes"]:
            kinds[cause].add(fix["kind"])
    failures = [
        cause
        for cause in COMPILED["taxonomy"]["causes"]
        if not cause.startswith(("healthy.", "unknown.", "performance.", "learning.", "hang."))
    ]
    assert [cause for cause in failures if not {"check", "change"} <= kinds[cause]] == []


CHOSEN = re.compile(r"#.*|--bf16 false")
"""What a snippet does not turn on: its comments, and what it turns off."""


def snippets_of(fix: str) -> list[dict[str, Any]]:
    """What the files of stacks hold for a fix."""
    found = [stack.get("snippets") or {} for stack in COMPILED["stacks"]]
    return [{fix: snippets[fix]} for snippets in found if fix in snippets]


def test_no_fix_advises_bf16_where_it_is_only_emulated() -> None:
    """A snippet that turns bf16 on is withheld below compute capability 8.0."""
    turning_on = [
        fix
        for fix in COMPILED["fixes"]
        if fix["kind"] == "change"
        and any(
            word in CHOSEN.sub("", snippet["code"])
            for told in (fix.get("snippets") or {}, *snippets_of(fix["id"]))
            for snippet in told.values()
            for word in ("bf16=True", "--bf16", "bf16: true", "dtype='bfloat16'")
        )
    ]
    assert turning_on
    assert [
        fix["id"]
        for fix in turning_on
        if "gpu-with-bfloat16" not in fix.get("if", ())
        and "gpu-without-bfloat16" not in fix.get("not", ())
    ] == []


def test_bf16_is_native_from_compute_capability_8_on() -> None:
    """The two conditions that decide about bf16 ask for the capability, and for nothing else."""
    asked = {entry["id"]: entry["holds"] for entry in COMPILED["conditions"]}
    assert asked["gpu-with-bfloat16"] == {"gpu": {"capability": ">= 8.0"}}
    assert asked["gpu-without-bfloat16"] == {"gpu": {"capability": "< 8.0"}}


@pytest.mark.parametrize("condition", COMPILED["conditions"], ids=lambda condition: condition["id"])
def test_a_condition_is_proved_on_its_own_examples(condition: dict[str, Any]) -> None:
    """Each holds in the cases that say so, and in none of its near misses."""
    assert [str(fault) for fault in example_cases.find_condition_errors([condition])] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_for_editors_is_that_of_the_check(kind: str) -> None:
    """`patterns/schema` is what `postmortem patterns schema` writes."""
    written = (PATTERNS / "schema" / f"{kind}.json").read_text(encoding="utf-8")
    assert json.loads(written) == build_json_schema(kind)


def test_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    """Naming a pattern folder that is not there says so."""
    from postmortem.core.errors import PatternError

    with pytest.raises(PatternError, match="no such pattern folder"):
        load([tmp_path / "nowhere"])


def test_a_users_folder_adds_and_replaces_rules(tmp_path: Path) -> None:
    """A rule of the user's own is added; one of the same id replaces the built-in one."""
    folder = tmp_path / "signatures" / "mine"
    folder.mkdir(parents=True)
    (folder / "quota.yaml").write_text(
        "id: mine.quota\ntitle: {en: The site's quota, zh: 配额}\nanchors: ['SITE-QUOTA-EXCEEDED']\nmatch: 'SITE-QUOTA-EXCEEDED for (?P<user>\\w+)'\nrole: cause\nsuggests: {io.disk-full: decisive}\n"
        "examples:\n  fires: [{text: 'SITE-QUOTA-EXCEEDED for ann', captures: {user: ann}}]\n  silent: [{text: 'SITE-QUOTA-EXCEEDED', because: nobody named}]\n",
        encoding="utf-8",
    )
    assert not check.find_faults([tmp_path], known=[PATTERNS])
    ids = {rule.id for rule in load([tmp_path]).signatures}
    assert "mine.quota" in ids
    assert len(ids) == len(COMPILED["signatures"]) + 1
