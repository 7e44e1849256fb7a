"""What is done with an input of a fuzz: it is analysed, rendered, shared, compared, watched.

In: an `Input`. Out: a `Trial` with its findings. Not here: what counts as one (`trials`,
`answers`).
"""

import contextlib
import functools
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from answers import CHECKS, colours, encodable, json_report, report_text, terminal
from corpus import ROOT
from mutations import Input, make
from trials import Trial

import postmortem
from postmortem.core.diagnosis import Noted
from postmortem.core.names import LANGUAGES
from postmortem.interfaces.compare import compare_runs
from postmortem.interfaces.share import build_minimal_excerpt
from postmortem.interfaces.watch.watcher import Settings, Watcher
from postmortem.report import FORMS, side_by_side, watch_events
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.sharing import IssueText

SHARE: Final = 0.3
"""Share of the inputs that are rendered in a form and a language."""


class _OverError(Exception):
    """All slices are written."""


def tried(seed: int, number: int) -> Trial:
    """Try one input."""
    return tried_with(make(seed, number), f"{seed}/{number}/use")


def tried_with(made: Input, chance: str) -> Trial:
    """Try an input that is there."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        trial = Trial(made, Path(folder), random.Random(chance))  # noqa: S311 -- it has to be the same again
        _through_everything(trial)
        return trial


def _through_everything(trial: Trial) -> None:
    report = trial.timed("analyze", lambda: postmortem.analyze(trial.paths, env=trial.dumps))
    if report is not None:
        for language in LANGUAGES:
            rendered = trial.timed(
                f"diagnose {language}", functools.partial(report.in_language, language)
            )
            if rendered is not None:
                _rendered(trial, rendered, language)
    for use, odds in ((_shared, 0.1), (_compared, 0.2), (_watched, 0.25)):
        if trial.chance.random() < odds:
            use(trial)


def _rendered(trial: Trial, report: postmortem.Report, language: str) -> None:
    """Render every form, and read it back."""
    width = trial.chance.choice([20, 40, 80, 120, 300])
    for form in [form for form in FORMS if trial.chance.random() < SHARE]:
        part = f"{form} {language}"
        work = functools.partial(report.render, form, redact=True, width=width)
        text = trial.timed(part, work)
        if text is not None:
            trial.checked(part, functools.partial(CHECKS[form], text))
            if form != "analysis":  # it is the whole, unredacted
                trial.hidden(part, text)
    variants: tuple[tuple[str, str, dict[str, Any], Callable[[str], str]], ...] = (
        ("full", "terminal", {"full": True, "redact": True}, terminal),
        ("colour", "terminal", {"color": True, "full": trial.chance.random() < 0.5}, colours),
        ("bare", "jsonl", {"redact": False}, report_text),
    )
    for name, form, options, check in variants:
        if trial.chance.random() >= SHARE:
            continue
        part = f"{name} {language}"
        work = functools.partial(report.render, form, width=width, **options)
        text = trial.timed(part, work)
        if text is not None:
            trial.checked(part, functools.partial(check, text))
            if name == "full":
                trial.hidden(part, text)


def _shared(trial: Trial) -> None:
    """Make the text to paste."""
    text = functools.partial(IssueText, language=trial.chance.choice(LANGUAGES))
    shared = trial.timed(
        "share", lambda: build_minimal_excerpt([trial.paths], env=trial.dumps, text=text)
    )
    if shared is not None:
        trial.checked("share", lambda: encodable(shared.text))
        trial.hidden("share", shared.text)


def _compared(trial: Trial) -> None:
    """Compare it with a sample."""
    good = ROOT / "sample_logs" / "transformers-trainer" / "healthy-resumed-0.log"
    found = trial.timed(
        "compare",
        lambda: compare_runs([good], [trial.paths], bad_env=trial.dumps),
    )
    checks = {"json": json_report, "terminal": terminal}
    language = trial.chance.choice(LANGUAGES)
    for form in side_by_side.FORMS if found is not None else ():
        part = f"compare {form}"
        text = trial.timed(
            part, functools.partial(side_by_side.render, found, form, language=language)
        )
        if text is not None:
            trial.checked(part, functools.partial(checks.get(form, encodable), text))
            trial.hidden(part, text)


def _watched(trial: Trial) -> None:
    """Watch it while it grows, in a few slices, perhaps emptied or replaced between two."""
    language = trial.chance.choice(LANGUAGES)
    events = trial.timed("watch", lambda: _events(trial))
    if events is None:
        return
    teller = watch_events.EventFormatter((str(trial.paths),), language, Redactor())
    report = trial.timed(
        "watch told",
        lambda: [
            (
                watch_events.serialize_event(teller.wire(event)),
                teller.line(event) if isinstance(event, Noted) else teller.terminal(event),
            )
            for event in events
        ],
    )
    for wire, text in report or ():
        trial.checked("watch jsonl", functools.partial(json_report, wire))
        trial.checked("watch terminal", functools.partial(terminal, text))
        trial.hidden("watch", wire + text)


def _events(trial: Trial) -> list[Any]:
    chance, data = trial.chance, next(iter(trial.made.files.values()))
    path = trial.folder / "watched.log"
    path.unlink(missing_ok=True)
    cuts = sorted(chance.randint(0, len(data)) for _ in range(chance.randint(0, 5)))
    slices = iter(
        [data[first:last] for first, last in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    )
    clock = [1_700_000_000.0]

    def sleep(seconds: float) -> None:
        clock[0] += max(seconds, chance.choice([1.0, 40.0, 4_000.0]))
        piece = next(slices, None)
        if piece is None:
            raise _OverError
        mode = chance.choice("aaaaaw")
        with path.open(f"{mode}b") as out:
            out.write(piece)

    events: list[Any] = []
    with contextlib.suppress(_OverError):
        events.extend(Watcher([str(path)], Settings(), lambda: clock[0], sleep).iter_events())
    return events
