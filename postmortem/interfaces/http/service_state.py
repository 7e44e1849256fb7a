"""The state of a running service, and the authenticated client of a request to it.

In: settings, tokens; a request. Out: `ServiceState`; work done in one of its processes, unless the
client goes away meanwhile; a name for the client, by which its requests are counted. Not here: the
work (`fleet.one_job_worker`, `http.request_worker`), the tokens (`http.client_access`), Host and
Origin (`http.request_guard`).

A client is known by a token, by the session of a browser, else by its address.
"""

import asyncio
import functools
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from postmortem.core.host.work_pool import WorkerLost, WorkPool
from postmortem.fleet.one_job_worker import JudgeSettings
from postmortem.fleet.store import open_store
from postmortem.interfaces.http.api_errors import (
    UNDONE,
    build_busy_refusal,
    build_rate_limit_refusal,
    build_shutdown_refusal,
    build_token_refusal,
    convert_to_refusal,
)
from postmortem.interfaces.http.client_access import (
    AccessTokens,
    ClientBuckets,
    ReaderSessions,
    WorkSlots,
)
from postmortem.interfaces.http.request_worker import start_worker
from postmortem.interfaces.http.service_settings import ServiceSettings

if TYPE_CHECKING:
    from postmortem.fleet.store.opened_store import Store

_Result = TypeVar("_Result")
_MIB: Final = 2**20


class ClientGone(Exception):  # noqa: N818 -- what became of the request
    """The client has closed its connection; nobody waits for an answer."""


@dataclass
class ServiceState:
    """What the routes of a service share."""

    settings: ServiceSettings
    tokens: AccessTokens
    judging: JudgeSettings
    pool: WorkPool
    places: WorkSlots
    buckets: ClientBuckets
    sessions: ReaderSessions
    store: "Store | None" = None
    is_ending: bool = field(default=False)
    """No new request is taken any more."""

    @classmethod
    def of(cls, settings: ServiceSettings, tokens: AccessTokens) -> "ServiceState":
        """Make what settings ask for; no process is started, and no store opened yet."""
        limits, rate = settings.limits, settings.rate
        judging = JudgeSettings(
            patterns=tuple(str(folder.resolve()) for folder in settings.patterns),
            model=settings.text_model,
            memory=limits.memory_mib,
            unpacked=int(limits.unpacked_mib * _MIB),
            unpacked_times=limits.unpacked_times,
            unpacked_free=int(limits.unpacked_free_mib * _MIB),
            bundle_files=limits.bundle_files,
            store=settings.store,
        )
        most = limits.workers + limits.waiting
        pool = WorkPool(
            functools.partial(start_worker, judging),
            workers=limits.workers,
            seconds=limits.seconds,
            most=most,
        )
        return cls(
            settings,
            tokens,
            judging,
            pool,
            WorkSlots(limits.workers, limits.waiting),
            ClientBuckets(rate.per_minute, rate.burst, rate.clients),
            ReaderSessions(settings.session_hours),
        )

    def open_store(self) -> None:
        """Open the store that the settings name, if it is not open.

        Raises:
            PostmortemError: it cannot be used.
        """
        if self.settings.store is not None and self.store is None:
            self.store = open_store(self.settings.store)

    def begin(self) -> None:
        """Open the store, and have the processes load the rules.

        Raises:
            PostmortemError: the store cannot be used.
        """
        self.open_store()
        self.pool.warm_up()

    def end(self) -> None:
        """End the processes, whatever they are at, and close the store."""
        self.is_ending = True
        self.pool.close()
        if self.store is not None:
            self.store.close()

    @asynccontextmanager
    async def place(self, client: str) -> AsyncIterator[None]:
        """Hold a place for work of a client.

        Raises:
            Refusal: there is none, or this client asks too often.
        """
        if not self.places.are_free:
            raise build_busy_refusal(self.places.patience)
        if seconds := self.buckets.take(client):
            raise build_rate_limit_refusal(seconds)
        with self.places.hold():
            yield

    async def run(self, request: Request, work: Callable[..., _Result], *args: Any) -> _Result:
        """Do a piece of work in a process; it is ended if the client goes away.

        Raises:
            ClientGone: it did.
            Refusal: the work was not done.
        """
        try:
            return await _wait_unless_disconnected(
                request, self.pool.run(work, self.judging, *args)
            )
        except UNDONE as error:
            if self.is_ending and isinstance(error, WorkerLost):
                raise build_shutdown_refusal() from error
            raise convert_to_refusal(
                error, self.places.patience, self.settings.limits.seconds
            ) from error
        except asyncio.CancelledError:
            if self.is_ending:
                raise build_shutdown_refusal() from None
            raise


async def _wait_unless_disconnected(request: Request, work: Awaitable[_Result]) -> _Result:
    """Wait for work as long as somebody waits for what it gives."""
    doing, gone = asyncio.ensure_future(work), asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({doing, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise ClientGone
        return doing.result()
    finally:
        for task in (doing, gone):
            task.cancel()
        for task in (doing, gone):
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


COOKIE: Final = "postmortem_reader"
_BEARER: Final = HTTPBearer(
    auto_error=False, description="Needed unless the service runs without tokens."
)
_NETWORK: Final = 64
"""Bits of an IPv6 address that one client has to itself."""


def state_of(request: Request) -> ServiceState:
    """Give what the service holds."""
    state: ServiceState = request.app.state.service
    return state


Service = Annotated[ServiceState, Depends(state_of)]
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]


def get_client_address(scope: Any) -> str:
    """Give the address of a client, of an IPv6 one its network."""
    host = (scope.get("client") or ("",))[0]
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host or "unknown"
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, _NETWORK), strict=False).network_address)
    return str(getattr(found, "ipv4_mapped", None) or found)


def require_client(request: Request, service: Service, bearer: Bearer) -> str:
    """Name the client that holds a token; without tokens, any.

    Raises:
        Refusal: it holds none.
    """
    if not service.tokens.are_needed:
        return get_client_address(request.scope)
    found = service.tokens.find_holder(bearer.credentials) if bearer is not None else None
    return found or _reject_client(request, service)


def require_reader(request: Request, service: Service, bearer: Bearer) -> str:
    """Name the client that holds a token, or whose browser has given one.

    Raises:
        Refusal: neither.
    """
    number = request.cookies.get(COOKIE, "")
    if service.tokens.are_needed and number and (found := service.sessions.find_holder(number)):
        return found
    return require_client(request, service, bearer)


def _reject_client(request: Request, service: ServiceState) -> str:
    """Refuse; who guesses on is soon refused for that."""
    if seconds := service.buckets.take(f"guessing {get_client_address(request.scope)}"):
        raise build_rate_limit_refusal(seconds)
    raise build_token_refusal()


Client = Annotated[str, Depends(require_client)]
"""As an argument of a route of the API."""
Reader = Annotated[str, Depends(require_reader)]
"""As an argument of a route that shows a page and changes nothing."""
