"""The errors that a user can meet, each with what went wrong, where, and how to mend it.

    PostmortemError
    ├── UsageError        the call itself is wrong: an unknown option value, no path given
    ├── InputError        a log or capsule cannot be read: missing, broken, not what it says it is
    ├── PatternError      a rule in a pattern folder is wrong
    └── MissingExtra      an optional package is needed for this input and is not installed

In: nothing. Out: exception types, how an extra is installed.
Not here: catching them (the command line does, once).
"""


class PostmortemError(Exception):
    """What went wrong, where, and how to mend it.

    Positional arguments, so that a worker process can pickle it.
    """

    def __init__(self, what: object, where: object = "", mend: str = "") -> None:
        """Keep the three parts apart, so that each report can lay them out itself.

        `what` may be a sentence in several languages.
        """
        super().__init__(what, where, mend)
        self.what, self.where, self.mend = what, where, mend

    def __str__(self) -> str:
        """Join the parts on one line, as the command line prints them."""
        text = str(self.what)
        if self.where:
            text += f" ({self.where})"
        if self.mend:
            text += f"; {self.mend}"
        return text


class UsageError(PostmortemError):
    """The call itself is wrong."""


class InputError(PostmortemError):
    """A log, dump, folder or capsule cannot be read."""


class PatternError(PostmortemError):
    """A rule in a pattern folder is wrong; `where` is file:line."""


class MissingExtra(PostmortemError):  # noqa: N818 -- it names what is missing; "MissingExtraError" says no more
    """An optional package is needed and is not installed."""


def install_command(*extras: str) -> str:
    """Give the command that installs extras, typed in a checkout.

    The package is in no registry yet: a name there would be whoever registers it first.
    """
    return f"pip install '.[{','.join(extras)}]'"


def install_hint(*extras: str) -> str:
    """Say how extras are installed, from a checkout or a wheel."""
    return f"{install_command(*extras)} in a checkout of postmortem, or with its wheel for the dot"
