"""Content-security policies of the service's pages: only our own scripts and styles run.

In: nothing. Out: content-security policies. Not here: the other headers (`http.request_guard`).

Each policy names scripts and styles by their hashes. A report that is shown within the page for
pasting has the policy of that page too, which therefore names those of the report as well.
"""

import functools

from postmortem.report.page.frame import compute_page_hashes
from postmortem.report.page.triage_page import ADDED


@functools.cache
def get_report_policy() -> str:
    """Give the policy of a report's page."""
    return _format_policy(compute_page_hashes())


@functools.cache
def get_triage_policy() -> str:
    """Give the policy of the page of a triage."""
    return _format_policy(compute_page_hashes(ADDED))


@functools.cache
def get_form_policy(style: str, script: str) -> str:
    """Give the policy of a page with a form, by the hashes of its own style and script."""
    styles, scripts = compute_page_hashes()
    return _format_policy(
        ((style, *styles), (script, *scripts)), "connect-src 'self'; form-action 'self'"
    )


def _format_policy(
    hashes: tuple[tuple[str, ...], tuple[str, ...]], more: str = "form-action 'none'"
) -> str:
    styles, scripts = (" ".join(f"'{digest}'" for digest in some) for some in hashes)
    return (
        f"default-src 'none'; style-src {styles}; script-src {scripts}; img-src data:; {more};"
        " base-uri 'none'; frame-ancestors 'none'"
    )
