"""The figures of docs/comparison.md, in English and Chinese.

In: what was measured. Out: Markdown, and the pages with it between their marks. Not here: prose.
"""

import datetime as dt
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from rival_scores import Score

PAGES: Final = Path(__file__).resolve().parents[1] / "docs"
WORDS: Final[dict[str, dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("rival_words.yaml").read_text(encoding="utf-8")
)
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
OWN: Final = "postmortem"


@dataclass(frozen=True)
class Measured:
    """All that a page shows, by tool."""

    versions: dict[str, str]
    scores: dict[str, dict[str, Score]]
    """By set, then by tool."""
    times: dict[str, float]
    kinds: dict[str, dict[str, float | None]]
    """By kind of log, then by tool."""
    megabytes: float


def block(rivals: dict[str, Any], measured: Measured, language: str) -> str:
    """All figures, between the marks."""
    text = WORDS[language]
    parts = [
        text["when"].format(
            day=dt.datetime.now(dt.timezone.utc).date().isoformat(),
            cores=os.cpu_count(),
            python=platform.python_version(),
        ),
        table(text["tools"], tools(rivals, measured, language)),
        text["better"] + "\n\n" + "\n".join(f"- {win}" for win in wins(measured, text)),
        text["samples"].format(**sizes(measured.scores["samples"][OWN])),
        table(text["shares"], shares(measured)),
    ]
    for title, scores in measured.scores.items():
        if title in rivals["sets"]:
            parts += [
                f"{rivals['sets'][title]['what'][language]}{text['colon']}",
                table(text["counts"], counts(scores)),
            ]
    parts += [
        text["kinds"].format(megabytes=measured.megabytes),
        table([text["kind"], *named(measured)], kinds(measured, text)),
    ]
    left = [
        [rival["title"], rival["version"], rival["why"][language]] for rival in rivals["left_out"]
    ]
    parts += [text["left"], table(text["left_heads"], left)]
    return "\n\n".join([BEGIN, *parts, END])


def table(heads: list[str], rows: Any) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tools(rivals: dict[str, Any], measured: Measured, language: str) -> Iterator[list[str]]:
    """A row a tool: its version, and what it reads."""
    for name, version in measured.versions.items():
        if tool := rivals["tools"].get(name):
            yield [f"[{tool['title']}]({tool['home']})", version, tool["reads"][language]]
        else:
            yield [f"**{name}**", version, WORDS[language]["own"]]


def sizes(score: Score) -> dict[str, int]:
    """How many logs there are."""
    return {"failed": score.failed, "sound": score.sound, "quotable": score.quotable}


def share(part: int, whole: int) -> str:
    """A share in per cent."""
    return f"{100 * part / whole:.0f} %" if whole else "—"


def shares(measured: Measured) -> Iterator[list[str]]:
    """A row a tool: how it fares on the samples."""
    for name, sample in measured.scores["samples"].items():
        named = [sample.cause, sample.area, sample.other, sample.nothing]
        words = ["—"] * 4 if name == "rg" else [share(part, sample.failed) for part in named]
        alarms = "—" if name == "rg" else f"{sample.alarms} / {sample.sound}"
        quoted = (
            f"{share(sample.quoted, sample.quotable)} ({sample.lines})" if sample.quoted else "—"
        )
        ratio = f"{measured.times[name]:.2f}" if name in measured.times else "—"
        yield [name, *words, alarms, quoted, ratio]


def counts(scores: dict[str, Score]) -> Iterator[list[str]]:
    """A row a tool: how it fares on logs of others."""
    for name, score in scores.items():
        if name != "rg":
            named = [score.cause, score.area, score.other, score.nothing]
            yield [
                name,
                *map(str, named),
                f"{score.alarms} / {score.sound}" if score.sound else "—",
            ]


def named(measured: Measured) -> list[str]:
    """The tools that generated logs were given to, without ours, which is the measure."""
    return [name for name in next(iter(measured.kinds.values())) if name != OWN]


def kinds(measured: Measured, text: dict[str, Any]) -> Iterator[list[str]]:
    """A row a kind of log: CPU time in times of ours."""
    for kind, ratios in measured.kinds.items():
        cells = [ratios[name] for name in named(measured)]
        yield [kind, *(text["late"] if cell is None else f"{cell:.2f}" for cell in cells)]


def wins(measured: Measured, text: dict[str, Any]) -> Iterator[str]:
    """Where another tool is better than ours."""
    for title, scores in measured.scores.items():
        own = scores[OWN]
        for name, score in scores.items():
            if score.cause + score.area > own.cause + own.area:
                yield text["names_more"].format(
                    name=name,
                    set=title,
                    n=score.cause + score.area,
                    own=own.cause + own.area,
                    all=own.failed,
                )
            elif score.cause > own.cause:
                yield text["causes_more"].format(
                    name=name, set=title, n=score.cause, own=own.cause, all=own.failed
                )
            if name != "rg" and score.alarms < own.alarms:
                yield text["fewer_alarms"].format(
                    name=name, set=title, n=score.alarms, own=own.alarms, all=own.sound
                )
            if score.other < own.other and score.cause + score.area > 0:
                yield text["fewer_wrong"].format(
                    name=name, set=title, n=score.other, own=own.other, all=own.failed
                )
            if score.quoted * own.quotable > own.quoted * score.quotable:
                yield text["quotes_more"].format(
                    name=name,
                    set=title,
                    n=score.quoted,
                    own=own.quoted,
                    all=own.quotable,
                    lines=score.lines,
                    mine=own.lines,
                )
    quick = [(ratio, name) for name, ratio in measured.times.items() if ratio < 1]
    if quick:
        listed = ", ".join(f"{name} ({ratio:.2f})" for ratio, name in sorted(quick))
        yield text["quicker"].format(tools=listed)


def put(figures: str, language: str, marks: tuple[str, str] = (BEGIN, END)) -> None:
    """Write the figures into the page of a language, marks included."""
    page = PAGES / ("comparison.md" if language == "en" else f"comparison.{language}.md")
    text = page.read_text(encoding="utf-8")
    new = re.sub(".*".join(marks), lambda _: figures, text, flags=re.DOTALL)
    page.write_text(new, encoding="utf-8")
