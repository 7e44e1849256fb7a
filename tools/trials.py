"""One input of a fuzz, and what is found wrong with what the program makes of it.

In: an `Input`, parts of the work to be done with it. Out: findings, and times. Not here: which
parts there are (`uses`), what a form must be like (`answers`).
"""

import os
import random
import re
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema  # type: ignore[import-untyped]
from corpus import ROOT
from mutations import Input

import postmortem

SECONDS: Final = 2.0
SECONDS_PER_MB: Final = 2.0
ANALYSES: Final = {"share": 10, "compare": 2, "watch": 2}
"""How many analyses a part of the work may take, which does several."""


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
    """One input, and what the program made of it so far."""

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

    def timed(self, part: str, work: Callable[[], Any]) -> Any:
        """Do a part of the work; errors of ours are answers, all others findings.

        What took too long is done again.
        """
        analyses = ANALYSES.get(part.split(maxsplit=1)[0], 1)
        allowed = (SECONDS + SECONDS_PER_MB * self.made.size / 1e6) * analyses
        for _ in range(2):
            before = time.process_time()
            try:
                result = work()
            except postmortem.PostmortemError:
                result = None
            except Exception as error:  # noqa: BLE001 -- that is what is looked for
                problem, details = (
                    f"{type(error).__name__}: {str(error)[:200]}",
                    traceback.format_exc(),
                )
                self.findings.append(Finding(part, problem, place(error), details[-3000:]))
                return None
            took = time.process_time() - before
            if took <= allowed:
                self.times.append(Time(part, took, allowed))
                return result
        self.times.append(Time(part, took, allowed))
        problem = f"{took:.2f} s for {self.made.size:,} bytes; allowed are {allowed:.2f} s"
        self.findings.append(Finding(part, "slow", "", problem))
        return result

    def checked(self, part: str, check: Callable[[], str]) -> None:
        """Note what a check says against a text; a check that fails itself says that too."""
        try:
            problem = check()
        except (ValueError, AssertionError, jsonschema.ValidationError) as error:
            problem = f"{type(error).__name__}: {str(error)[:200]}"
        if problem:
            self.findings.append(Finding(part, problem, ""))

    def hidden(self, part: str, text: str) -> None:
        """No secret may be there."""
        shown = next((value for value in self.made.secrets if value in text), None)
        if shown is not None:
            line = next(line for line in text.splitlines() if shown in line)
            at = line.index(shown)
            excerpt = line[max(0, at - 80) : at + 60]
            secret = self.made.secrets[shown]
            self.findings.append(Finding(part, f"secret: {secret}", "", excerpt))


def place(error: BaseException) -> str:
    """The innermost line of the program's own that an exception came through."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if f"{os.sep}postmortem{os.sep}" in frame.filename
    ]
    if not ours:
        return ""
    path = Path(ours[-1].filename)
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{ours[-1].lineno}"
