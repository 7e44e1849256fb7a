"""Hold the snippets of fixes against the packages that are installed here.

    python tools/check_snippets.py [--stack NAME ...]

In: the snippets of `patterns/fixes` and `patterns/stacks`. Out: a line for each that does not
parse, imports what its package has not got, or gives an option that a class or function does not
take; then which packages were asked, in which version, and which are not installed. Exit status 1
if anything is wrong. Not here: what a snippet says in Chinese (`postmortem patterns check`),
commands of a shell, whether the advice is good (`first_actions`).

A name is looked up in what the snippet imports, then in the packages of its stack and of those
below it. What is found nowhere is the user's own (`model`, `trainer`) and counts for nothing.
"""

import argparse
import ast
import builtins
import contextlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import io
import re
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from postmortem.rules.base import load
from postmortem.rules.cause_rules import fill

MODULES: Final = {
    "pytorch": (
        "torch",
        "torch.nn",
        "torch.optim",
        "torch.optim.lr_scheduler",
        "torch.utils.data",
        "torch.nn.parallel",
        "torch.distributed.fsdp",
    ),
    "transformers-trainer": ("transformers",),
    "transformers": ("transformers",),
    "trl": ("trl",),
    "peft": ("peft",),
    "accelerate": ("accelerate", "accelerate.utils"),
    "bitsandbytes": ("bitsandbytes", "bitsandbytes.optim"),
    "deepspeed": ("deepspeed", "deepspeed.zero"),
    "diffusers": ("diffusers",),
    "datasets": ("datasets",),
    "lightning": (
        "lightning",
        "lightning.pytorch.callbacks",
        "lightning.pytorch.strategies",
        "lightning.pytorch.plugins",
    ),
    "keras": ("keras", "keras.callbacks", "keras.optimizers", "keras.layers"),
    "sentence-transformers": ("sentence_transformers",),
    "ultralytics": ("ultralytics",),
    "mmengine": ("mmengine", "mmengine.hooks", "mmengine.runner", "mmengine.optim"),
    "sb3": ("stable_baselines3", "stable_baselines3.common.callbacks"),
    "ray-train": ("ray", "ray.train"),
}
"""Modules whose names the snippets of a stack use without importing them, the nearest first."""
ALIASES: Final = {"np": "numpy", "nn": "torch.nn", "F": "torch.nn.functional", "pl": "lightning"}
"""Modules under the names by which people know them."""
SHARED: Final = ("any", "model", "pytorch")
"""Keys of snippets that may speak of every stack over PyTorch."""
OWN_ALIASES: Final = frozenset({"jax", "mindspore", "paddle"})
"""Stacks in whose code `nn` is a module of their own."""
REGISTERED: Final = frozenset({"npu", "musa", "maca", "mlu"})
"""Back-ends that a package of their maker adds to `torch`."""
OF_A_VERSION: Final = re.compile(r"#.*(?:\d\.[\dx]|\b(?:newer|older|before)\b)")
"""A comment that says in which versions a line holds."""


class Fault(NamedTuple):
    """What is wrong with a snippet."""

    fix: str
    stack: str
    what: str


def list_snippets() -> Iterator[tuple[str, str, str, str]]:
    """Yield fix, stack, language and code of each snippet, its places filled by their defaults."""
    knowledge = load()
    for entry in knowledge.fixes:
        for stack, snippet in entry.snippets.items():
            yield entry.id, stack, snippet.language, fill(snippet.code, {})
    for rule in knowledge.stacks:
        for name, snippet in rule.snippets.items():
            yield name, rule.id, snippet.language, fill(snippet.code, {})


def import_module(name: str) -> Any:
    """Import a module; None where it is not installed, or does not work without a GPU."""
    hidden = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(hidden):
        warnings.simplefilter("ignore")
        try:
            with contextlib.redirect_stderr(hidden):
                return importlib.import_module(name)
        except Exception:  # noqa: BLE001  # whatever a package does when it is imported
            return None


def is_installed(name: str) -> bool:
    """Say whether the package of a module can be imported."""
    return import_module(name.partition(".")[0]) is not None


def get_part(base: Any, name: str) -> Any:
    """Give a part of a module or class; None where it has none, or where that cannot be loaded."""
    try:
        return getattr(base, name, None)
    except ImportError:
        return None


def exists(module: str) -> bool:
    """Say whether a package has a module; True where what it needs is not installed to tell."""
    try:
        return importlib.util.find_spec(module) is not None
    except Exception:  # noqa: BLE001  # its package fails when it is imported
        return True


def has_part(module: Any, name: str) -> bool:
    """Say whether a module has a part or another module; True where it cannot be told."""
    try:
        return hasattr(module, name) or exists(f"{module.__name__}.{name}")
    except ImportError:
        return True


class SnippetCheck(ast.NodeVisitor):
    """Looks up the names of one snippet."""

    def __init__(self, stack: str, code: str) -> None:
        """Know the modules of a stack and of those below it."""
        self._lines = code.splitlines()
        self._aliases = {} if stack in OWN_ALIASES else ALIASES
        stacks = load().stacks
        below = stacks.list_below(stack) if stack not in SHARED else frozenset(MODULES)
        keys = [stack, *(key for key in stacks.list_taken(stack) if key != stack), *sorted(below)]
        self._modules = [name for key in keys for name in MODULES.get(key, ())]
        self._modules += [name for name in MODULES["pytorch"] if name not in self._modules]
        self._names: dict[str, Any] = {}
        self.faults: list[str] = []

    def visit_Import(self, node: ast.Import) -> None:
        """Take note of modules."""
        for alias in node.names:
            self._take(alias.asname or alias.name.partition(".")[0], alias.name, "")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Take note of names out of a module."""
        for alias in node.names:
            self._take(alias.asname or alias.name, node.module or "", alias.name)

    def visit_Call(self, node: ast.Call) -> None:
        """Ask whether what is called takes these options."""
        self.generic_visit(node)
        called = self._resolve(node.func)
        options = [one.arg for one in node.keywords if one.arg is not None]
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        if called is None or any(map(OF_A_VERSION.search, lines)):
            return
        unknown = [name for name in options if not takes(called, name)]
        if unknown:
            self.faults.append(f"{ast.unparse(node.func)} takes no {', '.join(unknown)}")

    def _take(self, name: str, module: str, part: str) -> None:
        found = import_module(module)
        if found is None:
            if is_installed(module) and not exists(module):
                self.faults.append(f"no module {module}")
            return
        if part and not has_part(found, part):
            self.faults.append(f"{module} has no {part}")
        is_top = not part and name == module.partition(".")[0]
        own = import_module(name) if is_top else found
        self._names[name] = get_part(found, part) if part else own

    def _resolve(self, node: ast.expr) -> Any:
        """Give what a name stands for; None where it is the user's own."""
        if isinstance(node, ast.Name):
            return self._look_up(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        base = self._resolve(node.value)
        if base is None:
            return None
        found = get_part(base, node.attr)
        if found is None and inspect.ismodule(base) and node.attr not in REGISTERED:
            found = import_module(f"{base.__name__}.{node.attr}")
            if not has_part(base, node.attr):
                self.faults.append(f"{base.__name__} has no {node.attr}")
        return found

    def _look_up(self, name: str) -> Any:
        if name in self._names or hasattr(builtins, name):
            return self._names.get(name)
        if name in self._aliases:
            return import_module(self._aliases[name])
        if name in {module.partition(".")[0] for module in self._modules}:
            return import_module(name)
        if not name[:1].isupper():
            return None
        modules = filter(None, map(import_module, self._modules))
        return next((got for module in modules if (got := get_part(module, name))), None)


def takes(called: Any, option: str) -> bool:
    """Say whether a class or a function takes an option; True where it does not tell."""
    try:
        parameters = inspect.signature(called).parameters
    except (TypeError, ValueError):
        return True
    kinds = {parameter.kind for parameter in parameters.values()}
    return option in parameters or inspect.Parameter.VAR_KEYWORD in kinds


def check_snippet(stack: str, code: str) -> list[str]:
    """List what is wrong with a snippet of Python."""
    code = textwrap.dedent(code)
    if code.splitlines()[-1].startswith("@"):
        code += "\nclass Decorated: ..."
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        return [f"does not parse: {error.msg} in line {error.lineno}"]
    checked = SnippetCheck(stack, code)
    checked.visit(tree)
    return checked.faults


def find_faults(stacks: Sequence[str] = ()) -> Iterator[Fault]:
    """Yield the faults of all snippets of Python, or of those of some stacks."""
    for fix, stack, language, code in list_snippets():
        if language == "python" and (not stacks or stack in stacks):
            yield from (Fault(fix, stack, what) for what in check_snippet(stack, code))


def describe_packages(names: Iterable[str]) -> Iterator[str]:
    """Yield each package with its version, or that it is not installed."""
    for name in sorted(set(names)):
        try:
            version = importlib.metadata.version(name.replace("_", "-"))
        except importlib.metadata.PackageNotFoundError:
            version = "" if is_installed(name) else "not installed"
        yield f"{name} {version}".strip()


def main(arguments: Sequence[str]) -> int:
    """Print the faults; give the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--stack", action="append", default=[])
    asked = parser.parse_args(arguments).stack
    count = sum(language == "python" for _, _, language, _ in list_snippets())
    faults = list(find_faults(asked))
    for fault in faults:
        print(f"{fault.stack}: {fault.fix}: {fault.what}")
    roots = [name.partition(".")[0] for names in MODULES.values() for name in names]
    print(f"\n{count} snippets of Python, {len(faults)} faults")
    print("; ".join(describe_packages(roots)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
