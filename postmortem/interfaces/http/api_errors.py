"""Errors of the API: a status, and what is wrong, where, and how to fix it.

In: what went wrong. Out: `Refusal`, and its one shape as JSON. Not here: who sends it
(`http.request_guard`), how pages show it (`templates/service.js`).
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, Field

from postmortem.core.errors import InputError, PostmortemError, UsageError
from postmortem.core.host.work_pool import WorkerLost, WorkPoolFull, WorkTooLong, WorkUndone
from postmortem.core.log_text import format_one_line
from postmortem.core.message import NOTHING, Message, convert_to_message, say
from postmortem.fleet.one_job_worker import TooLargeError, describe_failure

_LONGEST: Final = 1000


class ErrorParts(BaseModel):
    """What went wrong, where, and how to mend it."""

    what: str = Field(description="What went wrong.")
    where: str = Field(description="A file, a parameter or a setting; may be empty.")
    mend: str = Field(description="What to do about it; may be empty.")


class ErrorAnswer(BaseModel):
    """The body of every answer that is an error."""

    error: ErrorParts


class Refusal(PostmortemError):  # noqa: N818 -- what became of the request
    """A request is not done."""

    def __init__(
        self,
        status: int,
        what: Message,
        where: object = "",
        mend: Message = NOTHING,
        retry_after: float | None = None,
    ) -> None:
        """Take the status, the three parts, and after how many seconds to try again."""
        super().__init__(what, where, mend)  # type: ignore[arg-type]  # worded when it is sent
        self.status, self.retry_after = status, retry_after
        self.texts = (what, mend)

    def __reduce__(self) -> tuple[Any, ...]:
        """Say how it is made again in the process that waits for it."""
        what, mend = self.texts
        return type(self), (self.status, what, self.where, mend, self.retry_after)

    @property
    def headers(self) -> dict[str, str]:
        """Give the headers that go with it."""
        fields = {}
        if self.retry_after is not None:
            fields["Retry-After"] = str(max(1, min(3600, round(self.retry_after + 0.5))))
        if self.status == 401:
            fields["WWW-Authenticate"] = "Bearer"
        if self.status == 400:  # where the next request begins is not certain
            fields["Connection"] = "close"
        return fields


def build_error_body(error: Refusal, language_code: str) -> dict[str, Any]:
    """Give the body of an answer in a language; nothing in it steers who shows it."""
    what, mend = error.texts
    parts = ErrorParts(
        what=format_one_line(what.text(language_code), _LONGEST),
        where=format_one_line(str(error.where), _LONGEST),
        mend=format_one_line(mend.text(language_code), _LONGEST),
    )
    return ErrorAnswer(error=parts).model_dump()


def convert_to_refusal(error: Exception, patience: float, seconds: float) -> Refusal:
    """Convert an error of a piece of work into the refusal that the client gets.

    Args:
        error: ours, or one of a pool.
        patience: seconds after which a slot may be free.
        seconds: that work may take.
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, WorkPoolFull):
        return build_busy_refusal(patience)
    what = describe_failure(error, seconds)
    if isinstance(error, WorkTooLong):
        return Refusal(504, what, "limits.seconds", say("send fewer or smaller files"))
    if isinstance(error, WorkerLost):
        mend = say("if it wanted too much memory, send fewer or smaller files")
        return Refusal(500, what, "limits.memory_mib", mend)
    if isinstance(error, InputError | UsageError):
        status = 413 if isinstance(error, TooLargeError) else 422
        return Refusal(status, what, error.where, convert_to_message(error.mend))
    return Refusal(500, what, "", say("look at the log of the service"))


def build_busy_refusal(seconds: float) -> Refusal:
    """Refuse since all places are taken."""
    return Refusal(
        429,
        say("as many requests as can wait are waiting"),
        "limits.waiting",
        say("try again in a while"),
        seconds,
    )


def build_rate_limit_refusal(seconds: float) -> Refusal:
    """Refuse since one client asks too often."""
    return Refusal(
        429,
        say("too many requests of one client"),
        "rate.per_minute",
        say("try again in {n:,.0f} s", n=max(1, seconds)),
        seconds,
    )


def build_body_size_refusal(most: int) -> Refusal:
    """Refuse a body for its size."""
    return Refusal(
        413,
        say(
            "the request is larger than {mib:,.1f} MiB",
            mib=most / 2**20,
        ),
        "limits.body_mib",
        say("pack the log (gzip, zstd, xz), or send its end"),
    )


def build_body_timeout_refusal(seconds: float) -> Refusal:
    """Refuse a body that does not arrive in time."""
    return Refusal(
        408,
        say(
            "the request had not arrived after {seconds:,.0f} s",
            seconds=seconds,
        ),
        "limits.body_seconds",
        say("send less, or over a faster connection"),
    )


def two_lengths() -> Refusal:
    """Refuse a body whose end two headers put at different places (RFC 9112, section 6.3)."""
    return Refusal(
        400,
        say("Content-Length and Transfer-Encoding contradict each other"),
        "Transfer-Encoding",
        say("send one of them"),
    )


def build_header_size_refusal() -> Refusal:
    """Refuse a request for the size of its headers."""
    return Refusal(431, say("the headers are too large"), "limits.header_kib")


def build_token_refusal() -> Refusal:
    """Refuse who does not say who asks, or says it wrongly."""
    return Refusal(
        401,
        say("a token is needed"),
        "Authorization",
        say("send the header Authorization: Bearer TOKEN"),
    )


def build_not_found_refusal(what: Message, where: object) -> Refusal:
    """Refuse since something is not there."""
    return Refusal(404, what, where)


def build_cross_site_refusal(where: str) -> Refusal:
    """Refuse what a page of another site sends."""
    return Refusal(
        403,
        say("the request comes from a page of another site"),
        where,
        say("open the page of this service"),
    )


def build_host_refusal() -> Refusal:
    """Refuse a name that is not this service's."""
    return Refusal(
        421,
        say("this service is not called that"),
        "Host",
        say("add the name to allowed_hosts in the settings"),
    )


def build_shutdown_refusal() -> Refusal:
    """Refuse since the service ends."""
    return Refusal(
        503,
        say("the service is ending"),
        "",
        say("try again in a while"),
        5,
    )


_NO_SUCH: Final[Mapping[int, Message]] = {
    404: say("there is no such page"),
    405: say("this method is not served here"),
    400: say("the request cannot be understood"),
}


def build_http_refusal(status: int, detail: str) -> Refusal:
    """Word a status that the framework gives."""
    return Refusal(status, _NO_SUCH.get(status) or say("{text}", text=detail))


UNDONE: Final = (PostmortemError, WorkUndone)
"""What is told to the client as it is."""


_MEANINGS: Final[Mapping[int, str]] = {
    400: "The request cannot be understood.",
    401: "No token, or one that is not known.",
    403: "A page of another site asks, or for more than the service allows.",
    404: "There is none of that number.",
    408: "The body did not arrive in time.",
    413: "Too large: the body, the number of files, what they unpack to, the memory it needs.",
    421: "The service is not called what the header Host says.",
    422: "Nothing could be judged, or an argument is not valid.",
    429: "Too many requests; the header Retry-After says when to come again.",
    431: "The headers are too large.",
    500: "A fault of the service.",
    503: "The service is ending.",
    504: "Not done in time.",
}


def describe_error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe answers that are errors, for the description of the API."""
    return {status: {"model": ErrorAnswer, "description": _MEANINGS[status]} for status in statuses}
