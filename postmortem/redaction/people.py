"""Where a text names people: home folders, variables, trackers, telephone numbers.

In: text. Out: the rules for users and telephone numbers. Not here: logins and addresses
(`machines`), pseudonyms (`redactor`).

All quantifiers are bounded: a pattern costs linear time whatever the log holds.
"""

from typing import Any, Final

from postmortem.redaction.hiding import Pattern, rule

COMMON_USERS: Final = frozenset({
    "root", "git", "user", "users", "ubuntu", "runner", "jovyan", "ec2-user", "vscode", "shared", "public", "default", "admin", "administrator", "work", "data",
    "share", "home", "model", "models", "project", "projects", "workspace", "scratch", "code", "common", "train", "test", "username", "name", "me",
})  # fmt: skip
_NO_FOLDER_OF_SOMEBODY: Final = frozenset({
    "all", "cache", "checkpoint", "checkpoints", "ckpt", "ckpts", "conda", "containers", "datasets", "dataset", "db", "envs", "exp", "experiments", "files", "group", "groups", "hf", "huggingface", "images", "imagenet",
    "job", "jobs", "lib", "list", "local", "log", "login", "logs", "new", "node", "opt", "out", "output", "outputs", "pip", "results", "run", "runs", "slurm", "software", "src", "temp", "tmp", "tools", "nvme", "ssd",
    "torch", "training", "venv", "wandb", "weights", "profile", "settings", "id", "count", "batch", "global", "gpfs", "lustre", "nfs", "raid", "hub", "tensorboard", "corpus", "tokenizer", "tokenizers", "tokenized", "processed", "preprocessed", "raw", "c4", "pile", "train", "dev",
})  # fmt: skip
"""Folders that lie beside those of users."""
_NO_ENTITY: Final = frozenset(
    {
        "authorize",
        "site",
        "docs",
        "settings",
        "home",
        "quickstart",
        "login",
        "signup",
        "fully-connected",
        "reports",
        "runs",
        "api",
        "space",
        "o",
        "pricing",
        "blog",
        "guide",
        "guides",
        "support",
        "overview",
        "en",
        "zh",
    }
)
_NO_USER: Final = Pattern(
    r"(?i)(?:none|null|true|false|unknown|str|string|n/a|nobody|id|ids|name|input|message|messages|assistant|system|interrupt|is|not|has|was|to|the|\d+|[\w.]*\.(?:json|ya?ml|csv|txt|py|log|parquet|tsv|pt|zip|gz|sqlite|db|err|out|so))"
)
_BREAK: Final = Pattern(r"[\s'\"=(,\[<>]")
_NAME: Final = r"(?P<v>[^\W\d_](?:[\w.-]{0,62}\w)?)"
_ANY: Final = r"(?P<v>\w(?:[\w.-]{0,62}\w)?)"
_END: Final = r"(?=[/\s'\",:;)\]]|$)"
_VARIABLE: Final = r"(?<![A-Za-z0-9])(?:[A-Z_]{1,40}_)?(?:USER|LOGNAME|USERNAME|USER_NAME|ENTITY)"
_FIELD: Final = r"(?<![A-Za-z0-9_-])(?:--)?(?:(?:wandb|swanlab|comet|neptune)[_-])?(?:user_?name|logname|entity)|(?:comet|swanlab)[_-]workspace"


def is_user(match: Any) -> bool:
    """Say whether a name is somebody's: `root` and `ubuntu` are nobody's."""
    return match["v"].lower() not in COMMON_USERS


def _is_named(match: Any) -> bool:
    return is_user(match) and not _NO_USER.fullmatch(match["v"])


def _is_folder(match: Any) -> bool:
    """Say whether a folder beside others is somebody's, not a part of a web address or of what everybody has."""
    if not _is_named(match) or match["v"].lower() in _NO_FOLDER_OF_SOMEBODY:
        return False
    word = _BREAK.compiled.split(match.string[max(0, match.start() - 200) : match.start()])[-1]
    return not word.lower().startswith(("http://", "https://"))


def _is_entity(match: Any) -> bool:
    return is_user(match) and match["v"].lower() not in _NO_ENTITY


def _digits(text: str) -> int:
    return sum(char.isdigit() for char in text)


def _is_number(match: Any) -> bool:
    """Say whether digits have the length of a telephone number."""
    return 7 <= _digits(match["v"]) <= 15


def _is_international(match: Any) -> bool:
    value = match["v"]
    return 10 <= _digits(value) <= 15 and (
        any(char in " -()" for char in value) or value.startswith("+86")
    )


PEOPLE: Final = (
    rule("user", "/home/|/Users/", Pattern(r"(?:/home/(?:j?users/|staff/|students?/)?|/Users/)(?P<v>\w(?:[\w.-]{0,62}\w)?)"), is_user),
    rule("user", "/(?:users|homes|people|staff|students|jusers|user|u[0-9]?|sd)/", Pattern(rf"/(?:users|people|staff|students|jusers|homes(?:/[a-z](?=/))?|(?:user|u\d?)/[a-z](?=/)|cscratch\d?/sd)/{_ANY}{_END}"), _is_folder),
    rule("user", "scratch|/u/|/nobackup", Pattern(rf"(?<![\w./-])(?:(?:/[\w.-]{{1,40}}){{0,4}}/(?:scratch\w{{0,8}}|nobackup)(?:/(?:project|proj|group|grp)[\w-]{{0,30}}(?=/\w))?|/u)/{_NAME}{_END}"), _is_folder),
    rule("user", r"(?i:[a-z]:[\\/]+users)", Pattern(r"(?i:[a-z]:[\\/]{1,4}users[\\/]{1,4})(?P<v>[^\\/:*?\"<>|\r\n]{1,64}(?=[\\/])|[\w.-]{1,64})"), is_user),
    rule("user", "(?i:user|logname|entity|workspace)", Pattern(rf"(?:{_VARIABLE}|{_FIELD})['\"]?(?:[ \t]{{0,3}}[=:][ \t]{{0,3}}|,[ \t]{{0,2}}(?=['\"]))['\"]?{_ANY}(?![\w(])"), _is_named),
    rule("user", "(?i:user|role |entity)", Pattern(rf"(?:(?<![\w-])(?:user=|user = |--(?:\w{{1,20}}[_-])?(?:user|user_?name|entity)[ =])|(?i:\b(?:access|permission) denied for user |\bauthentication failed for (?:user )?|\brole )(?=['\"]))['\"]?{_NAME}(?![\w(:])"), _is_named),
    rule("user", "[ug]id=", Pattern(rf"\b[ug]id=\d{{1,10}}\({_ANY}\)"), is_user),
    rule("user", "UserId=", Pattern(rf"\bUserId={_ANY}\(\d"), is_user),
    rule("user", "~[a-z_]", Pattern(r"(?<![\w/~.=*-])~(?P<v>[a-z_][a-z0-9_-]{2,31})(?=/)"), is_user),
    rule("user", r"\b(?:sudo|su|squeue|sacct|scancel|qstat|runuser|chown)[ \t]", Pattern(rf"\b(?:sudo -u |su -? ?(?:-c )?|runuser -u |(?:squeue|sacct|scancel|qstat)(?: -[a-zA-Z]{{1,3}}(?: \S{{1,20}})?){{0,3}} -u ){_NAME}(?![\w.(/-])"), _is_named),
    rule("user", "(?:Author|Committer|[Aa]uthored-by|[Ss]igned-off-by): ", Pattern(r"(?:Author|Committer|[Aa]uthored-by|[Ss]igned-off-by): (?P<v>[^<>\n]{2,60}?) <(?=[^>\n]{1,80}@|email-)"), is_user),
    rule("user", "[rwxst-]{9}[+.@]?[ \t]+[0-9]", Pattern(rf"(?<![\w-])[-bcdlps][rwxsStT-]{{9}}[+.@]?[ \t]{{1,4}}\d{{1,6}}[ \t]{{1,4}}{_NAME}[ \t]"), _is_named),
    rule("user", "[0-9][.][0-9][ \t]+[0-9]+[.][0-9][ \t]+[0-9]+[ \t]+[0-9]+ ", Pattern(rf"(?<![\w.-]){_NAME}[ \t]{{1,20}}\d{{1,8}}[ \t]{{1,6}}\d{{1,4}}\.\d[ \t]{{1,6}}\d{{1,3}}\.\d[ \t]{{1,10}}\d{{1,12}}[ \t]{{1,10}}\d{{1,12}} "), _is_named),
    rule("user", "logged in as", Pattern(rf"[Cc]urrently logged in as: {_ANY}"), is_user),
    rule("user", "logged in as", Pattern(rf"[Cc]urrently logged in as: [\w.-]{{1,64}} \({_ANY}"), is_user),
    rule("user", "(?i:wandb|swanlab|comet|neptune|dagshub)", Pattern(rf"(?<!docs\.)(?i:wandb\.ai|swanlab\.cn|comet\.(?:com|ml)|neptune\.ai(?:/o)?|dagshub\.com)/(?:links/|@)?{_ANY}(?=[/\s'\",)]|$)"), _is_entity),
    rule("user", "/runs/", Pattern(rf"https?://[\w.:-]{{1,80}}/{_ANY}/[\w.%-]{{1,80}}/runs/[a-z0-9]{{8}}\b"), _is_entity),
    rule(
        "phone", "(?i:phone|tel|mobile|cell|fax|whatsapp|contact|手机|电话|联系)",
        Pattern(
            r"(?i:(?<![A-Za-z])(?:phone|tel|telephone|mobile|cell|fax|whatsapp|contact)(?:[ _-]?(?:no|num|number))?|手机号?码?|电话|联系方式)['\"]?\.?[ \t]{0,2}[:=：][ \t]{0,2}['\"]?"
            r"(?P<v>\+?[\d(][\d ().-]{5,20}\d)(?![\w.])"
        ),
        _is_number,
    ),
    rule("phone", r"\+\d", Pattern(r"(?<![\w.+)])(?P<v>\+\d{1,3}[ .-]?\(?\d{1,4}\)?(?:[ .-]?\d{2,5}){2,4})(?![\w.]|[-+]\d)"), _is_international),
    rule("phone", r"1[3-9]\d[ -]\d{4}[ -]\d{4}", Pattern(r"(?<![\w.+-])(?P<v>1[3-9]\d([ -])\d{4}\2\d{4})(?![\w.-]| \d)"), _is_number),
)  # fmt: skip
