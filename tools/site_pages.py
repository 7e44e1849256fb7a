"""The pages of the site that stand elsewhere in the repository, and the links to them.

In: what mkdocs tells of its settings and pages (mkdocs.yml names this module as a hook). Out: a
folder with the files of docs/ and those of `BROUGHT`, and links of every page so that they lead
where they lead in the repository; what the site has not is told without a link. Not here: the
choice and the order of pages (mkdocs.yml).
"""

import posixpath
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
BROUGHT: Final = {
    "README.md": "index.md",
    "README.zh.md": "index.zh.md",
    "MODEL_CARD.md": "project/MODEL_CARD.md",
    "CHANGELOG.md": "project/CHANGELOG.md",
    "CONTRIBUTING.md": "project/CONTRIBUTING.md",
    "patterns/README.md": "project/patterns.md",
    "postmortem/replay/rerun/verdicts.yaml": "project/verdicts.yaml",
    "LICENSE": "project/LICENSE.txt",
}
"""Files of the repository outside docs/, and where the site has them."""

_GATHERED: Final = tempfile.TemporaryDirectory(prefix="postmortem-site-")
_LINK: Final = re.compile(r"\[((?:[^][]|\[[^][]*\])*)\]\(([^)\s:]+)\)")
_PICTURE: Final = re.compile(r'(?<=<img src=")[^":]+(?=")')
_FENCED: Final = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_TWIN: Final = re.compile(
    r"^(?:\*\*English\*\* · \[中文\].*|\[English\].* · \*\*中文\*\*|\*\[(?:中文|English)\].*\*)\n",
    re.MULTILINE,
)
"""The line that leads to the page in the other language; the site has a switch for it."""


def on_config(config: Any) -> Any:
    """Gather the pages in a folder of their own."""
    gathered = Path(_GATHERED.name)
    shutil.rmtree(gathered, ignore_errors=True)
    shutil.copytree(ROOT / "docs", gathered)
    for path, place in BROUGHT.items():
        (gathered / place).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, gathered / place)
    config["docs_dir"] = str(gathered)
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links lead where they lead in the repository, and leave the twin to the switch."""
    parts = _FENCED.split(_TWIN.sub("", markdown))
    parts[::2] = [with_links(part, str(page.file.src_uri)) for part in parts[::2]]
    return "".join(parts)


def with_links(text: str, page: str) -> str:
    """Give a text of a page, by its path on the site, with the addresses that hold there."""
    text = _PICTURE.sub(lambda found: picture_of(found[0], page), text)

    def linked(found: "re.Match[str]") -> str:
        place = place_of(found[2], page)
        return f"[{found[1]}]({place})" if place else found[1]

    return _LINK.sub(linked, text)


def picture_of(address: str, page: str) -> str:
    """Give the address of a picture: on the site it bears one name in all languages."""
    return place_of(address, page).replace(".zh.", ".")


def place_of(address: str, page: str) -> str:
    """Give where on the site stands what a page of the repository names; else nothing."""
    path, mark, anchor = address.partition("#")
    if not path:
        return address
    home = {place: at for at, place in BROUGHT.items()}.get(page, f"docs/{page}")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(home), path))
    place = BROUGHT.get(target, target.removeprefix("docs/") if target[:5] == "docs/" else "")
    if not place or not (ROOT / target).is_file():
        return ""
    return posixpath.relpath(place, posixpath.dirname(page) or ".") + mark + anchor
