"""How many logs are recognised as of the stack that prints them, and how many as of another.

    python tools/stack_table.py FOLDER...

In: folders of cases (NAME.log or a folder NAME, beside NAME.yaml with `stack` or `framework`). A
stack that a label names counts where the log itself names it: in a logger, a path of a frame, a
command. Out: shares, and the misses but for those with `part: check`. Not here: a table of single
lines and their stacks (`tests/diagnosis/fixes/test_stack_selection.py`).
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml
from compare_reports import find_cases
from corpus import text_of

import postmortem
from postmortem.rules.base import load
from postmortem.rules.vocabulary import PLAIN, TRAINER

NAMED: Final[Mapping[str, str]] = {
    "llamafactory": r"llama-?_?factory|llmtuner",
    "swift": r"ms-swift|swift sft",
    "transformers-trainer": r"transformers[-. /]trainer|TrainingArguments",
    "nanogpt": r"(?<![\w-])nano-?gpt(?![\w-])",
    "xtuner-v1": r"xtuner[/.]v1",
    "yolo": r"ultralytics|yolov[58]",
}
"""Stacks that labels or logs call otherwise than by their id."""


def find_named(text: str) -> set[str]:
    """Name the stacks that a text names."""
    names = {stack.id for stack in load().stacks if stack.kind == TRAINER} - {PLAIN}
    return {
        name
        for name in names
        if re.search(NAMED.get(name, rf"(?<![\w-]){re.escape(name)}(?![\w-])"), text, re.IGNORECASE)
    }


def list_cases(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the log, or folder of logs, and the label of each case."""
    for log in find_cases([folder]):
        label = log.with_name(f"{log.name.split('.')[0]}.yaml")
        value = yaml.safe_load(label.read_text(encoding="utf-8")) if label.exists() else None
        if isinstance(value, dict):
            yield log, value


def read_text(path: Path) -> str:
    """Read a log, or the logs of a folder."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return "\n".join(map(text_of, files))


def judge(path: Path, label: Mapping[str, Any]) -> tuple[set[str], set[str], set[str]]:
    """Give the stacks that were to be recognised, those of them that were not, and wrong ones."""
    stacks = load().stacks
    labelled = find_named(f"{label.get('stack', '')} {label.get('framework', '')}")
    wanted = labelled & find_named(read_text(path))
    shown = {one["name"] for one in postmortem.analyze(str(path)).to_dict()["frameworks"]}
    near = {one for name in shown for one in (name, *stacks.list_below(name))}
    allowed = {
        one
        for name in labelled
        for one in (name, *stacks.list_below(name), *stacks.get(name).beside)
    }
    known = {stack.id for stack in stacks if stack.kind == TRAINER} - {PLAIN}
    others = {one for one in (shown & known) - allowed if not labelled & stacks.list_below(one)}
    return wanted, wanted - near, others if wanted else set()


def main(folders: Sequence[str]) -> None:
    """Print figures and misses."""
    count = missed = wrong = cases = 0
    for folder in folders:
        for path, label in list_cases(Path(folder)):
            wanted, absent, others = judge(path, label)
            count, missed = count + len(wanted), missed + len(absent)
            cases, wrong = cases + bool(wanted), wrong + bool(others)
            if (absent or others) and label.get("part") != "check":
                print(f"{path.name}: not recognised {sorted(absent)}, wrong {sorted(others)}")
    print(f"recognised {count - missed} of {count}, wrong in {wrong} of {cases} logs")


if __name__ == "__main__":
    main(sys.argv[1:])
