"""Analyse the output of a command that failed under `run`, in a separate process.

In: the logs and the options of the report. Out: the report on standard error or in a file; one line
for whatever goes wrong. Not here: running the command.

A separate process keeps the exit status of the command whatever happens: an analysis may crash,
run out of memory, hang or be interrupted.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from postmortem.api import analyze
from postmortem.core.errors import PostmortemError
from postmortem.core.host.dump import dump_for
from postmortem.core.host.signals import Signals
from postmortem.core.host.streams import flush_streams, hold_places
from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.report_output import write_report

_LONGEST: Final = 1800.0
"""Seconds after which an analysis is stopped: a job that hangs in it would keep its machines."""
_GRACE: Final = 5.0
"""Seconds for which one that has been killed is waited for."""
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 -- there may be room where no disk has any
_START: Final = (
    "import json, sys; options = json.load(sys.stdin); sys.path[:] = options['modules']; from"
    " postmortem.interfaces.cli import failure_analysis; failure_analysis.main(options)"
)
"""The modules are found where this process finds them.

Not in the folder of the training, which may hold any name. No bytecode is written (-B): on a full
disk it would be cut short, and read again.
"""


class AnalysisOptions(NamedTuple):
    """The options of `run` for the report."""

    form: str
    output: Path | None
    language: str
    full: bool
    open_: bool
    redact: bool | None
    patterns: tuple[Path, ...]

    def plain(self) -> dict[str, Any]:
        """Give the fields as JSON takes them."""
        return self._asdict() | {
            "output": str(self.output) if self.output else None,
            "patterns": list(map(str, self.patterns)),
        }


def run_analysis_process(
    logs: Sequence[Path],
    command: Sequence[str],
    facts: Mapping[str, str],
    wanted: AnalysisOptions,
    signals: Signals,
) -> str:
    """Analyse what a command printed.

    Gives what went wrong with it as a whole, or an empty string. A signal that comes meanwhile ends
    the analysis.
    """
    options = {
        "modules": sys.path,
        "logs": list(map(str, logs)),
        "command": list(command),
        "facts": dict(facts),
        **wanted.plain(),
    }
    again = f"; postmortem analyze {logs[0]} does it again"
    try:
        process = signals.start([sys.executable, "-I", "-B", "-c", _START], stdin=subprocess.PIPE)
    except OSError as error:
        return f"the analysis cannot be started: {error.strerror}{again}"
    try:
        process.communicate(json.dumps(options).encode(), timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)
        return f"the analysis took longer than {_LONGEST / 60:.0f} minutes and was stopped{again}"
    return (
        f"the analysis was ended by {signal.Signals(-process.returncode).name}{again}"
        if process.returncode < 0
        else ""
    )


def main(options: Mapping[str, Any]) -> None:
    """Analyse, in the process that `analyse` has started."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # Python's own waits for the end of a long match
    hold_places()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        _report(options)
    except PostmortemError as error:
        print_message(str(error))
    except Exception as error:
        if os.environ.get("POSTMORTEM_DEBUG"):
            raise
        print_message(
            f"the analysis failed: {type(error).__name__}: {error}; postmortem analyze"
            f" {options['logs'][0]} may tell more"
        )
    flush_streams()


def _report(options: Mapping[str, Any]) -> None:
    dump = dump_for(options["command"])
    if dump.problem:
        print_message(dump.problem)
    with _write_temporary_log(dump.text) as dumps:
        report = analyze(
            options["logs"],
            env=dumps,
            patterns=options["patterns"],
            facts=options["facts"],
        ).in_language(options["language"])
    output = Path(options["output"]) if options["output"] else None
    write_report(
        report,
        form=options["form"],
        output=output,
        redact=options["redact"],
        full=options["full"],
        open_=options["open_"],
        to_stderr=True,
    )


@contextmanager
def _write_temporary_log(text: str) -> Iterator[list[Path]]:
    """Write the text to a temporary file wherever there is space.

    None if there is no space anywhere.
    """
    with ExitStack() as folders:
        for place in (None, _MEMORY):
            with suppress(OSError):
                file = Path(
                    folders.enter_context(
                        tempfile.TemporaryDirectory(prefix="postmortem-", dir=place)
                    ),
                    "environment.txt",
                )
                file.write_text(text, encoding="utf-8")
                yield [file]
                return
        yield []
