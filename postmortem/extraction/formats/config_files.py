"""Configuration files of a run: recognise which tool wrote one, read its values, map them to facts.

In: the path and the text of a file; rows of `patterns/keys.yaml`. Out: `ConfigFile`: its values
under names that tell whose they are, and what is to be said of it; `StatedFact`: facts under the
names that the rules for printed lines give them, with their lines. Not here: YAML, JSON and Python
as such (`formats.plain_values`), printed configurations (`patterns/formats/settings.yaml`), which
of several files counts (`facts.fact_store`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.extraction.formats import plain_values
from postmortem.extraction.formats.plain_values import Leaf
from postmortem.reading.non_logs import is_python_dump

SURE, LIKELY = 2, 1
"""How surely a file tells of this run: a tool wrote it for the run, or a user wrote it."""
_TELLING: Final = 1 << 16
"""Characters by which it is told whose a file is."""
_LARGEST_OTHER: Final = 1 << 17
"""Characters of a configuration that a user wrote; more is data."""
_FEWEST: Final = 2
"""Settings that make a file of unknown origin a configuration."""
_OVERRIDE: Final = compile_lazily(
    r"^\s*-\s+[\"']?[+~]{0,2}(?P<name>[\w./@-]{1,200})=(?P<value>.*)$"
)
_LINE_BREAKS: Final = compile_lazily(r"\n")


class ConfigFile(NamedTuple):
    """What a configuration file holds."""

    leaves: Sequence[Leaf]
    strength: int
    note: Message
    fewest: int
    """Facts below which it is taken for no configuration after all."""
    broken: int | None = None
    """The line at which it breaks off."""


class _ConfigKind(NamedTuple):
    """Files of one origin."""

    claims: Callable[[PurePath, str], bool]
    note: Message
    prefix: str = ""
    """Put before all names."""
    unwraps: bool = False
    """Whether each top-level value lies within a mapping under `value`."""


def _build_path_test(*tail: str) -> Callable[[PurePath, str], bool]:
    return lambda path, _: path.parts[-len(tail) :] == tail


def _is_wandb_config(path: PurePath, head: str) -> bool:
    return path.name == "config.yaml" and bool(
        re.search(r"^_?wandb(?:_version)?:", head, re.MULTILINE)
    )


def _is_model_config(path: PurePath, head: str) -> bool:
    return path.name == "config.json" and ('"architectures"' in head or '"model_type"' in head)


def _is_deepspeed_config(path: PurePath, head: str) -> bool:
    return path.suffix == ".json" and bool(
        re.search(
            r'"(?:zero_optimization|train_micro_batch_size_per_gpu|zero_allow_untested)', head
        )
    )


def _is_yolo_config(path: PurePath, head: str) -> bool:
    return path.name == "args.yaml" and "imgsz:" in head


def _is_accelerate_config(path: PurePath, head: str) -> bool:
    return path.suffix in {".yaml", ".yml"} and "compute_environment:" in head


_KINDS: Final = (
    _ConfigKind(_is_wandb_config, say("configuration that wandb kept"), unwraps=True),
    _ConfigKind(
        _build_path_test("wandb-metadata.json"),
        say("machine and command as wandb saw them"),
        "wandb_metadata.",
    ),
    _ConfigKind(
        _build_path_test(".hydra", "config.yaml"),
        say("configuration composed by Hydra"),
    ),
    _ConfigKind(
        _build_path_test(".hydra", "hydra.yaml"),
        say("Hydra's own configuration"),
    ),
    _ConfigKind(
        _build_path_test("hparams.yaml"),
        say("hyperparameters kept by Lightning"),
    ),
    _ConfigKind(_is_yolo_config, say("arguments of Ultralytics")),
    _ConfigKind(_is_accelerate_config, say("configuration of Accelerate")),
    _ConfigKind(_is_deepspeed_config, say("configuration of DeepSpeed")),
    _ConfigKind(
        _build_path_test("adapter_config.json"),
        say("configuration of the adapter"),
        "adapter.",
    ),
    _ConfigKind(_is_model_config, say("configuration of the model"), "model_config."),
)
_OVERRIDES: Final = say("overrides given to Hydra")
_DUMP: Final = say("configuration dumped as Python")
_PARAMETER: Final = say("parameter kept by MLflow")
_OTHER: Final = say("configuration")


def is_parameter(path: str) -> bool:
    """Say whether a file is a parameter of a run in MLflow's file store."""
    return _is_in_store(PurePath(path), "params")


def is_metric(path: str) -> bool:
    """Say whether a file is a metric of a run in MLflow's file store."""
    return _is_in_store(PurePath(path), "metrics")


def name_in_store(path: str) -> str:
    """Give the name of a metric or parameter; one with a slash lies in a folder."""
    parts = PurePath(path).parts
    kind = max(place for place, part in enumerate(parts) if part in {"metrics", "params"})
    return "/".join(parts[kind + 1 :])


_RUN: Final = compile_lazily(r"[0-9a-f]{32}\Z")


def _is_in_store(path: PurePath, kind: str) -> bool:
    return any(
        part == kind and _RUN.match(before)
        for before, part in zip(path.parts, path.parts[1:-1], strict=False)
    )


def may_be(path: str, head: str) -> bool:
    """Say whether a file could be a configuration: only then is it read to its end for that."""
    file = PurePath(path)
    if is_parameter(path):
        return True
    if file.suffix == ".py":
        return is_python_dump(head[:4096])
    is_nested = file.suffix in {".yaml", ".yml"} or (
        file.suffix == ".json" and head.lstrip()[:1] == "{"
    )
    return (
        is_nested
        and not _is_json_lines(head)
        and (len(head) <= _LARGEST_OTHER or is_of_tool(path, head))
    )


def is_of_tool(path: str, head: str) -> bool:
    """Say whether a tool wrote a configuration for the run: any other may be anything."""
    file = PurePath(path)
    return (
        is_parameter(path)
        or file.suffix == ".py"
        or file.parts[-2:] == (".hydra", "overrides.yaml")
        or any(kind.claims(file, head[:_TELLING]) for kind in _KINDS)
    )


def read_config(path: str, text: str) -> ConfigFile:
    """Read a file that may be a configuration."""
    file = PurePath(path)
    if is_parameter(path):
        leaf = Leaf(name_in_store(path).replace("/", "."), text.strip()[:400], 1)
        return ConfigFile([leaf], SURE, _PARAMETER, 0)
    if file.suffix == ".py":
        return ConfigFile(plain_values.parse_assignments(text), SURE, _DUMP, 1)
    if file.parts[-2:] == (".hydra", "overrides.yaml"):
        return ConfigFile(_parse_overrides(text), SURE, _OVERRIDES, 0)
    leaves, broken = plain_values.parse_leaves(text)
    for kind in _KINDS:
        if kind.claims(file, text[:_TELLING]):
            own = _strip_wandb_wrappers(leaves) if kind.unwraps else leaves
            named = [leaf._replace(name=kind.prefix + leaf.name) for leaf in own]
            return ConfigFile(named, SURE, kind.note, 0, broken)
    return ConfigFile(leaves, LIKELY, _OTHER, _FEWEST, broken)


def _is_json_lines(head: str) -> bool:
    """Say whether each line is a JSON object of its own."""
    lines = [line for line in head.split("\n", 3)[:2] if line.strip()]
    return len(lines) > 1 and all(
        line.startswith("{") and line.rstrip().endswith("}") for line in lines
    )


def _strip_wandb_wrappers(leaves: Iterable[Leaf]) -> list[Leaf]:
    """Take the mapping with `value` (and `desc`) away that wandb puts around each value."""
    found = []
    for leaf in leaves:
        top, _, rest = leaf.name.partition(".")
        inner, _, below = rest.partition(".")
        if inner == "value":
            found.append(leaf._replace(name=f"{top}.{below}" if below else top))
    return found


def _parse_overrides(text: str) -> list[Leaf]:
    found = []
    for number, line in enumerate(_LINE_BREAKS.split(text), 1):
        match = _OVERRIDE.match(line)
        if match:
            value = match["value"].strip().strip("\"'")
            found.append(Leaf(match["name"].replace("/", "."), value[:400], number))
    return found


_BELOW: Final = "*."
_UNSAID: Final = frozenset({"", "null", "none", "~", "auto", "???", "nan", "no"})
_FLAGS: Final = {"true": "True", "false": "False", "yes": "True", "no": "False"}
_REFERENCE: Final = "${"
"""Begins a value that names another, which is not looked up."""
_NUMBER: Final = compile_lazily(r"[+-]?(?:\d{1,15}\.?\d{0,20}|\.\d{1,20})(?:[eE][+-]?\d{1,3})?")
_LIST_ITEM: Final = compile_lazily(r"[\w./*-]{1,80}")


class StatedFact(NamedTuple):
    """A fact that a configuration states."""

    name: str
    value: str
    line: int


class _RankedRow(NamedTuple):
    number: int
    rank: int
    raw: Mapping[str, Any]


class KeyTable:
    """The meaning of the keys of configurations."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Sort the rows by their keys."""
        self._whole: dict[str, list[_RankedRow]] = {}
        self._below: dict[str, list[_RankedRow]] = {}
        for number, raw in enumerate(rows):
            for rank, key in enumerate(raw["keys"]):
                table = self._below if key.startswith(_BELOW) else self._whole
                row = _RankedRow(number, rank, raw)
                table.setdefault(_normalise_key(key.removeprefix(_BELOW)), []).append(row)

    def stated(self, leaves: Iterable[Leaf]) -> list[StatedFact]:
        """Give what the leaves say: of several keys for one fact the best, of equals the first."""
        best: dict[int, tuple[int, StatedFact]] = {}
        for leaf in leaves:
            for row in self._iter_rows(_normalise_key(leaf.name)):
                value = _parse_value(row.raw, leaf.value.strip())
                known = best.get(row.number)
                if value and (known is None or row.rank < known[0]):
                    best[row.number] = (row.rank, StatedFact(row.raw["to"], value, leaf.line))
        return [stated for _, (_, stated) in sorted(best.items())]

    def _iter_rows(self, name: str) -> Iterable[_RankedRow]:
        yield from self._whole.get(name, ())
        parts = name.split(".")
        for start in range(1, len(parts)):
            yield from self._below.get(".".join(parts[start:]), ())


def _normalise_key(name: str) -> str:
    return name.lower().replace("-", "_")


def _parse_value(row: Mapping[str, Any], printed: str) -> str:
    """Give what a value says for a row; empty where it says nothing."""
    lowered = printed.lower()
    if "values" in row:
        return str(row["values"].get(lowered, ""))
    if lowered in _UNSAID - _FLAGS.keys() or _REFERENCE in printed:
        return ""
    value = _READERS[row["is"]](printed)
    return str(row["as"]) if value and "as" in row else value


def _parse_number(printed: str) -> str:
    return printed if _NUMBER.fullmatch(printed) else ""


def _parse_whole_number(printed: str) -> str:
    return printed if re.fullmatch(r"\d{1,15}", printed) else ""


def _parse_flag(printed: str) -> str:
    return _FLAGS.get(printed.lower(), "")


def _parse_word(printed: str) -> str:
    is_word = len(printed) <= 200 and "\n" not in printed and printed[:1] not in "[{"
    return printed if is_word and not _is_flag_or_count(printed) else ""


def _is_flag_or_count(printed: str) -> bool:
    """Say whether a value is no word; a version is one."""
    return printed.lower() in _FLAGS or bool(re.fullmatch(r"[+-]?\d+(?:[eE].*)?", printed))


def _list(printed: str) -> str:
    return printed if _LIST_ITEM.search(printed) and len(printed) <= 400 else ""


_READERS: Final = {
    "number": _parse_number,
    "whole": _parse_whole_number,
    "flag": _parse_flag,
    "word": _parse_word,
    "list": _list,
}
