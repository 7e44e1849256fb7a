"""Judge the logs of an issue or of a failed run.

In: logs, a judge, settings. Out: `FoundVerdict`. Not here: posting it (`bots.answering`).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from postmortem.core.message import convert_to_message
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.comment_texts import (
    ROOM,
    build_no_log_comment,
    build_unknown_id_comment,
    build_unreadable_log_comment,
    report_comment,
    run_comment,
)
from postmortem.interfaces.bots.judged_log import Judge, JudgeBusy, JudgedLog, NotJudged
from postmortem.interfaces.bots.log_collection import GatheredLogs, build_log_label
from postmortem.interfaces.trackers.tracker_errors import TryLater
from postmortem.interfaces.trackers.tracker_protocol import Tracker
from postmortem.interfaces.trackers.tracker_values import NamedLog

_MIB: Final = 2**20
_BUSY: Final = "as much as can be judged at once is being judged"


class FoundVerdict(NamedTuple):
    """What is to be said."""

    text: str
    is_plain: bool = False
    """Whether it is worth saying unasked."""
    labels: frozenset[str] = frozenset()


class VerdictFinder:
    """Has logs judged, and words what comes of it."""

    def __init__(self, judge: Judge, settings: BotSettings) -> None:
        self._judge, self._settings = judge, settings

    def choose_language(self, gathered: GatheredLogs) -> str:
        """Choose the language of an answer."""
        chosen = self._settings.language
        if chosen != "auto":
            return chosen
        return "zh" if gathered.is_chinese else "en"

    def judge_run(
        self, tracker: Tracker, project: str, run: str, language_code: str
    ) -> FoundVerdict | None:
        """Judge each failed job of a run; the most certain verdict comes first.

        None if there are no logs any more.

        Raises:
            TrackerError: they could not be fetched.
        """
        judged: list[tuple[str, JudgedLog]] = []
        why = None
        for log in tracker.run_logs(project, run, int(self._settings.file_mib * _MIB)):
            labelled = log._replace(name=build_log_label(log.name))
            try:
                judged.append((log.name, self._judged([labelled], tracker, language_code)))
            except NotJudged as error:
                why = convert_to_message(error.what)
        if not judged:
            return (
                None
                if why is None
                else FoundVerdict(build_unreadable_log_comment(why, language_code))
            )
        judged.sort(key=lambda item: (-item[1].is_named, -item[1].probability))
        return self._found(run_comment(judged, language_code), judged[0][1])

    def judge_issue(
        self, tracker: Tracker, gathered: GatheredLogs, language_code: str
    ) -> FoundVerdict:
        """Judge the logs of an issue, all together.

        Raises:
            TryLater: not now.
        """
        if not gathered.logs:
            mention = self._settings.mention
            return FoundVerdict(build_no_log_comment(gathered.left_out, mention, language_code))
        try:
            judged = self._judged(gathered.logs, tracker, language_code)
        except NotJudged as error:
            return FoundVerdict(
                build_unreadable_log_comment(convert_to_message(error.what), language_code)
            )
        return self._found(report_comment(judged, gathered.left_out, language_code), judged)

    def explain(self, about: str, language_code: str) -> str:
        """Give the article of the rules on an id, or say that there is none.

        Raises:
            TryLater: not now.
        """
        try:
            text = self._judge.explain(about, language_code)
        except JudgeBusy:
            raise TryLater(_BUSY) from None
        except NotJudged as error:
            return build_unreadable_log_comment(convert_to_message(error.what), language_code)
        return text or build_unknown_id_comment(about, language_code)

    def _judged(self, logs: Sequence[NamedLog], tracker: Tracker, language_code: str) -> JudgedLog:
        try:
            return self._judge.judge(logs, language_code, tracker.longest - ROOM)
        except JudgeBusy:
            raise TryLater(_BUSY) from None

    def _found(self, text: str, judged: JudgedLog) -> FoundVerdict:
        is_sure = judged.probability >= self._settings.threshold
        if judged.is_named:
            known = self._settings.labels
            label = known.get(judged.cause or "") or known.get(judged.category)
            labels = frozenset({label} if label and is_sure else ())
            return FoundVerdict(text, is_sure, labels)
        return FoundVerdict(text, judged.is_open and self._settings.when_unsure == "ask")
