"""Load functions and classes from the user's file without running the training in it.

In: a file whose code is trusted, its checksum, a name in it. Out: the object of that name. Not
here: whether it is trusted (`rerun.requested_replay`).

A training script without `if __name__ == "__main__":` would train again, and write over its own
checkpoints. So only what defines something is executed: imports, functions, classes, and
assignments of constants. Everything else at the top level is left out.
"""

import ast
import builtins
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from postmortem.core.errors import InputError

_DEFINITIONS: Final = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
_VALUES: Final = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Set,
    ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr,
    ast.FormattedValue, ast.Starred, ast.Lambda, ast.expr_context, ast.operator, ast.unaryop,
    ast.boolop, ast.cmpop,
)  # fmt: skip
"""What a constant is made of, apart from calls of `_PURE`."""
_PURE: Final = frozenset(
    {
        "bool", "bytes", "dict", "float", "frozenset", "int", "len", "list", "max", "min", "range",
        "set", "str", "sum", "tuple", "torch.device", "torch.Size", "torch.cuda.is_available",
        "torch.cuda.device_count", "Path", "pathlib.Path", "os.environ.get", "os.getenv",
        "os.path.join", "os.path.dirname", "os.path.abspath", "logging.getLogger", "namedtuple",
        "collections.namedtuple", "TypeVar", "typing.TypeVar", "NewType", "math.sqrt", "math.log",
        "re.compile", "partial", "functools.partial", "SimpleNamespace", "types.SimpleNamespace",
    }
)  # fmt: skip
"""Calls in constants that only make a value."""


def load_named(file: str, name: str, sha256: str) -> Any:
    """Give what bears a name in a file; with dots, what bears it within a class.

    Raises:
        InputError: the file is another by now, cannot be executed, or has nothing of this name.
    """
    module, left_out = _load_definitions(file, sha256)
    try:
        found = functools.reduce(getattr, name.split("."), module)
    except AttributeError as error:
        raise InputError(
            f"nothing is defined as {name!r} at the top level",
            file,
            "define it there, not below a condition or in the course of the training",
        ) from error
    return found if isinstance(found, type) else _wrap_with_explanation(found, file, left_out)


@functools.cache
def _load_definitions(file: str, sha256: str) -> tuple[types.ModuleType, dict[str, str]]:
    """Execute the definitions of a file as a module that is not `__main__`; once each."""
    source = _read(file, sha256)
    module = types.ModuleType(f"postmortem_trusted_{sha256[:16]}")
    module.__file__ = file
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(Path(file).parent))
    left_out: dict[str, str] = {}
    try:
        tree = ast.parse(source, file)
        tree.body = list(_select_definitions(tree.body, left_out))
        exec(compile(tree, file, "exec"), module.__dict__)  # noqa: S102 -- the user has said --trust-code
    except BaseException as error:
        del sys.modules[module.__name__]
        raise InputError(
            f"the code cannot be loaded: {_describe_error(error, left_out)}",
            file,
            "what a definition needs at the top level must be an import or a constant",
        ) from error
    finally:
        sys.path.remove(str(Path(file).parent))
    return module, left_out


def _read(file: str, sha256: str) -> bytes:
    """Read the file once: what is executed is what the checksum was computed of."""
    try:
        source = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"the code cannot be read: {error.strerror}", file) from error
    if hashlib.sha256(source).hexdigest() != sha256:
        raise InputError("the code is not the one that was recorded: its checksum is another", file)
    return source


def _select_definitions(body: list[ast.stmt], left_out: dict[str, str]) -> Iterator[ast.stmt]:
    """Go through the statements that define something; note the names that others would set."""
    for statement in body:
        if isinstance(statement, _DEFINITIONS) or _is_constant(statement):
            yield statement
        elif isinstance(statement, ast.If) and _is_value(statement.test):
            statement.body = list(_select_definitions(statement.body, left_out)) or [ast.Pass()]
            statement.orelse = list(_select_definitions(statement.orelse, left_out))
            yield ast.fix_missing_locations(statement)
        elif isinstance(statement, ast.Try):
            yield _filter_try(statement, left_out)
        else:
            shown = f"line {statement.lineno}: {ast.unparse(statement).splitlines()[0][:80]}"
            left_out.update(dict.fromkeys(_set_names(statement), shown))


def _filter_try(statement: ast.Try, left_out: dict[str, str]) -> ast.stmt:
    statement.body = list(_select_definitions(statement.body, left_out)) or [ast.Pass()]
    for handler in statement.handlers:
        handler.body = list(_select_definitions(handler.body, left_out)) or [ast.Pass()]
    statement.orelse = list(_select_definitions(statement.orelse, left_out))
    statement.finalbody = list(_select_definitions(statement.finalbody, left_out))
    return ast.fix_missing_locations(statement)


def _is_constant(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    are_names = all(
        isinstance(part, ast.Name | ast.Tuple | ast.List | ast.Starred | ast.expr_context)
        for target in targets
        for part in ast.walk(target)
    )
    return are_names and (statement.value is None or _is_value(statement.value))


def _is_value(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        return ast.unparse(node.func) in _PURE and all(map(_is_value, parts))
    if isinstance(node, ast.Lambda):
        return True
    return isinstance(node, _VALUES) and all(map(_is_value, ast.iter_child_nodes(node)))


def _set_names(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _describe_error(error: BaseException, left_out: dict[str, str]) -> str:
    """Tell an error; where a name is missing, which statement was not executed."""
    text = f"{type(error).__name__}: {error}"
    place = left_out.get(error.name or "") if isinstance(error, NameError) else None
    return f"{text}; it is set by a statement that is not executed ({place})" if place else text


def _wrap_with_explanation(found: Any, file: str, left_out: dict[str, str]) -> Callable[..., Any]:
    """Give a function that says what was left out where it misses a name."""

    @functools.wraps(found)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return found(*args, **kwargs)
        except NameError as error:
            if error.name is None or error.name not in left_out or hasattr(builtins, error.name):
                raise
            raise InputError(
                _describe_error(error, left_out),
                file,
                "set it within the function, or give it a constant",
            ) from error

    return call
