"""Writes docs/causes.md and docs/causes.zh.md: all causes, with the accuracy on the samples.

    python tools/cause_pages.py

In: the rules, and `sample_logs/` with its labels. Out: the two pages. Not here: the whole page of a
cause (`postmortem explain ID`). tests/contracts/test_cause_pages.py holds that no cause is missing.
"""

import collections
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

from postmortem.rules.base import load_compiled_rules
from postmortem.rules.cause_rules import fill

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
import samples  # noqa: E402 -- the labels are read as the benchmark reads them

PAGES: Final = {"en": ROOT / "docs" / "causes.md", "zh": ROOT / "docs" / "causes.zh.md"}
_MOST_FIXES: Final = 4
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "title": "All causes",
        "intro": (
            "Written by `python tools/cause_pages.py`; do not edit. `postmortem explain ID` tells"
            " all that the rules know of one. Right: of the recorded samples"
            " with this label, those whose verdict is it or as good. The samples were recorded for"
            " this project and helped to write its rules: on logs of strangers less is right."
        ),
        "head": "| id | cause | right |",
        "all": "All samples: {right} of {count} right ({share:.1%}).",
        "do": "What to do: {fixes}.",
        "none": "no sample",
        "join": "; ",
    },
    "zh": {
        "title": "全部原因",
        "intro": (
            "由 `python tools/cause_pages.py` 生成，请勿手工修改。`postmortem explain ID --lang zh`"
            " 给出规则对某个原因的全部知识：日志信息、证据、处理办法。"
            "正确：在带有该标签的样本中，判定结果与标签一致或同样可接受的个数。"
            "样本为本项目录制，编写规则时也参考过它们；在陌生日志上准确率会低一些。"
        ),
        "head": "| id | 原因 | 正确 |",
        "all": "全部样本：{count} 个中 {right} 个正确（{share:.1%}）。",
        "do": "处理办法：{fixes}。",
        "none": "无样本",
        "join": "；",
    },
}


def tallies() -> dict[str, tuple[int, int]]:
    """How many samples of each cause are right, and how many there are."""
    labels = samples.labels_in(ROOT / "sample_logs")
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(samples.judged, labels, chunksize=8))
    right: collections.Counter[str] = collections.Counter()
    count: collections.Counter[str] = collections.Counter()
    for row in rows:
        count[row["cause"]] += 1
        right[row["cause"]] += bool(row["right"])
    return {cause: (right[cause], count[cause]) for cause in count}


def page(language: str, tally: Mapping[str, tuple[int, int]]) -> str:
    """The page in a language."""
    rules, words = load_compiled_rules(), _WORDS[language]
    right, count = (sum(part) for part in zip(*tally.values(), strict=True))
    lines = [f"# {words['title']}", "", words["intro"], ""]
    lines += [words["all"].format(right=right, count=count, share=right / count), ""]
    lines += [words["head"], "|---|---|---|"]
    causes = rules["taxonomy"]["causes"]
    for name, definition in causes.items():
        good, of = tally.get(name, (0, 0))
        figure = f"{good}/{of}" if of else words["none"]
        lines.append(f"| `{name}` | {definition['title'][language]} | {figure} |")
    for name, definition in causes.items():
        lines += ["", *_section(name, definition, rules, language)]
    return "\n".join([*lines, ""])


def _section(
    name: str, definition: Mapping[str, Any], rules: Mapping[str, Any], language: str
) -> Iterator[str]:
    words = _WORDS[language]
    yield from (
        f"## {definition['title'][language]}",
        "",
        f"`{name}`: {definition['definition'][language]}",
    )
    found = [
        rule for rule in rules["fixes"] if name in rule["causes"] and rule["kind"] != "prevent"
    ]
    found.sort(key=lambda fix: (fix["kind"] != "change", fix.get("order", 50)))
    titles = [fill(rule["title"][language], {}) for rule in found[:_MOST_FIXES]]
    if titles:
        yield from ("", words["do"].format(fixes=words["join"].join(titles)))


def main() -> None:
    """Write both pages."""
    tally = tallies()
    for language, path in PAGES.items():
        path.write_text(page(language, tally), encoding="utf-8")


if __name__ == "__main__":
    main()
