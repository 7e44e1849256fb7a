"""What is done for the bot in a process of its own: judge logs, tell of an id of the rules.

In: settings, logs. Out: `JudgedLog`, an article. Not here: which process this is
(`host.work_pool`), who asks (`service.webhook_routes`).
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from postmortem.bots.judged_log import JudgedLog, summed_up
from postmortem.errors import UsageError
from postmortem.knowledge.base import compiled_rules
from postmortem.report.manual.articles import article
from postmortem.report.manual.entries import look_up
from postmortem.service.at_request import (
    JudgeSettings,
    Received,
    analysis_of_files,
    get_ready,
    within_memory,
)
from postmortem.trackers.tracker_values import NamedLog


def judged_for_bot(
    settings: JudgeSettings, logs: Sequence[NamedLog], spoken: str, longest: int
) -> JudgedLog:
    """Judge logs that are one job.

    Raises:
        InputError: nothing could be read.
        Refusal: they unpack to more than they may, or want too much memory.
    """
    get_ready(settings)
    return within_memory(settings, lambda: _judged(settings, logs, spoken, longest))


def explained_for_bot(settings: JudgeSettings, name: str, spoken: str) -> str | None:
    """Give the article on an id; None if nothing has it."""
    get_ready(settings)
    rules = compiled_rules(tuple(Path(folder) for folder in settings.patterns))
    try:
        return article(look_up(rules, name), rules, spoken)
    except UsageError:
        return None


def _judged(
    settings: JudgeSettings, logs: Sequence[NamedLog], spoken: str, longest: int
) -> JudgedLog:
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder:
        files = []
        for number, log in enumerate(logs):
            path = Path(folder) / str(number)
            path.write_bytes(log.content)
            files.append(Received(log.name, str(path)))
        return summed_up(analysis_of_files(settings, files), spoken, longest)
