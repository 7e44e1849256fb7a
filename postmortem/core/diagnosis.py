"""The complete result of a job, field for field as the JSON contract names it.

In: nothing. Out: frozen values. Not here: computing them, storing them, rendering them (`report`).
Secrets are still in them (rendering redacts).

The values stand twice, in one form: with texts in every language (`Analysis`, the one value of a
job, which is stored and sent), and with texts in one of them (`Diagnosis`, which the report's forms
are made of; `report.one_language` makes it).
"""

from dataclasses import dataclass
from typing import Generic, TypeAlias

from postmortem.core.answer import Cause, Verdict
from postmortem.core.job_facts import Attempt, Environment, Framework, Setting, Source
from postmortem.core.message import Message
from postmortem.core.replayed import Replayed
from postmortem.core.shown import (
    Event,
    Excerpt,
    FirstFailure,
    Marks,
    Progress,
    SeriesView,
    SignatureHit,
)
from postmortem.core.wording import Text


@dataclass(frozen=True, slots=True)
class Diagnosis(Generic[Text]):
    """Everything that was found out about one job."""

    knowledge_base: str
    sources: tuple[Source[Text], ...]
    attempts: tuple[Attempt, ...]
    outcome: str
    frameworks: tuple[Framework, ...]
    verdict: Verdict[Text]
    causes: tuple[Cause[Text], ...]
    signatures: tuple[SignatureHit[Text], ...]
    first_failure: FirstFailure[Text] | None
    timeline: tuple[Event[Text], ...]
    series: tuple[SeriesView, ...]
    environment: Environment
    settings: dict[str, Setting]
    progress: Progress
    warnings: tuple[Text, ...]
    excerpt: Excerpt | None = None
    quotes: tuple[Excerpt, ...] = ()
    """The lines around all places that the page names."""
    marks: tuple[Marks, ...] = ()
    events_left: int = 0
    """Events that the timeline leaves out; not part of the JSON contract."""
    given: tuple[str, ...] = ()
    """The paths as the caller gave them: files, folders, `-`; not part of the JSON contract."""
    language: str = ""
    """Of the texts; empty where they are in every language."""
    classifier: str | None = None
    replay: Replayed[Text] | None = None
    """What running a capsule of its steps again has shown."""
    other_series: tuple[SeriesView, ...] = ()
    """Of the attempts that are not judged, with few samples."""


Analysis: TypeAlias = Diagnosis[Message]
"""The one value of a job: complete, in every language; JSON both ways (`report.lossless`)."""
