"""Two runs side by side as text, as a comment, as JSON.

In: a `Comparison`. Out: text. Not here: finding what differs (`compare`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from postmortem.model.comparison import Comparison, Differing, Wording
from postmortem.model.diagnosis import Diagnosis
from postmortem.reading.redaction import Redactor
from postmortem.report import parts
from postmortem.report.markdown import fence, prose
from postmortem.report.plain import number, one_line, percent
from postmortem.report.presentable import presentable
from postmortem.report.wire import json_text, plain_json
from postmortem.report.words import Words
from postmortem.report.words.comparison_words import COMPARISON

FORMS: Final = ("terminal", "markdown", "json")
SCHEMA: Final = "postmortem.comparison/1"
_SHOWN: Final = 30
_WIDTH: Final = 200


def render(found: Comparison, form: str = "terminal", *, redact: bool = True) -> str:
    """Render a comparison in one of `FORMS`."""
    hide: Callable[[str], str] = str
    if redact:
        redactor = _learnt(found)
        hide = redactor.text
        found = replace(
            found,
            only_bad=_hidden(found.only_bad, redactor),
            only_good=_hidden(found.only_good, redactor),
            settings=_told(found.settings, redactor),
            environment=_told(found.environment, redactor),
            curves=tuple(one._replace(name=hide(one.name)) for one in found.curves),
        )
    if form == "json":
        return json_text(plain_json(_wire(found, hide)))
    say = COMPARISON[found.bad.language if found.bad.language in COMPARISON else "en"]
    sections = list(_sections(found, say, hide))
    if form == "markdown":
        return (
            "\n\n".join(
                [
                    f"### {prose(say['title'])}",
                    *(
                        f"**{prose(title)}**\n\n{fence(chr(10).join(body), 'text')}"
                        for title, body in sections
                    ),
                ]
            )
            + "\n"
        )
    return (
        "\n\n".join(
            [
                say["title"],
                *("\n".join([title, *(f"  {line}" for line in body)]) for title, body in sections),
            ]
        )
        + "\n"
    )


def _learnt(found: Comparison) -> Redactor:
    """Learn the names first, so that one that comes late is hidden early too."""
    redactor = Redactor()
    redactor.learn(
        source.where.node
        for one in (found.good, found.bad)
        for source in one.sources
        if source.where.node
    )
    for text in (
        *(source.path for one in (found.good, found.bad) for source in one.sources),
        *(wording.text for wording in (*found.only_bad, *found.only_good)),
    ):
        redactor.text(text)
    redactor.settle()
    return redactor


def _hidden(wordings: Sequence[Wording], redactor: Redactor) -> tuple[Wording, ...]:
    """Hide in lines as they follow one another: a key may run over several."""
    texts = redactor.lines([wording.text for wording in wordings])
    return tuple(wording._replace(text=text) for wording, text in zip(wordings, texts, strict=True))


def _told(facts: Sequence[Differing], redactor: Redactor) -> tuple[Differing, ...]:
    """Hide the values whose names say that they are secrets.

    What the values themselves show is hidden where they are written.
    """
    return tuple(
        Differing(
            redactor.text(name),
            *(
                None if value is None else str(redactor.setting(name, value))
                for value in (good, bad)
            ),
        )
        for name, good, bad in facts
    )


def _sections(
    found: Comparison, say: Mapping[str, str], hide: Callable[[str], str]
) -> Iterable[tuple[str, list[str]]]:
    words = Words(found.bad.language)
    for name, one in (("good", found.good), ("bad", found.bad)):
        shown = presentable(one)
        verdict = (
            f" · {one.verdict.cause} {percent(one.verdict.probability)}"
            if one.verdict.cause
            else ""
        )
        yield (
            say[name],
            [
                one_line(
                    hide(
                        f"{', '.join(source.path for source in one.sources[:4])}{words('colon')}{parts.outcome(shown, one.outcome, words)}"
                        f" · {parts.title(shown, words)}{verdict}"
                    ),
                    _WIDTH,
                )
            ],
        )
    for title, differing in (("settings", found.settings), ("environment", found.environment)):
        told = [
            f"{one_line(name, 80)}{words('colon')}{one_line(hide(good), 80) if good is not None else say['unsaid']}"
            f" → {one_line(hide(bad), 80) if bad is not None else say['unsaid']}"
            for name, good, bad in differing
        ]
        yield say[title], _bounded(told, say)
    yield (
        say["curves"],
        _bounded(
            [
                (
                    say["part"].format(
                        name=one_line(name, 80),
                        step=number(step),
                        good=number(good),
                        bad=number(bad),
                    )
                    if step is not None
                    else say["together"].format(
                        name=one_line(name, 80), count=count, good=number(good), bad=number(bad)
                    )
                )
                for name, count, step, good, bad, _, _ in found.curves
            ],
            say,
        ),
    )
    for title, wordings in (("only_bad", found.only_bad), ("only_good", found.only_good)):
        yield (
            say[title],
            _bounded(
                [
                    f"{line:>7}  {one_line(text, _WIDTH)}" + (f"  ×{times}" if times > 1 else "")
                    for text, _, line, times in wordings
                ],
                say,
            ),
        )


def _bounded(lines: list[str], say: Mapping[str, str]) -> list[str]:
    over = len(lines) - _SHOWN
    return ([*lines[:_SHOWN], say["more"].format(count=over)] if over > 0 else lines) or [
        say["none"]
    ]


def _wire(found: Comparison, hide: Callable[[str], str]) -> dict[str, Any]:
    def side(one: Diagnosis) -> dict[str, Any]:
        return {
            "sources": [hide(source.path) for source in one.sources],
            "outcome": one.outcome,
            "cause": one.verdict.cause,
            "probability": one.verdict.probability,
        }

    def differing(facts: Sequence[Differing]) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "good": None if good is None else hide(good),
                "bad": None if bad is None else hide(bad),
            }
            for name, good, bad in facts
        ]

    return {
        "schema": SCHEMA, "good": side(found.good), "bad": side(found.bad), "settings": differing(found.settings), "environment": differing(found.environment),
        "curves": [{"name": name, "common_steps": count, "first_divergence": step, "good": good, "bad": bad, "good_line": mine, "bad_line": its} for name, count, step, good, bad, mine, its in found.curves],
        **{title: [{"text": text, "source": hide(source), "line": line, "count": times} for text, source, line, times in wordings] for title, wordings in (("only_bad", found.only_bad), ("only_good", found.only_good))},
    }  # fmt: skip
