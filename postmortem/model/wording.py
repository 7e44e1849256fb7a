"""Values that hold texts in every language, or in one of them.

In: nothing. Out: `Text`, the kind of text that such a value holds: `Said`, or `str`. Not here: the
values themselves.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from postmortem.model.said import Said

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Text = TypeVar("Text", default=str)
else:
    from typing import TypeVar

    Text = TypeVar("Text")


def no_text() -> Any:
    """Give no words; they are the same in every language."""
    return ""


def worded(value: Any, change: Callable[[Said], Any]) -> Any:
    """Change every sentence in a value of this module, in the place where it stands.

    A class without a text in any field is not generic, and is left as it is.
    """
    if isinstance(value, Said):
        return change(value)
    if isinstance(value, tuple) and value and not hasattr(value, "_fields"):
        return tuple(worded(part, change) for part in value)
    if not getattr(value.__class__, "__parameters__", ()):
        return value
    known = {name.name: getattr(value, name.name) for name in dataclasses.fields(value)}
    return value.__class__(**{name: worded(part, change) for name, part in known.items()})
