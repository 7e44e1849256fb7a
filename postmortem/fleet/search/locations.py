"""Where a file is: a local path, or a URL that fsspec opens.

In: a location. Out: whether it is a URL; what lies above and below; the same without what gives
access. Not here: opening it.
"""

from typing import Final

from postmortem.core.lazy_regex import compile_lazily

_SCHEME: Final = compile_lazily(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,30}(?:://|::))")
_LOGIN: Final = compile_lazily(
    r"(?<![A-Za-z0-9+.-])(?P<scheme>(?!abfs|wasb)[A-Za-z][A-Za-z0-9+.-]{1,30}://)[^/]*@"
)
"""In Azure's URLs a container stands before the @."""
_QUERY: Final = compile_lazily(
    r"(?P<url>https?://[^?#:]{0,2000}(?::\d{1,5}[^?#:]{0,2000})?)[?#](?:(?!::).)*"
)


def is_remote(place: str) -> bool:
    """Say whether a place is a URL, or several of them, one within the other."""
    return _SCHEME.match(place) is not None


def remove_location_secrets(location: str) -> str:
    """Give a location without login, query and fragment; a path as it is."""
    if not is_remote(location):
        return location
    return _QUERY.sub(r"\g<url>", _LOGIN.sub(r"\g<scheme>", location))


def extract_path(location: str) -> str:
    """Give what of a location names the file: without what holds it and what a server is asked."""
    if not is_remote(location):
        return location
    head = location.partition("::")[0]
    return head.partition("?")[0] if head.startswith(("http://", "https://")) else head


def join_location(folder: str, name: str) -> str:
    """Give the location of a name within a folder."""
    head, chained, rest = folder.partition("::") if is_remote(folder) else (folder, "", "")
    return f"{head.rstrip('/')}/{name}{chained}{rest}"


def get_parent_folder(location: str) -> str:
    """Give the folder of a file."""
    if not is_remote(location):
        return location.rpartition("/")[0]
    head, chained, rest = location.partition("::")
    return f"{extract_path(head).rpartition('/')[0]}{chained}{rest}"
