"""A webhook that listens on this machine."""

from collections.abc import Iterator

import pytest

from tests.interfaces.notify.hook_server import Hook, listening


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    """A webhook whose address stands where `notify` looks for it."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing goes there
    with listening() as server:
        monkeypatch.setenv("POSTMORTEM_WEBHOOK", server.address())
        monkeypatch.delenv("POSTMORTEM_WEBHOOK_SECRET", raising=False)
        yield server
