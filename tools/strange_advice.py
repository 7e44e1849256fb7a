"""Whether advice speaks of another stack, leaves a gap open, or is refuted by its log.

    python tools/strange_advice.py sample_logs FOLDER...

In: folders of cases (NAME.log or a folder NAME, beside NAME.yaml). Out: hits, each with the stack,
the fix and the word, never a text or a name of a log. Not here: thresholds
(`tests/diagnosis/fixes/test_strange_advice.py`), what rules may say (`extraction.proof`).
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import postmortem
from postmortem.core.answer import Fix
from postmortem.core.log_text import parse_number
from postmortem.rules.base import KnowledgeBase, load
from postmortem.rules.vocabulary import PLAIN, TRAINER, compile_word_pattern

NUMBER: Final = r"[\"']?\s{0,3}[:= ]\s{0,3}[\"']?(?P<value>\d[\d.]{0,12}(?:e-?\d{1,3})?)(?![\w.])"
PLACE: Final = re.compile(r"\$\{(?P<name>\w+)(?:\|(?P<default>[^}]*))?\}")
RATE: Final = "learning_rate"
PRINTED: Final[Mapping[str, str]] = {
    RATE: rf"(?i)(?<![\w.-])(?:--)?(?:learning[-_]rate|lr){NUMBER}",
    "batch_size": rf"(?i)\b(?:per_device_train_batch_size|train_micro_batch_size_per_gpu){NUMBER}",
    "per_device_train_batch_size": rf"(?i)\bper_device_train_batch_size{NUMBER}",
    "accumulation": rf"(?i)\bgradient[-_]accumulation[-_]steps{NUMBER}",
    "gradient_accumulation_steps": rf"(?i)\bgradient[-_]accumulation[-_]steps{NUMBER}",
    "world_size": rf"(?i)(?:\bworld[-_ ]size|--num[-_]processes){NUMBER}",
    "max_seq_length": rf"(?i)\b(?:max_seq_len(?:gth)?|cutoff_len|model_max_length){NUMBER}",
    "max_grad_norm": rf"(?i)\b(?:max_grad_norm|gradient_clipping){NUMBER}",
    "num_workers": rf"(?i)\b(?:dataloader_)?num_workers{NUMBER}",
    "last_checkpoint": r"Saving model checkpoint to (?P<value>\S+)",
    "model": r"--model_name_or_path[ =](?P<value>[\w./-]+)",
    "distribution": r"No module named '(?P<value>[\w.]+)'",
    "key": r"KeyError: '(?P<value>[\w.-]+)'",
    "capture_path": r"No such file or directory: '(?P<value>[^'\s]+)'",
    "torch_release": r"\btorch==?(?P<value>\d+\.\d+\.\d+)",
    "torch_cuda": r"\btorch\S{0,9} ?=?=?\d+\.\d+\.\d+\+(?P<value>cu\d+)",
}
"""How logs print, in their plainest form, what a snippet has a place for."""
REFUTED: Final[Mapping[str, tuple[str, str]]] = {
    "mmap": (r"\bmmap\b[^\n]{0,200}Cannot allocate memory", r"\bmmap(?:_mode)?\s?="),
    "libuv": (r"(?<!with )USE_LIBUV=0", r"USE_LIBUV"),
    "memory": (r"\A(?![\s\S]*(?i:memory|killed|sigkill|alloc))", r"expandable_segments"),
}
"""What a log shows, and what no change may ask for then."""
DERIVED: Final = re.compile(r"_(?:half|tenth|tenfold|double)$")


@dataclass(frozen=True)
class Hit:
    """Advice that is strange."""

    kind: str
    """word | gap | refuted"""
    stack: str
    fix: str
    word: str


def cases(folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Yield the log, or the folder of logs, of each case of a collection, with its dump."""
    for label in sorted(folder.rglob("*.yaml")):
        paths = (label.with_suffix(""), label.with_suffix(".log"))
        dump = label.with_suffix(".env")
        for path in paths:
            if path.exists() and "lab" not in path.relative_to(folder).parts:
                yield path, dump if dump.exists() else None


def strange(log: Path, dump: Path | None = None) -> list[Hit]:
    """Look through the advice for all causes that a report of a log names."""
    report = postmortem.analyze(str(log), env=[str(dump)] if dump else [])
    return strange_in(report, log, dump)


def strange_in(report: postmortem.Report, log: Path, dump: Path | None = None) -> list[Hit]:
    """Look through a report of a log."""
    values = report.to_dict()
    names = {framework["name"] for framework in values["frameworks"]}
    if not names - {PLAIN}:
        packages = values["environment"]["packages"]
        names |= {known.id for known in load().stacks if set(known.packages) & set(packages)}
    text = _text(log) + (_text(dump) if dump else "")
    backend = _backend(text)
    found: list[Hit] = []
    for cause in report.causes:
        subjects = {stack.id for stack in load().stacks if cause.id in stack.causes}
        for fix in cause.fixes:
            near = _near(frozenset(names | subjects | _list_authors(fix.id) or {PLAIN}))
            # What the log itself shows is no word of strangers: a call that the advice names.
            found += (hit for hit in _words(fix, near, backend) if hit.word not in text)
            found += _gaps(fix, text)
            found += _refuted(fix, text)
    return found


def _text(path: Path) -> str:
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return "\n".join(file.read_bytes().decode(errors="replace") for file in files)


def _backend(text: str) -> str:
    """Name what plainly computes; what is not plain is not judged."""
    plain = {
        "ascend": r"torch_npu[/.]|NPU out of memory|HCCL function error",
        "rocm": r"HIP (?:error|out of memory)|\+rocm\d|ROCM used to build PyTorch: \d",
        "mps": r"MPS backend out of memory|device: mps\b",
        "xpu": r"XPU out of memory|intel_extension_for_pytorch/",
    }
    return next((name for name, shown in plain.items() if re.search(shown, text)), "")


def _list_authors(fix: str) -> set[str]:
    """Name the stacks that write the message whose signature owns a fix: it may speak of them."""
    words = set(re.findall(r"[\w-]+", _read_sources().get(re.sub(r"\.fix-\d+$", "", fix), "")))
    if "datasets" in words:  # a library of transformers' house, no stack by itself
        words.add("transformers")
    return {stack.id for stack in load().stacks if words & {stack.id, *stack.packages}}


@cache
def _read_sources() -> Mapping[str, str]:
    """Read who writes the message of each signature."""
    root = Path(__file__).resolve().parent.parent / "patterns" / "signatures"
    found = {}
    for file in root.rglob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        name, source = (re.search(rf"(?m)^{key}: (.*)", text) for key in ("id", "source"))
        if name and source:
            found[name[1]] = source[1].lower()
    return found


@cache
def _near(names: frozenset[str]) -> frozenset[str]:
    """Name the stacks whose words may be said: those of the job, beneath, taken and beside."""
    stacks = load().stacks
    near = names.union(*(stacks.list_below(name) for name in names))
    near |= {taken for name in near for taken in stacks.list_taken(name)}
    return frozenset(near | {neighbour for name in near for neighbour in stacks.get(name).beside})


@cache
def _foreign(near: frozenset[str], backend: str) -> Sequence[tuple[str, "re.Pattern[str]"]]:
    """Give the words that are neither of these stacks nor of this backend, and whose they are."""
    rules: KnowledgeBase = load()
    own = {word for name in (*near, backend) for word in rules.stacks.get(name).words}
    others = [
        stack
        for stack in rules.stacks
        if (stack.kind == TRAINER and stack.id not in near)
        or (backend and stack.kind == "backend" and stack.id != backend)
    ]
    return [
        (other.id, compile_word_pattern(word))
        for other in others
        for word in other.words
        if word not in own
    ]


def _words(fix: Fix[str], near: frozenset[str], backend: str) -> Iterator[Hit]:
    shown = f"{fix.title}\n{fix.why}\n{fix.snippet}"
    for stack, word in _foreign(near, backend):
        if match := word.search(shown):
            yield Hit("word", stack, fix.id, match[0])


def _refuted(fix: Fix[str], text: str) -> Iterator[Hit]:
    for name, (shown, asked) in REFUTED.items():
        wants = fix.kind != "check" and re.search(asked, f"{fix.title}\n{fix.snippet}")
        if wants and re.search(shown, text):
            yield Hit("refuted", name, fix.id, wants[0])


def _gaps(fix: Fix[str], text: str) -> Iterator[Hit]:
    """Yield the places that stand open though the log prints in plain words what belongs there."""
    for stack, template in _templates(fix.id):
        match = fits(template).fullmatch(fix.snippet)
        if match is None:
            continue
        for at, place in enumerate(PLACE.finditer(template), start=1):
            default = place["default"] if place["default"] is not None else f"<{place['name']}>"
            value = printed(place["name"], text)
            if match[at] == default and value not in {"", default}:
                yield Hit("gap", stack, fix.id, f"{place['name']} {value}")
        return


@cache
def _templates(name: str) -> tuple[tuple[str, str], ...]:
    rules = load()
    fix = next((fix for fix in rules.fixes if fix.id == name), None)
    names = (name, fix.snippets_of) if fix else (name,)
    found = ((stack.id, stack.find_snippet(*names)) for stack in rules.stacks)
    own = ((key, item.code) for key, item in found if item)
    return (*own, *((key, item.code) for key, item in (fix.snippets.items() if fix else ())))


@cache
def fits(template: str) -> "re.Pattern[str]":
    """Give the pattern of what a template becomes; its groups stand in its places."""
    parts = [re.escape(part) for part in PLACE.sub("\0", template).split("\0")]
    return re.compile("(.*?)".join(parts))


def printed(name: str, text: str) -> str:
    """Give what a log prints for a place, or nothing; no rate and no number of 0.

    A learning rate that moves is a figure of a moment, which no fix takes for the configured one.
    """
    plain = DERIVED.sub("", name)
    known = PRINTED.get(plain)
    values = [match["value"] for match in re.finditer(known, text)] if known else []
    if plain == RATE and len({parse_number(value) for value in values}) > 1:
        return ""
    value = next((value for value in values if value.strip("0.")), "")
    if name.endswith("_half") and value.isdigit():
        return str(max(1, int(value) // 2))
    return str(2 * int(value)) if name.endswith("_double") and value.isdigit() else value


def main(folders: Iterable[str]) -> None:
    """Print how often what was met."""
    for folder in map(Path, folders):
        logs = list(cases(folder))
        met = Counter(hit for log, dump in logs for hit in strange(log, dump))
        print(f"{folder.name}: {len(logs)} cases, {sum(met.values())} hits")
        for hit, count in sorted(met.items(), key=lambda item: (item[0].kind, item[0].fix)):
            print(f"  {hit.kind:5}{hit.stack:22}{hit.fix:38}{hit.word}  x{count}")


if __name__ == "__main__":
    main(sys.argv[1:])
