"""Which trackers there are, each imported when the settings name it.

In: a name and the settings of a tracker. Out: `Tracker`. Not here: any of them.

Another one needs no change here: the settings name the module of one that is installed beside this
package (docs/trackers.md).
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from pydantic import ValidationError

from postmortem.core.errors import MissingExtra, UsageError, install_hint
from postmortem.interfaces.trackers.tracker_protocol import Tracker

_MODULES: Final[Mapping[str, str]] = {
    "github": "postmortem.interfaces.trackers.github_tracker",
    "gitlab": "postmortem.interfaces.trackers.gitlab_tracker",
}
_FOR_THE_BOT: Final = frozenset({"kind", "module", "projects"})
"""Settings that stand beside those of a tracker and are none of its own."""


def create_tracker(name: str, settings: Mapping[str, Any]) -> Tracker:
    """Open a tracker: `open_tracker(name, settings)` of its module.

    Args:
        name: under which its deliveries come.
        settings: of this tracker, as they stand in the file: `kind`, one of those known (the name
            itself if it is not given), or `module`; `projects`, which is not for the tracker; and
            what the module knows beside these.

    Raises:
        UsageError: there is no such kind, or its settings are wrong.
        MissingExtra: a package that it needs is not installed.
    """
    own = {key: value for key, value in settings.items() if key not in _FOR_THE_BOT}
    kind = str(settings.get("kind", name))
    path = str(settings.get("module", "")) or _MODULES.get(kind, "")
    if not path:
        known = ", ".join(_MODULES)
        mend = f"choose {known}, or name the module of another one"
        raise UsageError(f"there is no tracker of the kind {kind!r}", name, mend)
    try:
        tracker: Tracker = import_module(path).open_tracker(name, own)
    except ModuleNotFoundError as error:
        if path in _MODULES.values():
            mend = install_hint("bots")
            raise MissingExtra(f"{kind} needs {error.name}", name, mend) from error
        raise UsageError(f"{path} cannot be imported: no {error.name}", name) from error
    except ValidationError as error:
        raise UsageError(_format_validation_errors(error), name, "see docs/bots.md") from None
    return tracker


def _format_validation_errors(error: ValidationError) -> str:
    """Say what is wrong without what stands there: it may be a secret."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
        for one in error.errors(include_input=False, include_url=False)
    )
