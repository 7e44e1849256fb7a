"""In whose terms a fix is said: the stacks that speak for a job, and the platform it ran on.

In: the case, the stacks of the knowledge base. Out: `Speakers`: under which keys snippets are
looked for, and which words would be those of another platform. Not here: choosing fixes
(`fixes.select`), recognising stacks (`case.outcomes`).
"""

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from postmortem.diagnosis.case.values import Case
from postmortem.rules.vocabulary import ANY, MODEL, PLAIN, TRAINER, StackRules, compile_word_pattern

_CUDA: Final = "cuda"
_TORCH: Final = r"\btorch(?:run)?\b"
_SYSTEMS: Final[Mapping[str, str]] = {
    "windows": "windows",
    "macos": "macos",
    "darwin": "macos",
    "linux": "linux",
}


@dataclass(frozen=True, slots=True)
class Speakers:
    """Who speaks for a job."""

    keys: tuple[str, ...]
    """Under which snippets are looked for, the best first."""
    stacks: frozenset[str]
    """All stacks of the job, those beneath and those whose terms hold included."""
    foreign: "re.Pattern[str] | None"
    """Words of platforms on which the job is known not to run."""

    defaults: Mapping[str, str]
    """Settings that are in force where nothing else is printed."""

    def may_say(self, text: str) -> bool:
        """Say whether a text holds no word of another platform."""
        return self.foreign is None or self.foreign.search(text) is None


def select_stacks(case: Case, stacks: StackRules, cause: str = "") -> Speakers:
    """Find who speaks for a job: the uppermost stacks that were recognised.

    Where none was, the one that is installed; where that cannot be told, plain PyTorch.
    """
    present = _list_present_stacks(case, stacks)
    tops = _select_topmost_stacks(present, stacks)
    taken = [stacks.get(key) for name in tops for key in stacks.list_taken(name)]
    known = {*present, *case.environment.packages}
    beside = [one for stack in taken for one in stack.beside if one in known]
    beside += [stack.id for stack in stacks if cause in stack.causes]
    mine = _list_platforms(case, stacks)
    own = [stack.id for stack in taken]
    keys = tuple(dict.fromkeys([*own, *beside, *mine, *_list_plain_pytorch(tops, stacks), ANY]))
    return Speakers(
        keys,
        frozenset([*keys, *present]),
        _build_foreign_pattern(mine, tops, stacks),
        dict(ChainMap(*(dict(stack.defaults) for stack in taken))),
    )


def _list_present_stacks(case: Case, stacks: StackRules) -> list[str]:
    """Name the stacks that were recognised, or the one that is installed."""
    seen = [name for name in case.frameworks if stacks.get(name).kind == TRAINER]
    return seen if set(seen) - {PLAIN} else seen + _find_installed_stack(case, stacks)


def _select_topmost_stacks(names: Sequence[str], stacks: StackRules) -> list[str]:
    """Name those of several stacks on which no other of them stands.

    Plain PyTorch speaks alone or not at all: a loader of it beside JAX makes no loop of PyTorch.
    """
    tops = [name for name in names if not any(name in stacks.list_below(one) for one in names)]
    return [name for name in tops if name != PLAIN] or tops


def _list_plain_pytorch(tops: Sequence[str], stacks: StackRules) -> list[str]:
    """Name the kinds of plain PyTorch that the user writes; all where no stack is known."""
    uppermost = [stacks.get(name) for name in tops]
    loop = [PLAIN] if not tops or any(one.has_loop for one in uppermost) else []
    model = [MODEL] if not tops or any(one.has_model for one in uppermost) else []
    return loop + model


def _find_installed_stack(case: Case, stacks: StackRules) -> list[str]:
    """Name the one stack that is installed and stands on the others, where there is but one."""
    packages = case.environment.packages
    installed = [
        stack.id
        for stack in stacks
        if stack.kind == TRAINER and any(name in packages for name in stack.packages)
    ]
    tops = _select_topmost_stacks(installed, stacks)
    return tops if len(tops) == 1 else []


def _list_platforms(case: Case, stacks: StackRules) -> list[str]:
    """Name the backend and the system of the job, as far as they are known."""
    known = {stack.id for stack in stacks if stack.kind != TRAINER}
    return [name for name in (_infer_backend(case), _infer_system(case)) if name in known]


def _infer_backend(case: Case) -> str:
    """Name what computes: cuda, rocm, ascend, xpu, mps, tpu, cpu; empty where nothing tells."""
    told = case.extract.facts.get("env.backend")
    if told:
        return told.lower()
    environment = case.environment
    build = environment.packages.get("torch", "").partition("+")[2]
    if "torch-npu" in environment.packages:
        return "ascend"
    if build.startswith("rocm"):
        return "rocm"
    if build.startswith("xpu"):
        return "xpu"
    is_nvidia = build.startswith("cu") or environment.driver or environment.gpus
    return _CUDA if is_nvidia else ""


def _infer_system(case: Case) -> str:
    text = (case.environment.os or "").lower()
    return next((name for word, name in _SYSTEMS.items() if word in text), "linux" if text else "")


def _build_foreign_pattern(
    mine: Sequence[str], tops: Sequence[str], stacks: StackRules
) -> "re.Pattern[str] | None":
    """Give the words of what the job is known not to use.

    Those of other platforms, and those of PyTorch where every stack is known to do without.
    """
    patterns = [
        compile_word_pattern(word).pattern
        for word in sorted(_collect_other_platform_words(mine, stacks))
    ]
    if tops and not any(PLAIN in {name, *stacks.list_below(name)} for name in tops):
        patterns.append(_TORCH)
    return re.compile("|".join(patterns)) if patterns else None


def _collect_other_platform_words(mine: Sequence[str], stacks: StackRules) -> set[str]:
    """Give the words of the other platforms of each kind that is known, without one's own."""
    platforms = [stack for stack in stacks if stack.kind != TRAINER]
    own = [stack for stack in platforms if stack.id in mine]
    others = [one for one in platforms if one not in own and one.kind in {s.kind for s in own}]
    return {word for one in others for word in one.words}.difference(*(one.words for one in own))
