"""Where a file is: a local path, or a URL that fsspec opens.

In: a location. Out: whether it is a URL; the same without what gives access. Not here: opening it.
"""

import re
from typing import Final

_SCHEME: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,30}(?:://|::))")
_LOGIN: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,30}://)[^/@]*@")
_ASKED: Final = re.compile(r"(?P<url>https?://[^?#:]*(?::\d+[^?#:]*)?)[?#].*?(?=::|\Z)")


def is_remote(place: str) -> bool:
    """Say whether a place is a URL, or several of them, one within the other."""
    return _SCHEME.match(place) is not None


def without_secrets(location: str) -> str:
    """Give a location without login, query and fragment; a path as it is."""
    if not is_remote(location):
        return location
    return _ASKED.sub(r"\g<url>", _LOGIN.sub(r"\g<scheme>", location))
