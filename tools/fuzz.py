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
import faulthandler
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from corpus import ROOT
from mutations import Input, make
from tallies import Tally
from trials import Finding
from uses import tried, tried_with

ABANDONED: Final = 120
"""Seconds of one input after which the process is ended."""


def work(seed: int, first: int, minutes: float) -> None:
    """Be the child: tell each input before it is tried, and what came of it."""
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # shows where it hangs, then dies of it
    tried(seed, first)  # what is loaded once counts for no input
    number = first
    while time.process_time() < minutes * 60:
        print(json.dumps({"begins": number}), flush=True)
        before = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, ABANDONED)
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
        for record in (child := _Child(seed, number, left)).iter_records():
            if "begins" in record:
                number = record["begins"]
            else:
                tally.add(seed, number, record)
                number, left = number + 1, left - record["seconds"] / 60
        status = child.status
        if status:
            tally.add(seed, number, _ended(seed, number, child))
            number, left = number + 1, left - (ABANDONED if child.is_hanging else 1) / 60
    print(f"seed {seed}: inputs {first} to {number - 1}", flush=True)


class _Child:
    """A process that tries inputs, one after the other."""

    def __init__(self, seed: int, first: int, minutes: float) -> None:
        flags = {"--seed": seed, "--first": first, "--minutes": minutes}
        options = [str(word) for pair in flags.items() for word in pair]
        self._command = [sys.executable, __file__, "--work", *options]
        self.status = 0
        self.stderr = ""
        """What it wrote on standard error; known, as its status is, when it has ended."""

    @property
    def is_hanging(self) -> bool:
        """Whether it was ended since an input never came back."""
        return self.status == -signal.SIGPROF

    def iter_records(self) -> Iterator[dict[str, Any]]:
        """Start it, and yield what it tells until it ends."""
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                self._command,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as child,
        ):
            yield from map(json.loads, child.stdout or ())
            self.status = child.wait()
            errors.seek(0)
            self.stderr = errors.read()


def _ended(seed: int, number: int, child: _Child) -> dict[str, Any]:
    """Tell of an input what a child tells, in the place of one that it has ended."""
    frames = re.findall(r'File "[^"]*/(postmortem/[^"]+)", line (\d+)', child.stderr)
    finding = Finding(
        "process",
        "never comes back" if child.is_hanging else f"the process ends with {child.status}",
        ":".join(frames[0]) if frames else "",
        child.stderr[-3000:],
    )
    return {
        "seconds": ABANDONED if child.is_hanging else 0,
        "bytes": make(seed, number).size,
        "times": [],
        "findings": [finding],
    }


def again(folder: Path, *, is_reducing: bool) -> int:
    """Try a kept input again; reduced, all goes without which the finding stays."""
    found_record = json.loads(
        (folder / "finding.jsonl").read_text(encoding="utf-8").splitlines()[0]
    )
    files = {
        str(path.relative_to(folder / "job")): path.read_bytes()
        for path in sorted((folder / "job").rglob("*"))
        if path.is_file()
    }
    dump = (folder / "job.env").read_bytes() if (folder / "job.env").exists() else b""
    size = sum(map(len, files.values())) + len(dump)
    made = Input(files, dump, size, found_record["secrets"], tuple(found_record["made"]))
    chance = f"{found_record['seed']}/{found_record['number']}/use"
    findings = tried_with(made, chance).findings
    for finding in findings:
        print(f"{finding.part}: {finding.what}  {finding.where}\n{finding.detail}")
    if is_reducing and findings:
        _reduce(folder, made, chance, findings[0].kind)
    return int(bool(findings))


def _reduce(folder: Path, made: Input, chance: str, kind: tuple[str, str, str]) -> None:
    """Write each file of an input without what a kind of finding does not need."""
    files = dict(made.files)
    for name in sorted(files):

        def is_same(data: bytes, name: str = name) -> bool:
            changed = made._replace(files={**files, name: data}, size=len(data))
            return kind in {finding.kind for finding in tried_with(changed, chance).findings}

        for separator in (b"\n", b""):
            files[name] = reduced(files[name], separator, is_same)
        (folder / f"reduced-{Path(name).name}").write_bytes(files[name])
        print(
            f"{name}: {len(made.files[name]):,} bytes, reduced {len(files[name]):,}:"
            f" {files[name][:400]!r}"
        )


def reduced(data: bytes, separator: bytes, still: Callable[[bytes], bool]) -> bytes:
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
    args = _options().parse_args(arguments)
    if args.work:
        work(args.seed, args.first, args.minutes)
        return 0
    if args.again:
        return again(args.again, is_reducing=args.reduce)
    tally = Tally(args.out)
    threads = [
        threading.Thread(
            target=follow,
            args=(args.seed + number, args.first, args.minutes / args.processes, tally),
        )
        for number in range(args.processes)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:  # Ctrl-C too
        print(tally.text())
    minutes = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) / 60
    print(f"CPU of the children: {minutes:.1f} minutes")
    return int(bool(tally.found))


def _options() -> argparse.ArgumentParser:
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
    return options


if __name__ == "__main__":
    sys.exit(main())
