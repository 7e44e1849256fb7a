"""Where a text holds secrets as arguments without a name: `login(user, 'x')`, `Auth('x', 'y')`.

In: text. Out: the rule of kind `secret` for the arguments of calls that log in, connect, sign or
make a client. Not here: arguments with a name (`assignments`), commands (`commands`), pseudonyms
(`pseudonyms`).

What a function is called tells what it takes. One that connects takes the machine first and the
password behind it; one that logs in takes the password last; one that makes credentials takes
nothing else. What makes a client takes anything, there a value has to look drawn by lot.
"""

from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from postmortem.report.redaction.hiding import (
    HidingPattern,
    HidingRule,
    Span,
    build_alternation,
    build_linear_pattern,
)
from postmortem.report.redaction.people import COMMON_USERS
from postmortem.report.redaction.secret_names import is_path, is_placeholder, is_random


class Takes(Enum):
    """What a function takes."""

    MACHINE_FIRST = auto()
    """A machine, then secrets and names."""
    PASSWORD_LAST = auto()
    """A name, then the password."""
    SECRETS = auto()
    """Secrets alone."""
    ANYTHING = auto()


_FUNCTIONS: Final = {
    Takes.MACHINE_FIRST: build_alternation("""
        connect create_connection open_connection create_pool connect_to Connection Redis
        StrictRedis Minio MongoClient InfluxDBClient Elasticsearch Database ConnectHandler
    """),
    Takes.PASSWORD_LAST: build_alternation("""
        login log_in sign_in signin authenticate auth_password simple_bind simple_bind_s bind_s
        add_password set_password basic_auth HTTPBasicAuth HTTPDigestAuth BasicAuth
        set_credentials PlainCredentials UserPassword jwt\\.encode jwt\\.decode set_basic_auth
        identify su_login
    """),
    Takes.SECRETS: build_alternation("""
        Auth Credentials? StaticCredentials? AuthProvider StaticProvider BearerAuth BearerToken
        TokenAuth AccessToken HTTPBearer Fernet hmac\\.new hmac\\.HMAC AES\\.new set_token
        set_access_token set_api_key use_token login_with_token login_by_token set_secret_key
        AzureKeyCredential AzureNamedKeyCredential AccessKeyCredential ApiKeyAuth
        StaticCredentialProvider TokenCredential URLSafeTimedSerializer URLSafeSerializer
        hashpw generate_password_hash check_password_hash decrypt_with_password
    """),
    Takes.ANYTHING: build_alternation("""
        [A-Z]\\w*(?:Client|Api|API|SDK|Bot|Session|Service|Provider|Conn|Config|Run|Logger)\\w{0,4}
        Experiment OfflineExperiment Github Gitlab OpenAI Anthropic Groq Cohere Together Replicate
        Pinecone Telegram Slack Notion Airtable init login setup authorize configure api_key
    """),
}
_CALL: Final = build_linear_pattern(
    r"(?:^|[^\w])(?:"
    + "|".join(f"(?P<{kind.name}>{names})" for kind, names in _FUNCTIONS.items())
    + r")[ \t]?\("
)
CALL_HINT: Final = "(?:{})[ \t]?[(]".format("|".join(_FUNCTIONS.values()))
_ARGUMENT: Final = HidingPattern(
    r"(?P<quoted>[rbufRBUF]{0,2}\\{0,3}(?:'(?P<a>[^'\n]{0,256})'|\"(?P<b>[^\"\n]{0,256})\"))"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<named>\w=)|\n"
)
_LOOKED_AT: Final = 512
"""Characters behind the name of a function that may be arguments of it."""
_NO_SECRET: Final = HidingPattern(
    r"(?i)\d{1,5}|[\w.+-]+@[\w.-]+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?|[\w.-]+:\d{2,5}|\d+(?:\.\d+){3}"
    r"|\S*://\S*|(?:sha|md)-?\d+|[hrepd]s\d{3}|utf-?8|ascii|http\S*|(?:dns?|cn|uid|ou)=\S*"
)
"""Arguments that are no secret: a port, an address, an algorithm."""
_SHORTEST_DRAWN: Final = 16


class _Argument(NamedTuple):
    """An argument in quotes."""

    place: int
    start: int
    text: str


def _iter_quoted_arguments(text: str, start: int) -> Iterator[_Argument]:
    """Yield the arguments of a call that stand in quotes and have no name."""
    depth = place = 0
    is_named = False
    for match in _ARGUMENT.compiled.finditer(text, start, start + _LOOKED_AT):
        kind = match.lastgroup
        if match["quoted"] is not None:
            group = "a" if match["a"] is not None else "b"
            if depth == 0 and not is_named:
                yield _Argument(place, match.start(group), match[group].rstrip("\\"))
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif depth == 0:
            place += kind == "comma"
            is_named = kind == "named"
        if depth < 0 or kind is None:
            return


def _may_be_secret(value: str) -> bool:
    return (
        value.lower() not in COMMON_USERS
        and not is_placeholder(value)
        and not _NO_SECRET.fullmatch(value)
        and not is_path(value)
    )


def _is_drawn(value: str) -> bool:
    return len(value) >= _SHORTEST_DRAWN and is_random(value) and not any(map(value.count, "/ ."))


def _select_secrets(takes: Takes, given: list[_Argument]) -> list[_Argument]:
    """Choose the secrets among the arguments of a call."""
    drawn = [one for one in given if _is_drawn(one.text)]
    if takes is Takes.ANYTHING:
        return drawn
    may_be = [one for one in given if _may_be_secret(one.text)]
    if takes is Takes.SECRETS:
        return may_be
    behind = [one for one in may_be if one.place > 0]
    if takes is Takes.PASSWORD_LAST:
        return behind[-1:] or drawn
    return _select_after_host(given[-1:], behind)


def _select_after_host(last: list[_Argument], behind: list[_Argument]) -> list[_Argument]:
    """Choose among the arguments behind a machine: of a long call all, of a short one the drawn."""
    if last and last[0].place > 1:
        return behind
    return [one for one in behind if is_random(one.text)]


def identify_argument_type(match: Any) -> Takes:
    """Say what the function of a call takes."""
    return next(kind for kind in Takes if match[kind.name] is not None)


def _find_secrets_in_calls(text: str) -> Iterator[Span]:
    done = 0
    for match in _CALL.finditer(text):
        given = list(_iter_quoted_arguments(text, match.end()))
        for one in _select_secrets(identify_argument_type(match), given):
            if one.start >= done:
                done = one.start + len(one.text)
                yield one.start, done


def call_before(text: str) -> Takes | None:
    """Say what the last function takes that is called in a piece of code."""
    calls = list(_CALL.finditer(text))
    return identify_argument_type(calls[-1]) if calls else None


CALLS: Final = (HidingRule("secret", CALL_HINT, _find_secrets_in_calls),)
