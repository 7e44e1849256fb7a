"""The frame of a page: language switch, style, script and content-security policy.

In: articles, each in a language, and the panels that the script draws. Out: HTML. Not here: what an
article says (`page.html`, `page.two_runs_page`). Every value passes `core.log_text` and then
Jinja's escaping. The policy names style and script by their hashes, so that nothing else can run
or restyle the page.
"""

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from postmortem.core.log_text import escape_control_characters
from postmortem.core.resources import find_folder
from postmortem.report.page import chart
from postmortem.report.page.panel import Panel
from postmortem.report.words import Words

TAGS: Final = {"en": "en", "zh": "zh-CN"}
"""What a page calls a language."""
_STYLES: Final = ("vendor/uPlot.min.css", "style.css", "chart.css")
_CHART_SCRIPTS: Final = ("vendor/uPlot.LICENSE", "vendor/uPlot.iife.min.js", "chart.js")


class Addition(NamedTuple):
    """What one page adds to the common frame."""

    styles: Sequence[str] = ()
    """Files of `templates/`."""
    scripts: Sequence[str] = ()
    values: Mapping[str, Markup] = MappingProxyType({})
    """JSON for the scripts, by the id of its element; it cannot close this."""


def render_page(
    articles: Sequence[Mapping[str, Any]],
    charts: Sequence[Panel],
    added: Addition = Addition(),  # noqa: B008 -- a frozen value
) -> str:
    """Put articles into a page that opens in the language of the first."""
    style, script = _load_style(added), _load_script(added, has_charts=bool(charts))
    return render_template(
        "report.html.j2",
        articles=articles,
        values=({"chart-data": chart.serialize_panels(charts)} if charts else {})
        | dict(added.values),
        style=Markup(style),  # noqa: S704 -- our own files
        style_hash=hash_of("\n" + style),
        script=Markup(script),  # noqa: S704 -- our own files
        script_hash=hash_of(script),
    )


def compute_page_hashes(
    added: Addition = Addition(),  # noqa: B008 -- a frozen value
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name the styles and the scripts that pages with this addition may have."""
    scripts = (_load_script(added, has_charts=has_charts) for has_charts in (False, True))
    return (hash_of("\n" + _load_style(added)),), tuple(map(hash_of, scripts))


def _load_style(added: Addition) -> str:
    return load_assets(*_STYLES, *added.styles)


def _load_script(added: Addition, *, has_charts: bool) -> str:
    return load_assets("page.js", *(_CHART_SCRIPTS if has_charts else ()), *added.scripts)


def load_assets(*names: str) -> str:
    """Join files of ours; a licence becomes a comment."""
    texts = [
        (find_folder("templates") / name).read_text(encoding="utf-8").rstrip("\n") for name in names
    ]
    return "".join(
        f"/*\n{text}\n*/\n" if name.endswith("LICENSE") else f"{text}\n"
        for name, text in zip(names, texts, strict=True)
    )


def hash_of(text: str) -> str:
    """Name a script or style as a content-security policy does."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def render_template(name: str, /, **values: Any) -> str:
    """Fill a template."""
    return _load_templates().get_template(name).render(**values)


def build_article(words: Words, title: str, body: str, **more: Any) -> dict[str, Any]:
    """Give what `render_page` takes of an article, of which `body` is its filled template."""
    language = {"language": words.language, "lang": TAGS[words.language], "say": words}
    return language | {"title": title, "body": Markup(body), **more}  # noqa: S704 -- escaped there


def get_tool(value: Mapping[str, Any]) -> dict[str, str]:
    """Give what made a result: the program's version, its knowledge base, its text model."""
    tool = value["tool"]
    return {name: str(tool.get(name) or "") for name in ("version", "knowledge_base", "classifier")}


@functools.cache
def _load_templates() -> Environment:
    """Give the templates, compiled once."""
    return Environment(
        loader=FileSystemLoader(find_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_escape_control_characters,
    )


def _escape_control_characters(value: Any) -> Any:
    """Neutralise control characters in whatever the template prints."""
    return escape_control_characters(value) if type(value) is str else value
