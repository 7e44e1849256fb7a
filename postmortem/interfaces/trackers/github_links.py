"""Find the links in an issue to files stored by GitHub.

In: the text of an issue, the address of the server. Out: links. Not here: fetching them.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from postmortem.core.lazy_regex import compile_lazily
from postmortem.interfaces.trackers.tracker_values import LinkedFile

FILE_HOSTS: Final = (
    "github.com",
    "gist.github.com",
    "gist.githubusercontent.com",
    "raw.githubusercontent.com",
    "objects.githubusercontent.com",
    "github-production-repository-file-5c1aeb.s3.amazonaws.com",
    "github-production-user-asset-6210df.s3.amazonaws.com",
)
"""Where links to attached files lead in the end."""
JOB_HOSTS: Final = ("*.actions.githubusercontent.com", "*.blob.core.windows.net")
"""Where the logs of jobs are; only GitHub's own API names an address there."""
PUBLIC_WEB: Final = "https://github.com"
_GISTS: Final = "https://gist.github.com"
_LINK: Final = compile_lazily(r"https?://[^\s()<>\[\]\"'`]{1,500}")
_ATTACHED: Final = compile_lazily(
    r"/user-attachments/files/\d{1,20}/([^/?#]{1,200})"
    r"|/[\w.-]{1,100}/[\w.-]{1,100}/files/\d{1,20}/([^/?#]{1,200})",
    re.ASCII,
)
_GIST: Final = compile_lazily(r"/[\w-]{1,60}/[0-9a-f]{20,40}", re.ASCII)
_NO_LOG: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".mp4", ".mov")
_NO_TEXT: Final = (".webm", ".pdf", ".docx", ".pptx", ".xlsx")


def iter_attachments(text: str, web_url: str) -> Iterator[LinkedFile]:
    """Yield links to attached files and to gists, but for pictures and papers."""
    for match in _LINK.finditer(text):
        link = match[0].rstrip(".,;:!?*_")
        path = link.removeprefix(web_url)
        if path != link and (found := _ATTACHED.fullmatch(path)):
            name = unquote(found[1] or found[2])
            if not name.lower().endswith((*_NO_LOG, *_NO_TEXT)):
                yield LinkedFile(name, link)
        path = link.removeprefix(_GISTS)
        if path != link and web_url == PUBLIC_WEB and _GIST.fullmatch(path):
            yield LinkedFile("gist", f"{link}/raw")
