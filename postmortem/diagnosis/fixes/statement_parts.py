"""The names in a statement of the user's code: what is called, indexed, divided, asked for.

In: the statement as a traceback quotes it, names out of the message. Out: pieces of source under
the names that texts use. Not here: the texts (`patterns/exceptions`).
"""

import ast
import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_LONGEST: Final = 400
_MOST_NAMES: Final = 4
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_VARIABLES: Final = frozenset(
    {
        "array",
        "code",
        "copy",
        "email",
        "numbers",
        "platform",
        "profile",
        "queue",
        "select",
        "signal",
    }
    | {"site", "statistics", "string", "test", "token", "types", "calendar", "parser", "resource"}
)
"""Modules of Python whose names scripts give to values."""
_MODULES: Final = (sys.stdlib_module_names - _VARIABLES) | frozenset(
    {
        "F",
        "cv2",
        "dist",
        "h5py",
        "hydra",
        "jax",
        "jnp",
        "keras",
        "mlflow",
        "nn",
        "np",
        "numpy",
        "optim",
    }
    | {"pd", "plt", "requests", "scipy", "sklearn", "sns", "tf", "torch", "torchvision", "tqdm"}
    | {"transformers", "wandb", "yaml"}
)
"""Names by which scripts call modules: they are no values."""
_OF_A_CLASS: Final = frozenset({"__init__", "__new__", "__post_init__"})
_OF_AN_OBJECT: Final = frozenset({"__call__", "_call_impl", "_wrapped_call_impl", "forward"})
_NOT_VALUES: Final = _MODULES | frozenset(dir(builtins))


def parse_statement(
    statement: str, captured: Mapping[str, str], entered: str = ""
) -> dict[str, str]:
    """Name the parts of a statement; one that cannot be parsed has none.

    `captured`: `name` of an attribute, `key` that was looked up, as the message gives them;
    `entered`: the function that the frame below is in.
    """
    tree = _parsed(statement)
    if tree is None:
        return {}
    nodes = list(ast.walk(tree))
    found = _first_parts(nodes, captured)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if calls:
        found["innermost"] = _source(_entered(calls, entered).func)
    if "key" in captured and "indexed" in found:
        found.setdefault("container", found["indexed"])
    names = list(_values(tree))[:_MOST_NAMES]
    if names:
        found["names"] = ", ".join(names)
        found["printed"] = " ".join(f"{{{name}=}}" for name in names)
    return found


def _entered(calls: Sequence[ast.Call], function: str) -> ast.Call:
    """Take the call that led into a function; the innermost where none bears its name."""
    name = function.rpartition(".")[2]

    def fits(call: ast.Call) -> bool:
        called = _source(call.func).rpartition(".")[2]
        return called[:1].isupper() if name in _OF_A_CLASS else called == name

    if name in _OF_AN_OBJECT:
        return calls[0]
    return next((call for call in calls if fits(call)), calls[-1])


def _first_parts(nodes: Sequence[ast.AST], captured: Mapping[str, str]) -> dict[str, str]:
    """Take the first part of each kind, what the message asks for before anything else."""
    found: dict[str, str] = {}
    asked = (part for node in nodes for part in _looked_up(node, captured))
    others = (part for node in nodes for part in (*_computed(node), *_bound(node)))
    for name, value in (*asked, *others):
        found.setdefault(name, value)
    return found


def _parsed(statement: str) -> ast.AST | None:
    """Parse a statement that may be the first line of several, or the head of a block."""
    text = statement.strip()
    if not text or len(text) > _LONGEST:
        return None
    for head in ("elif ", "else:", "except"):
        if text.startswith(head):
            text = text.removeprefix("el") if head == "elif " else ""
    closed = text + _closing(text)
    for candidate in (text, f"{text} pass", closed, f"{closed} pass", f"{closed}: pass"):
        try:
            return ast.parse(candidate)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    return None


def _closing(text: str) -> str:
    """Give the brackets that are still open, from the inside out."""
    stack: list[str] = []
    for character in text:
        if character in _CLOSING:
            stack.append(_CLOSING[character])
        elif stack and character == stack[-1]:
            stack.pop()
    return "".join(reversed(stack))


def _looked_up(node: ast.AST, captured: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name what an attribute, a key or an index is asked of."""
    match node:
        case ast.Attribute(value=value, attr=attr) if attr == captured.get("name"):
            yield "receiver", _source(value)
            yield from _made(value)
        case ast.Subscript(value=value, slice=index):
            key = str(index.value) if isinstance(index, ast.Constant) else None
            if key is not None and key == captured.get("key"):
                yield "container", _source(value)
            yield "indexed", _source(value)
            yield "index", _source(index)
            yield from _made(value)
        case _:
            return


def _computed(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Name the sides of a division, what is asserted, what is called and with what."""
    match node:
        case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
            yield "dividend", _source(left)
            yield "divisor", _source(right)
        case ast.Assert(test=test):
            yield "asserted", _source(test)
        case ast.Call(func=function, args=arguments):
            yield "called", _source(function)
            if isinstance(function, ast.Attribute) and not _is_module(function.value):
                yield "object", _source(function.value)
            if arguments:
                yield "argument", _source(arguments[0])
        case _:
            return


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Name what is assigned or looped over."""
    match node:
        case ast.Assign(targets=[target], value=value):
            yield "target", _source(target).strip("()")
            yield from _made(value)
        case ast.For(target=target, iter=iterable):
            yield "target", _source(target).strip("()")
            yield "iterable", _source(iterable)
            yield from _made(iterable)
        case _:
            return


def _is_module(node: ast.AST) -> bool:
    return _source(node).partition(".")[0] in _MODULES


def _made(value: ast.AST) -> Iterator[tuple[str, str]]:
    """Name what returned a value."""
    if isinstance(value, ast.Call):
        yield "maker", _source(value.func)


def _source(node: ast.AST) -> str:
    return ast.unparse(node)


def _values(node: ast.AST) -> Iterator[str]:
    """Yield the values that a statement reads, each once: no modules, no functions."""
    seen = set()
    for name in _read(node):
        if name not in seen and name.partition(".")[0] not in _NOT_VALUES:
            seen.add(name)
            yield name


def _read(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            yield node.id
        return
    if isinstance(node, ast.Attribute) and _is_dotted(node):
        if isinstance(node.ctx, ast.Load):
            yield _source(node)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Call) and child is node.func:
            if isinstance(child, ast.Attribute):  # the object, not its method
                yield from _read(child.value) if not _is_self(child.value) else ()
            continue
        yield from _read(child)


def _is_dotted(node: ast.Attribute) -> bool:
    value: ast.AST = node
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}
