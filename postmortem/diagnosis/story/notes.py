"""Notes for the reader of a report: on how the log was read, and on versions.

In: the case, its ranking, the known defects. Out: sentences. Not here: what is said of a single
source (`extraction.job`), defects that speak for a cause (`inference.scoring`).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from postmortem.core.message import Message, join_list, say, say_in
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.known_defects import describe_defect, list_matching_advisories
from postmortem.diagnosis.inference.verdict import Ranking
from postmortem.extraction.extract import CROWD
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.cause_rules import Advisory
from postmortem.rules.vocabulary import Trait, has_trait

_REMARKS: Final = 3
"""Known defects that are told beside a log that does not show them."""
_REMARKS_ON_A_DUMP: Final = 8
_COUNTED: Final = {
    "timeouts": say(
        "{count} searches for a pattern took too long, or came when the time for slow ones was"
        " spent, and were passed over"
    ),
    "passed_over": say(
        "{count} looks at very long lines or tracebacks were passed over: no training log holds so"
        " many in so little text"
    ),
    "crowded_out": say(
        "{count} looks at lines were passed over: the log names more processes or metrics than can"
        " be kept, and where it does it is read in part"
    ),
    "crowd": say(
        "{count} findings of processes that are too many to be told apart are counted together: the"
        " first and the last of each kind are listed"
    ),
    "unkept": say("{count} values were left out: their metrics have more names than can be kept"),
}
"""What is counted while reading, with its sentence; nothing is said of a count of 0."""


_ENDED: Final = {
    "failed": say("failed"),
    "completed": say("completed"),
    "running": say("still running"),
    "stalled": say("stalled"),
    "cancelled": say("cancelled"),
    "incomplete": say("cut off"),
    "unknown": say("unknown"),
    "not-a-training-log": say("no training"),
}


def _iter_attempt_notes(case: Case) -> Iterator[Message]:
    """Say how many attempts there are, how they ended and whether the last did like the one before.

    Of several logs the one with the most is counted.
    """
    sources = Counter(attempt.source for attempt in case.attempts)
    source, count = max(sources.items(), key=lambda item: item[1], default=(0, 0))
    if count <= 1:
        return
    ended = Counter(attempt.outcome for attempt in case.attempts if attempt.source == source)
    yield say(
        "{path} holds {count} attempts ({ended}); number {number} is judged, --attempt N judges"
        " another",
        path=case.sources[source].path,
        count=count,
        number=case.attempt,
        ended=join_list(
            [
                say("{count} {outcome}", count=times, outcome=_ENDED[name])
                for name, times in ended.most_common()
            ],
            say_in("clauses", ", "),
        ),
    )
    if case.first is not None and case.before is not None:
        if case.first.kind == case.before.kind:
            yield say("it failed like the attempt before")
        else:
            yield say(
                "the attempt before failed otherwise, at line {line}: {text}",
                line=case.before.line,
                text=case.before.format_line(),
            )


def iter_reading_notes(case: Case) -> Iterator[Message]:
    """Yield notes on how the log was read."""
    for source, ahead in case.skews.items():
        yield say(
            "the clock of {path} is {ahead:+.0f} s off the others' (the same steps stand in them);"
            " corrected for the order",
            path=case.sources[source].path,
            ahead=ahead,
        )
    yield from _iter_attempt_notes(case)
    extract = case.extract
    for index, dump in enumerate(case.sources):
        if dump.kind == "environment" and index not in extract.facts.tellers | {
            event.finding.source for event in case.events
        }:
            yield say(
                "{path} states nothing that is known of environments: python -m"
                " torch.utils.collect_env, nvidia-smi, pip list or postmortem env write what does",
                path=dump.path,
            )
    counts = {
        "timeouts": extract.timeouts,
        "passed_over": extract.passed_over,
        "crowded_out": extract.crowded_out,
        "crowd": sum(
            kept.count for (_, _, where), kept in extract.findings.items() if where == CROWD
        ),
        "unkept": extract.unkept,
    }
    for name, message in _COUNTED.items():
        if counts[name]:
            yield message.fill(count=counts[name])


def iter_notes(case: Case, ranking: Ranking, knowledge: KnowledgeBase) -> Iterator[Message]:
    """Give all remarks."""
    yield from iter_reading_notes(case)
    yield from _describe_overfitting(case)
    yield from iter_version_notes(case, ranking, knowledge)


def _describe_overfitting(case: Case) -> Iterator[Message]:
    """Say from where on the run overfits, if it does: the last checkpoint is not the best one."""
    anomaly = case.anomalies.get("overfits")
    if anomaly is not None:
        yield say(
            "the run overfits from line {line}: {figures}; compare with the checkpoint of that time"
            " before the last one is used",
            line=anomaly.line,
            figures=anomaly.message,
        )


def iter_version_notes(case: Case, ranking: Ranking, knowledge: KnowledgeBase) -> Iterator[Message]:
    """Yield notes on versions that do not fit, and on known defects of those installed.

    Beside a failure that is explained otherwise only what does not fit: the symptom of a defect is
    not there.
    """
    if "versions-unfit" in case.anomalies:
        yield case.anomalies["versions-unfit"].message
    mentioned = _collect_verdict_advisories(ranking)
    is_explained = not (
        ranking.verdict.cause is None or has_trait(ranking.verdict.cause, Trait.SOUND)
    )
    concerned = [
        entry
        for entry in list_matching_advisories(case, knowledge)
        if (_is_incompatibility(entry) if is_explained else _is_defect(entry))
        and entry.id not in mentioned
    ]
    ordered = sorted(concerned, key=lambda entry: (not entry.where.wanted, not entry.beside))
    apart = {(entry.package, entry.install or entry.id): entry for entry in reversed(ordered)}
    most = _REMARKS if case.logs else _REMARKS_ON_A_DUMP
    yield from (describe_defect(entry, case) for entry in list(apart.values())[::-1][:most])


def _collect_verdict_advisories(ranking: Ranking) -> set[str]:
    """Collect the known defects that support the verdict."""
    return {
        item.id
        for cause in ranking.causes
        if cause.id == ranking.verdict.cause
        for item in cause.evidence
        if item.kind == "advisory"
    }


def _is_defect(entry: Advisory) -> bool:
    """Say whether an advisory describes a defect of versions.

    What a version has removed for good is none: it matters where something asks for it.
    """
    return _is_incompatibility(entry) or any(sign in entry.range for sign in ("<", "=="))


def _is_incompatibility(entry: Advisory) -> bool:
    """Say whether an advisory is about what does not fit: a pair of versions, or the machine."""
    return bool(entry.beside or entry.where.wanted)
