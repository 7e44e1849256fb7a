"""Work for the bot in a worker process: judge logs, render the article of an id.

In: settings, logs. Out: `JudgedLog`, an article. Not here: which process this is
(`core.host.work_pool`), who asks (`http.webhook_routes`).
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from postmortem.core.errors import UsageError
from postmortem.interfaces.bots.judged_log import JudgedLog, summarize_analysis
from postmortem.interfaces.http.request_worker import (
    JudgeSettings,
    Received,
    get_ready,
    run_file_analysis,
    run_within_memory,
)
from postmortem.interfaces.trackers.tracker_values import NamedLog
from postmortem.report.manual.articles import render_article
from postmortem.report.manual.entries import find_entry
from postmortem.rules.base import load_compiled_rules


def run_bot_analysis(
    settings: JudgeSettings, logs: Sequence[NamedLog], language_code: str, longest: int
) -> JudgedLog:
    """Judge logs that are one job.

    Raises:
        InputError: nothing could be read.
        Refusal: they unpack to more than they may, or want too much memory.
    """
    get_ready(settings)
    return run_within_memory(
        settings, lambda: _run_analysis(settings, logs, language_code, longest)
    )


def render_article_for_bot(settings: JudgeSettings, name: str, language_code: str) -> str | None:
    """Give the article on an id; None if nothing has it."""
    get_ready(settings)
    rules = load_compiled_rules(tuple(Path(folder) for folder in settings.patterns))
    try:
        return render_article(find_entry(rules, name), rules, language_code)
    except UsageError:
        return None


def _run_analysis(
    settings: JudgeSettings, logs: Sequence[NamedLog], language_code: str, longest: int
) -> JudgedLog:
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder:
        files = []
        for number, log in enumerate(logs):
            path = Path(folder) / str(number)
            path.write_bytes(log.content)
            files.append(Received(log.name, str(path)))
        return summarize_analysis(run_file_analysis(settings, files), language_code, longest)
