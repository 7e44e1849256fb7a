"""Work in a worker process for a request: judge logs, render overviews, groups and reports.

In: settings, files that were received, numbers in a store. Out: the text of a page, a report or
JSON. Not here: which process this is (`core.host.work_pool`), the routes (`http.analyze_routes`,
`http.triage_routes`), the judging (`fleet.one_job_worker`).
"""

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from postmortem.core.message import Message, say
from postmortem.fleet.one_job_worker import (
    JudgeSettings,
    Received,
    get_ready,
    run_file_analysis,
    run_within_memory,
)
from postmortem.fleet.overview import build_overview
from postmortem.fleet.store import open_store
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import JobRow, TriageRow
from postmortem.fleet.stored_triage import load_stored_analysis, read_triage
from postmortem.interfaces.http.api_errors import build_not_found_refusal
from postmortem.report import render
from postmortem.report.page.triage_page import render_triage
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import dump_json

_Result = TypeVar("_Result")


class ReportOptions(NamedTuple):
    """How a report is to be."""

    form: str = "json"
    language_code: str = "en"
    is_redacted: bool = True


def start_worker(settings: JudgeSettings) -> None:
    """Get a process ready; what requests need is imported by then, before memory is limited."""
    get_ready(settings)


def handle_analyze_request(
    settings: JudgeSettings, files: Sequence[Received], options: ReportOptions
) -> str:
    """Judge the logs of a request, which together are one job.

    Raises:
        InputError: nothing could be read.
        TooLargeError: they unpack to more than they may, or want too much memory.
    """
    get_ready(settings)
    return run_within_memory(
        settings,
        lambda: render(
            run_file_analysis(settings, files),
            options.form,
            language=options.language_code,
            redact=options.is_redacted,
            full=True,
        ),
    )


def render_triage_overview(settings: JudgeSettings, number: int, options: ReportOptions) -> str:
    """Write the overview of a triage, as a page or as JSON.

    Raises:
        Refusal: there is none of that number.
    """

    def written(store: Store) -> str:
        row = get_triage_row(store, number)
        found, numbers = read_triage(store, number), store.listing.get_numbers(number)
        judged = filter(found.is_judged, found.jobs)
        value = build_overview(found, row, {job: f"{number}/jobs/{numbers[job]}" for job in judged})
        if options.form == "json":
            return dump_json(value)
        return render_triage(value, language=options.language_code)

    return _run_with_store(settings, written)


def group(settings: JudgeSettings, number: int, name: str, options: ReportOptions) -> str:
    """Write the report of the job that stands for a group, or the group and its jobs as JSON.

    Raises:
        Refusal: there is no such triage or group.
    """

    def written(store: Store) -> str:
        get_triage_row(store, number)
        found = read_triage(store, number)
        members = found.get_members().get(name)
        if not members:
            raise build_not_found_refusal(say("this triage has no such group"), name)
        if options.form != "json":
            return _report(store, found.jobs[members[0].identity], options)
        one, numbers = found.groups[name], store.listing.get_numbers(number)
        title = one.title.settled(Redactor().text)
        jobs = [
            {"number": numbers[job.identity], "identity": job.identity, "title": job.title}
            for job in members
        ]
        return dump_json(
            {
                "id": name,
                "cause": one.cause,
                "title": {"en": title.en, "zh": title.zh},
                "jobs": jobs,
            }
        )

    return _run_with_store(settings, written)


def render_job_report(
    settings: JudgeSettings, number: int, triage: int | None, options: ReportOptions
) -> str:
    """Write the report of a job from its stored analysis.

    Args:
        settings: of every request.
        number: of the job.
        triage: in which it was judged; None for its last one.
        options: form and language of the report.

    Raises:
        Refusal: there is no such job, or it was not judged.
    """

    def written(store: Store) -> str:
        job = store.listing.get_job(number, triage)
        if job is None:
            raise build_not_found_refusal(say("there is no such job"), number)
        return _report(store, job, options)

    return _run_with_store(settings, written)


def get_triage_row(store: Store, number: int) -> TriageRow:
    """Give a triage by its number.

    Raises:
        Refusal: there is none.
    """
    row = store.triages.get_row(number)
    if row is None:
        raise build_not_found_refusal(say("there is no triage of that number"), number)
    return row


def _report(store: Store, job: JobRow, options: ReportOptions) -> str:
    analysis = load_stored_analysis(store, job)
    if analysis is None:
        why = Message(job.reason_en, job.reason_zh) or say("not yet")
        raise build_not_found_refusal(say("it was not judged: {why}", why=why), job.title)
    return render(
        analysis,
        options.form,
        language=options.language_code,
        redact=options.is_redacted,
        full=True,
    )


def _run_with_store(settings: JudgeSettings, work: Callable[[Store], _Result]) -> _Result:
    get_ready(settings)
    store = _open_cached_store(settings.store or "")
    return run_within_memory(settings, lambda: work(store))


@functools.lru_cache(maxsize=1)
def _open_cached_store(named: str) -> Store:
    return open_store(named)
