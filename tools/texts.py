"""Keep the catalogue of texts up to date with the code: `python tools/texts.py`.

In: the messages of `postmortem/` (calls of `say`, `say_in`, `say_count`), and the Chinese wordings
in `postmortem/locale/zh/LC_MESSAGES/postmortem.po`. Out: the same file, with an empty `msgstr` for
each message that is new, without those that the code has no more; and compiled beside it (`.mo`).
"""

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, cast

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = ROOT / "postmortem" / "locale" / "zh" / "LC_MESSAGES" / "postmortem.po"
KEYWORDS: Final[Mapping[str, Any]] = {"say": (1,), "say_in": ((1, "c"), 2), "say_count": (1, 2)}
"""What words a message, and which arguments hold its English; `c` is its context."""

_HEADER: Final = rb"""# The Chinese texts of the program; renewed by tools/texts.py
msgid ""
msgstr ""
"Language: zh\n"
"Plural-Forms: nplurals=1; plural=0;\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=utf-8\n"
"Content-Transfer-Encoding: 8bit\n"

"""


def extract_calls(
    fileobj: IO[bytes], keywords: Collection[str], comment_tags: object, options: object
) -> Iterator[tuple[int, str, tuple[str | None, ...], list[str]]]:
    """Find the calls in one file, as Babel asks for them; methods of the same name are others'."""
    del comment_tags, options
    for node in ast.walk(ast.parse(fileobj.read())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name, texts = node.func.id, tuple(getattr(one, "value", None) for one in node.args)
            if name in keywords and texts:
                yield node.lineno, name, texts, []


def extract_messages(folder: Path = ROOT / "postmortem") -> Catalog:
    """Collect the messages of the code."""
    found, method = Catalog(locale="zh"), cast("Any", extract_calls)
    for path in sorted(folder.rglob("*.py")):
        with path.open("rb") as file:
            for _, message, _, context in extract(method, file, KEYWORDS):
                found.add(message, context=context)
    return found


def read_catalogue(path: Path = SOURCE) -> Catalog:
    """Read the wordings."""
    with path.open("rb") as stream:
        return read_po(stream, locale="zh", charset="utf-8")


def write_catalogue(catalogue: Catalog, path: Path = SOURCE) -> None:
    """Write the wordings, in the order of the alphabet, and compile them."""
    with path.open("wb") as stream:
        stream.write(_HEADER)
        write_po(
            stream,
            catalogue,
            width=100,
            sort_output=True,
            no_location=True,
            ignore_obsolete=True,
            omit_header=True,
        )
    with path.with_suffix(".mo").open("wb") as stream:
        write_mo(stream, catalogue)


def main() -> int:
    """Renew the catalogue; the status is 1 while a message lacks its Chinese wording."""
    catalogue = read_catalogue()
    catalogue.update(extract_messages(), no_fuzzy_matching=True, update_creation_date=False)
    write_catalogue(catalogue)
    lacking = [one.id for one in catalogue if one.id and not any(one.string or "")]
    print("\n".join(f"no Chinese wording yet: {text!r}" for text in lacking) or "complete")
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
