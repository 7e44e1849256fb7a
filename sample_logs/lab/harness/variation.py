"""What real life adds to a log.

Chatter, bars, prefixes, colours, interleaving, cuts, line ends, wrapping, an earlier attempt,
harmless warnings.

Comes in: a recorded case and a seed. Goes out: another case of the same truth, with the line of the
first failure moved along. Curves are kept in the label only where the change leaves every metric
line whole. All inserted lines are such as the named programs print; they change no verdict.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from harness.faults import FaultError
from harness.labels import dumped, write

# after these the curves of the label no longer stand in the log as they were
BREAKING = {"cut-head", "cut-tail", "wrapped", "second-attempt", "interleaved"}

CHATTER = (
    "DEBUG:urllib3.connectionpool:Starting new HTTPS connection (1): huggingface.co:443",
    'DEBUG:urllib3.connectionpool:https://huggingface.co:443 "HEAD /base-model/resolve/main/config.json HTTP/1.1" 200 0',
    (
        "DEBUG:filelock:Attempting to acquire lock 140221 on "
        "/home/user/.cache/huggingface/.locks/base.lock"
    ),
    "DEBUG:filelock:Lock 140221 released on /home/user/.cache/huggingface/.locks/base.lock",
    (
        "DEBUG:matplotlib.font_manager:findfont: Matching "
        "sans\\-serif:style=normal:variant=normal:weight=400"
    ),
    "INFO:root:data workers: 4, prefetch factor 2",
    (
        "[INFO|configuration_utils.py:1049] 2026-03-02 09:14:11,502 >> loading configuration file "
        "config.json"
    ),
    "[INFO|tokenization_utils_base.py:2060] 2026-03-02 09:14:11,733 >> loading file tokenizer.json",
    "DEBUG:asyncio:Using selector: EpollSelector",
    "DEBUG:PIL.PngImagePlugin:STREAM b'IHDR' 16 13",
)
WARNINGS = (
    (
        "/opt/venv/lib/python3.11/site-packages/torch/utils/data/dataloader.py:627: UserWarning: "
        "This DataLoader will create 8 worker processes in total. Our suggested max number of "
        "worker in current system is 4, which is smaller than what this DataLoader is going to "
        "create."
    ),
    (
        "/opt/venv/lib/python3.11/site-packages/torch/optim/lr_scheduler.py:192: UserWarning: "
        "Detected call of `lr_scheduler.step()` before `optimizer.step()`."
    ),
    (
        "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to "
        "avoid your system being overloaded, please further tune the variable for optimal "
        "performance in your application as needed."
    ),
    (
        "huggingface/tokenizers: The current process just got forked, after parallelism has "
        "already been used. Disabling parallelism to avoid deadlocks..."
    ),
    (
        "Token indices sequence length is longer than the specified maximum sequence length for "
        "this model (1211 > 1024). Running this sequence through the model will result in "
        "indexing errors"
    ),
    (
        "/opt/venv/lib/python3.11/site-packages/torch/nn/parallel/_functions.py:71: UserWarning: "
        "Was asked to gather along dimension 0, but all input tensors were scalars; will instead "
        "unsqueeze and return a vector."
    ),
    (
        "FutureWarning: `clean_up_tokenization_spaces` was not set. It will be set to `True` by "
        "default."
    ),
    "NumExpr defaulting to 8 threads.",
    "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.",
)
PREFIXES: tuple[Callable[[random.Random, int], str], ...] = (
    lambda _draw, _number: "[rank0]: ",
    lambda _draw, _number: "[default0]:",
    lambda _draw, _number: "0: ",
    lambda _draw, number: (
        f"2026-03-02T09:{14 + number // 600 % 40:02d}:{number // 10 % 60:02d}.{number % 10}04127Z "
    ),
    lambda _draw, _number: "trainer-1  | ",
    lambda _draw, _number: "(RayTrainWorker pid=4127) ",
    lambda _draw, _number: "[1,0]<stdout>:",
    lambda _draw, _number: "node-1: ",
)


@dataclass(frozen=True)
class Line:
    """A line of the varied log.

    `origin` is its number in the recorded one, 0 for an inserted line.
    """

    text: str
    origin: int = 0


@dataclass(frozen=True)
class Source:
    """One file under variation."""

    lines: tuple[Line, ...]
    end: str = "\n"
    encoding: str = "utf-8"
    whole_end: bool = True

    def encoded(self) -> bytes:
        """The file's bytes."""
        text = self.end.join(line.text for line in self.lines)
        return (text + (self.end if self.whole_end and self.lines else "")).encode(
            self.encoding, errors="surrogateescape" if self.encoding == "utf-8" else "replace"
        )


def parsed(data: bytes) -> Source:
    """A recorded file as lines."""
    text = data.decode("utf-8", errors="surrogateescape")
    pieces = text.split("\n")
    whole = pieces[-1] == ""
    return Source(
        tuple(
            Line(piece, number) for number, piece in enumerate(pieces[:-1] if whole else pieces, 1)
        ),
        whole_end=whole,
    )


def _sprinkled(source: Source, draw: random.Random, pool: tuple[str, ...], share: float) -> Source:
    """Insert lines of the pool, never inside a traceback (a process prints that in one go)."""
    lines: list[Line] = []
    for line in source.lines:
        if (
            draw.random() < share
            and not line.text.startswith((" ", "\t", "}", "]"))
            and "Error" not in line.text
        ):
            lines.append(Line(draw.choice(pool)))
        lines.append(line)
    return replace(source, lines=tuple(lines))


def verbosity(source: Source, draw: random.Random, _first: int, _other: bytes) -> Source:
    """Debug and info lines between the lines."""
    return _sprinkled(source, draw, CHATTER, 0.25)


def warnings(source: Source, draw: random.Random, _first: int, _other: bytes) -> Source:
    """Harmless warnings here and there."""
    return _sprinkled(source, draw, WARNINGS, 0.06)


def bars(source: Source, draw: random.Random, _first: int, _other: bytes) -> Source:
    """A bar is redrawn in front of some lines.

    The line follows on the same line of the file, as happens with two streams in one terminal.
    """
    total = draw.choice((200, 1000, 5000))
    done, lines = 0, []
    for line in source.lines:
        if (
            draw.random() < 0.3
            and not line.text.startswith((" ", "\t", "\r", "}", "]"))
            and "\r" not in line.text
            and "Error" not in line.text
        ):
            redraws = []
            for _ in range(draw.randint(1, 4)):
                done = min(total, done + 1)
                percent = done * 100 // total
                redraws.append(
                    f"\r{percent:3d}%|{'█' * (percent // 10):<10}| {done}/{total} "
                    f"[00:{done % 60:02d}<{done % 9:02d}:12, {draw.uniform(0.5, 9):.2f}it/s]"
                )
            lines.append(
                Line(
                    "".join(redraws) + "\n" + line.text
                    if draw.random() < 0.5
                    else "".join(redraws) + "\r" + line.text,
                    line.origin,
                )
            )
        else:
            lines.append(line)
    return _split(replace(source, lines=tuple(lines)))


def _split(source: Source) -> Source:
    """Lines that were given a line end inside become several; the last piece keeps the origin."""
    lines: list[Line] = []
    for line in source.lines:
        *head, last = line.text.split("\n")
        lines += [Line(text) for text in head] + [Line(last, line.origin)]
    return replace(source, lines=tuple(lines))


def prefixed(source: Source, draw: random.Random, _first: int, _other: bytes) -> Source:
    """What a launcher, a scheduler or a container puts in front of every line."""
    prefix = draw.choice(PREFIXES)
    return replace(
        source,
        lines=tuple(
            replace(line, text=prefix(draw, number) + line.text)
            for number, line in enumerate(source.lines)
        ),
    )


def coloured(source: Source, draw: random.Random, _first: int, _other: bytes) -> Source:
    """Levels and exception names in colours, some lines wholly dim."""
    words = re.compile(r"\b(INFO|WARNING|ERROR|DEBUG|\w+Error)\b")
    return replace(
        source,
        lines=tuple(
            replace(
                line,
                text=f"\x1b[2m{line.text}\x1b[0m"
                if draw.random() < 0.05 and "\r" not in line.text
                else words.sub("\x1b[1;31m\\1\x1b[0m", line.text),
            )
            for line in source.lines
        ),
    )


def interleaved(source: Source, draw: random.Random, _first: int, _other: bytes) -> Source:
    """The same words from a second rank, mixed in line by line.

    Each rank keeps its own order, under its own prefix.
    """
    ranks = [
        [
            Line(f"[rank{rank}]: {line.text}", line.origin if rank == 0 else 0)
            for line in source.lines
        ]
        for rank in (0, 1)
    ]
    lines: list[Line] = []
    while any(ranks):
        lines.append(draw.choice([rank for rank in ranks if rank]).pop(0))
    return replace(source, lines=tuple(lines))


def cut_head(source: Source, draw: random.Random, first: int, _other: bytes) -> Source:
    """The first lines are gone, at most a tenth and never the failure.

    The cut goes through a line.
    """
    most = min(max(0, first - 4) if first else len(source.lines), len(source.lines) // 10)
    if most < 1:
        return source
    lines = list(source.lines[draw.randint(1, most) :])
    lines[0] = replace(lines[0], text=lines[0].text[len(lines[0].text) // 3 :])
    return replace(source, lines=tuple(lines))


def cut_tail(source: Source, draw: random.Random, first: int, _other: bytes) -> Source:
    """The end is gone, somewhere behind the lines that show the failure."""
    keep = first + 3 if first else len(source.lines) * 9 // 10
    if not first or keep >= len(source.lines) - 1:
        return source
    end = draw.randint(keep, len(source.lines) - 1)
    last = source.lines[end]
    return replace(
        source,
        lines=(*source.lines[:end], replace(last, text=last.text[: len(last.text) // 2])),
        whole_end=False,
    )


def windows(source: Source, _draw: random.Random, _first: int, _other: bytes) -> Source:
    """Line ends of Windows."""
    return replace(source, end="\r\n")


def utf16(source: Source, _draw: random.Random, _first: int, _other: bytes) -> Source:
    """A transcript of PowerShell: UTF-16 with a mark, Windows line ends."""
    return replace(source, end="\r\n", encoding="utf-16")


def wrapped(source: Source, draw: random.Random, _first: int, _other: bytes) -> Source:
    """A terminal's copy: lines broken at its width."""
    width = draw.choice((100, 120, 160))
    lines: list[Line] = []
    for line in source.lines:
        pieces = (
            [line.text[start : start + width] for start in range(0, len(line.text), width)]
            if "\r" not in line.text
            else [line.text]
        )
        lines += [
            Line(piece, line.origin if number == 0 else 0)
            for number, piece in enumerate(pieces or [""])
        ]
    return replace(source, lines=tuple(lines))


def second_attempt(source: Source, _draw: random.Random, _first: int, other: bytes) -> Source:
    """An earlier run stands above in the same file, under the shell's echo of its command."""
    earlier = [Line(line.text) for line in parsed(other).lines]
    return replace(
        source,
        lines=(
            Line("+ python train.py --run first"),
            *earlier,
            Line("+ python train.py --run second"),
            *source.lines,
        ),
    )


# Order of application: what changes lines first, what changes the file last.
KINDS: dict[str, Callable[[Source, random.Random, int, bytes], Source]] = {
    "verbosity": verbosity,
    "warnings": warnings,
    "bars": bars,
    "cut-head": cut_head,
    "cut-tail": cut_tail,
    "wrapped": wrapped,
    "second-attempt": second_attempt,
    "prefixed": prefixed,
    "interleaved": interleaved,
    "coloured": coloured,
    "windows": windows,
    "utf-16": utf16,
}
EXCLUDING = ({"windows", "utf-16"}, {"prefixed", "interleaved"}, {"cut-head", "second-attempt"})


def chosen(draw: random.Random, *, job: bool) -> list[str]:
    """Two to four kinds that go together.

    A job of many files gets none that would mix its files.
    """
    names = [
        name
        for name in KINDS
        if not (job and name in ("interleaved", "second-attempt", "prefixed"))
    ]
    picked = draw.sample(names, draw.randint(2, 4))
    for group in EXCLUDING:
        both = [name for name in picked if name in group]
        picked = [name for name in picked if name not in both[1:]]
    return [name for name in KINDS if name in picked]


def varied(
    files: dict[str, bytes], label: dict[str, Any], seed: int, kinds: list[str], other: bytes
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files after the named kinds, and the label that is true of them."""
    draw = random.Random(seed)
    truth = label.get("first_failure") or {}
    found: dict[str, bytes] = {}
    changed = dict(label)
    for name, data in files.items():
        place = truth.get("line", 0) if truth.get("source", "") == name else 0
        source = parsed(data)
        for kind in kinds:
            # The place of the failure among the lines as they stand now.
            now = next(
                (
                    number
                    for number, line in enumerate(source.lines, 1)
                    if place and line.origin == place
                ),
                0,
            )
            source = KINDS[kind](source, draw, now, other)
        found[name] = source.encoded()
        if place:
            moved = next(
                (number for number, line in enumerate(source.lines, 1) if line.origin == place),
                None,
            )
            changed["first_failure"] = {**truth, "line": moved}
    if BREAKING & set(kinds):
        changed.pop("series", None)
        changed.pop("step_basis", None)
    return found, changed


def read_case(path: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Files and label of a recorded case; `path` is its log, its folder or its label."""
    label = path.with_suffix(".yaml")
    if not label.is_file():
        raise FaultError(
            f"{label} is not there; give the log, the folder or the label of a recorded case"
        )
    folder, log = label.with_suffix(""), label.with_suffix(".log")
    files = (
        {
            str(entry.relative_to(folder)): entry.read_bytes()
            for entry in sorted(folder.rglob("*"))
            if entry.is_file()
        }
        if folder.is_dir()
        else {"": log.read_bytes()}
    )
    return files, yaml.safe_load(label.read_text(encoding="utf-8"))


def earlier_attempt(path: Path, draw: random.Random) -> bytes:
    """Another recorded log of the same folder, to stand above as an earlier attempt."""
    others = [
        other
        for other in sorted(path.parent.glob("*.log"))
        if other.stem != path.stem and other.with_suffix(".yaml").is_file()
    ]
    return draw.choice(others).read_bytes() if others else b""


def vary(path: Path, seed: int, kinds: list[str], out: Path) -> Path:
    """Write the varied case of a recorded one and return its label.

    An unknown kind or a missing case is a FaultError.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise FaultError(f"unknown kinds {unknown}; known are {list(KINDS)}")
    files, label = read_case(path)
    draw = random.Random(f"{path.stem}/{seed}")
    kinds = [kind for kind in KINDS if kind in kinds] or chosen(draw, job="" not in files)
    name = f"{path.stem}-v{seed}"
    changed, label = varied(files, label, draw.randrange(2**32), kinds, earlier_attempt(path, draw))
    label |= {
        "composed": True,
        "varied": kinds,
        "how": (
            f"python sample_logs/lab vary {path.parent.name}/{path.stem} "
            f"--seed {seed}; {label['how']}"
        ),
    }
    parts = {(f"/{key}" if key else ".log"): data for key, data in changed.items()} | {
        ".yaml": dumped(label).encode()
    }
    dump = path.with_suffix(".env")
    if dump.is_file():
        parts[".env"] = dump.read_bytes()
    return write({name: parts}, out / path.parent.name)[0]
