"""Attacks the program with broken logs.

No crash, no input that takes long, no output that its own schema or parser refuses, no planted
secret in a redacted form.

    python tools/fuzz.py [--minutes 60] [--seed 0] [--first 0] [--processes 1] [--out FOLDER]
    python tools/fuzz.py --again FOLDER/0-1234 [--reduce]

In: the samples and rules of the checkout, changed by `mutations`. Out: figures on standard output
(inputs per CPU second, slowest parts); each finding once, with its files, in FOLDER; exit status 1
if there was any. Not here: how inputs are made.

Every input is analysed and judged in both languages; each form in each language has a share of the
inputs (rendering takes ten times as long as reading does), as have `share`, `compare` and `watch`.
Time is processor time: at most 2 s per MB and 2 s besides for each part of the work, and what took
longer is measured once more before it counts. A seed and a number give the same input, so that a
run goes on with `--first`; with `--processes 2` the second has the next seed. The work is done by a
child process: one that crashes the interpreter or never comes back is a finding too, and the next
child goes on behind it.
"""

import argparse
import contextlib
import faulthandler
import functools
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema  # type: ignore[import-untyped]
from mutations import ROOT, Input, make

import postmortem
from postmortem.compare import compare
from postmortem.model.watching import Noted
from postmortem.names import LANGUAGES
from postmortem.redaction.redactor import Redactor
from postmortem.report import FORMS, side_by_side, watch_events
from postmortem.report.markdown_text import LONGEST, units
from postmortem.report.sharing import IssueText
from postmortem.report.wire import schema_text
from postmortem.share import share
from postmortem.watch.watcher import Settings, Watcher

SECONDS: Final = 2.0
SECONDS_PER_MB: Final = 2.0
ANALYSES: Final = {"share": 10, "compare": 2, "watch": 2}
"""How many analyses a part of the work may take, which does several."""
SHARE: Final = 0.3
"""Share of the inputs that are rendered in a form and a language."""
GIVEN_UP: Final = 120
"""Seconds of one input after which the process is ended."""
KEPT: Final = 2
"""Inputs that are kept of one finding."""
_VOID: Final = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    }
)
_COMMAND: Final = re.compile(
    r"::(?:error|warning|notice) [a-z]+=[^:,\r\n]*(?:,[a-z]+=[^:,\r\n]*)*::[^\r\n]*"
)
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


class Finding(NamedTuple):
    """What went wrong with an input."""

    part: str
    """The part of the work: analyze, html en, share ..."""
    what: str
    """The exception's type and text, the check that failed, or the time."""
    where: str
    """The innermost line of ours."""
    detail: str = ""

    @property
    def kind(self) -> tuple[str, str, str]:
        """The same for findings that are one."""
        return (
            "" if self.where or self.what.startswith("secret") else self.part.split()[0],
            re.sub(r"\d+", "0", self.what)[:60],
            self.where,
        )


class Time(NamedTuple):
    """What a part of the work took."""

    part: str
    seconds: float
    allowed: float


class Trial:
    """One input, through everything."""

    def __init__(self, made: Input, folder: Path, chance: random.Random) -> None:
        """Write its files into the folder."""
        self.made, self.folder, self.chance = made, folder, chance
        self.findings: list[Finding] = []
        self.times: list[Time] = []
        self.job = folder / "job"
        for name, data in made.files.items():
            path = self.job / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.dumps = [folder / "job.env"] if made.dump else []
        if self.dumps:
            self.dumps[0].write_bytes(made.dump)
        self.paths: Path = self.job if len(made.files) > 1 else self.job / next(iter(made.files))

    def run(self) -> None:
        """Do all of it."""
        report = self.timed("analyze", lambda: postmortem.analyze(self.paths, env=self.dumps))
        if report is not None:
            for language in LANGUAGES:
                told = self.timed(
                    f"diagnose {language}", functools.partial(report.in_language, language)
                )
                if told is not None:
                    self.forms(told, language)
        for part, odds in (("share", 0.1), ("compare", 0.2), ("watch", 0.25)):
            if self.chance.random() < odds:
                getattr(self, part)()

    def timed(self, part: str, work: Callable[[], Any]) -> Any:
        """Do a part of the work; errors of ours are answers, all others findings.

        What took too long is done again.
        """
        allowed = (SECONDS + SECONDS_PER_MB * self.made.size / 1e6) * ANALYSES.get(
            part.split(maxsplit=1)[0], 1
        )
        for _ in range(2):
            before = time.process_time()
            try:
                given = work()
            except postmortem.PostmortemError:
                given = None
            except Exception as error:  # noqa: BLE001 -- that is what is looked for
                self.findings.append(
                    Finding(
                        part,
                        f"{type(error).__name__}: {str(error)[:200]}",
                        place(error),
                        traceback.format_exc()[-3000:],
                    )
                )
                return None
            took = time.process_time() - before
            if took <= allowed:
                self.times.append(Time(part, took, allowed))
                return given
        self.times.append(Time(part, took, allowed))
        self.findings.append(
            Finding(
                part,
                "slow",
                "",
                f"{took:.2f} s for {self.made.size:,} bytes; allowed are {allowed:.2f} s",
            )
        )
        return given

    def checked(self, part: str, check: Callable[[], str]) -> None:
        """Note what a check says against a text; a check that fails itself says that too."""
        try:
            said = check()
        except (ValueError, AssertionError, jsonschema.ValidationError) as error:
            said = f"{type(error).__name__}: {str(error)[:200]}"
        if said:
            self.findings.append(Finding(part, said, ""))

    def forms(self, report: postmortem.Report, language: str) -> None:
        """Render every form, and read it back."""
        width = self.chance.choice([20, 40, 80, 120, 300])
        for form in [form for form in FORMS if self.chance.random() < SHARE]:
            text = self.timed(
                f"{form} {language}",
                functools.partial(report.render, form, redact=True, width=width),
            )
            if text is not None:
                self.checked(f"{form} {language}", functools.partial(CHECKS[form], text))
                self.hidden(f"{form} {language}", text)
        for part, options in (
            (f"full {language}", {"full": True, "redact": True}),
            (f"colour {language}", {"color": True, "full": self.chance.random() < 0.5}),
            (f"bare {language}", {"redact": False}),
        ):
            if self.chance.random() >= SHARE:
                continue
            text = self.timed(
                part,
                functools.partial(
                    report.render, "terminal" if part[0] != "b" else "jsonl", width=width, **options
                ),
            )
            if text is not None:
                self.checked(
                    part,
                    functools.partial(
                        _terminal if part[0] == "f" else _colours if part[0] == "c" else _report,
                        text,
                    ),
                )
                if part[0] == "f":
                    self.hidden(part, text)

    def hidden(self, part: str, text: str) -> None:
        """No secret may be there."""
        if shown := [value for value in self.made.secrets if value in text]:
            line = next(line for line in text.splitlines() if shown[0] in line)
            place = line.index(shown[0])
            self.findings.append(
                Finding(
                    part,
                    f"secret: {self.made.secrets[shown[0]]}",
                    "",
                    line[max(0, place - 80) : place + 60],
                )
            )

    def share(self) -> None:
        """The text to paste."""
        text = functools.partial(IssueText, language=self.chance.choice(LANGUAGES))
        shared = self.timed("share", lambda: share([self.paths], env=self.dumps, text=text))
        if shared is not None:
            self.checked("share", lambda: _encodable(shared.text))
            self.hidden("share", shared.text)

    def compare(self) -> None:
        """Beside a sample."""
        good = ROOT / "sample_logs" / "transformers-trainer" / "healthy-resumed-0.log"
        found = self.timed(
            "compare",
            lambda: compare([good], [self.paths], bad_env=self.dumps),
        )
        for form in side_by_side.FORMS if found is not None else ():
            text = self.timed(
                f"compare {form}",
                functools.partial(
                    side_by_side.render, found, form, language=self.chance.choice(LANGUAGES)
                ),
            )
            if text is not None:
                self.checked(
                    f"compare {form}",
                    functools.partial(
                        (
                            _json
                            if form == "json"
                            else _terminal
                            if form == "terminal"
                            else _encodable
                        ),
                        text,
                    ),
                )
                self.hidden(f"compare {form}", text)

    def watch(self) -> None:
        """While it grows, in a few slices, and perhaps is emptied or replaced between two."""
        language = self.chance.choice(LANGUAGES)
        events = self.timed("watch", self._watched)
        if events is None:
            return
        teller = watch_events.Teller((str(self.paths),), language, Redactor())
        told = self.timed(
            "watch told",
            lambda: [
                (
                    watch_events.jsonl(teller.wire(event)),
                    teller.line(event) if isinstance(event, Noted) else teller.terminal(event),
                )
                for event in events
            ],
        )
        for wire, text in told or ():
            self.checked("watch jsonl", functools.partial(_json, wire))
            self.checked("watch terminal", functools.partial(_terminal, text))
            self.hidden("watch", wire + text)

    def _watched(self) -> list[Any]:
        name = next(iter(self.made.files))
        data, path = self.made.files[name], self.folder / "watched.log"
        path.unlink(missing_ok=True)
        cuts = sorted(self.chance.randint(0, len(data)) for _ in range(self.chance.randint(0, 5)))
        slices = iter(
            [data[first:last] for first, last in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        )
        clock = [1_700_000_000.0]

        def sleep(seconds: float) -> None:
            clock[0] += max(seconds, self.chance.choice([1.0, 40.0, 4_000.0]))
            piece = next(slices, None)
            if piece is None:
                raise _OverError
            mode = self.chance.choice("aaaaaw")
            with path.open(f"{mode}b") as out:
                out.write(piece)

        events: list[Any] = []
        with contextlib.suppress(_OverError):
            events.extend(Watcher([str(path)], Settings(), lambda: clock[0], sleep).events())
        return events


class _OverError(Exception):
    """All slices are written."""


def place(error: BaseException) -> str:
    """The innermost line of the program's own that an exception came through."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if f"{os.sep}postmortem{os.sep}" in frame.filename
    ]
    return (
        f"{Path(ours[-1].filename).relative_to(ROOT) if ours[-1].filename.startswith(str(ROOT)) else ours[-1].filename}:{ours[-1].lineno}"
        if ours
        else ""
    )


# -- what is expected of a text; an empty answer is none against it
# ---------------------------------------------------


def _encodable(text: str) -> str:
    text.encode("utf-8")
    return ""


def _terminal(text: str) -> str:
    _encodable(text)
    steering = sorted(
        {
            hex(ord(char))
            for char in text
            if char != "\n" and unicodedata.category(char) in {"Cc", "Cs"}
        }
    )
    return f"steering characters {steering}" if steering else ""


def _colours(text: str) -> str:
    return _terminal(_COLOURS.sub("", text))


def _json(text: str) -> str:
    _encodable(text)
    _parsed(text)
    return ""


def _parsed(text: str) -> Any:
    return json.loads(text, parse_constant=_refused)


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


@functools.cache
def _validators() -> tuple[Any, Any]:
    sarif = json.loads(
        (ROOT / "tests" / "data" / "sarif-2.1.0.schema.json").read_text(encoding="utf-8")
    )
    return jsonschema.Draft202012Validator(json.loads(schema_text())), jsonschema.Draft4Validator(
        sarif, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
    )


def _valid(validator: Any, value: Any) -> str:
    error = next(validator.iter_errors(value), None)
    return (
        f"schema: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        if error is not None
        else ""
    )


def _report(text: str) -> str:
    _encodable(text)
    return _valid(_validators()[0], _parsed(text)) or (
        "more than one line"
        if text.endswith("}\n") and "\n" in text[:-1] and not text.startswith("{\n")
        else ""
    )


def _sarif(text: str) -> str:
    _encodable(text)
    return _valid(_validators()[1], _parsed(text))


def _github(text: str) -> str:
    _terminal(text)
    return next(
        (
            f"no command: {line[:100]!r}"
            for line in text.splitlines()
            if not _COMMAND.fullmatch(line)
        ),
        "",
    )


def _markdown(text: str) -> str:
    _encodable(text)
    if units(text) > LONGEST:
        return f"{units(text)} units are more than {LONGEST}"
    return "" if text.count("<details") == text.count("</details>") else "details are not closed"


class _Page(HTMLParser):
    """Follows the elements of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.scripts: list[str] = []
        self._is_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag not in _VOID:
            self.open.append(tag)
        self._is_data = tag == "script" and dict(attrs).get("type") == "application/json"
        if self._is_data:
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Let one go that closes itself."""

    def handle_endtag(self, tag: str) -> None:
        """Close the last one."""
        self._is_data = False
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")

    def handle_data(self, data: str) -> None:
        """Keep what the page's script reads."""
        if self._is_data:
            self.scripts[-1] += data


def _html(text: str) -> str:
    _encodable(text)
    page = _Page()
    page.feed(text)
    page.close()
    for script in page.scripts:
        _parsed(script)
    return (page.faults or [f"<{page.open[-1]}> is not closed" if page.open else ""])[0]


CHECKS: Final[dict[str, Callable[[str], str]]] = {
    "terminal": _terminal,
    "html": _html,
    "json": _report,
    "jsonl": _report,
    "sarif": _sarif,
    "github": _github,
    "markdown": _markdown,
}


# -- a run
# ------------------------------------------------------------------------------------------------------------


def tried(seed: int, number: int) -> Trial:
    """Try one input."""
    return tried_with(make(seed, number), f"{seed}/{number}/use")


def tried_with(made: Input, chance: str) -> Trial:
    """Try an input that is there."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        trial = Trial(made, Path(folder), random.Random(chance))  # noqa: S311 -- it has to be the same again
        trial.run()
        return trial


class Tally:
    """Figures of a run, and its findings."""

    def __init__(self, out: Path) -> None:
        """Keep inputs with findings in a folder."""
        self.out = out
        self.inputs = self.bytes = 0
        self.seconds = 0.0
        self.found: Counter[tuple[str, str, str]] = Counter()
        self.worst: dict[str, tuple[float, Time, str]] = {}
        self._lock = threading.Lock()

    def add(self, seed: int, number: int, told: dict[str, Any]) -> None:
        """Add an input's figures; the first few inputs of each finding are kept."""
        with self._lock:
            self.inputs, self.bytes, self.seconds = (
                self.inputs + 1,
                self.bytes + told["bytes"],
                self.seconds + told["seconds"],
            )
            for one in (Time(*one) for one in told["times"]):
                share = one.seconds / one.allowed
                if share > self.worst.get(one.part.split()[0], (0.0,))[0]:
                    self.worst[one.part.split()[0]] = (share, one, f"{seed}/{number}")
            for finding in (Finding(*one) for one in told["findings"]):
                self.found[finding.kind] += 1
                if self.found[finding.kind] <= KEPT:
                    print(
                        f"{seed}/{number}  {finding.part}: {finding.what}  {finding.where} "
                        f" {finding.detail if not finding.where else ''}",
                        flush=True,
                    )
                    self._keep(seed, number, finding)

    def _keep(self, seed: int, number: int, finding: Finding) -> None:
        folder = self.out / f"{seed}-{number}"
        made = make(seed, number)
        for name, data in {
            **{f"job/{name}": data for name, data in made.files.items()},
            **({"job.env": made.dump} if made.dump else {}),
        }.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        with (folder / "finding.jsonl").open("a", encoding="utf-8") as out:
            out.write(
                json.dumps(
                    {
                        "seed": seed,
                        "number": number,
                        "made": made.made,
                        "secrets": made.secrets,
                        **finding._asdict(),
                    }
                )
                + "\n"
            )

    def text(self) -> str:
        """The figures."""
        lines = [
            f"{self.inputs:,} inputs, {self.bytes / 1e6:.1f} MB, {self.seconds / 60:.1f} CPU"
            f" minutes: {self.inputs / max(self.seconds, 1e-9):.2f} inputs a CPU second"
        ]
        lines += [
            f"  slowest {part}: {one.seconds:.2f} s of {one.allowed:.2f} s allowed ({seed})"
            for part, (_, one, seed) in sorted(self.worst.items(), key=lambda item: -item[1][0])[
                :12
            ]
        ]
        lines += [
            f"  {count} times {' '.join(filter(None, kind))}"
            for kind, count in self.found.most_common()
        ]
        return "\n".join(
            [
                *lines,
                f"{len(self.found)} findings" + (f", kept in {self.out}" if self.found else ""),
            ]
        )


def work(seed: int, first: int, minutes: float) -> None:
    """Be the child: tell each input before it is tried, and what came of it."""
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # shows where it hangs, then dies of it
    tried(seed, first)  # what is loaded once counts for no input
    number = first
    while time.process_time() < minutes * 60:
        print(json.dumps({"begins": number}), flush=True)
        before = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, GIVEN_UP)
        trial = tried(seed, number)
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(
            json.dumps(
                {
                    "ends": number,
                    "seconds": time.process_time() - before,
                    "bytes": trial.made.size,
                    "times": trial.times,
                    "findings": trial.findings,
                }
            ),
            flush=True,
        )
        number += 1


def follow(seed: int, first: int, minutes: float, tally: Tally) -> None:
    """Start children until the time is used up, each behind the input that ended the one before."""
    left, number, status = minutes, first, 1
    while left > 0 and status:
        command = [
            sys.executable,
            __file__,
            "--work",
            "--seed",
            str(seed),
            "--first",
            str(number),
            "--minutes",
            str(left),
        ]
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                command,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as child,
        ):
            for line in child.stdout or ():
                told = json.loads(line)
                if "begins" in told:
                    number = told["begins"]
                else:
                    tally.add(seed, number, told)
                    number, left = number + 1, left - told["seconds"] / 60
            status = child.wait()
            errors.seek(0)
            said = errors.read()
        if status:
            is_slow = status == -signal.SIGPROF
            frames = re.findall(r'File "[^"]*/(postmortem/[^"]+)", line (\d+)', said)
            finding = Finding(
                "process",
                "never comes back" if is_slow else f"the process ends with {status}",
                ":".join(frames[0]) if frames else "",
                said[-3000:],
            )
            tally.add(
                seed,
                number,
                {
                    "seconds": GIVEN_UP if is_slow else 0,
                    "bytes": make(seed, number).size,
                    "times": [],
                    "findings": [finding],
                },
            )
            number, left = number + 1, left - (GIVEN_UP if is_slow else 1) / 60
    print(f"seed {seed}: inputs {first} to {number - 1}", flush=True)


def again(folder: Path, *, is_reducing: bool) -> int:
    """Try a kept input again; reduced, the lines and characters go without which the finding stays."""
    told = [
        json.loads(line)
        for line in (folder / "finding.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    files = {
        str(path.relative_to(folder / "job")): path.read_bytes()
        for path in sorted((folder / "job").rglob("*"))
        if path.is_file()
    }
    dump = (folder / "job.env").read_bytes() if (folder / "job.env").exists() else b""
    made = Input(
        files,
        dump,
        sum(map(len, files.values())) + len(dump),
        told[0]["secrets"],
        tuple(told[0]["made"]),
    )
    chance = f"{told[0]['seed']}/{told[0]['number']}/use"
    findings = tried_with(made, chance).findings
    for finding in findings:
        print(f"{finding.part}: {finding.what}  {finding.where}\n{finding.detail}")
    if is_reducing and findings:
        kind = findings[0].kind
        for name in sorted(files):
            for separator in (b"\n", b""):

                def is_same(data: bytes, name: str = name) -> bool:
                    changed = made._replace(files={**files, name: data}, size=len(data))
                    return kind in {
                        finding.kind for finding in tried_with(changed, chance).findings
                    }

                files[name] = _reduced(files[name], separator, is_same)
            (folder / f"reduced-{Path(name).name}").write_bytes(files[name])
            print(
                f"{name}: {len(made.files[name]):,} bytes, reduced {len(files[name]):,}:"
                f" {files[name][:400]!r}"
            )
    return int(bool(findings))


def _reduced(data: bytes, separator: bytes, still: Callable[[bytes], bool]) -> bytes:
    """Leave out ever smaller runs of pieces for as long as the finding stays."""
    pieces: Sequence[bytes] = (
        data.split(separator)
        if separator
        else [data[place : place + 1] for place in range(len(data))]
    )
    run, tries = len(pieces) // 2, 400
    while run and tries:
        place = 0
        while place < len(pieces) and tries:
            fewer, tries = [*pieces[:place], *pieces[place + run :]], tries - 1
            if still(separator.join(fewer)):
                pieces = fewer
            else:
                place += run
        run //= 2
    return separator.join(pieces)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument(
        "--minutes", type=float, default=1.0, help="CPU minutes, all processes together"
    )
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--first", type=int, default=0, help="number of the first input")
    options.add_argument("--processes", type=int, default=1)
    options.add_argument(
        "--out",
        type=Path,
        default=Path(tempfile.gettempdir()) / "postmortem-fuzz",
        help="folder for the inputs with findings",
    )
    options.add_argument("--again", type=Path, help="a kept input to try again")
    options.add_argument("--reduce", action="store_true", help="with --again: make it small")
    options.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args(arguments)
    if given.work:
        work(given.seed, given.first, given.minutes)
        return 0
    if given.again:
        return again(given.again, is_reducing=given.reduce)
    tally = Tally(given.out)
    threads = [
        threading.Thread(
            target=follow,
            args=(given.seed + number, given.first, given.minutes / given.processes, tally),
        )
        for number in range(given.processes)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:  # Ctrl-C too
        print(tally.text())
    print(
        f"CPU of the children: {sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) / 60:.1f}"
        " minutes"
    )
    return int(bool(tally.found))


if __name__ == "__main__":
    sys.exit(main())
