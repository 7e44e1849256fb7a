"""Check and parse the deliveries of a tracker, and store them for answering.

In: the headers and the body of a delivery. Out: a status and a word for the tracker. Not here:
answering (`bots.answering`), HTTP (the service). Nothing is kept of a delivery that is not
authentic, and never a text of anybody: only where something is asked, and what.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from postmortem.core.message import Message, quote, say
from postmortem.fleet.store.delivery_records import DeliveryRecords
from postmortem.fleet.store.stored_rows import AskedPlace, DeliveryRow
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.issue_text import LOOK, RUN, find_command
from postmortem.interfaces.trackers.tracker_protocol import (
    COMMENTED,
    FAILED_RUN,
    OPENED,
    PING,
    Tracker,
    TrackerError,
    TrackerEvent,
    TrackerUser,
)

RUN_PLACE: Final = "run"
"""The kind of a place that is not known yet: only its run is."""
_NOTHING: Final = say("ignored: nothing is asked")
_NOBODY: Final = TrackerUser("", "")


class ReceptionReply(NamedTuple):
    """The response to a tracker's delivery."""

    status: int
    what: Message


class Reception:
    """Takes deliveries; threads may share it."""

    def __init__(
        self, deliveries: DeliveryRecords, trackers: Mapping[str, Tracker], settings: BotSettings
    ) -> None:
        self._deliveries, self._trackers, self._settings = deliveries, trackers, settings

    def receive(self, name: str, headers: Mapping[str, str], body: bytes) -> ReceptionReply:
        """Take a delivery.

        Args:
            name: of the tracker.
            headers: their names in lower case.
            body: as it came.
        """
        tracker = self._trackers.get(name)
        if tracker is None:
            return ReceptionReply(404, say("there is no such tracker"))
        if not tracker.is_authentic(headers, body):
            return ReceptionReply(401, say("the signature is missing or wrong"))
        try:
            event = tracker.event(headers, body)
        except TrackerError as error:
            return ReceptionReply(400, quote(str(error)))
        row = self._row(name, event)
        if isinstance(row, Message):
            return ReceptionReply(200, row)
        if self._deliveries.note(row):
            return ReceptionReply(202, say("accepted"))
        return ReceptionReply(200, say("known already"))

    def _row(self, name: str, event: TrackerEvent) -> DeliveryRow | Message:
        """Give what is to be kept of an event, or say why nothing is."""
        if event.kind == PING:
            return say("pong")
        if not self._settings.trackers[name].has(event.project):
            return say("ignored: this project is not among those that are answered")
        author = event.author or _NOBODY
        if event.kind == FAILED_RUN:
            place = AskedPlace(name, event.project, RUN_PLACE, event.run)
            return DeliveryRow(place, event.delivery, RUN, run=event.run)
        if event.kind not in {OPENED, COMMENTED} or event.place is None:
            return _NOTHING
        if author.is_bot:
            return say("ignored: a bot")
        project, kind, number = event.place
        row = DeliveryRow(
            AskedPlace(name, project, kind, str(number)),
            event.delivery,
            LOOK,
            asker=author.identity,
            asker_name=author.name,
        )
        return row if event.kind == OPENED else self._commanded(row, event)

    def _commanded(self, row: DeliveryRow, event: TrackerEvent) -> DeliveryRow | Message:
        """Add what a comment commands.

        Who changed a comment may be another than who wrote it: it commands in the name of whoever
        changed it last.
        """
        comment = event.comment
        command = find_command(comment.text, self._settings.mention) if comment else None
        if comment is None or command is None or comment.author.is_bot:
            return _NOTHING
        return DeliveryRow(
            row.place,
            row.delivery,
            command.ask,
            about=command.about,
            comment=comment.identity,
            asker=row.asker,
            asker_name=row.asker_name,
        )
