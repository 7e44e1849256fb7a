"""Find the links in an issue to files stored by GitLab.

In: the text of an issue, its project, the address of the server. Out: links, as the API takes them.
Not here: fetching them.

A link names its file by a secret and a name (`/uploads/<secret>/<name>`), alone, behind the path of
a project, or behind `/-/project/<id>`. Whatever stands before it, the file is asked for in the
issue's own project: nobody gets another project's file by linking to it.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, unquote

from postmortem.core.lazy_regex import compile_lazily
from postmortem.interfaces.trackers.gitlab_calls import project_path
from postmortem.interfaces.trackers.tracker_values import LinkedFile

_UPLOAD: Final = compile_lazily(
    r"(?<![\w/.-])(?P<before>https?://[^\s()<>\[\]\"'`]{1,300}|/(?!/)[\w./-]{1,300}|)"
    r"(?<!/)/uploads/(?P<secret>[0-9a-f]{32})/(?P<name>[^\s()<>\[\]\"'`/?#]{1,200})",
    re.ASCII,
)
_NO_LOG: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".mp4", ".mov")
_NO_TEXT: Final = (".webm", ".pdf", ".docx", ".pptx", ".xlsx")


def iter_uploads(text: str, project: str, server: str, base: str) -> Iterator[LinkedFile]:
    """Yield links to uploads of a project, but for pictures and papers.

    Args:
        text: Markdown.
        project: of the issue.
        server: its address; a link to any other is none.
        base: of its API.
    """
    for match in _UPLOAD.finditer(text):
        before, name = match["before"], unquote(match["name"].rstrip(".,;:!?*_"))
        is_own = not before.startswith("http") or before.startswith(f"{server}/")
        is_name = name not in {"", ".", ".."} and "/" not in name
        if is_own and is_name and not name.lower().endswith((*_NO_LOG, *_NO_TEXT)):
            path = f"{project_path(project)}/uploads/{match['secret']}/{quote(name, safe='')}"
            yield LinkedFile(name, base + path)
