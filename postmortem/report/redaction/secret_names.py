"""Whether a name says that its value is a secret, and whether a value looks like one.

In: the name of a variable, an option, a header, a field; a value. Out: how strictly to take it. Not
here: finding names in a text (`assignments`).

Names decide, not a list of issuers: every `*_TOKEN`, `*_KEY`, `*_SECRET`, `*_PASSWORD`. What is
listed is the opposite, the words of the trade that make a token or a key harmless: `pad_token`,
`primary_key`, `key_padding_mask`.
"""

import re
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from postmortem.core.printed_words import join_words
from postmortem.report.redaction.hiding import HidingPattern, build_alternation, parse_words

_ISSUERS: Final = build_alternation("""
    adafruit adobe airtable algolia artifactory asana atlassian bitbucket bittrex cloudflare
    codecov cohere coinbase confluence confluent contentful databricks datadog digitalocean
    discord droneci dropbox dynatrace easypost etsy facebook fastly finicity finnhub flickr
    freshbooks gitter gocardless heroku hubspot intercom jfrog jira kraken kucoin launchdarkly
    linkedin looker mailchimp mailgun mapbox mattermost messagebird netlify new[_-]?relic
    nytimes okta plaid rapidapi sendbird sentry snyk squarespace sumologic telegram twitch
    twitter typeform yandex zendesk
""")
"""Services whose bare name stands before keys, as in the list of gitleaks.

A help: most names say key or token.
"""
_LOGS_IN: Final = parse_words("""
    admin ansible bind db default email ftp imap key ldap mail mysql pg postgres proxy redis
    root smtp ssh store sudo user
""")
"""Words that make a pass a password."""
_LOGIN_PASS: Final = f"(?:{'|'.join(sorted(_LOGS_IN))})pass"
_CHINESE_PASSWORDS: Final = join_words("password-names")
_CHINESE_KEYS: Final = join_words("credential-names")
CHINESE: Final = re.sub(r"(?<=[^|])(?=[^|])", "[ \t]{0,2}", f"{_CHINESE_PASSWORDS}|{_CHINESE_KEYS}")
"""Words for passwords and keys, which tables set with blanks."""
_ENDINGS: Final = build_alternation(f"""
    token secrets? keys? passw(?:or)?ds? passphrase passcode pwd credentials? creds cookies? auth
    authorization jwt bearer signature client[_-]?id access[_-]?id dockerconfigjson dockercfg
    {_LOGIN_PASS}
""")
_TAIL: Final = r"(?:[_-]?(?:id|value|data|base64|b64|raw|str|string|plain|text|env))?\d{0,3}"
NAME: Final = (
    rf"(?:[\w$.-]*(?:{_ENDINGS})"
    r"|(?:\b|[\w$.-]*[_.-])(?:tok|pass|pw|pat|sig|[as]k|sas|otp|cred)"
    rf"|[^\x00-\x7f]{{0,8}}(?:{CHINESE})|[\w$.-]*(?:{_ISSUERS})\w*){_TAIL}"
)
"""How names of secrets end, in `re2`, whatever the case."""
_HINTS: Final = build_alternation(rf"""
    token secret key passw passphrase passcode pwd cred cookie auth jwt bearer signature
    client[_-]?id access[_-]?id dockerc {_LOGIN_PASS}
    (?:\b|[_.-])(?:tok|pass|pw|pat|sig|[as]k|sas|otp)\d?[^\w]
""")
NAME_HINT: Final = f"(?i:{_HINTS}|{CHINESE}|{_ISSUERS})"
_ISSUER: Final = HidingPattern(f"(?i){_ISSUERS}")
_SHORTEST_OF_ISSUER: Final = 15
_SHORTEST_LONG: Final = 24
_LONGEST_OF_CHINESE: Final = 8
_WORD: Final = HidingPattern(rf"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|{CHINESE}|[\u4e00-\u9fff]")
_GLUED: Final = HidingPattern(
    r"(.*?)(passw(?:or)?d|passphrase|passcode|pwd|pass|secret|token|key)$"
)
_LONGEST: Final = 96
_TAILS: Final = parse_words("""
    value data base64 b64 raw str string plain plaintext text hex enc encrypted env override new
    old
""")
"""Words behind the one that decides."""
_STRONG: Final = parse_words("""
    password passwords passwd passwds passphrase passcode pwd secret secrets
""") | frozenset(_CHINESE_PASSWORDS.split("|"))
_KEYS: Final = parse_words("key token tok jwt pat bearer dockerconfigjson dockercfg")
_LOOSE: Final = parse_words("""
    pass pw pwd credential credentials cred creds auth authorization cookie cookies sas sig
    signature ak sk otp
""")
_OPENERS: Final = _KEYS | {"pass", "pw", "ak", "sk", "credential", "credentials"}
_KEYS_WITH_IDS: Final = parse_words("access secret api private")
_ACCOUNTS: Final = frozenset({("client", "id"), ("access", "id")})
_PASSES: Final = parse_words("forward backward first second flash n num")
_CALLED: Final = parse_words("""
    api access auth authentication authorization oauth bearer refresh secret private bot hub hf
    huggingface github gh gitlab sdk jwt deploy personal signing encryption license webhook
    identity runner ci wandb comet swanlab neptune mlflow modelscope openai anthropic azure aws
    gcp aliyun alibaba tencent huawei slack telegram discord replicate vault npm pypi docker
    kaggle
""")
"""Words that make a key or a token one that opens something, however short its value."""
_OF_TOKENIZERS: Final = parse_words("""
    pad padding eos bos unk sep cls mask image img video audio speech special stop num max min
    prefix suffix middle additional vocab decoder encoder start begin end first last next prev
    previous input output per lang language time timestamp patch visual vision box boi eoi im
    fim tool think thinking reasoning unknown bad forced suppress new added mm system assistant
    human role turn chat instruction response prompt modality point frame class cot soft virtual
    trigger placeholder latent action state dummy null blank word sub subword draft generated
    target of to one each every this the a an no any which text sequence seq sot eot sos mean
    avg total n count expert memory register eod eom
""")
_OF_TABLES: Final = parse_words("""
    primary foreign sort label labels metric metrics monitor cache weight weights dataset chosen
    rejected query attention attn head kv qk group feature features column col index dict param
    params parameter optimizer optim best eval train val test map mapping lookup partition row
    hot reward obs observation public pub host missing unexpected extra ckpt checkpoint model
    module layer loss buffer config cfg hash store batch sample data info meta json message
    messages field nested arg env random rng prng seed result score value file path name names
    object schema matching unused wrong invalid duplicate required step epoch log wave color
    content dest source src dst default current split task hparam registry_key embed embedding
    hotkey press arrow enter escape space tab return save early stopping compare ema routing
    bucket shuffle event sharding shard tensor plan compile transform backend device flat ann
    annotation gt pred caption question answer idx worker rank node world rendezvous kind
""")
"""Keys of dictionaries, tables, attention and keyboards."""
_HARMLESS: Final = _OF_TOKENIZERS | _OF_TABLES
_NEVER: Final = parse_words("""
    pad padding eos bos unk sep cls mask bad eot eod eom sot boi eoi num max min n count total avg
    mean per each every to of one prefix suffix middle special additional vocab decoder encoder
    start begin end next prev previous generated target null dummy placeholder missing unexpected
    extra primary foreign sort cache hash group col column row index idx dict param params parameter
    partition shard shuffle rng prng seed random matching kind hot hotkey press arrow enter escape
    space tab public pub attention attn head kv qk query lookup map mapping
""")
"""Of the harmless words those that leave no doubt; `SPEECH_KEY` and `DATASET_TOKEN` may open."""


def is_opener(word: str) -> bool:
    """Say whether a word makes the key or token behind it one that opens something."""
    return word.lower() in _CALLED


def is_harmless(word: str) -> bool:
    """Say whether a word is one of the trade: of tokenizers, tables, keys."""
    return word in _HARMLESS or word in _KEYS or word in _CALLED


class Named(IntEnum):
    """What a name says about its value."""

    NOTHING = 0
    LONG = 1
    """A secret if it is long and of capitals, small letters and digits: a bare `key`."""
    ISSUED = 2
    """A secret if it looks like one and is long: named by a service, or an account with it."""
    PERHAPS = 3
    """A secret if it looks like one."""
    KEY = 4
    """A key or a token that opens something."""
    PASSWORD = 5
    """A secret, whatever it looks like."""


@lru_cache(4096)
def evaluate_name(name: str) -> Named:
    """Say what a name says: `HF_TOKEN`, `clientKeyData`, `--db-password`, `X-Api-Key`."""
    parts = ["".join(part.lower().split()) for part in _WORD.compiled.findall(name[-_LONGEST:])]
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1] in _TAILS):
        parts.pop()
    if parts and (glued := _GLUED.match(parts[-1])) and glued[1]:  # apikey, PGPASSWORD, hftoken
        parts[-1:] = [glued[1], glued[2]]
    said = _evaluate_words(parts, is_upper=name.isupper()) if parts else Named.NOTHING
    if said or not (tuple(parts[-2:]) in _ACCOUNTS or _ISSUER.search(name)):
        return said
    return Named.ISSUED


def _evaluate_words(parts: list[str], *, is_upper: bool) -> Named:
    """Say what the words of a name say; the last one decides, those before it may take it back."""
    last, before = parts[-1], frozenset(parts[:-1])
    if _is_password(last, before):
        return Named.PASSWORD
    if _is_called(parts):
        return Named.KEY
    if last not in _KEYS | _LOOSE or (last in _LOOSE and before & _PASSES):
        return Named.NOTHING
    if parts == ["key"]:
        return Named.LONG
    if last in _KEYS and before & _HARMLESS:
        return _evaluate_harmless_words(before, is_upper=is_upper)
    return Named.KEY if is_upper and before and last in _OPENERS else Named.PERHAPS


def _evaluate_harmless_words(before: frozenset[str], *, is_upper: bool) -> Named:
    """Say what a name with a harmless word says: a variable in capitals is rather set by people."""
    if before & _NEVER:
        return Named.NOTHING
    if before <= _HARMLESS:
        return Named.PERHAPS if is_upper else Named.NOTHING
    return Named.KEY if is_upper else Named.PERHAPS


def _is_password(last: str, before: frozenset[str]) -> bool:
    return last in _STRONG or (last in {"pass", "pw"} and bool(before & _LOGS_IN))


def _is_called(parts: list[str]) -> bool:
    """Say whether a name calls a key or a token by what it opens: `api_key`, `access_key_id`."""
    if parts[-1] in _CHINESE_KEYS.split("|"):
        return True
    if parts[-1] in {"id", "ids"}:
        return parts[-2:-1] == ["key"] and parts[-3:-2] != [] and parts[-3] in _KEYS_WITH_IDS
    return parts[-1] in _KEYS and parts[-2:-1] != [] and parts[-2] in _CALLED


_NO_WORD: Final = build_alternation("""
    none null nil true false yes no on off not is are was and or in for to the a an of with from
    must should cannot can will has have by str string bytes int bool float dict list optional
    default unset empty missing required needed set given provided found hidden redacted masked
    removed invalid incorrect wrong expired denied failed rejected accepted ok changed mismatch
    here authentication prompt basic bearer auth token
""")
_NO_VALUE: Final = build_alternation(r"""
    xx+ \.{2,} \*+ #+ -+ _+ …+ your\S* my[-_]?(?:token|key|secret|password) \[[^\]]*\]? <[^>]*>?
    \{[^}]*\}? \$\S* %\S{0,3} %\w+% \([a-z ]{2,16}\)? \w{1,8}[-_]xxx+
    (?:vault|ssm|op|file|env|secretsmanager):\S* os\.\S* secretstr\S*
    (?:self|args?|cfg|config|settings|kwargs|options|opts|environ|getenv|request|params|conf)\b\S*
""")
_NO_SECRET: Final = HidingPattern(rf"(?i)(?:{_NO_WORD}|{_NO_VALUE})[.:!?)\]]{{0,3}}")
_NUMBER: Final = HidingPattern(
    r"(?i)[-+]?[\d_,]*\.?\d*(?:e[-+]?\d+)?[kmbgt%]?|0x[0-9a-f]{1,16}|\d[\d.:/-]*"
)
_CALL: Final = HidingPattern(r"[A-Za-z_][\w.]*[(\[]")
_ATTRIBUTE: Final = HidingPattern(r"[a-z_]\w*(?:\.[A-Za-z_]\w*)+")
_FILE_SUFFIX: Final = build_alternation("""
    json ya?ml txt py sh pem key crt pub log pt bin ckpt safetensors toml ini env conf model jinja
""")
_PATH: Final = HidingPattern(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.-]+(?:[/\\][\w. -]*)*"
    rf"|[\w-]+(?:/[\w.-]+)*\.(?:{_FILE_SUFFIX})"
)
_PIECE: Final = HidingPattern(
    r"[A-Za-z]{2,}\d{0,3}|[A-Za-z]|\d{1,4}|[vVdnk]\d{1,4}|\d{1,4}[a-zA-Z]{1,2}"
)
_SPLIT: Final = HidingPattern(r"[_./:\s,|#*-]+|(?<=[a-z])(?=[A-Z][a-z])")
_SECRET_WORD: Final = HidingPattern(
    r"(?i)token|key|secret|passw|pwd|passphrase|credential|auth|cookie"
)


def is_placeholder(value: str) -> bool:
    """Say whether a value is none: a word of prose, a variable, a placeholder, some stars."""
    return not any(map(str.isalnum, value)) or bool(_NO_SECRET.fullmatch(value))


def is_code(value: str) -> bool:
    """Say whether a bare value is an expression of a program.

    A call, an attribute, or a variable named like what it holds.
    """
    return (
        bool(_CALL.match(value))
        or (
            bool(_ATTRIBUTE.fullmatch(value))
            and is_worded(value)
            and not any(map(is_random, value.split(".")))
        )
        or (
            value.replace("_", "").isalpha()
            and value.isascii()
            and bool(_SECRET_WORD.search(value))
        )
    )


def is_path(value: str) -> bool:
    """Say whether a value names a file."""
    return bool(_PATH.fullmatch(value))


def is_random(value: str) -> bool:
    """Say whether a value looks drawn by lot.

    Not a number, not words with a number behind them, not a path.
    """
    if len(value) < 8 or not value.isascii() or any(char in value for char in "()[]{}<>$ "):
        return False
    if is_placeholder(value) or _NUMBER.fullmatch(value) or is_path(value):
        return False
    if not is_worded(value):
        return True
    least = len(value) // (3 if len(value) >= 24 else 2)
    return len(value) >= 16 and value.isalnum() and count_switches(value) >= least


def is_worded(value: str) -> bool:
    """Say whether a value is made of words, each with a short number behind it at most."""
    return all(_PIECE.fullmatch(piece) for piece in _SPLIT.compiled.split(value) if piece)


def count_switches(value: str) -> int:
    """Count how often a text goes over from capitals to small letters to digits to signs.

    Often in what is drawn by lot.
    """
    kinds = [
        "A" if char.isupper() else "a" if char.islower() else "0" if char.isdigit() else "-"
        for char in value
    ]
    return sum(one != two for one, two in pairwise(kinds))


def is_secret(strength: Named, value: str, *, is_quoted: bool, is_prose: bool) -> bool:
    """Say whether the value of a name is a secret.

    Args:
        strength: what the name says.
        value: its value, without quotes.
        is_quoted: it stands in quotes, so it is no code.
        is_prose: the name and the value stand as in a sentence (`token: expired`).
    """
    if strength is Named.NOTHING or is_placeholder(value) or (not is_quoted and is_code(value)):
        return False
    if strength is Named.PASSWORD:
        is_word = _is_short_word(value) or _is_of_chinese_words(value)
        return not (is_prose and is_word) and not _is_file(value)
    if strength is Named.KEY:
        return _is_key(value) and not (is_prose and _is_word_of_prose(value))
    return _LOOKS[strength](value)


def _is_short_word(value: str) -> bool:
    return value.isalpha() and value.islower() and len(value) < 6


def _is_word_of_prose(value: str) -> bool:
    return not any(char.isdigit() for char in value) and len(value) < 24


def _is_key(value: str) -> bool:
    """Say whether a value may open something: no number, no file, no tag."""
    if len(value) < 4 or value.startswith("<"):
        return False
    return not _NUMBER.fullmatch(value) and not is_path(value)


def _is_long(value: str) -> bool:
    """Say whether a value is long and drawn from capitals, small letters and digits."""
    is_mixed = (
        count_switches(value) * 3 >= len(value) and not value.islower() and not value.isupper()
    )
    return len(value) >= _SHORTEST_LONG and is_mixed and is_random(value)


def _is_issued(value: str) -> bool:
    return len(value) >= _SHORTEST_OF_ISSUER and (value.isdigit() or is_random(value))


def _is_drawn(value: str) -> bool:
    """Say whether a value, or a long part of it between full stops, is drawn by lot."""
    return is_random(value) or any(
        len(part) >= _SHORTEST_OF_ISSUER and is_random(part) for part in value.split(".")
    )


_LOOKS: Final = {Named.LONG: _is_long, Named.ISSUED: _is_issued, Named.PERHAPS: _is_drawn}


def _is_file(value: str) -> bool:
    """Say whether a value is a path of words, as that of the working directory (`PWD=/data/x`)."""
    if not is_path(value):
        return False
    is_deep = value.count("/") > 1 and not any(char.isdigit() for char in value)
    return is_deep or (value.startswith(("/", "~")) and is_worded(value))


def _is_of_chinese_words(value: str) -> bool:
    """Say whether a value is a Chinese word or two, as in a sentence."""
    return len(value) <= _LONGEST_OF_CHINESE and all("\u4e00" <= char <= "\u9fff" for char in value)


def is_secret_setting(name: str, value: str) -> bool:
    """Say whether the whole value of a setting is a secret."""
    strength = evaluate_name(name)
    if (
        strength is Named.NOTHING
        or is_placeholder(value)
        or value.startswith("<")
        or (strength is not Named.PASSWORD and (_NUMBER.fullmatch(value) or is_path(value)))
    ):
        return False
    if strength < Named.PERHAPS:
        return is_secret(strength, value, is_quoted=True, is_prose=False)
    return strength > Named.PERHAPS or name.lower() in {"token", "--token"} or is_random(value)
