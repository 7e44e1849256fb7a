"""Where a text names people: home folders, variables, trackers, telephone numbers.

In: text. Out: the rules for users and telephone numbers. Not here: logins and addresses
(`machines`), pseudonyms (`pseudonyms`).

All quantifiers are bounded: a pattern costs linear time whatever the log holds.
"""

from typing import Any, Final

from postmortem.redaction.hiding import Check, HidingPattern, HidingRule, one_of, rule, words

COMMON_USERS: Final = words("""
    root git user users ubuntu runner jovyan ec2-user vscode shared public default admin
    administrator work data share home model models project projects workspace scratch code
    common train test username name me
""")
_NO_FOLDER_OF_SOMEBODY: Final = words("""
    all cache checkpoint checkpoints ckpt ckpts conda containers datasets dataset db envs exp
    experiments files group groups hf huggingface images imagenet job jobs lib list local log
    login logs new node opt out output outputs pip results run runs slurm software src temp tmp
    tools nvme ssd torch training venv wandb weights profile settings id count batch global gpfs
    lustre nfs raid hub tensorboard corpus tokenizer tokenizers tokenized processed preprocessed
    raw c4 pile train dev
""")
"""Folders that lie beside those of users."""
_NO_ENTITY: Final = words("""
    authorize site docs settings home quickstart login signup fully-connected reports runs api
    space o pricing blog guide guides support overview en zh
""")
_NO_NAME: Final = one_of(r"""
    none null true false unknown str string n/a nobody id ids name input message messages
    assistant system interrupt is not has was to the \d+
    [\w.]*\.(?:json|ya?ml|csv|txt|py|log|parquet|tsv|pt|zip|gz|sqlite|db|err|out|so)
""")
_NO_USER: Final = HidingPattern(f"(?i)(?:{_NO_NAME})")
_BREAK: Final = HidingPattern(r"[\s'\"=(,\[<>]")
_NAME: Final = r"(?P<v>[^\W\d_](?:[\w.-]{0,62}\w)?)"
_ANY: Final = r"(?P<v>\w(?:[\w.-]{0,62}\w)?)"
_END: Final = r"(?=[/\s'\",:;)\]]|$)"
_VARIABLE: Final = r"(?<![A-Za-z0-9])(?:[A-Z_]{1,40}_)?(?:USER|LOGNAME|USERNAME|USER_NAME|ENTITY)"
_FIELD: Final = (
    r"(?<![A-Za-z0-9_-])(?:--)?(?:(?:wandb|swanlab|comet|neptune)[_-])?"
    r"(?:user_?name|logname|entity)|(?:comet|swanlab)[_-]workspace"
)
_SET: Final = r"['\"]?(?:[ \t]{0,3}[=:][ \t]{0,3}|,[ \t]{0,2}(?=['\"]))['\"]?"
_TRACKERS: Final = r"wandb\.ai|swanlab\.cn|comet\.(?:com|ml)|neptune\.ai(?:/o)?|dagshub\.com"


def is_user(match: Any) -> bool:
    """Say whether a name is somebody's: `root` and `ubuntu` are nobody's."""
    return match["v"].lower() not in COMMON_USERS


def _is_named(match: Any) -> bool:
    return is_user(match) and not _NO_USER.fullmatch(match["v"])


def _is_folder(match: Any) -> bool:
    """Say whether a folder beside others is somebody's.

    It is no part of a web address, nor of what everybody has.
    """
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


def _user(hint: str, pattern: str, holds: Check = is_user) -> HidingRule:
    return rule("user", hint, HidingPattern(pattern), holds)


def _phone(hint: str, pattern: str, holds: Check) -> HidingRule:
    return rule("phone", hint, HidingPattern(pattern), holds)


PEOPLE: Final = (
    # folders
    _user(
        "/home/|/Users/",
        r"(?:/home/(?:j?users/|staff/|students?/)?|/Users/)(?P<v>\w(?:[\w.-]{0,62}\w)?)",
    ),
    _user(
        "/(?:users|homes|people|staff|students|jusers|user|u[0-9]?|sd)/",
        r"/(?:users|people|staff|students|jusers|homes(?:/[a-z](?=/))?|(?:user|u\d?)/[a-z](?=/)"
        rf"|cscratch\d?/sd)/{_ANY}{_END}",
        _is_folder,
    ),
    _user(
        "scratch|/u/|/nobackup",
        r"(?<![\w./-])(?:(?:/[\w.-]{1,40}){0,4}/(?:scratch\w{0,8}|nobackup)"
        rf"(?:/(?:project|proj|group|grp)[\w-]{{0,30}}(?=/\w))?|/u)/{_NAME}{_END}",
        _is_folder,
    ),
    _user(
        r"(?i:[a-z]:[\\/]+users)",
        r"(?i:[a-z]:[\\/]{1,4}users[\\/]{1,4})"
        r"(?P<v>[^\\/:*?\"<>|\r\n]{1,64}(?=[\\/])|[\w.-]{1,64})",
    ),
    # variables, options and messages of databases
    _user(
        "(?i:user|logname|entity|workspace)",
        rf"(?:{_VARIABLE}|{_FIELD}){_SET}{_ANY}(?![\w(])",
        _is_named,
    ),
    _user(
        "(?i:user|role |entity)",
        r"(?:(?<![\w-])(?:user=|user = |--(?:\w{1,20}[_-])?(?:user|user_?name|entity)[ =])"
        r"|(?i:\b(?:access|permission) denied for user |\bauthentication failed for (?:user )?"
        rf"|\brole )(?=['\"]))['\"]?{_NAME}(?![\w(:])",
        _is_named,
    ),
    # commands, and what they print
    _user("[ug]id=", rf"\b[ug]id=\d{{1,10}}\({_ANY}\)"),
    _user("UserId=", rf"\bUserId={_ANY}\(\d"),
    _user("~[a-z_]", r"(?<![\w/~.=*-])~(?P<v>[a-z_][a-z0-9_-]{2,31})(?=/)"),
    _user(
        r"\b(?:sudo|su|squeue|sacct|scancel|qstat|runuser|chown)[ \t]",
        r"\b(?:sudo -u |su -? ?(?:-c )?|runuser -u |(?:squeue|sacct|scancel|qstat)"
        rf"(?: -[a-zA-Z]{{1,3}}(?: \S{{1,20}})?){{0,3}} -u ){_NAME}(?![\w.(/-])",
        _is_named,
    ),
    _user(
        "(?:Author|Committer|[Aa]uthored-by|[Ss]igned-off-by): ",
        r"(?:Author|Committer|[Aa]uthored-by|[Ss]igned-off-by): "
        r"(?P<v>[^<>\n]{2,60}?) <(?=[^>\n]{1,80}@|email-)",
    ),
    _user(
        "[rwxst-]{9}[+.@]?[ \t]+[0-9]",
        rf"(?<![\w-])[-bcdlps][rwxsStT-]{{9}}[+.@]?[ \t]{{1,4}}\d{{1,6}}[ \t]{{1,4}}{_NAME}[ \t]",
        _is_named,
    ),
    _user(
        "[0-9][.][0-9][ \t]+[0-9]+[.][0-9][ \t]+[0-9]+[ \t]+[0-9]+ ",
        rf"(?<![\w.-]){_NAME}[ \t]{{1,20}}\d{{1,8}}[ \t]{{1,6}}\d{{1,4}}\.\d[ \t]{{1,6}}"
        r"\d{1,3}\.\d[ \t]{1,10}\d{1,12}[ \t]{1,10}\d{1,12} ",
        _is_named,
    ),
    # trackers
    _user("logged in as", rf"[Cc]urrently logged in as: {_ANY}"),
    _user("logged in as", rf"[Cc]urrently logged in as: [\w.-]{{1,64}} \({_ANY}"),
    _user(
        "(?i:wandb|swanlab|comet|neptune|dagshub)",
        rf"(?<!docs\.)(?i:{_TRACKERS})/(?:links/|@)?{_ANY}(?=[/\s'\",)]|$)",
        _is_entity,
    ),
    _user(
        "/runs/",
        rf"https?://[\w.:-]{{1,80}}/{_ANY}/[\w.%-]{{1,80}}/runs/[a-z0-9]{{8}}\b",
        _is_entity,
    ),
    # telephone numbers
    _phone(
        "(?i:phone|tel|mobile|cell|fax|whatsapp|contact|手机|电话|联系)",
        r"(?i:(?<![A-Za-z])(?:phone|tel|telephone|mobile|cell|fax|whatsapp|contact)"
        r"(?:[ _-]?(?:no|num|number))?|手机号?码?|电话|联系方式)"
        r"['\"]?\.?[ \t]{0,2}[:=：][ \t]{0,2}['\"]?(?P<v>\+?[\d(][\d ().-]{5,20}\d)(?![\w.])",
        _is_number,
    ),
    _phone(
        r"\+\d",
        r"(?<![\w.+)])(?P<v>\+\d{1,3}[ .-]?\(?\d{1,4}\)?(?:[ .-]?\d{2,5}){2,4})(?![\w.]|[-+]\d)",
        _is_international,
    ),
    _phone(
        r"1[3-9]\d[ -]\d{4}[ -]\d{4}",
        r"(?<![\w.+-])(?P<v>1[3-9]\d([ -])\d{4}\2\d{4})(?![\w.-]| \d)",
        _is_number,
    ),
)
