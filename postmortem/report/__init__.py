"""A diagnosis as text: for the terminal, as a page, as JSON, as a comment.

In: a `Diagnosis` and the name of a form. Out: text. Not here: computing a verdict, writing a file,
printing. A form's module is imported when it is asked for: Rich and Jinja take longer to import
than a small log takes to read.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from postmortem.errors import UsageError
from postmortem.model.diagnosis import Diagnosis

_RENDERERS: Final = {
    "terminal": ("postmortem.report.terminal.screen", "render_screen"),
    "html": ("postmortem.report.page.html", "render_html"),
    "json": ("postmortem.report.wire", "render_json"),
    "jsonl": ("postmortem.report.wire", "render_jsonl"),
    "sarif": ("postmortem.report.sarif", "render_sarif"),
    "github": ("postmortem.report.github", "render_github"),
    "markdown": ("postmortem.report.markdown", "render_markdown"),
}
_WHOLE: Final = ("postmortem.report.terminal.whole", "render_terminal")
FORMS: Final = tuple(_RENDERERS)


def render(
    diagnosis: Diagnosis,
    form: str,
    *,
    width: int = 80,
    color: bool = False,
    full: bool = False,
    redact: bool = True,
    translations: Sequence[Diagnosis] = (),
) -> str:
    """Render a diagnosis in one of `FORMS`, any other is a `UsageError`.

    `width`, `color` and `full` (all of it, not one screen) are for the terminal only,
    `translations` for the page.
    """
    if form not in _RENDERERS:
        raise UsageError(
            f"there is no report form {form!r}", "format", f"choose one of {', '.join(FORMS)}"
        )
    module, name = _WHOLE if form == "terminal" and full else _RENDERERS[form]
    renderer = getattr(import_module(module), name)
    special: dict[str, dict[str, Any]] = {
        "terminal": {"width": width, "color": color},
        "html": {"translations": translations},
    }
    text: str = renderer(diagnosis, redact=redact, **special.get(form, {}))
    return text
