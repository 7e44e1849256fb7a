"""Which signatures of causes have fixes of their own, and which have none and why.

    python tools/signature_fixes.py [FOLDER...]

In: the rules, and folders of labelled cases (NAME.log or a folder NAME, beside NAME.yaml), by which
the signatures are ordered: how often each is the strongest evidence of the first cause. Out: a line
for each signature of role `cause` that has no fixes, with the reason, and totals. Not here: whether
fixes are what an expert says (`first_actions`).
"""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from strange_advice import cases

import postmortem
from postmortem.diagnosis.fixes.exception_advice import find_exception_rule
from postmortem.rules.base import Signature, load

MOST: Final = 300
"""So many of the most frequent signatures are listed."""


def count_strongest(folders: Iterable[Path]) -> Counter[str]:
    """Count how often each signature is the strongest evidence of a first cause."""
    found: Counter[str] = Counter()
    for folder in folders:
        for log, dump in cases(folder):
            report = postmortem.analyze(str(log), env=[str(dump)] if dump else [])
            signs = [item for item in report.causes[0].evidence if item.kind == "signature"]
            top = max((item.weight for item in signs), default=0)
            found.update({item.id for item in signs if item.weight == top > 0})
    return found


def explain(rule: Signature) -> str:
    """Say why a signature has no fixes of its own; empty where it has."""
    if rule.raw.get("fixes"):
        return ""
    if rule.broad:
        return "words of the field: no program's message"
    example = str(rule.raw["examples"]["fires"][0]["text"])
    known = find_exception_rule(example, load())
    if known:
        return f"the exception rule {known} explains it"
    return "the fixes of its cause stand alone"


def main(folders: list[str]) -> None:
    """Print the most frequent signatures without fixes, and totals."""
    counts = count_strongest(map(Path, folders))
    rules = [rule for rule in load().signatures if rule.role == "cause"]
    rules.sort(key=lambda rule: (-counts[rule.id], rule.id))
    totals: Counter[str] = Counter()
    for place, rule in enumerate(rules):
        reason = explain(rule)
        totals[reason.split(" rule ")[0] or "fixes of its own"] += 1
        if reason and (place < MOST or not folders):
            print(f"{counts[rule.id]:5}  {rule.id:52}{reason}")
    print(f"{len(rules)} signatures: {dict(totals)}")


if __name__ == "__main__":
    main(sys.argv[1:])
