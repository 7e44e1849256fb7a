"""The parts of an exception: what its message asks for, and the names in its statement.

In: a message; the statement as a traceback quotes it, names out of the message. Out: under the
names that texts use, the message's instruction, what was needed and what came, the value it rejects
and the ones it lists, whoever raised it; pieces of source: what is called, indexed, divided, asked
for. Not here: the texts (`patterns/exceptions`), the wordings of known libraries.
"""

import ast
import builtins
import difflib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from postmortem.core.log_text import compile_lazily

_LONGEST_MESSAGE: Final = 3000
_MOST_SENTENCES: Final = 12
_LONGEST_SENTENCE: Final = 240
_CLOSE: Final = 0.6
_IGNORECASE: Final = 2

_SENTENCES: Final = compile_lazily(r"(?<=[.;!?])\s+|\n\s*")
_INSTRUCTION: Final = compile_lazily(
    r"(?:^|(?P<mark>[,:(\"]) ?)(?:(?:please|use|try|consider|pass|call|run|make sure"
    r"|ensure|specify|provide"
    r"|reshape|wrap|convert|install|perhaps you|maybe you|did you|do you need|if you want)\b"
    r"|set (?!changed|size|of|is)|you (?:could|should|must|need|have to|may|might|probably)\b"
    r"|you can\b(?! only|'t))"
    r"|\b(?:use|try|call|set|pass|do|add) [^,]{1,80} instead|\binstead(?: use| of [^,]{1,60} use)"
    r"|\b(?:must|should) (?:be called|call)\b|\bneeds? to be\b|\bconsider \w+ing\b"
    r"|\brequires you to\b",
    _IGNORECASE,
)
_NO_HELP: Final = compile_lazily(
    r"\b(?:report|bug|issue|refer to|more (?:information|details)|documentation"
    r"|stack ?trace|HYDRA_FULL_ERROR|TRACEBACK_FILTERING|https?://)",
    _IGNORECASE,
)
_NEEDED: Final = compile_lazily(
    r"(?:^|\b)(?:expect(?:ed|s|ing)?(?: an?)?|requires?|needs?|(?:must|should|has to"
    r"|have to|can only) be"
    r"|should have|only (?:accepts?|supports?|takes?))(?: to be)?(?: an?"
    r"| of)? (?P<needed>[^\n]{1,36}?)"
    r"(?:,? but|,? and|[,;:.(]|,? instead)? ?(?:i?t? ?(?:got|gets|received|found|saw"
    r"|was given|given|not|was|is|had|has)\b)"
    r":? (?:(?:an?|of|input|type|object|value) ){0,2}(?P<received>[^\n]{1,100})",
    _IGNORECASE,
)
_NEEDED_AND_WAS: Final = compile_lazily(
    r"(?:expect(?:ed|s|ing)?|requires?"
    r"|takes?) (?P<needed>[^\n]{1,100}?),? but (?P<received>[^\n]{1,80}?)"
    r" (?:was|were) (?:given|found|passed|received)",
    _IGNORECASE,
)
_RECEIVED_FIRST: Final = compile_lazily(
    r"(?:\bgot|\bfound|\breceived|\bgiven):? (?P<received>[^\n]{1,40}?)[,;:]? (?:but )?"
    r"(?:(?:is |was )?expected|needs?|wanted|should be"
    r"|required)(?: to be)?:? (?P<needed>[^\n]{1,80})"
    r"|\bgot (?P<came>[^\n]{1,40}?),? but (?P<due>[^\n]{1,40}?) (?:is|are|was"
    r"|were) (?:expected|required|needed)",
    _IGNORECASE,
)
_REJECTED: Final = (
    compile_lazily(
        r"(?:^|[^\w'])['\"](?P<value>[\w./+-]{1,60})['\"] (?:is "
        r"|was )?(?:not (?:an? )?(?:valid|supported|known|found"
        r"|recogni[sz]ed|available|understood|in|one of|registered|allowed|implemented|defined)"
        r"|not an? \w+|unknown|does(?:n't| not) exist)\b",
        _IGNORECASE,
    ),
    compile_lazily(
        r"\b(?:unknown|unsupported|unrecogni[sz]ed|invalid|illegal|undefined|unexpected"
        r"|no such|bad)"
        r"(?: [A-Za-z_]{1,30}){0,4}?(?: for [\w ]{1,30})?[:=]? ['\"](?P<value>[\w./+-]{1,60})['\"]",
        _IGNORECASE,
    ),
    compile_lazily(
        r"^(?:unknown|unsupported|unrecogni[sz]ed|invalid|illegal|undefined|no such)"
        r"(?: [A-Za-z_]{1,30}){1,3}?:? (?P<value>[\w./+-]{1,60})(?=[.,;]?$|[.,;] |:? [\[(])",
        _IGNORECASE,
    ),
    compile_lazily(r"\bgot:? (?:\w{1,30}=)?['\"](?P<value>[\w./+-]{1,60})['\"]", _IGNORECASE),
)
_OFFERED: Final = compile_lazily(
    r"\b(?:(?:one of|among|choose from|choose between|available|valid|supported|allowed"
    r"|accepted|options?|choices"
    r"|possible|known|registered|must be in|should be in"
    r"|pick)\b[^\n\[({'\"]{0,60}?(?:[\[({]{1,2}|: ?|\bare |(?=['\"]))"
    r"|(?:one of|either|between|choose from|must be|should be) )"
    r"(?P<offered>(?:['\"]?[\w./+-]{1,40}['\"]?(?:, and |, or |, ?| ?\| ?|/| or | and )){1,80}"
    r"['\"]?[\w./+-]{1,40}['\"]?)",
    _IGNORECASE,
)
_ITEM: Final = compile_lazily(r"[\w./+-]{1,40}")
_NO_CHOICE: Final = frozenset({"a", "an", "and", "of", "or", "the", "but", "not", "got"})
_NO_VALUE: Final = frozenset(
    {"argument", "character", "data", "escape", "format", "index", "input", "key", "literal"}
    | {"name", "option", "sequence", "shape", "size", "state", "syntax", "type", "value", "values"}
)
"""Words that say what kind of thing is wrong, not which."""


def parse_message(message: str) -> dict[str, str]:
    """Name the parts of a message; what it does not say is absent."""
    text = message[:_LONGEST_MESSAGE].strip()
    sentences = [one.strip() for one in _SENTENCES.split(text)][:_MOST_SENTENCES]
    sentences = [one for one in sentences if one]
    found = next(_asked(sentences), {}) | next(_compared(sentences), {})
    rejected = next(_rejected(sentences), "")
    if rejected:
        found["rejected"] = rejected
    return found | _offered(text, rejected)


def _asked(sentences: list[str]) -> Iterator[dict[str, str]]:
    """Yield what a sentence tells the reader to do; of one with a colon what stands behind it."""
    for one in sentences:
        match = _INSTRUCTION.search(one)
        if match is None or len(one) > _LONGEST_SENTENCE or _NO_HELP.search(one):
            continue
        begin = match.start() + 1 if match["mark"] == ":" else 0
        yield {"asked": one[begin:].strip(" .;\"'")}


def _compared(sentences: list[str]) -> Iterator[dict[str, str]]:
    """Yield what was needed and what came instead."""
    for one in sentences:
        for pattern in (_NEEDED_AND_WAS, _NEEDED, _RECEIVED_FIRST):
            match = pattern.search(one)
            if match is not None:
                parts = match.groupdict()
                yield {
                    "needed": _trimmed(parts["needed"] or parts.get("due") or ""),
                    "received": _trimmed(parts["received"] or parts.get("came") or ""),
                }


def _rejected(sentences: list[str]) -> Iterator[str]:
    """Yield values that are called unknown or not valid."""
    for one in sentences:
        for pattern in _REJECTED:
            match = pattern.search(one)
            value = match["value"].rstrip(".") if match is not None else ""
            if value and value.lower() not in _NO_VALUE:
                yield value


def _offered(text: str, rejected: str) -> dict[str, str]:
    """Give the values that are accepted, and the one that is close to the rejected one."""
    for match in _OFFERED.finditer(text):
        items = [one.rstrip(".") for one in _ITEM.findall(match["offered"])]
        is_plain = not any(one.lower() in _NO_CHOICE - {"and", "or"} for one in items)
        items = [one for one in items if one.lower() not in {"and", "or", rejected.lower()}]
        if not is_plain or len(items) < 2 or all(one.lstrip("-").isdigit() for one in items):
            continue
        found = {"offered": ", ".join(dict.fromkeys(items))}
        nearest = difflib.get_close_matches(rejected, items, 1, _CLOSE) if rejected else []
        return found | ({"nearest": nearest[0]} if nearest else {})
    return {}


def _trimmed(value: str) -> str:
    """Drop what ends the sentence, and a bracket that was opened before."""
    text = re.sub(r"\.?\] \(at /.*$", "", value.strip())  # the place in Paddle's own sources
    text = re.sub(r"[\s.,;:]+$", "", text).removesuffix(" instead")
    return text.removesuffix(")") if "(" not in text else text


_LONGEST_STATEMENT: Final = 400
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
        found["innermost"] = ast.unparse(_entered(calls, entered).func)
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
        called = ast.unparse(call.func).rpartition(".")[2]
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
    if not text or len(text) > _LONGEST_STATEMENT:
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
            yield "receiver", ast.unparse(value)
            yield from _made(value)
        case ast.Subscript(value=value, slice=index):
            key = str(index.value) if isinstance(index, ast.Constant) else None
            if key is not None and key == captured.get("key"):
                yield "container", ast.unparse(value)
            yield "indexed", ast.unparse(value)
            yield "index", ast.unparse(index)
            yield from _made(value)
        case _:
            return


def _computed(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Name the sides of a division, what is asserted, what is called and with what."""
    match node:
        case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
            yield "dividend", ast.unparse(left)
            yield "divisor", ast.unparse(right)
        case ast.Assert(test=test):
            yield "asserted", ast.unparse(test)
        case ast.Call(func=function, args=arguments):
            yield "called", ast.unparse(function)
            if isinstance(function, ast.Attribute) and not _is_module(function.value):
                yield "object", ast.unparse(function.value)
            if arguments:
                yield "argument", ast.unparse(arguments[0])
        case _:
            return


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Name what is assigned or looped over."""
    match node:
        case ast.Assign(targets=[target], value=value):
            yield "target", ast.unparse(target).strip("()")
            yield from _made(value)
        case ast.For(target=target, iter=iterable):
            yield "target", ast.unparse(target).strip("()")
            yield "iterable", ast.unparse(iterable)
            yield from _made(iterable)
        case _:
            return


def _is_module(node: ast.AST) -> bool:
    return ast.unparse(node).partition(".")[0] in _MODULES


def _made(value: ast.AST) -> Iterator[tuple[str, str]]:
    """Name what returned a value."""
    if isinstance(value, ast.Call):
        yield "maker", ast.unparse(value.func)


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
            yield ast.unparse(node)
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
