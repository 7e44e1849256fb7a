"""Where a text names machines: host names, network and hardware addresses, and who logs in to them.

In: text. Out: the rules for hosts, addresses, logins and e-mail addresses. Not here: user names by
themselves (`people`), pseudonyms (`pseudonyms`).

All quantifiers are bounded: a pattern costs linear time whatever the log holds.
"""

import ipaddress
from typing import Any, Final

from postmortem.core.printed_words import join_words
from postmortem.report.redaction.hiding import (
    PSEUDONYM,
    HidingPattern,
    build_alternation,
    build_line_rule,
    build_linear_pattern,
    parse_words,
)
from postmortem.report.redaction.people import COMMON_USERS, is_user

# What stands before an address tells a version number of four parts (opencv 4.8.1.78, cuDNN
# 8.9.2.26) from a machine.
_VERSIONED: Final = build_alternation("""
    cuda cudnn nccl cublas tensorrt opencv torch torchvision nvidia protobuf py4j triton glibc gcc
    cmake rocm hip kernel linux
""")
_PACKAGES: Final = build_alternation("""
    nvidia opencv types tensorrt onnx cuda triton faiss google azure aliyun flash torch py python
""")
_BEFORE_VERSION: Final = build_linear_pattern(
    r"(?i)(?:[=<>~!]=\s?|[<>]\s|\bv"
    r"|\b(?:version|ver|release|build|driver|upgrade to|downgrade to)\b['\"]?[ :=(]{0,4}"
    rf"|(?:\b|_)(?:{_VERSIONED})\b['\"]?[ :=(v/-]{{1,12}}"
    rf"|\b(?:{_PACKAGES})[-_][a-z0-9_-]{{1,40}}['\"]?[ :=(/-]{{1,60}}['\"]?"
    r"|\(from [^()]{1,120}\) \()$"
)
_AFTER_ADDRESS: Final = HidingPattern(r":\d{2,5}(?![\d.])|/\d{1,2}(?![\d.])|<\d")
_LEAST_OF_ADDRESS: Final = 28
"""A first part under which a number of four is rather a version, unless a word tells a machine."""
_BEFORE_ADDRESS: Final = build_linear_pattern(
    r"(?i)(?:(?:addr(?:ess)?|ip|host(?:name)?|server|peer|node|endpoint|client|remote|proxy|gateway|dns"
    r"|nameserver|url|from|to|connect(?:ed|ing)?|ping|ssh|via|bind|listen(?:ing)?|on|at|source"
    r"|" + join_words("machine-before-address") + r")\b?['\"]?[ :=(\[/'\"：＝]{1,4}|://|@|\[)$"
)
_KEPT_ADDRESS: Final = HidingPattern(r"(?:127|0|255)\.\d+\.\d+\.\d+")
BY_NUMBER: Final = HidingPattern(
    r"(?i)(?:node|worker|machine|server|master|n)[-_]?(?:\d{1,2}|[a-z])|[cg]pu-node\d{1,2}"
)
"""What files and launchers call the processes of any job; it names no machine."""
_NUMBERS: Final = HidingPattern(r"[\d.]+")
_CONTAINER: Final = HidingPattern("[0-9a-f]{12}")
COMMON_HOSTS: Final = parse_words("""
    localhost node worker host gpu cpu rank master server head none unknown driver default local
    train test cuda data github.com gitlab.com gitee.com huggingface.co hf.co modelscope.cn
""")

# A name with an at sign is also a metric (recall@top10), a version (pkg@rc1, image@sha256) or a
# symbol (malloc@libc6): none of them logs in anywhere.
_METRICS: Final = parse_words("""
    acc accuracy ap ar auc avg best bleu cons f1 hit hits maj map mean mrr ndcg pass precision
    prec recall rank success top iou miou rouge score psnr
""")
_VERSION_WORD: Final = build_alternation("""
    v ver version rc alpha beta dev release sha md py python cu cuda rocm tag next build post rev
    lib[a-z]* top epoch step iou utf
""")
_VERSIONLABEL: Final = HidingPattern(rf"(?i)(?:{_VERSION_WORD})-?\d[\d.-]*")
_PRIVATE_SUFFIXES: Final = (
    r"localdomain|intranet|lan|hpc|corp|home\.arpa|local|internal|cluster|private|example"
)
_CODE_SUFFIXES: Final = parse_words("local internal cluster private example")
"""Suffixes that also end module paths and file names.

sklearn.cluster, google.protobuf.internal, settings.local.
"""
_ROOT: Final = build_alternation(r"""
    self cls args? cfg conf config configs settings? opts? options flags hparams params kwargs env
    rc threading thread torch torchvision np numpy scipy sklearn google tensorflow tf jax flax ray
    spark dask cuml absl pydantic pandas os sys java jdk sun org com readme example compose
    docker-compose data values this module model encoder decoder backbone transformer layers?\d*
    blocks?\d* stage\d* conv\d* attn\d* fc\d* norm\d* bn\d* res\d* down\d* up\d* mid\d* heads
""")
_CODE_ROOTS: Final = HidingPattern(f"(?i)(?:{_ROOT})")
_MACHINE_WORD: Final = build_alternation(r"""
    [a-z-]*\d[a-z\d-]* [a-z\d]+(?:-[a-z\d]+)+ svc compute corp hpc lan login proxy head storage nfs
    master mgmt mgt slurm registry gateway gpu node nodes [a-z]*(?:node|server|host)
""")
_MACHINELABEL: Final = HidingPattern(f"(?i){_MACHINE_WORD}")
_BEFORE_HOST: Final = HidingPattern(
    r"(?i)(?:\b(?:reach|resolve|ping|lookup|ssh|scp|rsync|contact"
    r"|connect(?:ing|ed|ion)?(?: to)?|to|on|via"
    r"|host(?:name)?|server|node|proxy|address|endpoint|peer)['\"]?[ :=(\['\"]{1,4}|://|@)$"
)
_BEFORE_CODE: Final = HidingPattern(
    r"(?:\b(?:import|module|named|package|class|attribute|function)['\"]?[ :=('\"<]{1,3}"
    r"|\bfrom ['\"]|(?<![:/])/)$"
)
_KEPT_HOSTS: Final = HidingPattern(
    r"(?i)localhost(?:\d|\.).*|(?:host|gateway|kubernetes)\.docker\.internal"
    r"|metadata\.google\.internal|kubernetes\.default\.svc\.cluster\.local"
)
_TOP_LEVELS: Final = build_alternation("""
    com org net edu gov io ai eu ac cn de fr uk ch jp kr it es nl se us ca au in ru pl at fi no
    dk cz be tw sg hk br il example
""")
_PUBLIC: Final = build_alternation(r"""
    pytorch\.org huggingface\.co hf\.co github\.com githubusercontent\.com pypi\.org
    pythonhosted\.org readthedocs\.io nvidia\.com python\.org
""")
_PUBLIC_HOST: Final = HidingPattern(rf"(?i)(?:.*\.)?(?:{_PUBLIC})|docs?\..*")


def _is_email(match: Any) -> bool:
    name, _, domain = match["v"].partition("@")
    suffix = domain.rsplit(".", 1)[-1].lower()
    return (
        name.lower() != "git"
        and suffix.isalpha()
        and suffix not in {"so", "py", "sh", "log", "txt", "json", "yaml", "dll", "service"}
    )


def _is_address(match: Any) -> bool:
    value = match["v"]
    parts = value.split(".")
    if any(
        int(part) > 255 or (len(part) > 1 and part[0] == "0") for part in parts
    ) or _KEPT_ADDRESS.fullmatch(value):
        return False
    if value.startswith("192.168.") or _AFTER_ADDRESS.match(match.string, match.end()):
        return True
    before = match.string[max(0, match.start() - 160) : match.start()]
    if (
        int(parts[0]) < _LEAST_OF_ADDRESS
        and parts[0] != "10"
        and not _BEFORE_ADDRESS.search(before)
    ):
        return False
    return not _BEFORE_VERSION.search(before)


def _is_address_six(match: Any) -> bool:
    """Say whether colons and hex digits are an IPv6 address.

    `c10::` and `12:00:00` are none, `::1` is kept.
    """
    value = match["v"].partition("%")[0]
    groups = [part for part in value.split(":") if part]
    if (
        len(groups) < 2
        or not any(char.isdigit() for char in value)
        or (len(groups) == 2 and len(groups[0]) < 4 and not value.startswith("::"))
    ):
        return False
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


def _is_host(match: Any) -> bool:
    value = match["v"]
    return not (
        value.lower() in COMMON_HOSTS or _NUMBERS.fullmatch(value) or BY_NUMBER.fullmatch(value)
    )


def _is_named_host(match: Any) -> bool:
    return (
        _is_host(match)
        and not _PUBLIC_HOST.fullmatch(match["v"])
        and not _KEPT_HOSTS.fullmatch(match["v"])
    )


def _is_login(match: Any) -> bool:
    """Say whether `name@machine` logs in somewhere.

    `recall@top10`, `image@sha256` and `pkg@rc1` do not.
    """
    return _is_machine(match["n"], match["h"]) and (match["v"] == match["h"] or is_user(match))


def _is_machine(name: str, host: str) -> bool:
    if name.lower() in _METRICS or _VERSIONLABEL.fullmatch(host) or host.lower() in COMMON_HOSTS:
        return False
    return (
        not _CONTAINER.fullmatch(host)
        or name.lower() in COMMON_USERS
        or bool(PSEUDONYM.fullmatch(name))
    )


def _is_private_host(match: Any) -> bool:
    """Say whether a dotted name with a private suffix is a machine's.

    `sklearn.cluster` and `settings.local` are none.
    """
    name = match["v"]
    if _KEPT_HOSTS.fullmatch(name) or _PUBLIC_HOST.fullmatch(name):
        return False
    labels = name.lower().split(".")
    if labels[-1] not in _CODE_SUFFIXES or match.re is _MIDDLE.compiled:
        return True
    before = match.string[max(0, match.start("v") - 40) : match.start("v")]
    if _is_code(match, labels, before):
        return False
    if labels[-1] == "example":
        # reserved for documentation: proxy.example is a placeholder, proxy.corp.example a host made
        # anonymous by hand
        return len(labels) > 2
    if _BEFORE_HOST.search(before) or any(map(_MACHINELABEL.fullmatch, labels[:-1])):
        return True
    return len(labels) == 2


def _is_code(match: Any, labels: list[str], before: str) -> bool:
    """Say whether a dotted name is a module, a file or an attribute."""
    return (
        match.string.startswith(("(", "[", " import "), match.end("v"))
        or bool(_BEFORE_CODE.search(before))
        or bool(_CODE_ROOTS.fullmatch(labels[0]))
        or any("_" in label or label.isdigit() for label in labels[:-1])
    )


LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62})"
_DOMAIN: Final = r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}"
_ANY_MACHINE: Final = rf"{LABEL}(?:\.{LABEL}){{0,6}}"
_HOST: Final = rf"(?P<v>{_ANY_MACHINE})"
_PRIVATE_HOST: Final = rf"{LABEL}(?:\.{LABEL}){{0,5}}?\.(?:{_PRIVATE_SUFFIXES})(?![\w-]|\.\w)"
_MIDDLE: Final = HidingPattern(
    rf"(?i)(?<![\w.-])(?<![^/]/)(?P<v>{LABEL}(?:\.{LABEL}){{0,4}}?"
    r"\.(?:hpc|cluster|corp|internal|intranet|lan|slurm)(?:\.[a-z0-9-]{1,63}){0,3}"
    rf"\.(?:{_TOP_LEVELS}))(?![\w-]|\.\w)"
)
_LOGIN: Final = r"[A-Za-z_][\w.+-]{0,63}"
_TELLING: Final = build_alternation("""
    node gpu login server cluster dgx desktop laptop workstation macbook compute slurm
""")
# A machine's name standing alone: letters and a number (gpunode07, n01), a telling word
# (alice-laptop), a container (518b9ea961fb).
_MACHINE: Final = (
    r"(?:(?=[A-Za-z-]{3})[A-Za-z][A-Za-z-]{2,61}\d[A-Za-z0-9-]{0,40}"
    r"|[A-Za-z]{1,2}(?:0\d|\d{4})[A-Za-z0-9-]{0,40}|[0-9a-f]{12}"
    rf"|(?=[\w-]{{0,40}}(?i:{_TELLING}))[A-Za-z][A-Za-z0-9-]{{2,61}})(?![\w-]|\.\w)"
)
_LOGS_IN: Final = (
    r"(?:(?i:\bhost(?:name)?['\"]?[ \t]{0,3}[:=][ \t]{0,3}['\"]?)|\b(?:ssh|scp|rsync|sftp)"
    r" (?:-\S{1,20} ){0,4}|(?:^|\n)\[(?=[^\s@]{1,64}@[\w.-]{1,128} [^\]\n]{1,128}\][$#]))"
)
_PAIR: Final = "[0-9A-Fa-f]{2}"
_MAC_HINT: Final = "[0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-]"
_HOST_SUFFIX_HINT: Final = rf"(?i)\.(?:{_PRIVATE_SUFFIXES}|slurm)\b"


def _is_hardware(match: Any) -> bool:
    """Say whether pairs of digits are a card's address.

    Times (`12:30:00:12:30:00`) and what names no card are none.
    """
    value = match["v"].lower()
    if len(set(value)) < 4:
        return False
    return any(char in "abcdef" for char in value) or bool(
        _BEFORE_HARDWARE.search(match.string[max(0, match.start() - 24) : match.start()])
    )


_BEFORE_HARDWARE: Final = HidingPattern(
    r"(?i)(?:mac|ether|hwaddr|lladdr|link/infiniband|hardware|physical)[\w :=('\"-]{0,16}$"
)


MACHINES: Final = (
    build_line_rule(
        "host", "://[^ ]*@", HidingPattern(rf"://[^\s/@'\"<>]{{1,512}}@{_HOST}"), _is_named_host
    ),
    build_line_rule(
        "user",
        "@",
        HidingPattern(
            rf"(?:ssh|sftp|git|postgres(?:ql)?|mysql|mongodb)(?:\+\w{{1,10}})?://(?P<v>{_LOGIN})@"
        ),
        is_user,
    ),
    build_line_rule("user", "@", HidingPattern(rf"{_LOGS_IN}(?P<v>{_LOGIN})(?=@{LABEL})"), is_user),
    build_line_rule(
        "host", "@", HidingPattern(rf"{_LOGS_IN}{_LOGIN}@(?P<v>{_ANY_MACHINE})"), _is_host
    ),
    build_line_rule(
        "user",
        "@",
        HidingPattern(
            rf"(?<![\w.+/@-])(?P<v>(?P<n>{_LOGIN}))(?=@(?P<h>{_MACHINE}|{_PRIVATE_HOST}))"
        ),
        _is_login,
    ),
    build_line_rule(
        "host",
        "@",
        HidingPattern(rf"(?<![\w.+/@-])(?P<n>{_LOGIN})@(?P<v>(?P<h>{_MACHINE}|{_PRIVATE_HOST}))"),
        _is_login,
    ),
    build_line_rule(
        "email",
        "@",
        HidingPattern(
            rf"(?<![A-Za-z0-9._%+-])(?P<v>[A-Za-z0-9][A-Za-z0-9._%+-]{{0,63}}@{_DOMAIN})"
            r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
        ),
        _is_email,
    ),
    build_line_rule(
        "user",
        "@",
        HidingPattern(
            rf"(?<![\w.@-])(?P<v>[a-z_][a-z0-9_.-]{{0,31}})(?=@{LABEL}(?:\.{LABEL}){{0,6}}:[~/])"
        ),
        is_user,
    ),
    build_line_rule("host", "@", HidingPattern(rf"(?<=[A-Za-z0-9_.-]@){_HOST}(?=:[~/])"), _is_host),
    build_line_rule(
        "host",
        "NCCL",
        HidingPattern(rf"(?<![\w.-]){_HOST}(?=:\d{{1,8}}:\d{{1,8}} \[\d{{1,3}}\] NCCL)"),
        _is_host,
    ),
    build_line_rule(
        "host",
        r"(?:ip|ec2)-\d",
        HidingPattern(
            r"(?<![\w.-])(?P<v>(?:ip|ec2)-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}"
            rf"(?:\.{LABEL}){{0,6}})"
        ),
    ),
    build_line_rule(
        "host",
        _HOST_SUFFIX_HINT,
        HidingPattern(rf"(?<![\w.-])(?P<v>{_PRIVATE_HOST})"),
        _is_private_host,
    ),
    build_line_rule("host", _HOST_SUFFIX_HINT, _MIDDLE, _is_private_host),
    build_line_rule(
        "ip",
        r"\d\.\d+\.\d+\.\d",
        HidingPattern(r"(?<![\w.])(?P<v>\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})(?!\w|\.\d|[-+]\w)"),
        _is_address,
    ),
    build_line_rule(
        "mac",
        _MAC_HINT,
        HidingPattern(
            rf"(?<![\w:-])(?P<v>(?:{_PAIR}:){{5}}(?:(?:{_PAIR}:){{2}}|(?:{_PAIR}:){{14}})?{_PAIR}"
            rf"|(?:{_PAIR}-){{5}}{_PAIR})(?![\w:]|-\w)"
        ),
        _is_hardware,
    ),
    build_line_rule(
        "ip",
        "::[0-9A-Fa-f]|(?:[0-9A-Fa-f]+:){7}[0-9A-Fa-f]",
        HidingPattern(
            r"(?<![\w:.])(?P<v>(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{1,4}(?:%[a-z0-9]{1,15})?)"
            r"(?![\w:]|\.\d)"
        ),
        _is_address_six,
    ),
    build_line_rule(
        "host",
        "(?i:host|nodename|master_addr|rdzv|srun: error|CANCELLED|uname)",
        HidingPattern(
            r"(?:(?i:\b(?:host[ _]?name|nodename|slurmd_nodename|master_addr(?:ess)?"
            r"|rdzv_endpoint))['\"]?(?: {0,3}[:=] {0,3}| (?=[\w.-]{1,80}[.\d]))['\"]?"
            r"|(?:^|\n)[ \t]{0,8}host[ \t]{0,10}: |srun: error: (?=[\w.-]{1,80}: )"
            rf"|\bON (?=[\w.-]{{1,80}} CANCELLED)|\buname: Linux ){_HOST}"
        ),
        _is_host,
    ),
)
