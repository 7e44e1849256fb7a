"""The service as it is called: a process of its own, asked over HTTP on loopback."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
LOG = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"
CAUSE = "numerics.loss-scale-exhausted"
TOKEN = "a-token-of-the-tests-0123456789"  # noqa: S105 -- of nothing else
PATIENCE = 60.0


@dataclass
class Served:
    """A service that runs."""

    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    def told(self) -> str:
        """What it has written on standard error."""
        return self.log.read_text(encoding="utf-8")

    def health(self) -> dict[str, Any]:
        """What it says of itself."""
        return dict(httpx.get(f"{self.url}/health", timeout=PATIENCE).json())

    def wait_for(self, is_so: Callable[[dict[str, Any]], bool]) -> None:
        """Wait until it says so of itself."""
        until = time.monotonic() + PATIENCE
        while not is_so(self.health()):
            assert time.monotonic() < until, self.told()
            time.sleep(0.02)

    def workers(self) -> list[int]:
        """The processes that judge, once they are there."""
        until = time.monotonic() + PATIENCE
        while True:
            found = [one for one in _children(self.process.pid) if _is_judging(one)]
            if found:
                return found
            assert time.monotonic() < until, self.told()
            time.sleep(0.02)

    def stop_at_work(self, count: int) -> list[int]:
        """Stop so many processes, each in the middle of an analysis."""
        until = time.monotonic() + PATIENCE
        stopped: list[int] = []
        while len(stopped) < count:
            assert time.monotonic() < until, self.told()
            for pid in {*self.workers()} - {*stopped}:
                if _is_at_work(pid):
                    os.kill(pid, signal.SIGSTOP)
                    while _is_running(pid):
                        pass
                    if _is_at_work(pid):
                        stopped.append(pid)
                    else:
                        os.kill(pid, signal.SIGCONT)
        return stopped


def _is_at_work(pid: int) -> bool:
    """It stands in the folder of a request."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cwd").readlink().name == "unpacked"
    return False


def _is_running(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "TZ"
    return False


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [
            int(one)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for one in (task / "children").read_text().split()
        ]
    return []


def _is_judging(pid: int) -> bool:
    """Not the process of multiprocessing that cleans up behind the others."""
    with suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


Serve = Callable[..., Served]


@pytest.fixture(scope="session")
def serve(
    command: list[str],
    tmp_path_factory: pytest.TempPathFactory,
    usual_signals: Callable[[], None],
) -> Iterator[Serve]:
    """Start services: settings by name, options, variables; all are ended at the end."""
    running: list[Served] = []

    def started(
        *options: str, environment: dict[str, str] | None = None, **settings: Any
    ) -> Served:
        folder = tmp_path_factory.mktemp("service")
        config, log = folder / "service.yaml", folder / "log"
        config.write_text(yaml.safe_dump({"port": 0, "model": "none", **settings}))
        call = [*command, "serve", "--config", str(config), *options]
        with log.open("wb") as target:
            process = subprocess.Popen(
                call,
                stderr=target,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})},
                preexec_fn=usual_signals,  # noqa: PLW1509 -- no thread has been started
            )
        served = Served("", process, log)
        running.append(served)
        until = time.monotonic() + PATIENCE
        while not (found := re.search(r"serving on (http://\S+)", served.told())):
            assert process.poll() is None, served.told()
            assert time.monotonic() < until, served.told()
            time.sleep(0.05)
        served.url = found[1]
        return served

    yield started
    for one in running:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGTERM)
    for one in running:
        one.process.wait(PATIENCE)


@pytest.fixture(scope="session")
def service(serve: Serve) -> Served:
    """One that takes what it is given, without tokens."""
    return serve(rate={"per_minute": 60_000, "burst": 1000}, limits={"workers": 2})
