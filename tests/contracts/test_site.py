"""The guide as a site: it is built without a warning, in both languages, and every link leads."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


class Page(HTMLParser):
    """What a page links to, loads, and can be linked to."""

    def __init__(self, path: Path) -> None:
        """Read it."""
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        named = {name: value or "" for name, value in attrs}
        self.anchors |= {named[name] for name in ("id", "name") if name in named}
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif "src" in named or (tag == "link" and named.get("rel") in {"stylesheet", "icon"}):
            self.loaded.append(named.get("src") or named["href"])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """The built pages; a warning is an error."""
    folder = tmp_path_factory.mktemp("site").resolve()
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found = {path: Page(path) for path in folder.rglob("*.html") if path.name != "404.html"}
    assert found
    return found


@pytest.mark.site
def test_every_link_leads(pages: dict[Path, Page]) -> None:
    """To a file of the site, and to an anchor that its page has."""
    broken = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or not link:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else {unquote(parts.fragment)}
            is_there = target.is_file() and (
                not parts.fragment or unquote(parts.fragment) in anchors
            )
            broken += [] if is_there else [(path.name, link)]
    assert broken == []


@pytest.mark.site
def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page]) -> None:
    """A reader without a network sees the same."""
    assert [
        address for page in pages.values() for address in page.loaded if urlsplit(address).netloc
    ] == []


@pytest.mark.site
def test_each_page_is_there_in_both_languages(pages: dict[Path, Page]) -> None:
    """Or in English where nobody has translated it; each leads to the other."""
    (root,) = {path.parent for path in pages if (path.parent / "zh").is_dir()}
    english = {path.relative_to(root) for path in pages if "zh" not in path.relative_to(root).parts}
    assert {
        path.relative_to(root / "zh") for path in pages if path.is_relative_to(root / "zh")
    } == english
    for place in english:
        page = pages[root / "zh" / place]
        targets = {(root / "zh" / place.parent / unquote(link)).resolve() for link in page.links}
        assert root / place in targets


def test_every_entry_of_the_menu_has_its_chinese_name() -> None:
    """Those are left that are names."""
    text = re.sub(r"!!python\S+ ", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings = yaml.safe_load(text)
    (chinese,) = [
        language["nav_translations"]
        for plugin in settings["plugins"]
        if "i18n" in plugin
        for language in plugin["i18n"]["languages"]
        if language["locale"] == "zh"
    ]
    sections = {title for one in settings["nav"] for title in one}
    entries = {t for one in settings["nav"] for part in one.values() for row in part for t in row}
    assert sections | entries == {*chinese} | {"GitHub", "GitLab"}
