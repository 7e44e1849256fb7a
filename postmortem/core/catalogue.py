"""The Chinese wordings of the program's own texts: a gettext catalogue.

In: `locale/zh/LC_MESSAGES/postmortem.mo`, which a build compiles, or the `postmortem.po` of a
checkout where that is newer. Out: the Chinese wording of an English one. Not here: when it is asked
for (`core.message`), how the catalogue is kept up to date (`tools/texts.py`).
"""

import functools
import gettext
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = _PACKAGE / "locale" / "zh" / "LC_MESSAGES"
_CONTEXT: Final = "\x04"
"""Stands between the context and the English wording, as in a compiled catalogue."""


def find_translation(en: str, context: str = "") -> str:
    """Give the Chinese wording of an English one; the English where there is none."""
    key = f"{context}{_CONTEXT}{en}" if context else en
    found = load_catalogue()(key)
    return en if found is key else found


@functools.cache
def load_catalogue() -> Callable[[str], str]:
    """Give what looks a key up, and gives the key itself where nothing is found."""
    compiled, source = (FOLDER / f"{_PACKAGE.name}.{kind}" for kind in ("mo", "po"))
    times = [path.stat().st_mtime_ns if path.is_file() else -1 for path in (compiled, source)]
    if times[0] < times[1]:
        texts = dict(parse_catalogue(source.read_text(encoding="utf-8").splitlines()))
        return lambda key: texts.get(key) or key
    if times[0] < 0:
        return lambda key: key
    with compiled.open("rb") as stream:
        catalogue = gettext.GNUTranslations(stream)

    def find(key: str) -> str:
        found = catalogue.gettext(key)
        return catalogue.ngettext(key, key, 1) if found is key else found

    return find


def parse_catalogue(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give the keys and texts of a `.po` file, without its header and what is marked obsolete."""
    import json  # noqa: PLC0415 -- a start does not pay for what a checkout reads

    entry: dict[str, str] = {}
    name = ""
    for line in [*lines, 'msgid ""']:
        keyword, _, text = line.partition(" ")
        if line.startswith('"'):
            entry[name] += json.loads(line)
        elif keyword.startswith("msg"):
            if keyword in {"msgctxt", "msgid"} and entry.keys() & {"msgstr", "msgstr[0]"}:
                if entry["msgid"]:
                    yield _build_key(entry), entry.get("msgstr", entry.get("msgstr[0]", ""))
                entry = {}
            name = keyword
            entry[name] = json.loads(text)


def _build_key(entry: dict[str, str]) -> str:
    context = entry.get("msgctxt")
    return f"{context}{_CONTEXT}{entry['msgid']}" if context else entry["msgid"]
