"""What a call of a tool does, in a process of its own.

In: settings, a request whose paths may be read. Out: `CallReply`. Not here: which process this is
(`assistant.call_pool`), the protocol (`assistant.server`).
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from postmortem.api import Report
from postmortem.assistant.tool_requests import (
    AnalyzeRequest,
    CompareRequest,
    ExplainRequest,
    ShareRequest,
)
from postmortem.compare.two_runs import compared
from postmortem.errors import UsageError
from postmortem.host.worker_process import limit_memory
from postmortem.knowledge.base import KnowledgeBase, compiled_rules
from postmortem.model.diagnosis import Analysis
from postmortem.names import SHIPPED
from postmortem.pipeline import analyze as analysis_of
from postmortem.pipeline import machine_for, prepare
from postmortem.reading.discover import candidates
from postmortem.reading.sources import LogSource, Stream
from postmortem.report.assistant_answer import AssistantAnswer, answer_of
from postmortem.report.assistant_pages import comparison_answer, excerpt_answer
from postmortem.report.manual.articles import article
from postmortem.report.manual.entries import look_up
from postmortem.report.sharing import IssueText
from postmortem.report.untrusted_block import marked_off
from postmortem.report.words.assistant_words import ASSISTANT
from postmortem.share.excerpting import smallest_text
from postmortem.triage.search.several_jobs import require_one_job

_MIB: Final = 2**20
_MOST_REPORT: Final = 200_000
"""Characters of a JSON report that are given to a client: more is for a file."""
_EXPLAINED: Final = 3
"""Messages of a line that are explained."""


@dataclass(frozen=True, slots=True)
class CallSettings:
    """What every call is done with."""

    patterns: tuple[str, ...] = ()
    """Further folders of rules."""
    model: str | None = SHIPPED
    """A text classifier's file, an empty string for the package's, None for none."""
    memory: int = 4096
    """MiB that a process may hold; 0 for no limit."""
    largest: int = 2048 * _MIB
    """Bytes of all files of a call together, as they are stored."""
    is_redacted: bool = True


@dataclass(frozen=True, slots=True)
class CallReply:
    """What a tool answers."""

    text: str
    """For a language model: what is quoted stands between marks."""
    values: dict[str, Any]
    """The same for programs, of the shape that `assistant.tool_replies` tells."""
    further: tuple[str, ...] = field(default=())
    """Longer texts that were asked for."""


@functools.lru_cache(maxsize=1)
def get_ready(settings: CallSettings) -> None:
    """Load rules and model once in a process, and limit its memory."""
    prepare(settings.patterns, settings.model)
    limit_memory(settings.memory)


def analyzed(settings: CallSettings, asked: AnalyzeRequest, within: Sequence[Path]) -> CallReply:
    """Judge a job.

    Raises:
        InputError: nothing could be read.
        UsageError: there is too much of it.
    """
    get_ready(settings)
    _require_size(settings, [*asked.paths, *asked.env], within)
    require_one_job(asked.paths)
    sources = [*asked.paths, *_texts("text", asked.text)]
    env = [*asked.env, *_texts("env_text", asked.env_text)]
    report = Report(_judged(settings, sources, env, within), asked.language)
    titles = _titles(_knowledge(settings), asked.language)
    answer = answer_of(report.diagnosis, titles, redact=settings.is_redacted)
    told_so = ASSISTANT[asked.language]
    further: tuple[str, ...] = ()
    if asked.report:
        further = (_whole(report.render("json", redact=settings.is_redacted), told_so),)
    return _reply(answer, told_so, further)


def explained(settings: CallSettings, asked: ExplainRequest, _within: Sequence[Path]) -> CallReply:
    """Tell what the rules know of an id, or of the message in a line.

    Raises:
        UsageError: nothing has this id, and no message is known in the line.
    """
    get_ready(settings)
    rules = compiled_rules(tuple(Path(folder) for folder in settings.patterns))
    name = asked.what.strip().strip("`")
    try:
        found = [look_up(rules, name)]
        head = ""
    except UsageError as unknown:
        ids = _recognised(settings, asked.what)
        if not ids:
            raise UsageError(
                "nothing has this id, and no message is known in this text", "", unknown.mend
            ) from unknown
        found = [look_up(rules, one) for one in ids]
        head = ASSISTANT[asked.language]["recognised"] + "\n\n"
    pages = [article(one, rules, asked.language) for one in found]
    values = [
        {"kind": one.kind, "id": one.id, "page": page}
        for one, page in zip(found, pages, strict=True)
    ]
    return CallReply(head + "\n".join(pages), {"pages": values})


def compared_runs(
    settings: CallSettings, asked: CompareRequest, within: Sequence[Path]
) -> CallReply:
    """Say what differs between two runs.

    Raises:
        InputError: one of them cannot be read.
        UsageError: there is too much of both.
    """
    get_ready(settings)
    _require_size(settings, [*asked.good, *asked.bad, *asked.good_env, *asked.bad_env], within)
    require_one_job([*asked.good, *asked.bad])
    good, bad = (
        _judged(settings, paths, env, within)
        for paths, env in ((asked.good, asked.good_env), (asked.bad, asked.bad_env))
    )
    answer = comparison_answer(compared(good, bad), asked.language, redact=settings.is_redacted)
    return _reply(answer, ASSISTANT[asked.language])


def shared(settings: CallSettings, asked: ShareRequest, within: Sequence[Path]) -> CallReply:
    """Make the smallest excerpt with the same verdict.

    Raises:
        InputError: nothing could be read.
        UsageError: there is too much of it.
    """
    get_ready(settings)
    _require_size(settings, [*asked.paths, *asked.env], within)
    require_one_job(asked.paths)
    made = smallest_text(
        asked.paths,
        env=asked.env,
        patterns=settings.patterns,
        text=functools.partial(IssueText, language=asked.language, redact=settings.is_redacted),
        within=within,
    )
    answer = excerpt_answer(
        made.text, asked.language, lines=made.lines, of=made.of, is_same=made.is_same
    )
    return _reply(answer, ASSISTANT[asked.language])


def _reply(
    answer: AssistantAnswer, told_so: Mapping[str, str], further: tuple[str, ...] = ()
) -> CallReply:
    """Put what is quoted between marks, in the text and in the values."""
    quoted = marked_off(answer.quoted, told_so)
    return CallReply(f"{answer.own}\n\n{quoted}", {**answer.figures, "quoted": quoted}, further)


def _whole(report: str, told_so: Mapping[str, str]) -> str:
    if len(report) > _MOST_REPORT:
        return told_so["long-report"].format(count=len(report))
    return f"{told_so['report']}\n{marked_off(report, told_so)}"


def _texts(name: str, text: str) -> list[LogSource]:
    return [Stream(name, text.encode("utf-8", "replace"))] if text.strip() else []


def _judged(
    settings: CallSettings,
    sources: Sequence[LogSource],
    env: Sequence[LogSource],
    within: Sequence[Path],
) -> Analysis:
    return analysis_of(
        sources,
        env_files=env,
        patterns=settings.patterns,
        model=settings.model,
        within=within,
    )


def _knowledge(settings: CallSettings) -> KnowledgeBase:
    return machine_for(tuple(Path(folder) for folder in settings.patterns)).knowledge


def _titles(knowledge: KnowledgeBase, chosen: str) -> dict[str, str]:
    """Give the titles of causes and fixes that nothing is filled into."""
    titles = {rule.id: rule.title[chosen] for rule in knowledge.fixes}
    titles |= {cause: knowledge.title(cause).text(chosen) for cause in knowledge.causes}
    return {name: title for name, title in titles.items() if "${" not in title}


def _recognised(settings: CallSettings, text: str) -> list[str]:
    """Give the ids of the messages that are known in a text, the first ones first."""
    source = Stream("text", text.encode("utf-8", "replace"))
    analysis = analysis_of(source, patterns=settings.patterns, model=None)
    return list(dict.fromkeys(hit.id for hit in analysis.signatures))[:_EXPLAINED]


def _require_size(settings: CallSettings, paths: Iterable[str], within: Sequence[Path]) -> None:
    """Refuse more than a call may read.

    Raises:
        UsageError: it is more.
    """
    size = 0
    for candidate in candidates(paths, within):
        if candidate.skip is None:
            with suppress(OSError):  # told where it is read
                size += Path(candidate.path).stat().st_size
    if size > settings.largest:
        raise UsageError(
            f"the files are too large together: {size / _MIB:,.0f} MiB, and"
            f" {settings.largest / _MIB:,.0f} MiB may be read in one call",
            "",
            "name fewer files, or allow more: postmortem mcp --largest MIB",
        )
