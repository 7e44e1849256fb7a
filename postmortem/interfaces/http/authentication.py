"""Authenticate a request: by a token, by the session of a browser, else by its address.

In: a request. Out: a name for the client, by which its requests are counted. Not here: the tokens
(`http.access_tokens`), Host and Origin (`http.request_guard`).
"""

import ipaddress
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from postmortem.interfaces.http.api_errors import build_rate_limit_refusal, build_token_refusal
from postmortem.interfaces.http.service_state import ServiceState

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
