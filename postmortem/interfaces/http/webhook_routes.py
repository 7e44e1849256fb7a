"""Webhooks of issue trackers, and the bot that answers them beside the requests.

In: settings of the bot. Out: routes, and work beside them. Not here: what a delivery says and how
it is answered (`bots`), trackers (`trackers`). A delivery needs no token: its signature is one.
"""

import asyncio
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from postmortem.core.errors import UsageError
from postmortem.core.message import say
from postmortem.interfaces.bots.answering import AnsweringLoop
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.delivery_intake import Reception
from postmortem.interfaces.bots.verdict_finder import Judge
from postmortem.interfaces.http.api_errors import (
    ErrorAnswer,
    Refusal,
    build_busy_refusal,
)
from postmortem.interfaces.http.service_settings import ServiceSettings
from postmortem.interfaces.http.service_state import Service, ServiceState
from postmortem.interfaces.trackers.tracker_kinds import create_tracker
from postmortem.interfaces.trackers.tracker_protocol import Tracker

_MOST: Final = 25 << 20
"""Bytes of a delivery: GitHub sends no more."""
_LARGE: Final = 256 << 10
_LARGE_AT_ONCE: Final = 8
"""Bodies beyond that size that may arrive at the same time."""
_GRACE_SECONDS: Final = 5.0
"""Seconds in which what is being answered may be finished when the service ends."""


class HookAnswer(BaseModel):
    """What became of a delivery."""

    result: str = Field(description="Why it is, or is not, answered.")


class ServiceBot:
    """The bot of a service."""

    def __init__(self, settings: BotSettings, trackers: dict[str, Tracker]) -> None:
        self._settings, self._trackers = settings, trackers
        self._loop: AnsweringLoop | None = None
        self._large = 0
        """Large bodies that are arriving."""
        self.router = APIRouter(tags=["bots"])
        self.router.add_api_route(
            "/hooks/{tracker}",
            self._hook,
            methods=["POST"],
            summary="A delivery of a tracker's webhook",
            response_model=HookAnswer,
            status_code=202,
            responses={
                200: {"model": HookAnswer, "description": "Nothing is asked, or it was known."},
                401: {"model": ErrorAnswer, "description": "The signature is missing or wrong."},
                404: {"model": ErrorAnswer, "description": "There is no such tracker."},
                413: {"model": ErrorAnswer, "description": "The delivery is too large."},
                429: {"model": ErrorAnswer, "description": "Too many large ones are arriving."},
            },
        )

    async def answer_until_stopped(self, service: ServiceState) -> None:
        """Answer until the service ends."""
        assert service.store is not None  # noqa: S101 -- `create_bot` has refused
        loop = asyncio.get_running_loop()
        judge = Judge(service.pool, service.judging, loop, lambda: service.is_ending)
        self._loop = AnsweringLoop(service.store, self._trackers, judge, self._settings)
        self._loop.start()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(self._loop.close, _GRACE_SECONDS)
            for tracker in self._trackers.values():
                tracker.close()

    async def _hook(self, tracker: str, request: Request, service: Service) -> JSONResponse:
        assert service.store is not None  # noqa: S101
        body = await self._body(request)
        headers = {name.lower(): value for name, value in request.headers.items()}
        reception = Reception(service.store.deliveries, self._trackers, self._settings)
        reply = await asyncio.to_thread(reception.receive, tracker, headers, body)
        if reply.status >= 400:
            raise Refusal(reply.status, reply.what, f"/hooks/{tracker}")
        if reply.status == 202 and self._loop is not None:
            self._loop.wake()
        return JSONResponse({"result": str(reply.what)}, reply.status)

    async def _body(self, request: Request) -> bytes:
        """Read a body, counted as it arrives: nobody knows yet who sends it.

        Raises:
            Refusal: it is too large, or too many large ones are arriving.
        """
        body, is_large = bytearray(), False
        try:
            async for piece in request.stream():
                body += piece
                if not is_large and len(body) > _LARGE:
                    if self._large >= _LARGE_AT_ONCE:
                        raise build_busy_refusal(_GRACE_SECONDS)
                    is_large, self._large = True, self._large + 1
                if len(body) > _MOST:
                    raise Refusal(413, say("the delivery is too large"))
        finally:
            self._large -= is_large
        return bytes(body)


def create_bot(settings: ServiceSettings) -> ServiceBot | None:
    """Make the bot that settings ask for; None if they ask for none.

    Raises:
        UsageError: a tracker's settings are wrong, or there is no store.
        MissingExtra: a tracker needs a package.
    """
    if settings.bots is None:
        return None
    if settings.store is None:
        raise UsageError("the bot needs a store", "bots", "set store, or --store")
    trackers = {
        name: create_tracker(name, entry.own()) for name, entry in settings.bots.trackers.items()
    }
    return ServiceBot(settings.bots, trackers)
