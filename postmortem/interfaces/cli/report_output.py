"""What a command writes beside its messages: the progress of reading, then the report.

In: the sources as they are read; a report, what the user asked for. Out: one line on standard error
that is drawn again on a terminal, one line at the end; the report on standard output, in a file or
in the browser, written whole or not at all. Not here: the options themselves (`cli.options`),
loading a report (`cli.job_or_analysis`), its content (`report`).
"""

import os
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from postmortem.api import Report
from postmortem.core.errors import UsageError
from postmortem.core.host.files import replace
from postmortem.core.log_text import format_one_line
from postmortem.interfaces.cli.messages import StatusLine, note, print_message, show
from postmortem.report import STORED

_FIRST_AFTER: Final = 1.0
"""Seconds before anything is drawn: most logs are read by then."""


_EVERY: Final = 0.2


_NAME: Final = 28
"""Characters of a path, so that the line fits 80 columns and can be wiped."""


_LONG: Final = 5.0
"""Seconds after which the last line is written even where nobody watches."""


class ProgressLine(StatusLine):
    """Call it with what has been read; `close` wipes the drawn line."""

    def __init__(self) -> None:
        """Start the clock."""
        super().__init__()
        self._start = self._drawn = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, path: str, size: int, lines: int) -> None:
        """Draw how far the source is: decompressed bytes and lines so far."""
        now = time.monotonic()
        if not self._is_terminal or now - self._start < _FIRST_AFTER or now - self._drawn < _EVERY:
            return
        self._drawn = now
        name = format_one_line(path, 4096)[-_NAME:]
        text = (
            f"{name}: {size / 1e6:,.1f} MB, {lines:,} lines,"
            f" {size / 1e6 / (now - self._start):,.0f} MB/s"
        )
        self.draw(text)

    def summary(self, report: Report, rules: int) -> str:
        """Give the last line, or an empty string where nobody waited for it."""
        seconds = time.monotonic() - self._start
        if not self._is_terminal and seconds < _LONG:
            return ""
        read = [source for source in report.diagnosis.sources if source.kind != "ignored"]
        return (
            f"{sum(file.bytes for file in read) / 1e6:,.1f} MB,"
            f" {sum(file.lines for file in read):,} lines, {rules:,} rules, {seconds:.2f} s"
        )


_SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".jsonl": "jsonl",
    ".sarif": "sarif",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "terminal",
    ".log": "terminal",
    "": "terminal",
}


def choose_format(form: str | None, output: Path | None, *, open_: bool) -> str:
    """Choose the format: as asked, else by the file's suffix, else the terminal report."""
    if form:
        return form
    if open_:
        return "html"
    return "terminal" if output is None else _SUFFIXES[output.suffix.lower()]


def choose_format_among(
    forms: Sequence[str], form: str | None, output: Path | None, what: str
) -> str:
    """Choose the format of what is written in fewer `forms` than a report.

    Raises:
        UsageError: as `check_output`, or it is not written in the form that is asked for.
    """
    check_output(output, form, open_=False)
    form = choose_format(form, output, open_=False)
    if form not in forms:
        raise UsageError(
            f"a {what} is not written as {form}", output, f"choose one of {', '.join(forms)}"
        )
    return form


def check_output(output: Path | None, form: str | None, *, open_: bool) -> None:
    """Refuse an output that cannot be written, or whose suffix names no format, early.

    Nothing has been run yet.

    Raises:
        UsageError: unknown suffix, or the folder is missing.
    """
    if output is None:
        return
    if form is None and output.suffix.lower() not in _SUFFIXES:
        raise UsageError(
            f"the suffix {output.suffix!r} names no format",
            output,
            f"one of {', '.join(filter(None, _SUFFIXES))}, or say --format",
        )
    if open_ and form in {None, "html"} and output.suffix.lower() not in {".html", ".htm"}:
        raise UsageError("--open shows the page, and this is no page", output, "name a .html file")
    require_folder(output, "report")


def write(text: str, output: Path | None, what: str) -> None:
    """Write a text to a file, whole or not at all, or to standard output as it is.

    Raises:
        UsageError: it cannot be written.
    """
    if output is None:
        show(text)
        return
    try:
        replace(output, text.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(
            f"the {what} cannot be written: {error.strerror or error}",
            output,
            "choose another file with -o",
        ) from error
    print_message(f"wrote {output}")


def require_folder(output: Path | None, what: str) -> None:
    """Refuse a file whose folder is missing, before anything is read.

    Raises:
        UsageError: no such folder.
    """
    if output is not None and not output.parent.is_dir():
        raise UsageError(
            f"the {what} cannot be written: no such folder", output, "choose another file with -o"
        )


def check_not_overwriting(output: Path | None, read: Iterable[str]) -> None:
    """Refuse to write over a file that was read.

    Raises:
        UsageError: the output is one of these files.
    """
    if (
        output is not None
        and output.is_file()
        and any(Path(path).exists() and output.samefile(path) for path in read)
    ):
        raise UsageError(
            "the report would overwrite a log that was read", output, "choose another file with -o"
        )


def write_report(
    report: Report,
    *,
    form: str,
    output: Path | None,
    redact: bool | None,
    full: bool,
    open_: bool,
    to_stderr: bool = False,
) -> None:
    """Print the report, or write it to a file; open the page if asked.

    Raises:
        UsageError: the file cannot be written, or redaction is asked for where nothing is hidden.
    """
    if form == STORED and redact:
        raise UsageError(
            "an analysis is kept whole, as the log is",
            "--redact",
            "redact what is rendered of it: postmortem render ANALYSIS.json",
        )
    is_screen = output is None and (sys.stderr if to_stderr else sys.stdout).isatty()
    text = report.render(
        form,
        width=max(40, shutil.get_terminal_size((80, 24)).columns),
        color=is_screen and not os.environ.get("NO_COLOR"),
        full=full or output is not None,
        redact=redact,
    )
    if open_ and output is None:
        output = Path.cwd() / "postmortem-report.html"
    text = text if text.endswith("\n") else text + "\n"
    if output is None and to_stderr:
        note(text)
        return
    write(text, output, "report")
    if output is not None:
        _finish_written_report(output, form, open_=open_)


def _finish_written_report(output: Path, form: str, *, open_: bool) -> None:
    if form == STORED:
        print_message("it holds lines of the log as they are; what is rendered of it is redacted")
    if open_:
        import webbrowser  # noqa: PLC0415 -- it brings subprocess along, and few runs open a page

        if not webbrowser.open(output.resolve().as_uri()):
            print_message("no browser could be started; open the file yourself")
