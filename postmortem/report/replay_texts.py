"""A replay as text: the sections that the terminal and the comment show.

In: a `Replayed` in one language. Out: titles and lines. Not here: the page (`page.replay_article`),
running anything (`replay`).
"""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.core.diagnosis import CauseTested, FaultySample, ModulePeak, Replayed, ReplayTrial
from postmortem.core.log_text import format_one_line
from postmortem.report.display import format_number
from postmortem.report.words import Words

ORDER: Final = ("confirmed", "refuted", "not-reproduced", "not-testable")
_PEAKS_SHOWN: Final = 8
_CULPRITS_SHOWN: Final = 8
_LONGEST: Final = 400


class Section(NamedTuple):
    """A title and its lines."""

    title: str
    lines: list[str]


def iter_replay_sections(found: Replayed, words: Words) -> Iterator[Section]:
    """Yield everything but the summary, the decisive first."""
    yield Section(
        words("replay.verdicts"),
        [format_replay_verdict(cause, words) for cause in sort_tested_causes(found)],
    )
    if found.culprits:
        shown = found.culprits[:_CULPRITS_SHOWN]
        yield Section(
            words("replay.culprits"), [describe_faulty_sample(culprit, words) for culprit in shown]
        )
    yield Section(words("replay.trials"), [*_iter_trial_lines(found, words)])
    if peaks := select_largest_peaks(found):
        about = words(
            "replay.peaks.of",
            of=found.peaks_of,
            dtype=found.limit_of,
            limit=format_number(found.limit),
        )
        yield Section(
            f"{words('replay.peaks')}{words('bracketed', text=about)}",
            [format_peak(peak, found, words) for peak in peaks],
        )
    yield Section(
        words("replay.notes"),
        [format_one_line(note, _LONGEST) for note in list_notes(found, words)],
    )


def list_replay_facts(found: Replayed, words: Words) -> list[tuple[str, str]]:
    """Give what stands at the top, label and value."""
    facts = [
        (words("replay.reason"), found.reason),
        (words("replay.fidelity"), found.fidelity),
        (words("replay.place"), found.place),
    ]
    return [(label, format_one_line(value, _LONGEST)) for label, value in facts if value]


def sort_tested_causes(found: Replayed) -> list[CauseTested]:
    """Give the causes, the decided first; those that could not be tested last."""
    return sorted(found.tested, key=lambda cause: ORDER.index(cause.verdict))


def format_replay_verdict(cause: CauseTested, words: Words) -> str:
    """Say of a cause what the replay says."""
    text = words("replay.verdict." + cause.verdict)
    because = words("semicolon").join(cause.reasons)
    named = f"{cause.title} ({cause.cause})" if cause.title else cause.cause
    return format_one_line(f"{text}{words('colon')}{named} — {because}", _LONGEST)


def describe_faulty_sample(culprit: FaultySample, words: Words) -> str:
    """Say which sample it is, and what it looks like."""
    text = words("replay.culprit", step=culprit.step, position=culprit.position)
    if culprit.index is not None:
        text += words("joint") + words("replay.index", index=culprit.index)
    looks = words("joint").join(culprit.preview)
    return format_one_line(f"{text}{words('colon')}{looks}" if looks else text, _LONGEST)


def format_trial(trial: ReplayTrial, words: Words) -> str:
    """Say what one change did."""
    outcome = words("replay.outcome." + trial.outcome)
    return format_one_line(f"{trial.title}{words('colon')}{outcome} — {trial.text}", _LONGEST)


def _iter_trial_lines(found: Replayed, words: Words) -> Iterator[str]:
    """Yield a line for each trial that was run, and one for each reason to skip some."""
    skipped: dict[str, list[str]] = {}
    for trial in sort_trials(found):
        if trial.outcome == "skipped":
            skipped.setdefault(trial.text, []).append(trial.title)
        else:
            yield format_trial(trial, words)
    for reason, titles in skipped.items():
        text = words("replay.skipped") + words("colon") + words("semicolon").join(titles)
        yield format_one_line(f"{text} — {reason}", _LONGEST)


def sort_trials(found: Replayed) -> list[ReplayTrial]:
    """Give the trials, those that were run first."""
    return sorted(found.trials, key=lambda trial: trial.outcome == "skipped")


def select_largest_peaks(found: Replayed) -> list[ModulePeak]:
    """Give the modules with the greatest values, in the order of the forward pass."""
    top = sorted(found.peaks, key=lambda peak: (peak.is_finite, -peak.output))[:_PEAKS_SHOWN]
    return [peak for peak in found.peaks if peak in top]


def is_over(peak: ModulePeak, found: Replayed) -> bool:
    """Say whether a module's output has no place in the type it was computed in."""
    return not peak.is_finite or (math.isfinite(found.limit) and peak.output > found.limit)


def format_peak(peak: ModulePeak, found: Replayed, words: Words) -> str:
    """Say how great the values of a module are."""
    text = f"{peak.module or '–'} ({peak.kind}){words('colon')}{format_number(peak.output)}"
    if not peak.is_finite:
        return format_one_line(text + words("joint") + words("replay.peaks.bad"), _LONGEST)
    if is_over(peak, found):
        return format_one_line(text + words("joint") + words("replay.peaks.over"), _LONGEST)
    return format_one_line(text, _LONGEST)


def list_notes(found: Replayed, words: Words) -> list[str]:
    """Give where it ran, and what the reader must know besides."""
    devices = words("replay.devices", there=found.recorded_on, here=found.device)
    return [devices, *found.notes]
