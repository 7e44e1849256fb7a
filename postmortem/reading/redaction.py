"""Hide what a log gives away about people and machines: tokens, addresses, user and host names.

In: text (raw or cleaned) and the host names that the reader found.
Out: the same text with pseudonyms (`secret-1`, `email-1`, `ip-1`, `user-1`, `host-1`) and a count for each kind.
Not here: when to redact (rendering does, reading and the store never do).

One `Redactor` serves one report: the same name gets the same pseudonym everywhere. Line breaks are never touched, so that
line numbers hold. All quantifiers are bounded: a pattern costs linear time whatever the log holds.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

KINDS: Final = ("secret", "email", "ip", "user", "host")

_PSEUDONYM: Final = re.compile(r"(?:secret|email|ip|user|host)-\d{1,6}(?![\w-])")
_GAP: Final = r"(?:\s|\\[nr]){1,4}"
_PRIVATE_KEY: Final = (
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?P<v>(?:{_GAP}(?:[A-Za-z0-9+/=]{{16,4096}}|[A-Z][A-Za-z-]{{2,20}}: [^\n]{{1,200}})){{1,512}}(?:{_GAP}[A-Za-z0-9+/=]{{1,64}}(?={_GAP}-----END))?)"
)

_ISSUERS: Final = "hub|hf|huggingface|auth|access|api|github|gh|gitlab|bearer|refresh|session|secret|bot|modelscope|sdk|replicate|swanlab|wandb|jwt"
_NAMED_TOKEN: Final = rf"(?:{_ISSUERS})[_-]?token"
_NAMED_KEY: Final = (
    r"(?:api|access|account|private|encryption|signing|wandb|comet|swanlab)[_-]?key(?:[_-]?id)?|secret[_-]?(?:access[_-]?)?key|(?:client|app)[_-]?secret"
)
_PASSWORD: Final = r"pass(?:word|wd|phrase)"  # noqa: S105 -- a pattern for the word, no password
_SECRET_NAME: Final = re.compile(rf"(?i){_NAMED_TOKEN}|{_NAMED_KEY}|{_PASSWORD}|^(?:token|secret)$")
_VALUE: Final = r"(?P<v>[A-Za-z0-9+/~!@#%^._][^\s'\"<>,;&)}\]\\]{0,1023})"
_NO_SECRET: Final = re.compile(
    r"(?i)(?:none|null|nil|true|false|not|is|are|was|and|or|in|for|to|the|a|an|of|str|string|bytes|int|bool|optional|default|unset|empty|missing|required"
    r"|invalid|incorrect|wrong|expired|here|xxx*|your\S*|os\.\S*|(?:self|args|cfg|config|settings|kwargs|options|environ|getenv)\b\S*|\.{3,}|\*+)\.?"
)

# What stands before an address tells a version number of four parts (opencv 4.8.1.78, cuDNN 8.9.2.26) from a machine.
_BEFORE_VERSION: Final = re.compile(
    r"(?i)(?:[=<>~!]=\s?|[<>]\s|\bv|\b(?:version|ver|release|build|driver|upgrade to|downgrade to)\b['\"]?[ :=(]{0,4}"
    r"|(?:\b|_)(?:cuda|cudnn|nccl|cublas|tensorrt|opencv|torch|torchvision|nvidia|protobuf|py4j|triton|glibc|gcc|cmake|rocm|hip|kernel|linux)\b"
    r"['\"]?[ :=(v/-]{1,12}"
    r"|\b(?:nvidia|opencv|types|tensorrt|onnx|cuda|triton|faiss|google|azure|aliyun|flash|torch|py|python)[-_][a-z0-9_-]{1,40}['\"]?[ :=(/-]{1,60}['\"]?"
    r"|\(from [^()]{1,120}\) \()$"
)
_AFTER_ADDRESS: Final = re.compile(r":\d{2,5}(?![\d.])|/\d{1,2}(?![\d.])|<\d")
_KEPT_ADDRESS: Final = re.compile(r"(?:127|0|255)\.\d+\.\d+\.\d+")
_FILE_SUFFIX: Final = re.compile(r"(?:\.(?:log|out|err|txt|json|jsonl|yaml|yml|csv|py|sh|gz|zst|bz2|xz|so|html|md))+$")

_COMMON_USERS: Final = frozenset({
    "root", "git", "user", "users", "ubuntu", "runner", "jovyan", "ec2-user", "vscode", "shared", "public", "default", "admin", "administrator", "work", "data",
    "share", "home", "model", "models", "project", "projects", "workspace", "scratch", "code", "common", "train", "test", "username", "name", "me",
})  # fmt: skip
_BY_NUMBER: Final = re.compile(r"(?:node|worker|machine|server|master|n)[-_]?(?:\d{1,2}|[a-z])", re.IGNORECASE)
"""What files and launchers call the processes of any job; it names no machine."""
_COMMON_HOSTS: Final = frozenset({
    "localhost", "node", "worker", "host", "gpu", "cpu", "rank", "master", "server", "head", "none", "unknown", "driver", "default", "local", "train", "test",
    "cuda", "data", "github.com", "gitlab.com", "gitee.com", "huggingface.co", "hf.co", "modelscope.cn",
})  # fmt: skip

# A name with an at sign is also a metric (recall@top10), a version (pkg@rc1, image@sha256) or a symbol (malloc@libc6): none of them logs in anywhere.
_METRICS: Final = frozenset({
    "acc", "accuracy", "ap", "ar", "auc", "avg", "best", "bleu", "cons", "f1", "hit", "hits", "maj", "map", "mean", "mrr", "ndcg", "pass", "precision", "prec",
    "recall", "rank", "success", "top", "iou", "miou", "rouge", "score", "psnr",
})  # fmt: skip
_VERSION_LABEL: Final = re.compile(r"(?i)(?:v|ver|version|rc|alpha|beta|dev|release|sha|md|py|python|cu|cuda|rocm|tag|next|build|post|rev|lib[a-z]*|top|epoch|step|iou|utf)-?\d[\d.-]*")
_PRIVATE_SUFFIXES: Final = r"localdomain|intranet|lan|hpc|corp|home\.arpa|local|internal|cluster|private|example"
_CODE_SUFFIXES: Final = frozenset({"local", "internal", "cluster", "private", "example"})
"""Suffixes that also end module paths and file names: sklearn.cluster, google.protobuf.internal, settings.local."""
_CODE_ROOTS: Final = re.compile(
    r"(?i)(?:self|cls|args?|cfg|conf|config|configs|settings?|opts?|options|flags|hparams|params|kwargs|env|rc|threading|thread|torch|torchvision|np|numpy|scipy|sklearn|google"
    r"|tensorflow|tf|jax|flax|ray|spark|dask|cuml|absl|pydantic|pandas|os|sys|java|jdk|sun|org|com|readme|example|compose|docker-compose|data|values|this|module|model"
    r"|encoder|decoder|backbone|transformer|layers?\d*|blocks?\d*|stage\d*|conv\d*|attn\d*|fc\d*|norm\d*|bn\d*|res\d*|down\d*|up\d*|mid\d*|heads)"
)
_MACHINE_LABEL: Final = re.compile(
    r"(?i)[a-z-]*\d[a-z\d-]*|[a-z\d]+(?:-[a-z\d]+)+|svc|compute|corp|hpc|lan|login|proxy|head|storage|nfs|master|mgmt|mgt|slurm|registry|gateway|gpu|node|nodes|[a-z]*(?:node|server|host)"
)
_BEFORE_HOST: Final = re.compile(
    r"(?i)(?:\b(?:reach|resolve|ping|lookup|ssh|scp|rsync|contact|connect(?:ing|ed|ion)?(?: to)?|to|on|via|host(?:name)?|server|node|proxy|address|endpoint|peer)['\"]?[ :=(\['\"]{1,4}|://|@)$"
)
_BEFORE_CODE: Final = re.compile(r"(?:\b(?:import|module|named|package|class|attribute|function)['\"]?[ :=('\"<]{1,3}|\bfrom ['\"]|(?<![:/])/)$")
_KEPT_HOSTS: Final = re.compile(r"(?i)localhost(?:\d|\.).*|(?:host|gateway|kubernetes)\.docker\.internal|metadata\.google\.internal|kubernetes\.default\.svc\.cluster\.local")
_TOP_LEVELS: Final = "com|org|net|edu|gov|io|ai|eu|ac|cn|de|fr|uk|ch|jp|kr|it|es|nl|se|us|ca|au|in|ru|pl|at|fi|no|dk|cz|be|tw|sg|hk|br|il|example"
_PUBLIC_HOST: Final = re.compile(r"(?i)(?:.*\.)?(?:pytorch\.org|huggingface\.co|hf\.co|github\.com|githubusercontent\.com|pypi\.org|pythonhosted\.org|readthedocs\.io|nvidia\.com|python\.org)|docs?\..*")

Check = Callable[["re.Match[str]"], bool]


def _host_key(name: str) -> str:
    """Give the part that stands for a host: `gpu17` for `gpu17.cluster.org`; a name without a digit is kept whole, it may be a word."""
    first = name.partition(".")[0]
    is_plain = any(char.isdigit() for char in first) and not first.isdigit()
    return first if is_plain and first.lower() not in _COMMON_HOSTS else name


def _breaks_kept(hidden: str, pseudonym: str) -> str:
    """Put a pseudonym where a text stood, on its first line that holds anything, with all its line breaks."""
    head = len(hidden) - len(hidden.lstrip("\n"))
    return "\n" * head + pseudonym + "\n" * (hidden.count("\n") - head)


class _Rule(NamedTuple):
    """What to hide: group `v` of the pattern, unless the check says no."""

    kind: str
    pattern: "re.Pattern[str]"
    holds: Check


def _always(_: "re.Match[str]") -> bool:
    return True


def _is_secret(match: "re.Match[str]") -> bool:
    return not _NO_SECRET.fullmatch(match["v"])


def _is_token(match: "re.Match[str]") -> bool:
    """Say whether a value named `token` or `api_key` looks like one: source code (`token=token`) does not."""
    value = match["v"]
    if not _is_secret(match) or (len(value) < 16 and value.replace(".", "").replace("e+", "").isdigit()):
        return False
    return any(char.isdigit() for char in value) or (len(value) >= 24 and value.isalpha())


def _is_email(match: "re.Match[str]") -> bool:
    name, _, domain = match["v"].partition("@")
    suffix = domain.rsplit(".", 1)[-1].lower()
    return name.lower() != "git" and suffix.isalpha() and suffix not in {"so", "py", "sh", "log", "txt", "json", "yaml", "dll", "service"}


def _is_address(match: "re.Match[str]") -> bool:
    value = match["v"]
    parts = value.split(".")
    if any(int(part) > 255 or (len(part) > 1 and part[0] == "0") for part in parts) or _KEPT_ADDRESS.fullmatch(value):
        return False
    if value.startswith("192.168.") or _AFTER_ADDRESS.match(match.string, match.end()):
        return True
    return not _BEFORE_VERSION.search(match.string, max(0, match.start() - 160), match.start())


def _is_address_six(match: "re.Match[str]") -> bool:
    """Say whether colons and hex digits are an IPv6 address; `c10::` and `12:00:00` are none, `::1` is kept."""
    value = match["v"].partition("%")[0]
    groups = [part for part in value.split(":") if part]
    if len(groups) < 2 or not any(char.isdigit() for char in value) or (len(groups) == 2 and len(groups[0]) < 4 and not value.startswith("::")):
        return False
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


def _is_user(match: "re.Match[str]") -> bool:
    return match["v"].lower() not in _COMMON_USERS


def _is_host(match: "re.Match[str]") -> bool:
    return match["v"].lower() not in _COMMON_HOSTS and not re.fullmatch(r"[\d.]+", match["v"])


def _is_named_host(match: "re.Match[str]") -> bool:
    return _is_host(match) and not _PUBLIC_HOST.fullmatch(match["v"]) and not _KEPT_HOSTS.fullmatch(match["v"])


def _is_login(match: "re.Match[str]") -> bool:
    """Say whether `name@machine` logs in somewhere: `recall@top10`, `image@sha256` and `pkg@rc1` do not."""
    return _is_machine(match["n"], match["h"]) and (match["v"] == match["h"] or _is_user(match))


def _is_machine(name: str, host: str) -> bool:
    if name.lower() in _METRICS or _VERSION_LABEL.fullmatch(host) or host.lower() in _COMMON_HOSTS:
        return False
    return not re.fullmatch(r"[0-9a-f]{12}", host) or name.lower() in _COMMON_USERS or bool(_PSEUDONYM.fullmatch(name))


def _is_private_host(match: "re.Match[str]") -> bool:
    """Say whether a dotted name with a private suffix is a machine's: `sklearn.cluster` and `settings.local` are none."""
    labels = match["v"].lower().split(".")
    head, before = labels[:-1], match.string[max(0, match.start("v") - 40) : match.start("v")]
    if _KEPT_HOSTS.fullmatch(match["v"]) or _PUBLIC_HOST.fullmatch(match["v"]):
        return False
    if labels[-1] not in _CODE_SUFFIXES or match.re is _MIDDLE:
        return True
    is_code = match.string.startswith(("(", "[", " import "), match.end("v")) or _BEFORE_CODE.search(before) or _CODE_ROOTS.fullmatch(labels[0])
    if is_code or any("_" in label or label.isdigit() for label in head):
        return False
    if labels[-1] == "example":     # reserved for documentation: proxy.example is a placeholder, proxy.corp.example a host made anonymous by hand
        return len(labels) > 2
    if _BEFORE_HOST.search(before) or any(_MACHINE_LABEL.fullmatch(label) for label in head):
        return True
    return len(labels) == 2


def _rule(kind: str, pattern: str, holds: Check = _always) -> _Rule:
    return _Rule(kind, re.compile(pattern), holds)


_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62})"
_DOMAIN: Final = r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}"
_HOST: Final = rf"(?P<v>{_LABEL}(?:\.{_LABEL}){{0,6}})"
_PRIVATE_HOST: Final = rf"{_LABEL}(?:\.{_LABEL}){{0,5}}?\.(?:{_PRIVATE_SUFFIXES})(?![\w-]|\.\w)"
_MIDDLE: Final = re.compile(rf"(?i)(?<![\w.-])(?<![^/]/)(?P<v>{_LABEL}(?:\.{_LABEL}){{0,4}}?\.(?:hpc|cluster|corp|internal|intranet|lan|slurm)(?:\.[a-z0-9-]{{1,63}}){{0,3}}\.(?:{_TOP_LEVELS}))(?![\w-]|\.\w)")
_LOGIN: Final = r"[A-Za-z_][\w.+-]{0,63}"
# A machine's name standing alone: letters and a number (gpunode07, n01), a telling word (alice-laptop), a container (518b9ea961fb).
_MACHINE: Final = (
    r"(?:(?=[A-Za-z-]{3})[A-Za-z][A-Za-z-]{2,61}\d[A-Za-z0-9-]{0,40}|[A-Za-z]{1,2}(?:0\d|\d{4})[A-Za-z0-9-]{0,40}|[0-9a-f]{12}"
    r"|(?=[\w-]{0,40}(?i:node|gpu|login|server|cluster|dgx|desktop|laptop|workstation|macbook|compute|slurm))[A-Za-z][A-Za-z0-9-]{2,61})(?![\w-]|\.\w)"
)
_ANY_MACHINE: Final = rf"{_LABEL}(?:\.{_LABEL}){{0,6}}"
_LOGS_IN: Final = r"(?:(?i:\bhost(?:name)?['\"]?[ \t]{0,3}[:=][ \t]{0,3}['\"]?)|\b(?:ssh|scp|rsync|sftp) (?:-\S{1,20} ){0,4}|(?:^|\n)\[(?=[^\s@]{1,64}@[\w.-]{1,128} [^\]\n]{1,128}\][$#]))"
_TOKENS: Final = (
    r"hf_[A-Za-z0-9]{16,128}|api_org_[A-Za-z0-9]{16,128}|gh[opusr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|glpat-[A-Za-z0-9_-]{16,128}"
    r"|sk-(?=[A-Za-z0-9_-]{0,200}\d)[A-Za-z0-9_-]{16,255}|sk_(?:live|test)_[A-Za-z0-9]{16,128}|xox[abeprs]-[A-Za-z0-9-]{10,255}|AIza[A-Za-z0-9_-]{35}"
    r"|(?:AKIA|ASIA|AROA)[A-Z0-9]{16}|LTAI[A-Za-z0-9]{12,28}|wandb_v1_[A-Za-z0-9_-]{20,255}|r8_[A-Za-z0-9]{32,64}|npm_[A-Za-z0-9]{30,64}|gsk_[A-Za-z0-9]{32,96}"
    r"|nvapi-[A-Za-z0-9_-]{32,128}|pypi-AgE[A-Za-z0-9_-]{32,512}|dckr_pat_[A-Za-z0-9_-]{20,64}|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"
    r"|eyJ[A-Za-z0-9_-]{8,2048}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,1024}"
)
_RULES: Final = (
    _rule("secret", _PRIVATE_KEY),
    _rule("secret", r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<v>[^\s/:@?'\"<>]{0,128}:[^\s/@?'\"<>]{1,512}|[A-Za-z0-9_-]{24,255})@"),
    _rule("secret", rf"(?<![A-Za-z0-9_])(?P<v>{_TOKENS})(?![A-Za-z0-9])"),
    _rule("secret", r"(?i:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks|open-apis/bot/v2/hook)/(?P<v>[A-Za-z0-9/_-]{16,255})"),
    _rule("secret", r"[?&](?i:sig|signature|x-amz-(?:signature|credential|security-token)|awsaccesskeyid|token|access_token|key)=(?P<v>[^\s&'\"<>]{8,2048})"),
    _rule("secret", r"(?i:\bauthorization['\"]? {0,3}[:=] {0,3}['\"]?(?:basic|bearer|token|digest) {1,3})(?P<v>[A-Za-z0-9._~+/=-]{4,4096})"),
    _rule("secret", r"(?i:\bauthorization['\"]? {0,3}[:=] {0,3}['\"]?)(?P<v>[A-Za-z0-9._~+/=-]{16,4096})"),
    _rule("secret", r"(?i:\bbearer) {1,4}(?P<v>(?=[A-Za-z0-9._~+/=-]{0,64}\d)[A-Za-z0-9._~+/=-]{8,4096}|[A-Za-z0-9._~+/=-]{24,4096})"),
    _rule("secret", r"(?i:wandb|api.?key|login|netrc)[^\n]{0,80}?(?<![A-Za-z0-9])(?P<v>[0-9a-f]{40})(?![A-Za-z0-9])"),
    _rule(
        "secret",
        rf"(?i:(?<![\w-])--?(?!-)[a-z0-9_-]{{0,40}}(?:{_NAMED_TOKEN}|{_NAMED_KEY}|{_PASSWORD})|(?<![\w-])--(?:token|secret))(?:=| {{1,4}})['\"]?(?!-){_VALUE}",
        _is_secret,
    ),
    _rule("secret", rf"(?i:{_NAMED_TOKEN}|{_NAMED_KEY}|(?<![A-Za-z0-9_])token(?=['\"]? {{0,2}}=))['\"]? {{0,3}}[:=] {{0,3}}b?['\"]?{_VALUE}", _is_token),
    _rule("secret", r"['\"]key['\"] {0,3}: {0,3}['\"](?P<v>[0-9a-f]{32})(?=['\"])"),
    _rule("secret", rf"(?i:{_PASSWORD})['\"]? {{0,3}}[:=] {{0,3}}b?['\"]?{_VALUE}", _is_secret),
    _rule("host", rf"://[^\s/@'\"<>]{{1,512}}@{_HOST}", _is_named_host),
    _rule("user", rf"{_LOGS_IN}(?P<v>{_LOGIN})(?=@{_LABEL})", _is_user),
    _rule("host", rf"{_LOGS_IN}{_LOGIN}@(?P<v>{_ANY_MACHINE})", _is_host),
    _rule("user", rf"(?<![\w.+/@-])(?P<v>(?P<n>{_LOGIN}))(?=@(?P<h>{_MACHINE}|{_PRIVATE_HOST}))", _is_login),
    _rule("host", rf"(?<![\w.+/@-])(?P<n>{_LOGIN})@(?P<v>(?P<h>{_MACHINE}|{_PRIVATE_HOST}))", _is_login),
    _rule("email", rf"(?<![A-Za-z0-9._%+-])(?P<v>[A-Za-z0-9][A-Za-z0-9._%+-]{{0,63}}@{_DOMAIN})(?![A-Za-z0-9_-]|\.[A-Za-z0-9])", _is_email),
    _rule("user", rf"(?<![\w.@-])(?P<v>[a-z_][a-z0-9_.-]{{0,31}})(?=@{_LABEL}(?:\.{_LABEL}){{0,6}}:[~/])", _is_user),
    _rule("host", rf"(?<=[A-Za-z0-9_.-]@){_HOST}(?=:[~/])", _is_host),
    _rule("host", rf"(?<![\w.-]){_HOST}(?=:\d{{1,8}}:\d{{1,8}} \[\d{{1,3}}\] NCCL)", _is_host),
    _rule("host", rf"(?<![\w.-])(?P<v>(?:ip|ec2)-\d{{1,3}}-\d{{1,3}}-\d{{1,3}}-\d{{1,3}}(?:\.{_LABEL}){{0,6}})"),
    _rule("host", rf"(?<![\w.-])(?P<v>{_PRIVATE_HOST})", _is_private_host),
    _Rule("host", _MIDDLE, _is_private_host),
    _rule("ip", r"(?<![\w.])(?P<v>\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})(?!\w|\.\d|[-+]\w)", _is_address),
    _rule("ip", r"(?<![\w:.])(?P<v>(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{1,4}(?:%[a-z0-9]{1,15})?)(?![\w:]|\.\d)", _is_address_six),
    _rule(
        "host",
        r"(?:(?i:\b(?:host[ _]?name|nodename|slurmd_nodename|master_addr(?:ess)?|rdzv_endpoint))['\"]?(?: {0,3}[:=] {0,3}| (?=[\w.-]{1,80}[.\d]))['\"]?"
        rf"|(?:^|\n)[ \t]{{0,8}}host[ \t]{{0,10}}: |srun: error: (?=[\w.-]{{1,80}}: )|\bON (?=[\w.-]{{1,80}} CANCELLED)|\buname: Linux ){_HOST}",
        _is_host,
    ),
    _rule("user", r"(?:/home/(?:users/|staff/|students?/)?|/Users/)(?P<v>\w(?:[\w.-]{0,62}\w)?)", _is_user),
    _rule("user", r"(?i:[a-z]:[\\/]{1,4}users[\\/]{1,4})(?P<v>[^\\/:*?\"<>|\r\n]{1,64}(?=[\\/])|[\w.-]{1,64})", _is_user),
    _rule("user", r"(?:\b(?:USER|LOGNAME|USERNAME)=|[Cc]urrently logged in as: )(?P<v>\w(?:[\w.-]{0,62}\w)?)", _is_user),
    _rule("user", r"[Cc]urrently logged in as: [\w.-]{1,64} \((?P<v>\w(?:[\w.-]{0,62}\w)?)", _is_user),
)
_ADDRESS_KINDS: Final = frozenset({"ip"})


class Redactor:
    """Replaces secrets, addresses and names by pseudonyms that are stable within one report."""

    def __init__(self) -> None:
        """Start with no names known."""
        self._hidden: set[tuple[str, str]] = set()
        self._names: dict[tuple[str, str], str] = {}
        self._numbers: Counter[str] = Counter()
        self._hosts: re.Pattern[str] | None = None
        self._users: re.Pattern[str] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Say how many different secrets, addresses and names were hidden, by kind."""
        return dict(sorted(Counter(kind for kind, _ in self._hidden).items()))

    def learn(self, hosts: Iterable[str]) -> None:
        """Take the host names that the reader found; one that looks like a pseudonym already keeps itself."""
        for name in hosts:
            self.node(name)
        self.settle()

    def settle(self) -> None:
        """Count anew, and from now on hide every name seen so far wherever it stands: a rehearsal finds the name that comes late."""
        self._hidden.clear()
        self._compile()

    def text(self, text: str, *, addresses: bool = True) -> str:
        """Hide what a text gives away; without `addresses`, numbers of four parts are left: they are versions."""
        if len(text) < 4:
            return text
        if self._hosts is not None:
            text = self._hosts.sub(lambda match: self._known("host", match[0]), text)
        for rule in _RULES:
            if addresses or rule.kind not in _ADDRESS_KINDS:
                text = rule.pattern.sub(partial(self._swap, rule), text)
        if self._users is not None:
            text = self._users.sub(lambda match: self._known("user", match[0]), text)
        return text

    def lines(self, lines: Sequence[str]) -> tuple[str, ...]:
        """Hide in consecutive lines, a private key that runs over several included; as many lines come out as went in."""
        return tuple(self.text("\n".join(line.replace("\n", " ") for line in lines)).split("\n")) if lines else ()

    def node(self, name: str) -> str:
        """Give a host's pseudonym."""
        return name if name.lower() in _COMMON_HOSTS or _BY_NUMBER.fullmatch(name) else self._count("host", name)

    def setting(self, name: str, value: object) -> object:
        """Hide the whole value of a setting whose name says that it is a secret; others are left as they are."""
        if not isinstance(value, str) or not value or not _SECRET_NAME.search(name) or _NO_SECRET.fullmatch(value) or value.startswith("<"):
            return value
        return value if _PSEUDONYM.fullmatch(value) else self._count("secret", value)

    def _swap(self, rule: _Rule, match: "re.Match[str]") -> str:
        if _PSEUDONYM.match(match["v"]) or not rule.holds(match):
            return match[0]
        start, end = match.start("v") - match.start(), match.end("v") - match.start()
        suffix = found[0] if rule.kind == "host" and (found := _FILE_SUFFIX.search(match["v"])) else ""
        hidden = match["v"].removesuffix(suffix)
        return match[0][:start] + _breaks_kept(hidden, self._count(rule.kind, hidden)) + suffix + match[0][end:]

    def _known(self, kind: str, found: str) -> str:
        """Give the pseudonym of a name learnt before; a domain behind a host goes with it, a file suffix stays."""
        if _PSEUDONYM.fullmatch(found):
            return found
        suffix = match[0] if kind == "host" and (match := _FILE_SUFFIX.search(found)) else ""
        bare = found.removesuffix(suffix)
        while kind == "host" and (kind, _host_key(bare)) not in self._names and "." in bare:
            bare = bare.rpartition(".")[0]
        return self._count(kind, bare) + suffix

    def _count(self, kind: str, name: str) -> str:
        pseudonym = self._pseudonym(kind, name)
        if pseudonym != name:
            self._hidden.add((kind, pseudonym))
        return pseudonym

    def _pseudonym(self, kind: str, name: str) -> str:
        key = (kind, _host_key(name) if kind == "host" else name)
        if key not in self._names:
            if _PSEUDONYM.fullmatch(name):
                self._names[key] = name
            else:
                taken = set(self._names.values())
                self._numbers[kind] += 1
                while f"{kind}-{self._numbers[kind]}" in taken:
                    self._numbers[kind] += 1
                self._names[key] = f"{kind}-{self._numbers[kind]}"
        return self._names[key]

    def _compile(self) -> None:
        names = sorted(self._names, key=lambda key: (-len(key[1]), key))
        hosts = [re.escape(name) for kind, name in names if kind == "host" and len(name) >= 3 and not _PSEUDONYM.fullmatch(name)]
        users = [re.escape(name) for kind, name in names if kind == "user" and len(name) >= 4 and not _PSEUDONYM.fullmatch(name)]
        self._hosts = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(hosts)})(?:\.{_LABEL}){{0,6}}(?![A-Za-z0-9])") if hosts else None
        self._users = re.compile(rf"(?<=[/\\])(?:{'|'.join(users)})(?![\w.-])") if users else None
