"""What tools for curves name of runs whose fault only the curves show.

    python benchmarks/silent_faults.py FOLDER --set NAME=CASES [...] [--seen NAME=CASES ... --folds
        MODELS] [--install] [--write] [--keep FOLDER]

In: FOLDER, where each tool stands in an environment of its own (`v-<tool>`, see `rivals.py`);
folders of labelled logs, by the names that `rivals.yaml` has for them under `silent`; of `--seen`
ones the shipped model of curves has seen logs, so that they are judged with those in MODELS that
have not (`tools/fit_curve_model.py --folds`). Out: the section of docs/comparison.md, printed, and
with `--write` put into both pages. `--keep` keeps what other tools answered, and takes what is
kept. Not here: what a tool is given (`silent_cases.py`).
"""

import argparse
import dataclasses
import datetime as dt
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import yaml
from rival_cases import spelled_out
from rival_scores import Meaning, meant
from rival_tables import OWN, WORDS, put, table
from rivals import HERE, install, run_adapter, version
from silent_cases import SilentCase, read_cases

MARKS: Final = ("<!-- silent faults -->", "<!-- end of silent faults -->")


@dataclasses.dataclass
class SilentScore:
    """Counts over the cases of a set; in pairs: said firmly, and said at all."""

    faults: int = 0
    flagged: list[int] = dataclasses.field(default_factory=lambda: [0, 0])
    named: list[int] = dataclasses.field(default_factory=lambda: [0, 0])
    sound: int = 0
    accused: list[int] = dataclasses.field(default_factory=lambda: [0, 0])
    unread: int = 0
    unmapped: set[str] = dataclasses.field(default_factory=set)


def score_answers(
    cases: Sequence[SilentCase],
    answers: Sequence[list[str] | str],
    rows: Sequence[dict[str, Any]] | None,
) -> SilentScore:
    """Count; without rows the answers are ids of causes themselves."""
    score = SilentScore()
    for case, answer in zip(cases, answers, strict=True):
        meanings = list(_iter_meanings(answer, rows, score))
        score.unread += is_unread(answer, rows or ())
        score.sound += case.is_sound
        score.faults += not case.is_sound
        for kind, said in enumerate(([one for one in meanings if one.is_firm], meanings)):
            is_right = any(one.causes & case.right for one in said)
            if not case.is_sound:
                score.flagged[kind] += bool(said)
                score.named[kind] += is_right
            elif said and not is_right:
                score.accused[kind] += 1
    return score


def is_unread(answer: list[str] | str, rows: Sequence[dict[str, Any]]) -> bool:
    """Say whether a tool could not read a log, by its own word or because it broke off."""
    signs = [row["says"] for row in rows if row.get("unread")]
    return isinstance(answer, str) or any(re.search(sign, one) for sign in signs for one in answer)


def _iter_meanings(
    answer: list[str] | str, rows: Sequence[dict[str, Any]] | None, score: SilentScore
) -> Iterator[Meaning]:
    """Yield what of an answer calls the run faulty."""
    for text in [] if isinstance(answer, str) else answer:
        if text.startswith("quote:"):
            continue
        own = Meaning(frozenset({text}), frozenset({text.split(".")[0]}))
        meaning = own if rows is None else meant(text, rows, spelled_out)
        if meaning is None:
            score.unmapped.add(text)
        elif meaning.is_said and "healthy" not in meaning.areas:
            yield meaning


def ask_tool(name: str, cases: Sequence[SilentCase], folder: Path) -> list[list[str] | str]:
    """What a tool says of each case."""
    if name == OWN:
        return [case.own for case in cases]
    return run_adapter(name, [case.inputs for case in cases], folder)


def list_rows(rivals: dict[str, Any], name: str) -> list[dict[str, Any]] | None:
    """List the rows for a tool's answers: those for silent faults go before those for all logs."""
    if name == OWN:
        return None
    return [
        *rivals["silent"]["tools"][name]["answers"],
        *rivals["tools"].get(name, {}).get("answers", []),
    ]


def pair(counts: Sequence[int]) -> str:
    """A count of what is said firmly, and behind it of what is said at all if that is more."""
    firm, at_all = counts
    return str(firm) if firm == at_all else f"{firm} ({at_all})"


def wins(title: str, scores: dict[str, SilentScore], text: dict[str, Any]) -> Iterator[str]:
    """Where another tool is better than ours, by what it says firmly."""
    own = scores[OWN]
    for name, score in scores.items():
        given = {"name": name, "set": title}
        for words, mine, its, of in (
            ("flags_more", own.flagged[0], score.flagged[0], own.faults),
            ("names_more", own.named[0], score.named[0], own.faults),
        ):
            if its > mine:
                yield text[words].format(**given, n=its, own=mine, all=of)
        if score.accused[0] < own.accused[0]:
            yield text["accuses_fewer"].format(
                **given, n=score.accused[0], own=own.accused[0], all=own.sound,
                flagged=score.flagged[0], mine=own.flagged[0],
            )  # fmt: skip
        if score.unread < own.unread:
            yield text["reads_more"].format(**given, n=score.unread, own=own.unread)


def render(
    rivals: dict[str, Any],
    found: dict[str, dict[str, SilentScore]],
    versions: dict[str, str],
    language: str,
) -> str:
    """The section, between its marks."""
    text, sets = WORDS[language]["silent"], rivals["silent"]["sets"]
    day = dt.datetime.now(dt.timezone.utc).date().isoformat()
    named = ", ".join(f"{name} {number}" for name, number in versions.items())
    parts = [text["when"].format(day=day, tools=named)]
    better = [
        f"- {win}"
        for title, scores in found.items()
        for win in wins(sets[title]["title"][language], scores, text)
    ]
    parts += [text["better"], "\n".join(better) or text["none"]]
    for title, scores in found.items():
        own = scores[OWN]
        parts += [
            text["set"].format(
                what=sets[title]["what"][language], faults=own.faults, sound=own.sound
            ),
            table(text["heads"], [_list_cells(name, score) for name, score in scores.items()]),
        ]
    return "\n\n".join([MARKS[0], *parts, MARKS[1]])


def _list_cells(name: str, score: SilentScore) -> list[str]:
    counts = (score.flagged, score.named, score.accused)
    return [name, *map(pair, counts), str(score.unread)]


def compare(args: argparse.Namespace, rivals: dict[str, Any]) -> dict[str, dict[str, SilentScore]]:
    """Ask all tools for all sets; answers without a row of `rivals.yaml` are told."""
    found: dict[str, dict[str, SilentScore]] = {}
    given = [(*one.split("=", 1), None) for one in args.set]
    given += [(*one.split("=", 1), args.folds) for one in args.seen]
    for title, folder, folds in given:
        work = args.keep / title
        work.mkdir(parents=True, exist_ok=True)
        cases = list(read_cases(Path(folder), work, folds))
        found[title] = {}
        for name in (OWN, *rivals["silent"]["tools"]):
            kept = work / f"{name}.json"
            if name == OWN or not kept.exists():
                answers = ask_tool(name, cases, args.folder)
                kept.write_text(json.dumps(answers, indent=0), "utf-8")
            answers = json.loads(kept.read_text("utf-8"))
            score = found[title][name] = score_answers(cases, answers, list_rows(rivals, name))
            score.unread += sum(not case.is_read for case in cases) if name == OWN else 0
            for unknown in sorted(score.unmapped):
                print(f"{name}: no row for {unknown!r}", file=sys.stderr)
    return {title: found[title] for title in rivals["silent"]["sets"] if title in found}


def parse_arguments() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=lambda text: Path(text).resolve())
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--seen", action="append", default=[])
    parser.add_argument("--folds", type=lambda text: Path(text).resolve())
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    args.keep = args.keep or Path(tempfile.mkdtemp(prefix="postmortem-silent-"))
    return args


def main() -> None:
    """Ask, count, print."""
    args = parse_arguments()
    rivals = yaml.safe_load((HERE / "rivals.yaml").read_text(encoding="utf-8"))
    tools = {
        name: {**rivals["tools"].get(name, {}), **tool}
        for name, tool in rivals["silent"]["tools"].items()
    }
    for name, tool in tools.items() if args.install else ():
        install(name, tool, args.folder)
    versions = {name: version(name, tool, args.folder) for name, tool in tools.items()}
    found = compare(args, rivals)
    for language in ("en", "zh"):
        section = render(rivals, found, versions, language)
        if args.write:
            put(section, language, MARKS)
        if language == "en":
            print(section)


if __name__ == "__main__":
    main()
