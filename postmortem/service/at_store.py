"""What is done in a process of its own for who looks at a store: overviews, groups, reports.

In: settings, numbers. Out: the text of a page or of JSON. Not here: which process this is
(`host.work_pool`), the routes (`service.triage_routes`).
"""

import functools
from collections.abc import Callable
from typing import TypeVar

from postmortem.model.said import Said, say
from postmortem.redaction.redactor import Redactor
from postmortem.report import render
from postmortem.report.page.triage_page import render_triage
from postmortem.report.wire import json_text
from postmortem.service.at_request import AskedReport, JudgeSettings, get_ready, within_memory
from postmortem.service.refusals import missing
from postmortem.store.entrance import open_store
from postmortem.store.opened_store import Store
from postmortem.store.stored_rows import JobRow, TriageRow
from postmortem.triage.stored_triage import analysis_in, overview_in, triage_in

_Given = TypeVar("_Given")


def overview(settings: JudgeSettings, number: int, asked: AskedReport) -> str:
    """Write the overview of a triage, as a page or as JSON.

    Raises:
        Refusal: there is none of that number.
    """

    def written(store: Store) -> str:
        value = overview_in(store, triage_of(store, number), lambda job: f"{number}/jobs/{job}")
        if asked.form == "json":
            return json_text(value)
        return render_triage(value, language=asked.spoken)

    return _with_store(settings, written)


def group(settings: JudgeSettings, number: int, name: str, asked: AskedReport) -> str:
    """Write the report of the job that stands for a group, or the group and its jobs as JSON.

    Raises:
        Refusal: there is no such triage or group.
    """

    def written(store: Store) -> str:
        found = triage_in(store, triage_of(store, number))
        members = found.members().get(name)
        if not members:
            raise missing(say("this triage has no such group", "该次分诊没有这个组"), name)
        if asked.form != "json":
            return _report(store, found.jobs[members[0].identity], asked)
        one, numbers = found.groups[name], store.listing.numbers(number)
        said = one.title.settled(Redactor().text)
        jobs = [
            {"number": numbers[job.identity], "identity": job.identity, "title": job.title}
            for job in members
        ]
        return json_text(
            {"id": name, "cause": one.cause, "title": {"en": said.en, "zh": said.zh}, "jobs": jobs}
        )

    return _with_store(settings, written)


def job_report(settings: JudgeSettings, number: int, triage: int | None, asked: AskedReport) -> str:
    """Write the report of a job from its stored analysis.

    Args:
        settings: of every request.
        number: of the job.
        triage: in which it was judged; None for its last one.
        asked: how the report is to be.

    Raises:
        Refusal: there is no such job, or it was not judged.
    """

    def written(store: Store) -> str:
        job = store.listing.numbered(number, triage)
        if job is None:
            raise missing(say("there is no such job", "没有这个作业"), number)
        return _report(store, job, asked)

    return _with_store(settings, written)


def triage_of(store: Store, number: int) -> TriageRow:
    """Give a triage by its number.

    Raises:
        Refusal: there is none.
    """
    row = store.triages.row(number)
    if row is None:
        raise missing(say("there is no triage of that number", "没有这个编号的分诊"), number)
    return row


def _report(store: Store, job: JobRow, asked: AskedReport) -> str:
    analysis = analysis_in(store, job)
    if analysis is None:
        why = Said(job.reason_en, job.reason_zh) or say("not yet", "尚未完成")
        raise missing(say("it was not judged: {why}", "未能判断：{why}", why=why), job.title)
    return render(analysis, asked.form, language=asked.spoken, redact=asked.is_redacted, full=True)


def _with_store(settings: JudgeSettings, work: Callable[[Store], _Given]) -> _Given:
    get_ready(settings)
    store = _opened(settings.store or "")
    return within_memory(settings, lambda: work(store))


@functools.lru_cache(maxsize=1)
def _opened(named: str) -> Store:
    return open_store(named)
