"""Webhooks of issue trackers, and the bot that answers them beside the requests.

In: settings of the bot. Out: routes, and work beside them. Not here: what a delivery says and how
it is answered (`bots`), trackers (`trackers`). A delivery needs no token: its signature is one.
"""

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from postmortem.core.errors import UsageError
from postmortem.core.host.work_pool import WorkPoolFull
from postmortem.core.message import say
from postmortem.interfaces.bots.answering import AnsweringLoop
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.delivery_intake import Reception
from postmortem.interfaces.bots.judged_log import JudgeBusy, JudgedLog, NotJudged
from postmortem.interfaces.http.api_errors import (
    ErrorAnswer,
    Refusal,
    build_busy_refusal,
    convert_to_refusal,
)
from postmortem.interfaces.http.request_worker import render_article_for_bot, run_bot_analysis
from postmortem.interfaces.http.service_settings import ServiceSettings
from postmortem.interfaces.http.service_state import Service, ServiceState
from postmortem.interfaces.trackers.tracker_kinds import create_tracker
from postmortem.interfaces.trackers.tracker_protocol import NamedLog, Tracker

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
        judge = _PoolJudge(service, asyncio.get_running_loop())
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


class _PoolJudge:
    """Has logs judged in the processes of the service, for the threads of the bot."""

    def __init__(self, service: ServiceState, loop: asyncio.AbstractEventLoop) -> None:
        self._service, self._loop = service, loop

    def judge(self, logs: Sequence[NamedLog], language_code: str, longest: int) -> JudgedLog:
        """Judge logs."""
        found: JudgedLog = self._done(run_bot_analysis, tuple(logs), language_code, longest)
        return found

    def explain(self, name: str, language_code: str) -> str | None:
        """Give an article."""
        found: str | None = self._done(render_article_for_bot, name, language_code)
        return found

    def _done(self, work: Callable[..., Any], *args: Any) -> Any:
        """Wait for work in a process.

        Raises:
            NotJudged: it was not done.
        """
        doing: Coroutine[Any, Any, Any] = self._service.pool.run(work, self._service.judging, *args)
        try:
            waiting = asyncio.run_coroutine_threadsafe(doing, self._loop)
        except RuntimeError:  # the service has ended
            doing.close()
            raise JudgeBusy("ending") from None
        try:
            return waiting.result()
        except (WorkPoolFull, concurrent.futures.CancelledError):
            raise JudgeBusy("busy") from None
        except Exception as error:  # noqa: BLE001 -- whatever a log does is told, and ends nothing
            if self._service.is_ending:  # its processes are ended in the middle of their work
                raise JudgeBusy("ending") from None
            refusal = convert_to_refusal(error, 1.0, self._service.settings.limits.seconds)
            raise NotJudged(refusal.texts[0]) from None
