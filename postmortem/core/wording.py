"""The type of texts that values hold: in every language, or in one of them.

In: nothing. Out: `Text`, the kind of text that such a value holds: `Message`, or `str`. Not here:
the values themselves.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from postmortem.core.message import Message

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Text = TypeVar("Text", default=str)
else:
    from typing import TypeVar

    Text = TypeVar("Text")


_BARE: Final = frozenset({str, int, float, bool, type(None)})
"""What holds no sentence."""


def get_no_text() -> Any:
    """Give no words; they are the same in every language."""
    return ""


def convert_texts(value: Any, change: Callable[[Message], Any]) -> Any:
    """Change every sentence in a value of this module, in the place where it stands.

    A class without a text in any field is not generic, and is left as it is.
    """
    kind = value.__class__
    if kind is Message:
        return change(value)
    if kind is tuple:
        return tuple([convert_texts(part, change) for part in value])
    names = _list_text_fields(kind)
    if not names:
        return value
    known = {name: getattr(value, name) for name in names}
    return kind(
        **{
            name: part if part.__class__ in _BARE else convert_texts(part, change)
            for name, part in known.items()
        }
    )


@functools.cache
def _list_text_fields(kind: type[Any]) -> tuple[str, ...]:
    """Name the fields of a class that may hold a text, of any other none."""
    is_generic = bool(getattr(kind, "__parameters__", ()))
    return tuple(field.name for field in dataclasses.fields(kind)) if is_generic else ()
