"""Where a text holds secrets by their place: on a command line, in a call of a library.

In: text. Out: the rules of kind `secret` for what programs are handed. Not here: options whose name
says secret (`assignments`), pseudonyms (`pseudonyms`).
"""

from collections.abc import Iterator
from typing import Any, Final

from postmortem.report.redaction.hiding import HidingPattern, HidingRule, Span, build_linear_pattern
from postmortem.report.redaction.secret_names import is_placeholder

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
