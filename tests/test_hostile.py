"""No pattern is slow on a text made to be slow.

Not of the rules, not in the code, and the code around them neither.

The attacks are those of `patterns check` (`postmortem.rules.attack`). Times are CPU times, and
the best of several.
"""

import ast
import collections
import importlib
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from postmortem.core import resources
from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import LazyPattern
from postmortem.extraction import traceback
from postmortem.extraction.formats.bars import draw
from postmortem.extraction.formats.generic_reader import GenericReader
from postmortem.extraction.run_files import iter_trainer_records
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import iter_blocks
from postmortem.reading.windows import View
from postmortem.rules import attack, check
from postmortem.rules.compile import compile_folders

PACKAGE: Final = Path(traceback.__file__).parents[1]
SEARCHES: Final = frozenset(
    {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
)
COMPILED_RULES: Final = compile_folders([resources.find_folder("patterns")])
RULES: Final = [
    rule
    for kind in ("signatures", "formats", "conditions", "exceptions")
    for rule in COMPILED_RULES[kind]
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["id"])
def test_a_rule_is_fast_on_hostile_texts(rule: Any) -> None:
    """Every pattern of a rule holds to the limit and grows as the text does."""
    assert [str(fault) for fault in check.find_slow_patterns(rule)] == []


def of(pattern: str) -> dict[str, Any]:
    """A rule with a pattern."""
    return {"id": "an.example", "match": pattern, "anchors": ["error:"]}


SLOW: Final = (
    pytest.param(
        r"(?=error)error: .* end", id="two ways to pass over what is between, from every beginning"
    ),
    pytest.param(r"(?=e)error:(?:\w+\s?)*!", id="a repetition of repetitions"),
    pytest.param(
        r"(?=\{)\{(?:'\w': (?:tensor\(\d\)|[^{}]{1,200}),? ?)*\}",
        id="alternatives that take the same",
    ),
    pytest.param(r"(?<!old(?:.{0,40} ){0,9})error: \d+x", id="a look back in many ways"),
    pytest.param(r"(?=\d)\d+(?:\.\d+)*!", id="digits from every digit on"),
)


@pytest.mark.parametrize("pattern", SLOW)
def test_a_slow_rule_is_seen(pattern: str) -> None:
    """What backtracks is found by its own structure."""
    assert len(list(check.find_slow_patterns(of(pattern)))) == 1


@pytest.mark.parametrize(
    "pattern",
    [
        r"error: (?P<figure>\d{1,9}) end",
        r"error:.{0,80}value.{0,80}end",
        r"(?!warning)error: \w{1,40}(?= end)",
        *(one.values[0].replace("(?=error)", "") for one in SLOW[:1]),
    ],
)
def test_a_fast_rule_is_none(pattern: str) -> None:
    """What a linear engine runs, or what is bounded, is let be."""
    assert list(check.find_slow_patterns(of(pattern))) == []


def uses() -> dict[str, set[str]]:
    """By which methods the patterns of the code search.

    By module and name, by name alone where others import it, and by module for those that a loop
    takes from a collection.
    """
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(("postmortem", *path.relative_to(PACKAGE).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Attribute)
                and node.attr in SEARCHES
                and isinstance(node.value, ast.Name | ast.Attribute)
            ):
                name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                found.setdefault(f"{module}.{name}" if name.startswith("_") else name, set()).add(
                    node.attr
                )
                if name.islower() and name not in {"re", "self"} and not name.startswith("_"):
                    found.setdefault(module, set()).add(node.attr)
    return found


def compiled() -> Iterator[tuple[str, "re.Pattern[Any]"]]:
    """Every pattern that stands in a module of the code, also within a tuple or a mapping."""
    seen: set[int] = set()

    def patterns(name: str, value: object) -> Iterator[tuple[str, "re.Pattern[Any]"]]:
        if isinstance(value, re.Pattern | LazyPattern):
            yield name, value
        elif isinstance(value, tuple | list | dict | frozenset):
            for index, one in enumerate(value.items() if isinstance(value, dict) else value):
                yield from patterns(f"{name}[{index}]", one)

    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(("postmortem", *path.relative_to(PACKAGE).with_suffix("").parts))
        if path.name not in {"__init__.py", "__main__.py"} and "migrations" not in path.parts:
            for name, value in loaded(module).items():
                for shown, pattern in patterns(name, value):
                    if id(pattern) not in seen:
                        seen.add(id(pattern))
                        yield f"{module}.{shown}", pattern


def loaded(module: str) -> dict[str, Any]:
    """What stands in a module; nothing of one that hooks into a framework that is not here."""
    try:
        return vars(importlib.import_module(module))
    except ModuleNotFoundError as error:
        if not module.startswith("postmortem.replay.recorder.") or error.name in {None, "torch"}:
            raise
        return {}


USES: Final = uses()
COMPILED: Final = dict(compiled())


def hostile(name: str, pattern: "re.Pattern[Any]") -> attack.Outcome:
    """The worst of a pattern of the code, by the methods that the code calls."""
    is_bytes = isinstance(pattern.pattern, bytes)
    methods = (
        USES.get(name)
        or USES.get(name.rpartition(".")[2])
        or USES.get(name.partition("[")[0].rpartition(".")[0])
        or {"finditer"}
    )

    def search(text: str) -> None:
        searched: Any = text.encode() if is_bytes else text
        for method in methods:
            if method in {"search", "match", "fullmatch"}:
                getattr(pattern, method)(searched)
            else:
                collections.deque(pattern.finditer(searched), maxlen=0)

    source = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
    return attack.find_worst_attack(
        search,
        attack.build_attacks(
            source, flags=pattern.flags & ~re.UNICODE if is_bytes else pattern.flags
        ),
    )


@pytest.mark.parametrize("name", COMPILED)
def test_a_pattern_of_the_code_is_fast_on_hostile_texts(name: str) -> None:
    """The patterns in the code hold to the same measure."""
    outcome = hostile(name, COMPILED[name])
    assert not outcome.is_slow, f"{name}: {outcome}"


PLAIN: Final[dict[str, Callable[[str], object]]] = {
    "clean": clean,
    "clean with srun": lambda text: clean(text, srun=True),
    "generic": lambda text: GenericReader().read(text[:4000], NOWHERE, 1),
    "bar": draw,
    "state": lambda text: list(
        iter_trainer_records(iter_blocks(io.BytesIO(('{"log_history"' + text).encode())))
    ),
    "traceback": lambda text: traceback.read(
        View(("Traceback (most recent call last):\n" + text).encode(), 5, 1, srun=False), 0, 0
    ),
}
UNITS: Final = (
    "[rank3]: ",
    "2024-05-01 12:00:00",
    "[2024-05-01 12:00:00,123] [INFO] ",
    "loss: ",
    "train loss 0.5 ",
    "loss ",
    "nan",
    "1,",
    "epoch",
    "|",
    "10%|##| 1/2 [",
    "━",
    "{",
    "{}",
    '{"step": 1}',
    '  File "a.py", line 1, in f\n',
    "a.b.",
    "│ /a.py:1 in f │\n",
    "/torch/",
    "\x1b[",
    "\x1b]0;",
    "[E",
    " ",
    "\t",
    "a",
    "1",
    "(",
    "[",
    "worker-1: ",
    "INFO:a.",
    "]\n",
    "ValueError: x\n",
    "╰\n",
)


@pytest.mark.parametrize("name", PLAIN)
def test_code_is_linear_on_hostile_lines(name: str) -> None:
    """What is made of several patterns grows as the text does, too.

    How long it takes depends on what it makes.
    """
    for unit in UNITS:
        for filler in ("", " ", "1", "x", "\n"):
            outcome = attack.find_worst_attack(PLAIN[name], [attack.Attack("", unit + filler)])
            assert outcome.growth < attack.GROWTH, f"{name}: {outcome}"
