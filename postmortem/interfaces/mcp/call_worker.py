"""Run a tool call in a worker process.

In: settings, a request whose paths may be read. Out: `CallReply`. Not here: which process this is
(`mcp.server`), the protocol (`mcp.server`).
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from postmortem.api import Report
from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import UsageError
from postmortem.fleet.one_job_worker import WorkerSettings, get_ready
from postmortem.fleet.search.finding import require_one_job
from postmortem.interfaces.compare import compare_analyses
from postmortem.interfaces.mcp.tool_models import (
    AnalyzeRequest,
    CompareRequest,
    ExplainRequest,
    ShareRequest,
)
from postmortem.interfaces.share import build_minimal_excerpt
from postmortem.pipeline import get_matcher
from postmortem.pipeline import run_pipeline as analysis_of
from postmortem.reading.discover import find_candidates
from postmortem.reading.sources import LogSource, Stream
from postmortem.report.assistant import (
    ASSISTANT,
    AssistantAnswer,
    build_answer,
    build_comparison_answer,
    build_excerpt_answer,
    wrap_untrusted_text,
)
from postmortem.report.manual.articles import render_article
from postmortem.report.manual.entries import find_entry
from postmortem.report.sharing import IssueText
from postmortem.rules.base import KnowledgeBase, load_compiled_rules

_MIB: Final = 2**20
_MOST_REPORT: Final = 200_000
"""Characters of a JSON report that are given to a client: more is for a file."""
_EXPLAINED: Final = 3
"""Messages of a line that are explained."""


@dataclass(frozen=True, slots=True)
class CallSettings(WorkerSettings):
    """What every call is done with."""

    largest: int = 2048 * _MIB
    """Bytes of all files of a call together, as they are stored."""
    is_redacted: bool = True


@dataclass(frozen=True, slots=True)
class CallReply:
    """What a tool answers."""

    text: str
    """For a language model: what is quoted stands between marks."""
    values: dict[str, Any]
    """The same for programs, of the shape that `mcp.tool_models` tells."""
    further: tuple[str, ...] = field(default=())
    """Longer texts that were asked for."""


def start_worker(settings: CallSettings) -> None:
    """Get a process ready; what calls need is imported by then, before memory is limited."""
    get_ready(settings)


def handle_analyze(
    settings: CallSettings, request: AnalyzeRequest, within: Sequence[Path]
) -> CallReply:
    """Judge a job.

    Raises:
        InputError: nothing could be read.
        UsageError: there is too much of it.
    """
    get_ready(settings)
    _require_size(settings, [*request.paths, *request.env], within)
    require_one_job(request.paths)
    sources = [*request.paths, *_build_text_sources("text", request.text)]
    env = [*request.env, *_build_text_sources("env_text", request.env_text)]
    report = Report(_run_analysis(settings, sources, env, within), request.language)
    titles = _collect_titles(_load_knowledge(settings), request.language)
    answer = build_answer(report.diagnosis, titles, redact=settings.is_redacted)
    phrases = ASSISTANT[request.language]
    further: tuple[str, ...] = ()
    if request.report:
        further = (
            _format_full_report(report.render("json", redact=settings.is_redacted), phrases),
        )
    return _build_reply(answer, phrases, further)


def handle_explain(
    settings: CallSettings, request: ExplainRequest, _within: Sequence[Path]
) -> CallReply:
    """Tell what the rules know of an id, or of the message in a line.

    Raises:
        UsageError: nothing has this id, and no message is known in the line.
    """
    get_ready(settings)
    rules = load_compiled_rules(tuple(Path(folder) for folder in settings.patterns))
    name = request.what.strip().strip("`")
    try:
        found = [find_entry(rules, name)]
        head = ""
    except UsageError as unknown:
        ids = _find_known_messages(settings, request.what)
        if not ids:
            raise UsageError(
                "nothing has this id, and no message is known in this text", "", unknown.mend
            ) from unknown
        found = [find_entry(rules, id_) for id_ in ids]
        head = ASSISTANT[request.language]["recognised"] + "\n\n"
    pages = [render_article(entry, rules, request.language) for entry in found]
    values = [
        {"kind": one.kind, "id": one.id, "page": page}
        for one, page in zip(found, pages, strict=True)
    ]
    return CallReply(head + "\n".join(pages), {"pages": values})


def handle_compare(
    settings: CallSettings, request: CompareRequest, within: Sequence[Path]
) -> CallReply:
    """Say what differs between two runs.

    Raises:
        InputError: one of them cannot be read.
        UsageError: there is too much of both.
    """
    get_ready(settings)
    _require_size(
        settings, [*request.good, *request.bad, *request.good_env, *request.bad_env], within
    )
    require_one_job([*request.good, *request.bad])
    good, bad = (
        _run_analysis(settings, paths, env, within)
        for paths, env in ((request.good, request.good_env), (request.bad, request.bad_env))
    )
    answer = build_comparison_answer(
        compare_analyses(good, bad), request.language, redact=settings.is_redacted
    )
    return _build_reply(answer, ASSISTANT[request.language])


def handle_share(
    settings: CallSettings, request: ShareRequest, within: Sequence[Path]
) -> CallReply:
    """Make the smallest excerpt with the same verdict.

    Raises:
        InputError: nothing could be read.
        UsageError: there is too much of it.
    """
    get_ready(settings)
    _require_size(settings, [*request.paths, *request.env], within)
    require_one_job(request.paths)
    made = build_minimal_excerpt(
        request.paths,
        env=request.env,
        patterns=settings.patterns,
        text=functools.partial(IssueText, language=request.language, redact=settings.is_redacted),
        within=within,
    )
    answer = build_excerpt_answer(
        made.text, request.language, lines=made.lines, of=made.of, is_same=made.is_same
    )
    return _build_reply(answer, ASSISTANT[request.language])


def _build_reply(
    answer: AssistantAnswer, phrases: Mapping[str, str], further: tuple[str, ...] = ()
) -> CallReply:
    """Put what is quoted between marks, in the text and in the values."""
    quoted = wrap_untrusted_text(answer.quoted, phrases)
    return CallReply(f"{answer.own}\n\n{quoted}", {**answer.figures, "quoted": quoted}, further)


def _format_full_report(report: str, phrases: Mapping[str, str]) -> str:
    if len(report) > _MOST_REPORT:
        return phrases["long-report"].format(count=len(report))
    return f"{phrases['report']}\n{wrap_untrusted_text(report, phrases)}"


def _build_text_sources(name: str, text: str) -> list[LogSource]:
    return [Stream(name, text.encode("utf-8", "replace"))] if text.strip() else []


def _run_analysis(
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


def _load_knowledge(settings: CallSettings) -> KnowledgeBase:
    return get_matcher(tuple(Path(folder) for folder in settings.patterns)).knowledge


def _collect_titles(knowledge: KnowledgeBase, chosen: str) -> dict[str, str]:
    """Give the titles of causes and fixes that nothing is filled into."""
    titles = {rule.id: rule.title[chosen] for rule in knowledge.fixes}
    titles |= {cause: knowledge.title(cause).text(chosen) for cause in knowledge.causes}
    return {name: title for name, title in titles.items() if "${" not in title}


def _find_known_messages(settings: CallSettings, text: str) -> list[str]:
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
    for candidate in find_candidates(paths, within):
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
