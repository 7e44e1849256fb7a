"""The error file of torchelastic.

The exception that a worker decorated with `@record` has died of, as JSON on one line.

In: the text of the file. Out: the text of the exception as the worker would have printed it. Not
here: its meaning; whether an agent's "root cause" is to be believed (`case.order`). Source:
torch/distributed/elastic/multiprocessing/errors/error_handler.py, torch >= 1.9.
"""

import json
from typing import Any, Final

from postmortem.core.message import say

NOTE: Final = say("error file of torchelastic")
_BEGIN: Final = '{"message": {"message": "'


def is_error_file(head: str) -> bool:
    """Say whether a file that begins like this is an error file."""
    return head.startswith(_BEGIN)


def extract_traceback(raw: str) -> str | None:
    """Give the call stack with the exception at its end.

    None if the JSON is cut off or has another shape.
    """
    try:
        error: Any = json.loads(raw)["message"]
        message, stack = (
            str(error["message"]),
            str(error.get("extraInfo", {}).get("py_callstack", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return (
        f"{stack.rstrip()}\n"
        if message.split("\n", maxsplit=1)[0] in stack
        else f"{stack.rstrip()}\n{message}\n".lstrip()
    )
