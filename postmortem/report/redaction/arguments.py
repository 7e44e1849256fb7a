"""Where a text holds secrets by their place: on a command line, in a call of a library.

In: text. Out: the rules of kind `secret` for what programs are handed and for arguments without a
name of calls that log in, connect, sign or make a client (`login(user, 'x')`, `Auth('x', 'y')`).
Not here: options and arguments whose name says secret (`assignments`), pseudonyms (`pseudonyms`).

What a function is called tells what it takes. One that connects takes the machine first and the
password behind it; one that logs in takes the password last; one that makes credentials takes
nothing else. What makes a client takes anything, there a value has to look drawn by lot.
"""

from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.report.redaction.hiding import (
    HidingPattern,
    HidingRule,
    Span,
    build_alternation,
    build_linear_pattern,
    build_rule,
)
from postmortem.report.redaction.people import COMMON_USERS
from postmortem.report.redaction.secret_names import is_path, is_placeholder, is_random, is_worded

_WORD: Final = r"(?:'(?P<a>[^'\n]+)'|\"(?P<b>[^\"\n]+)\"|(?P<c>[^\s'\"|;&$-][^\s'\"|;&]*))"
_HANDED: Final = (
    # programs, and how the secret is handed to them
    (
        r"\w*curl|https?",
        r"(?:-u|-U|--user|--proxy-user)[ =]?(?:'(?P<a>[^':\n]*:[^'\n]+)'"
        r"|\"(?P<b>[^\":\n]*:[^\"\n]+)\"|(?P<c>[^\s'\":-][^\s'\":]*:(?:[^\s'\"]+|'[^'\n]+'|\"[^\"\n]+\")))",
    ),
    (r"\w*curl|https?", rf"(?:-b|--cookie)[ =]?{_WORD}"),
    ("sqlplus|expdp|impdp|rman|sqlldr", r"[\w.-]{1,64}/(?P<c>[^\s@'\"]+)@"),
    ("sshpass", rf"-p ?{_WORD}"),
    ("mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mycli", rf"-p{_WORD}"),
    ("redis-cli", rf"(?:-a|--pass) {_WORD}"),
    (
        "mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|clickhouse-client|az|cqlsh"
        "|sqlcmd|kaggle|oc|argocd|rabbitmqadmin",
        rf"(?:-p|-P|--pass) {_WORD}",
    ),
    (
        "(?:docker|podman|nerdctl|skopeo|buildah|oras|helm|singularity|apptainer|crane|az acr)"
        "[^\n]{0,40}? login",
        rf"-p ?{_WORD}",
    ),
    ("ldapsearch|ldapmodify|ldapadd|ldapwhoami", rf"-w {_WORD}"),
    ("unzip|zip", rf"-P ?{_WORD}"),
    ("7za?|7zz|rar|unrar", rf"-p{_WORD}"),
    ("smbclient|rpcclient|smbget", r"-U ?(?:'?[^\s'%]+%)(?P<c>[^\s']+)"),
    ("openssl", r"(?:pass:)(?P<c>[^\s'\"]+)"),
    ("htpasswd", r"-\w*b\w* \S+ \S+ (?P<c>\S+)"),
    (
        "(?:swanlab|wandb|comet|modelscope|openxlab|huggingface-cli|hf auth) login",
        r"(?:-k |--key[ =]|--relogin |--verify )?(?P<c>[A-Za-z0-9][A-Za-z0-9_.:-]{15,})",
    ),
    (
        "ossutil(?:64)?|obsutil|coscmd|qshell|bcecmd|rclone|s3cmd|tosutil",
        rf"(?:-[akis]|account)[ =]{_WORD}",
    ),
    ("mc", r"(?:alias set|config host add) \S+ \S+ (?P<a>\S+) (?P<b>\S+)"),
    ("lftp", r"-u ?[^,\s]+,(?P<c>[^\s'\"]+)"),
    ("expect|send", r"-- ?[\"'](?P<c>[^\"'\\\n]{6,})\\r"),
)
_PLACES: Final = (
    r"\becho (?:-n )?(?:'(?P<a>[^'\n]+)'|\"(?P<b>[^\"\n]+)\"|(?P<c>[^\s|$]+)) ?\| ?"
    r"(?:sudo -\w*S|docker login|podman login|passwd|chpasswd|kinit|openssl|gpg|sshpass)",
    r"(?:auth|credentials|login) ?= ?[(\[]\\{0,3}['\"][^'\"\n]*\\{0,3}['\"],"
    r"[ \t│┃║]*\n?[ \t│┃║]*\\{0,3}['\"](?P<c>[^'\"\n]+)['\"]",
    r"\b(?:HTTPBasicAuth|HTTPDigestAuth|BasicAuth)\(\\{0,3}['\"][^'\"\n]*['\"],"
    r" ?['\"](?P<c>[^'\"\n]+)['\"]",
    r"\b(?:wandb|swanlab|comet_ml|neptune|modelscope|api|HubApi\(\))\.(?:login\("
    r"|(?:login|init)\((?:[^)\n]*[ ,])?(?:api_key|key|token) ?= ?)['\"](?P<c>[^\s'\"]{8,})['\"]",
    r"(?i:\bidentified(?: with \S+)? by )'(?P<c>[^'\n]+)'",
    r"\bmachine[ \t]+\S+[ \t]+login[ \t]+\S+[ \t]+password[ \t]+(?P<c>\S+)",
    r"(?:^|[\s'\"=@])(?:[\w.-]+):(?P<c>[^\s/:@'\"=,]+)@[\w-]+(?:\.[\w-]+)+:\d{2,5}\b",
    r"(?m:^[ \t]*password[ \t]+(?P<c>[^\s:=]+)[ \t]*$)",
    r"--from-literal[= ]['\"]?[\w.-]+=(?P<c>[^\s'\"]+)",
)


def _iter_group_spans(match: Any, offset: int = 0) -> Iterator[Span]:
    """Give the groups that matched, unless they are placeholders."""
    for group, value in enumerate(match.groups(), 1):
        if value is not None and not is_placeholder(value):
            start, end = match.span(group)
            yield offset + start, offset + end


def _build_group_rule(pattern: HidingPattern) -> HidingRule:
    def spans(text: str) -> Iterator[Span]:
        return (span for match in pattern.finditer(text) for span in _iter_group_spans(match))

    return HidingRule("secret", pattern.text, spans)


def _build_command_rule(program: str, place: str) -> HidingRule:
    """Make the rule of a program.

    Everything behind its name on the line, which is gone through once.
    """
    called, handed = (
        build_linear_pattern(rf"(?:^|[^\w.-])(?:{program})[ \t]"),
        build_linear_pattern(rf"(?:^|[ \t]){place}"),
    )

    def spans(text: str) -> Iterator[Span]:
        done = 0
        for match in called.finditer(text):
            if match.end() > done:
                done = text.find("\n", match.end()) + 1 or len(text)
                for found in handed.finditer(text[match.end() : done]):
                    yield from _iter_group_spans(found, match.end())

    return HidingRule("secret", called.text, spans)


COMMANDS: Final = (
    *(_build_group_rule(build_linear_pattern(pattern)) for pattern in _PLACES),
    *(_build_command_rule(program, place) for program, place in _HANDED),
)


class Takes(Enum):
    """What a function takes."""

    MACHINE_FIRST = auto()
    """A machine, then secrets and names."""
    PASSWORD_LAST = auto()
    """A name, then the password."""
    MAY_LOG_IN = auto()
    """What may be a name and its password, if the last looks like one."""
    SECRETS = auto()
    """Secrets alone."""
    ANYTHING = auto()


_FUNCTIONS: Final = {
    Takes.MACHINE_FIRST: build_alternation("""
        connect create_connection open_connection create_pool connect_to connect_ssh
        [A-Za-z]*Connection Client Redis StrictRedis Minio MongoClient InfluxDBClient Elasticsearch
        Database ConnectHandler FTP FTP_TLS SMBConnection [A-Z]\\w*(?:Client|Connector|Pool)
        new_client make_client create_client get_client get_connection
    """),
    Takes.PASSWORD_LAST: build_alternation("""
        (?:[a-z]\\w*_)?(?:login|log_in|sign_in|signin|logon|authenticate|auth_password)
        (?:login|authenticate|auth|verify)_(?:user|with_password|password)
        simple_bind simple_bind_s bind_s run_as run_as_user runas runAs su switch_user become
        impersonate connect_as login_as logIn signIn loginUser login_user
        add_password set_password set_passwd setPassword change_password update_password
        basic_auth basicAuth (?:HTTP|Http)\\w*Auth BasicAuth
        [A-Z]\\w*(?:Authentication|AuthProvider) SimpleAuth PasswordAuth
        \\w*authenticator\\w* set_auth setAuth with_auth
        set_credentials with_credentials use_credentials setCredentials withCredentials
        PlainCredentials \\w*PasswordCredentials? \\w*PasswordAuth\\w* UserPassword
        jwt\\.encode jwt\\.decode set_basic_auth setBasicAuth SetBasicAuth basic_auth_header
        identify su_login add_user create_user set_cookie cookies\\.set
    """),
    Takes.MAY_LOG_IN: build_alternation("""
        (?:[a-z]\\w*_)?(?:get|new|create|open|start|make|acquire|register)_?[sS]ession
        session_context extractall
        (?:[a-z]\\w*_)?(?:bind|authorize|auth|unlock|attach|mount|logon_user|verify|verify_user)
        check_(?:login|password|auth) checkLogin checkPassword username_pw_set userNamePwSet
        getSession doLogin
    """),
    Takes.SECRETS: build_alternation("""
        Auth setpassword Credentials? StaticCredentials? AuthProvider StaticProvider BearerAuth
        BearerToken
        TokenAuth AccessToken HTTPBearer Fernet hmac\\.new hmac\\.HMAC AES\\.new set_token
        set_access_token set_api_key use_token login_with_token login_by_token set_secret_key
        AzureKeyCredential AzureNamedKeyCredential AccessKeyCredential ApiKeyAuth
        StaticCredentialProvider TokenCredential URLSafeTimedSerializer URLSafeSerializer
        hashpw generate_password_hash check_password_hash decrypt_with_password
    """),
    Takes.ANYTHING: build_alternation("""
        [A-Z]\\w*(?:Client|Api|API|SDK|Bot|Session|Service|Provider|Conn|Config|Run|Logger)\\w{0,4}
        [A-Z]\\w*(?:AI|LLM|Credentials?|Auth|Signer|Token)
        Experiment OfflineExperiment Github Gitlab OpenAI Anthropic Groq Cohere Together Replicate
        Pinecone Telegram Slack Notion Airtable init login setup authorize configure api_key
    """),
}
_CALL: Final = build_linear_pattern(
    r"(?:^|[^\w])(?:"
    + "|".join(f"(?P<{kind.name}>{names})" for kind, names in _FUNCTIONS.items())
    + r")[ \t]?\("
)
_ANY_BEGINNING: Final = compile_lazily(
    r"(?<![^|])(?:\\w\*|\[A-Z\]\\w\*|\[A-Za-z\]\*|\(\?:\[a-z\]\\w\*_\)\?)"
)
CALL_HINT: Final = "(?:{})[ \t]?[(]".format(_ANY_BEGINNING.sub("", "|".join(_FUNCTIONS.values())))
"""The names without what they may begin with: many texts are looked through at less cost."""
_ARGUMENT: Final = HidingPattern(
    r"(?P<quoted>[rbufRBUF]{0,2}\\{0,3}(?:'(?P<a>[^'\n]{0,256})'|\"(?P<b>[^\"\n]{0,256})\"))"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<named>\w=)|\n"
)
_FRAME: Final = " \t\r│┃║|"
_LOOKED_AT: Final = 512
"""Characters behind the name of a function that may be arguments of it."""
_PORT: Final = HidingPattern(r"(?P<host>[^,()\n]{1,120}),[ \t]*(?:port=)?\d{2,5}[ \t]*[,)]")
_MACHINE_VARIABLE: Final = HidingPattern(
    r"(?i)[\w.\[\]'\"]{0,40}(?:host|addr|server|url|uri|endpoint|dsn|ip)[\w.\[\]'\"]{0,20}[ \t]*,"
)
_MACHINE: Final = HidingPattern(
    r"(?i)localhost|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?|[\w.-]+:\d{2,5}|\d+(?:\.\d+){3}(?::\d+)?"
    r"|\S*://\S*|\S+@\S+|[a-z]+[a-z-]*(?:db|sql|node|gpu|store|proxy|host|srv|server)[\w-]*"
    r"|(?:db|sql|node|gpu|login|nas|ftp|redis|mysql|pg|minio|influx|host|srv|server)[\w-]*"
)
_CONNECTOR: Final = HidingPattern(
    r"(?i)(?:(?:conn|client|session|remote)\w*\.|(?:sql|psycopg|ssh|paramiko|ftp|smtp|imap|ldap|smb"
    r"|redis|mongo|maria|db|fabric|mqtt|minio|influx|oracle|clickhouse|rabbit|pika|kafka|hdfs|vpn"
    r"|milvus)(?:\w*\.)?)\w*[ \t]?\($"
)
"""What a function that connects to a machine is called on; others join layers or signals."""
_PLAIN_WORD: Final = HidingPattern(r"[A-Za-z]+(?:[_-][A-Za-z]+)*_?\d{0,2}")
_ADDRESS: Final = HidingPattern(r"[\w.+-]+@[\w.-]+|[\w.-]+:\d{2,5}")
"""Arguments that are none of the first ones if they are an address."""
_ACCESS_KEY: Final = HidingPattern(r"(?=(?:[A-Z]*\d){2})(?=\d*[A-Z])[A-Z0-9]{16,40}")
"""What no machine is called."""
_MOST_ARGUMENTS: Final = 12
_NO_SECRET: Final = HidingPattern(
    r"(?i)\d{1,5}|[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?"
    r"|\d+(?:\.\d+){3}(?::\d+)?"
    r"|\S*://\S*|(?:sha|md)-?\d+|[hrepd]s\d{3}|utf-?8|ascii|http\S*|(?:dns?|cn|uid|ou)=\S*"
)
"""Arguments that are no secret: a port, an address, an algorithm."""
_SHORTEST_DRAWN: Final = 16
_SHORTEST_PART: Final = 12
_GOES_ON: Final = (",", "(", "[", "{")
"""How a line of code ends whose arguments go on in the next one."""
_KEY_OF_MAKER: Final = build_linear_pattern(
    r"(?:^|[^\w])(?P<f>[A-Z]\w{2,40})\((?:[^()\n]{1,80},[ \t]?)?['\"](?P<v>[0-9a-f]{32})['\"]"
)
"""A digest's length of hexadecimal digits, handed to what makes something."""
_NAMES_DIGEST: Final = HidingPattern(
    r"(?i)hash|digest|md5|commit|revision|uuid|id$|checksum|version|cache|error|exception|blob"
    r"|snapshot|file|path|tag|request|run|trace|span|object|node|entry|artifact|record|sample"
)
_DIGITS: Final = HidingPattern(r"\d+")
_STEM: Final = HidingPattern(r"[A-Za-z]+")


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
        elif depth == 0 and kind is not None:
            place += kind == "comma"
            is_named = kind == "named"
        if depth < 0 or place > _MOST_ARGUMENTS or _ends_call(text, start, match):
            return


def _ends_call(text: str, start: int, match: Any) -> bool:
    """Say whether a line ends whose arguments do not go on in the next one."""
    if match[0] != "\n":
        return False
    return not text[start - 1 : match.start()].rstrip(_FRAME).endswith(_GOES_ON)


def _may_be_secret(value: str, takes: Takes) -> bool:
    """Say whether a value may be a secret in a call, by what its function takes."""
    if takes is Takes.SECRETS and _ADDRESS.fullmatch(value):
        return False
    if takes is Takes.MAY_LOG_IN and not _is_password(value):
        return False
    return (
        value.lower() not in COMMON_USERS
        and not is_placeholder(value)
        and not _NO_SECRET.fullmatch(value)
        and not is_path(value)
    )


def _is_drawn(value: str) -> bool:
    """Say whether a value, or each part of it between full stops, is long and drawn by lot."""
    parts = value.split(".")
    return (
        len(value) >= _SHORTEST_DRAWN
        and all(len(part) >= _SHORTEST_PART and is_random(part) for part in parts)
        and not any(map(value.count, "/ "))
    )


def _is_password(value: str) -> bool:
    """Say whether a value is more than the words and the version of a name."""
    has_all = any(map(str.isupper, value)) and any(map(str.islower, value))
    return (
        any(map(value.count, "*#!$%&+=~^;?"))
        or (has_all and sum(map(str.isdigit, value)) > 1)
        or not is_worded(_DIGITS.compiled.sub("1", value))
    )


def _select_secrets(takes: Takes, given: list[_Argument], *, is_machine: bool) -> list[_Argument]:
    """Choose the secrets among the arguments of a call."""
    if takes is Takes.ANYTHING:
        return [one for one in given if _is_drawn(one.text)]
    may_be = [one for one in given if _may_be_secret(one.text, takes)]
    if takes is Takes.SECRETS:
        return may_be
    if takes is Takes.MACHINE_FIRST or (takes is Takes.MAY_LOG_IN and is_machine):
        return _select_after_machine(may_be, given[-1:], is_machine=is_machine)
    return _select_last(takes, may_be, given)


def _select_last(takes: Takes, may_be: list[_Argument], given: list[_Argument]) -> list[_Argument]:
    """Choose the last argument, if it may be a password, or else those drawn by lot."""
    behind = [one for one in may_be if one.place > 0][-1:]
    if takes is Takes.MAY_LOG_IN and behind != given[-1:]:
        behind = []
    return behind or [one for one in given if _is_drawn(one.text)]


def _select_after_machine(
    may_be: list[_Argument], last: list[_Argument], *, is_machine: bool
) -> list[_Argument]:
    """Choose among the arguments behind a machine: of a long call all, of others the drawn."""
    is_long = is_machine and last[0].place > 1
    return [
        one
        for one in may_be
        if (
            one.place > (_ADDRESS.fullmatch(one.text) is not None)
            or _ACCESS_KEY.fullmatch(one.text)
        )
        and (is_long or is_random(one.text) or (is_machine and not _PLAIN_WORD.fullmatch(one.text)))
    ]


def _names_machine(text: str, start: int, match_start: int, given: list[_Argument]) -> bool:
    """Say whether the first argument of a call is a machine: it is not of a graph of layers."""
    first = next((one for one in given if one.place == 0), None)
    if first is not None and _MACHINE.fullmatch(first.text):
        stem = _STEM.match(first.text)  # two of a kind are nodes of a graph
        return stem is None or not any(
            one.place and one.text.startswith(stem[0]) and _MACHINE.fullmatch(one.text)
            for one in given
        )
    if _MACHINE_VARIABLE.match(text, start) or _PORT.match(text, start):
        return True
    return _CONNECTOR.search(text[max(0, match_start - 40) : start]) is not None


def identify_argument_type(match: Any) -> Takes:
    """Say what the function of a call takes."""
    return next(kind for kind in Takes if match[kind.name] is not None)


def _find_secrets_in_calls(text: str) -> Iterator[Span]:
    done = 0
    for match in _CALL.finditer(text):
        given = list(_iter_quoted_arguments(text, match.end()))
        is_machine = bool(given) and _names_machine(text, match.end(), match.start(), given)
        for one in _select_secrets(identify_argument_type(match), given, is_machine=is_machine):
            if one.start >= done:
                done = one.start + len(one.text)
                yield one.start, done


def call_before(text: str) -> Takes | None:
    """Say what the last function takes that is called in a piece of code."""
    calls = list(_CALL.finditer(text))
    return identify_argument_type(calls[-1]) if calls else None


def _is_key_of_maker(match: Any) -> bool:
    return not _NAMES_DIGEST.search(match["f"])


CALLS: Final = (
    HidingRule("secret", CALL_HINT, _find_secrets_in_calls),
    build_rule("secret", "['\"][0-9a-f]{32}['\"]", _KEY_OF_MAKER, _is_key_of_maker),
)
