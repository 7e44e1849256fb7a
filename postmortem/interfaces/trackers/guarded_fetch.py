"""Fetch files from allowed hosts only.

In: a URL that may come from anybody, the most bytes that are wanted. Out: bytes, as they are
stored. Not here: which links are worth it (each tracker's module), unpacking.

A URL is allowed if it is https to a host of the list, or leads to the tracker's own server as the
operator has named it. Every redirect is judged like the first URL. What a name leads to is looked
up once, all its addresses must be public ones, and the connection goes to the very address that was
judged: a name cannot lead elsewhere a moment later. The own server may stand in a private network.
Proxies of the environment are not used: behind one, no address could be judged.

httpx carries the requests: it streams, and takes the name for TLS apart from the address.
"""

import socket
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from typing import Any, Final

import httpx

from postmortem.core.host.machine import is_public
from postmortem.interfaces.trackers.tracker_protocol import NotThere, TrackerError, TryLater

_REDIRECTS: Final = 5
_WAIT: Final = 20.0
"""Seconds for a connection, and for each piece."""
_WHOLE: Final = 120.0
"""Seconds for a file."""
_PASSED_OVER: Final = 16
"""Of a log whose end is wanted, so many times as much is read at most."""

Addresses = Callable[[str, int], list[str]]
"""Gives the addresses of a host."""


def resolve_host(host: str, port: int) -> list[str]:
    """Give the addresses that a host's name leads to, of the kinds that this machine can reach."""
    kinds = socket.AI_ADDRCONFIG
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=kinds)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedFetch:
    """Fetches from allowed hosts; threads may share it."""

    def __init__(
        self, hosts: Collection[str], own: str = "", *, addresses: Addresses = resolve_host
    ) -> None:
        """Take what is allowed.

        Args:
            hosts: names; `*.example.org` are all names below that.
            own: the address of the tracker's own server: `https://git.example.org`.
            addresses: how a name is looked up.
        """
        self._hosts = frozenset(host.lower() for host in hosts)
        self._own = _get_origin(httpx.URL(own)) if own else None
        self._addresses = addresses
        self._trusted = httpx.create_ssl_context(trust_env=False)

    def allows(self, url: str) -> bool:
        """Say whether a URL may be fetched, by what it says alone."""
        try:
            return self._is_allowed(httpx.URL(url))
        except httpx.InvalidURL:
            return False

    def fetch(
        self,
        url: str,
        most: int,
        *,
        headers: Mapping[str, str] | None = None,
        is_end_wanted: bool = False,
    ) -> bytes:
        """Fetch a file.

        Args:
            url: where it is.
            most: bytes that are kept at most.
            headers: for the own server alone; no redirect carries them elsewhere.
            is_end_wanted: keep the end of what is longer, rather than refuse it.

        Raises:
            TrackerError: it is not allowed, or too large.
            NotThere: there is nothing.
            TryLater: the host did not answer.
        """
        until = time.monotonic() + _WHOLE
        try:
            place = httpx.URL(url)
            for _ in range(_REDIRECTS + 1):
                request = self._request(place, headers or {})
                with self._client() as client, closing(client.send(request, stream=True)) as found:
                    if not found.has_redirect_location:
                        _require_whole(found, place)
                        return _read_bounded(found.iter_raw(), most, until, is_end_wanted)
                    place = place.join(found.headers["location"])
        except httpx.InvalidURL:
            raise TrackerError("a redirect leads to no address") from None
        except (httpx.TransportError, OSError) as error:
            raise TryLater(f"no answer ({type(error).__name__})", place.host) from None
        raise TrackerError("redirects without an end", place.host)

    def _client(self) -> httpx.Client:
        """Give a new one for each request: no cookie and no connection is met a second time."""
        return httpx.Client(
            follow_redirects=False, trust_env=False, timeout=_WAIT, verify=self._trusted
        )

    def _is_allowed(self, url: httpx.URL) -> bool:
        if url.userinfo or not url.host:
            return False
        if _get_origin(url) == self._own:
            return True
        above = url.host.lower().partition(".")[2]
        is_listed = url.host.lower() in self._hosts or f"*.{above}" in self._hosts
        return url.scheme == "https" and url.port in {None, 443} and is_listed

    def _request(self, url: httpx.URL, headers: Mapping[str, str]) -> httpx.Request:
        """Make a request to the address that was judged, under the name that was asked for.

        Raises:
            TrackerError: it is not allowed.
        """
        if not self._is_allowed(url):
            raise TrackerError("leads to a host that is not allowed", url.host)
        sent = {"Accept-Encoding": "identity", "User-Agent": "postmortem", "Accept": "*/*"}
        if _get_origin(url) == self._own:
            return httpx.Request("GET", url, headers={**sent, **headers})
        found = self._addresses(url.host, url.port or 443)
        if not found or not all(map(is_public, found)):
            raise TrackerError("leads to an address that is not public", url.host)
        settings: dict[str, Any] = {"sni_hostname": url.host}
        sent["Host"] = url.host
        return httpx.Request("GET", url.copy_with(host=found[0]), headers=sent, extensions=settings)


def _get_origin(url: httpx.URL) -> tuple[str, str, int | None]:
    usual = {"https": 443, "http": 80}.get(url.scheme)
    return url.scheme, url.host.lower(), url.port or usual


def _require_whole(response: httpx.Response, url: httpx.URL) -> None:
    """Pass on what is a file.

    Raises:
        TrackerError: it is none.
    """
    status = response.status_code
    if status in {404, 410}:
        raise NotThere("there is no such file", url.host)
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise TryLater(f"answered {status}", url.host)
    if status != httpx.codes.OK:
        raise TrackerError(f"answered {status}", url.host)


def _read_bounded(pieces: Iterator[bytes], most: int, until: float, is_end_wanted: bool) -> bytes:  # noqa: FBT001
    """Put pieces together, and stop where there are too many or they come too slowly."""
    kept, seen = bytearray(), 0
    for piece in pieces:
        kept += piece
        seen += len(piece)
        if seen > most * (_PASSED_OVER if is_end_wanted else 1):
            raise TrackerError(f"has more than {most:,} bytes")
        if len(kept) > 2 * most:
            del kept[:-most]
        if time.monotonic() > until:
            raise TryLater(f"not fetched after {_WHOLE:,.0f} s")
    return bytes(kept[-most:]) if most else b""
