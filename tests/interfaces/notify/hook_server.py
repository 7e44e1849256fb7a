"""A webhook on this machine that answers as it was told to.

In: replies. Out: the requests that came. Not here: what they should be.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.loopback_http import LoopbackServer, RecordedRequest, Reply, serving


class Hook:
    """Answers with the next reply, with `ok` once there is none."""

    def __init__(self) -> None:
        """Have no reply in store."""
        self.replies: list[Reply] = []
        self.server: LoopbackServer | None = None

    def answer(self, _request: RecordedRequest) -> Reply:
        """Give the next reply."""
        return self.replies.pop(0) if self.replies else Reply(body=b"ok")

    @property
    def arrived(self) -> list[RecordedRequest]:
        """The requests that came."""
        assert self.server is not None
        return self.server.asked

    def address(self, path: str = "/services/T0/B0/hush-hush") -> str:
        """Give the address that is a secret."""
        assert self.server is not None
        return self.server.url + path


@contextmanager
def listening() -> Iterator[Hook]:
    """Serve until the test is over."""
    hook = Hook()
    with serving(hook.answer) as server:
        hook.server = server
        yield hook
