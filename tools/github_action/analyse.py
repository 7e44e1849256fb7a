"""The step of the GitHub Action that analyses: verdict to outputs, annotations and job summary.

In: the inputs as `INPUT_*` variables, the runner's own variables. Out: the report, its Markdown and
the analysis as files in `RUNNER_TEMP`; outputs; the job summary; annotations on standard output.
Not here: installing, uploading, commenting (the other steps of action.yml).

Nothing of a log can reach the runner as a command: while the log is read the runner is told to obey
none, the annotations are escaped, and each output stands between marks that are drawn anew.
"""

import glob
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from postmortem import Report, analyze
from postmortem.core.errors import PostmortemError, UsageError
from postmortem.core.log_text import format_one_line
from postmortem.core.names import LANGUAGES
from postmortem.interfaces.cli.messages import print_message

_SUFFIXES: Final = {"html": "html", "markdown": "md", "json": "json", "sarif": "sarif"}
_TRUTHS: Final = ("true", "false")
_LONGEST_TITLE: Final = 300


def main() -> int:
    """Analyse; gives the exit status."""
    try:
        with _no_commands():
            report = _analysed(os.environ)
            files = _written(report, os.environ)
    except (PostmortemError, OSError) as error:
        print_message(str(error))
        return 2
    if _chosen("INPUT_ANNOTATIONS", _TRUTHS, os.environ) == "true":
        sys.stdout.write(report.render("github", redact=True))
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
        summary.write(report.render("markdown", redact=True) + "\n")
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.writelines(
            _output(name, value) for name, value in _build_outputs(report, files).items()
        )
    return 0


@contextmanager
def _no_commands() -> Iterator[None]:
    """Tell the runner to obey nothing that is printed until this is over."""
    mark = secrets.token_hex(16)
    print(f"::stop-commands::{mark}", flush=True)
    try:
        yield
    finally:
        print(f"::{mark}::", flush=True)


def _analysed(environment: Mapping[str, str]) -> Report:
    language = _chosen("INPUT_LANG", LANGUAGES, environment)
    _chosen("INPUT_ANNOTATIONS", _TRUTHS, environment)
    paths = _listed(environment["INPUT_PATHS"])
    if not paths:
        raise UsageError("no log is named", "paths", "name one a line")
    return analyze(paths, env=_listed(environment["INPUT_ENV"])).in_language(language)


def _chosen(name: str, among: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """Give an input that is one of few.

    Raises:
        UsageError: it is none of them.
    """
    value = environment[name]
    if value not in among:
        option = name.removeprefix("INPUT_").lower()
        raise UsageError(f"there is no {option} {value!r}", "", f"one of {', '.join(among)}")
    return value


def _listed(text: str) -> list[str]:
    """Give the paths of an input, one a line; a pattern stands for what it fits."""
    found: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        # Path.glob takes no absolute pattern.
        fitting = [] if Path(line).exists() else sorted(glob.glob(line, recursive=True))  # noqa: PTH207
        found += fitting or [line]
    return found


def _written(report: Report, environment: Mapping[str, str]) -> dict[str, str]:
    """Write the files that further steps use; gives their paths."""
    form = _chosen("INPUT_FORMAT", tuple(_SUFFIXES), environment)
    folder = Path(tempfile.mkdtemp(prefix="postmortem-", dir=environment["RUNNER_TEMP"]))
    forms = {
        "report": (f"postmortem-report.{_SUFFIXES[form]}", form),
        "summary": ("summary.md", "markdown"),
        "analysis": ("analysis.json", "analysis"),
    }
    paths = {}
    for name, (file, wanted) in forms.items():
        path = folder / file
        redact = None if wanted == "analysis" else True
        path.write_text(report.render(wanted, redact=redact), encoding="utf-8")
        paths[name] = str(path)
    return paths


def _build_outputs(report: Report, files: Mapping[str, str]) -> dict[str, str]:
    verdict = report.verdict
    cause = next((candidate for candidate in report.causes if candidate.id == verdict.cause), None)
    return {
        "cause": verdict.cause or "",
        "title": format_one_line(cause.title if cause is not None else "", _LONGEST_TITLE),
        "probability": f"{verdict.probability:.4f}",
        "status": verdict.status,
        "outcome": report.analysis.outcome,
        "failed": str(report.is_alarming).lower(),
        **files,
    }


def _output(name: str, value: str) -> str:
    """Write an output as the runner reads it, between marks that it cannot hold."""
    mark = secrets.token_hex(16)
    while mark in value:
        mark = secrets.token_hex(16)
    return f"{name}<<{mark}\n{value}\n{mark}\n"


if __name__ == "__main__":
    sys.exit(main())
