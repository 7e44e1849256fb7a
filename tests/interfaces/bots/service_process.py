"""The service as users start it, with a bot for the stand-in."""

import http.client
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from postmortem.fleet.store import open_store
from tests.interfaces.bots.deliveries import SECRET, signed
from tests.interfaces.bots.standin_github import PROJECT, TOKEN, StandIn

ROOT = Path(__file__).resolve().parents[3]
_PATIENCE = 120


@dataclass
class ServiceProcess:
    """A running service."""

    process: "subprocess.Popen[str]"
    store: str
    """A file, or the URL of a server."""
    said: list[str] = field(default_factory=list)
    """Lines on standard error."""
    port: int = 0

    def send(self, event: str, payload: Any, delivery: str = "", **headers: str) -> int:
        """Send a delivery; gives the status. A header with no text is left out."""
        signed_headers, body = signed(event, payload, delivery)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        kept = {name: value for name, value in {**signed_headers, **fields}.items() if value}
        return self.post("/hooks/github", body, kept)

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> int:
        """Send a request; gives the status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", path, body, headers)
            return connection.getresponse().status
        finally:
            connection.close()

    def rows(self) -> list[Any]:
        """All deliveries in the store."""
        with open_store(self.store) as store:
            return store.deliveries.list_for_tracker("github")

    def settled(self) -> list[str]:
        """Wait until nothing waits; gives what became of the deliveries."""
        until(lambda: all(row.state != "waiting" for row in self.rows()))
        return [row.state for row in self.rows()]

    def kill(self) -> None:
        """End it as a machine does that runs out of memory."""
        self.process.kill()
        self.process.wait()


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another process brings about."""
    end = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.05)


def settings_of(standin: StandIn, folder: Path, store: str, **bot: Any) -> Path:
    """Write the settings of a service."""
    path = folder / "service.yaml"
    tracker = {
        "projects": [PROJECT],
        "secret": "env:BOT_SECRET",
        "token": "env:BOT_TOKEN",
        "api_url": standin.url,
    }
    bots = {"retry_seconds": 0.05, "trackers": {"github": tracker}, **bot}
    settings = {"port": 0, "store": store, "bots": bots, "model": "none"}
    path.write_text(yaml.safe_dump({**settings, "limits": {"workers": 1}}))
    return path


@contextmanager
def served(standin: StandIn, folder: Path, store: str = "", **bot: Any) -> Iterator[ServiceProcess]:
    """Start a service and end it."""
    store = store or str(folder / "store.sqlite")
    standin.account.update(id=901, login="post-mortem", type="User")
    config = settings_of(standin, folder, store, **bot)
    environment = {**os.environ, "BOT_SECRET": SECRET, "BOT_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-m", "postmortem", "serve", "--config", str(config)],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        service = ServiceProcess(process, store)
        reading = threading.Thread(target=_read, args=[service], daemon=True)
        reading.start()
        try:
            until(lambda: service.port > 0 or process.poll() is not None)
            assert service.port, "\n".join(service.said)
            yield service
        finally:
            process.terminate()
            process.wait(60)
            reading.join(60)


def _read(service: ServiceProcess) -> None:
    assert service.process.stderr is not None
    for line in service.process.stderr:
        service.said.append(line)
        found = re.search(r"serving on (http://\S+)", line)
        if found:
            service.port = urlsplit(found[1]).port or 0
