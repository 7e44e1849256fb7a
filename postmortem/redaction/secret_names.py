"""Whether a name says that its value is a secret, and whether a value looks like one.

In: the name of a variable, an option, a header, a field; a value. Out: how strictly to take it. Not
here: finding names in a text (`credentials`).

Names decide, not a list of issuers: every `*_TOKEN`, `*_KEY`, `*_SECRET`, `*_PASSWORD`. What is
listed is the opposite, the words of the trade that make a token or a key harmless: `pad_token`,
`primary_key`, `key_padding_mask`.
"""

from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from postmortem.redaction.hiding import Pattern

_ISSUERS: Final = (
    "adafruit|adobe|airtable|algolia|artifactory|asana|atlassian|bitbucket|bittrex|cloudflare|codecov|cohere|coinbase|confluence|confluent|contentful|databricks|datadog|digitalocean|discord|droneci|dropbox|dynatrace"
    "|easypost|etsy|facebook|fastly|finicity|finnhub|flickr|freshbooks|gitter|gocardless|heroku|hubspot|intercom|jfrog|jira|kraken|kucoin|launchdarkly|linkedin|looker|mailchimp|mailgun|mapbox|mattermost|messagebird"
    "|netlify|new[_-]?relic|nytimes|okta|plaid|rapidapi|sendbird|sentry|snyk|squarespace|sumologic|telegram|twitch|twitter|typeform|yandex|zendesk"
)
"""Services whose bare name stands before keys, as in the list of gitleaks; a help, for most names say key or token."""
_LOGS_IN: Final = frozenset(
    {
        "admin",
        "ansible",
        "bind",
        "db",
        "default",
        "email",
        "ftp",
        "imap",
        "key",
        "ldap",
        "mail",
        "mysql",
        "pg",
        "postgres",
        "proxy",
        "redis",
        "root",
        "smtp",
        "ssh",
        "store",
        "sudo",
        "user",
    }
)
"""Words that make a pass a password."""
_LOGIN_PASS: Final = f"(?:{'|'.join(sorted(_LOGS_IN))})pass"
NAME: Final = (
    rf"(?:[\w$.-]*(?:token|secrets?|keys?|passw(?:or)?ds?|passphrase|passcode|pwd|credentials?|creds|cookies?|auth|authorization|jwt|bearer|signature|client[_-]?id|access[_-]?id|dockerconfigjson|dockercfg|{_LOGIN_PASS})|(?:\b|[\w$.-]*[_.-])(?:tok|pass|pw|pat|sig|[as]k|sas|otp|cred)"
    rf"|[^\x00-\x7f]{{0,8}}(?:密码|口令|密钥|令牌)|[\w$.-]*(?:{_ISSUERS})\w*)(?:[_-]?(?:id|value|data|base64|b64|raw|str|string|plain|text|env))?\d{{0,3}}"
)
"""How names of secrets end, in `re2`, whatever the case."""

NAME_HINT: Final = (
    rf"(?i:token|secret|key|passw|passphrase|passcode|pwd|cred|cookie|auth|jwt|bearer|signature|client[_-]?id|access[_-]?id|dockerc|{_LOGIN_PASS}|(?:\b|[_.-])(?:tok|pass|pw|pat|sig|[as]k|sas|otp)\d?[^\w]|密码|口令|密钥|令牌"
    rf"|{_ISSUERS})"
)
_ISSUER: Final = Pattern(f"(?i){_ISSUERS}")
_SHORTEST_OF_ISSUER: Final = 15
_SHORTEST_LONG: Final = 24
_WORD: Final = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|密码|口令|密钥|令牌|[\u4e00-\u9fff]")
_GLUED: Final = Pattern(r"(.*?)(passw(?:or)?d|passphrase|passcode|pwd|pass|secret|token|key)$")
_LONGEST: Final = 96
_TAILS: Final = frozenset(
    {
        "value",
        "data",
        "base64",
        "b64",
        "raw",
        "str",
        "string",
        "plain",
        "plaintext",
        "text",
        "hex",
        "enc",
        "encrypted",
        "env",
        "override",
        "new",
        "old",
    }
)
"""Words behind the one that decides."""
_STRONG: Final = frozenset(
    {
        "password",
        "passwords",
        "passwd",
        "passwds",
        "passphrase",
        "passcode",
        "pwd",
        "secret",
        "secrets",
        "密码",
        "口令",
        "密钥",
        "令牌",
    }
)
_KEYS: Final = frozenset(
    {"key", "token", "tok", "jwt", "pat", "bearer", "dockerconfigjson", "dockercfg"}
)
_LOOSE: Final = frozenset(
    {
        "pass",
        "pw",
        "pwd",
        "credential",
        "credentials",
        "cred",
        "creds",
        "auth",
        "authorization",
        "cookie",
        "cookies",
        "sas",
        "sig",
        "signature",
        "ak",
        "sk",
        "otp",
    }
)
_PASSES: Final = frozenset({"forward", "backward", "first", "second", "flash", "n", "num"})
_CALLED: Final = frozenset({
    "api", "access", "auth", "authentication", "authorization", "oauth", "bearer", "refresh", "secret", "private", "bot", "hub", "hf", "huggingface", "github", "gh", "gitlab", "sdk", "jwt", "deploy", "personal",
    "signing", "encryption", "license", "webhook", "identity", "runner", "ci", "wandb", "comet", "swanlab", "neptune", "mlflow", "modelscope", "openai", "anthropic", "azure", "aws", "gcp", "aliyun",
    "alibaba", "tencent", "huawei", "slack", "telegram", "discord", "replicate", "vault", "npm", "pypi", "docker", "kaggle",
})  # fmt: skip
"""Words that make a key or a token one that opens something, however short its value."""
_HARMLESS: Final = frozenset({
    # tokens of a tokenizer
    "pad", "padding", "eos", "bos", "unk", "sep", "cls", "mask", "image", "img", "video", "audio", "speech", "special", "stop", "num", "max", "min", "prefix", "suffix", "middle", "additional",
    "vocab", "decoder", "encoder", "start", "begin", "end", "first", "last", "next", "prev", "previous", "input", "output", "per", "lang", "language", "time", "timestamp", "patch", "visual", "vision", "box",
    "boi", "eoi", "im", "fim", "tool", "think", "thinking", "reasoning", "unknown", "bad", "forced", "suppress", "new", "added", "mm", "system", "assistant", "human", "role", "turn", "chat", "instruction", "response",
    "prompt", "modality", "point", "frame", "class", "cot", "soft", "virtual", "trigger", "placeholder", "latent", "action", "state", "dummy", "null", "blank", "word", "sub", "subword", "draft", "generated", "target",
    "of", "to", "one", "each", "every", "this", "the", "a", "an", "no", "any", "which", "text", "sequence", "seq", "sot", "eot", "sos", "mean", "avg", "total", "n", "count", "expert", "memory", "register", "eod", "eom",
    # keys of dictionaries, tables, attention and keyboards
    "primary", "foreign", "sort", "label", "labels", "metric", "metrics", "monitor", "cache", "weight", "weights", "dataset", "chosen", "rejected", "query", "attention", "attn", "head", "kv", "qk", "group",
    "feature", "features", "column", "col", "index", "dict", "param", "params", "parameter", "optimizer", "optim", "best", "eval", "train", "val", "test", "map", "mapping", "lookup", "partition", "row", "hot", "reward",
    "obs", "observation", "public", "pub", "host", "missing", "unexpected", "extra", "ckpt", "checkpoint", "model", "module", "layer", "loss", "buffer", "config", "cfg", "hash", "store", "batch", "sample", "data",
    "info", "meta", "json", "message", "messages", "field", "nested", "arg", "env", "random", "rng", "prng", "seed", "result", "score", "value", "file", "path", "name", "names", "object", "schema", "matching", "unused",
    "wrong", "invalid", "duplicate", "required", "step", "epoch", "log", "wave", "color", "content", "dest", "source", "src", "dst", "default", "current", "split", "task", "hparam", "registry_key", "embed", "embedding",
    "hotkey", "press", "arrow", "enter", "escape", "space", "tab", "return", "save", "early", "stopping", "compare", "ema", "routing", "bucket", "shuffle", "event", "sharding", "shard", "tensor", "plan", "compile",
    "transform", "backend", "device", "flat", "ann", "annotation", "gt", "pred", "caption", "question", "answer", "idx", "worker", "rank", "node", "world", "rendezvous", "kind",
})  # fmt: skip


class Named(IntEnum):
    """What a name says about its value."""

    NOTHING = 0
    LONG = 1
    """A secret if it is long and of capitals, small letters and digits: a bare `key`."""
    ISSUED = 2
    """A secret if it looks like one and is long: the name of a service, or of an account with it."""
    PERHAPS = 3
    """A secret if it looks like one."""
    KEY = 4
    """A key or a token that opens something."""
    PASSWORD = 5
    """A secret, whatever it looks like."""


@lru_cache(4096)
def named(name: str) -> Named:
    """Say what a name says: `HF_TOKEN`, `clientKeyData`, `--db-password`, `X-Api-Key`."""
    words = [word.lower() for word in _WORD.compiled.findall(name[-_LONGEST:])]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _TAILS):
        words.pop()
    if words and (glued := _GLUED.match(words[-1])) and glued[1]:  # apikey, PGPASSWORD, hftoken
        words[-1:] = [glued[1], glued[2]]
    said = _said(words, is_upper=name.isupper()) if words else Named.NOTHING
    return said or (
        Named.ISSUED
        if (words[-1:] == ["id"] and words[-2:-1] in (["client"], ["access"]))
        or _ISSUER.search(name)
        else said
    )


def _said(words: list[str], *, is_upper: bool) -> Named:
    last, before = words[-1], frozenset(words[:-1])
    if (last in _STRONG or (last in {"pass", "pw"} and before & _LOGS_IN)) and not (
        last == "pwd" and before <= {"old"}
    ):  # that one is the working directory
        return Named.PASSWORD
    if (last in _KEYS and words[-2:-1] and words[-2] in _CALLED) or (
        last in {"id", "ids"}
        and words[-2:-1] == ["key"]
        and words[-3:-2]
        and words[-3] in {"access", "secret", "api", "private"}
    ):
        return Named.KEY
    if (last not in _KEYS and last not in _LOOSE) or before & (
        _PASSES if last in _LOOSE else _HARMLESS
    ):
        return Named.NOTHING
    if words == ["key"]:
        return Named.LONG
    return Named.KEY if is_upper and before and last in _KEYS | {"pass", "pw"} else Named.PERHAPS


_NO_SECRET: Final = Pattern(
    r"(?i)(?:none|null|nil|true|false|yes|no|on|off|not|is|are|was|and|or|in|for|to|the|a|an|of|with|from|must|should|cannot|can|will|has|have|by|str|string|bytes|int|bool|float|dict|list|optional|default|unset|empty"
    r"|missing|required|needed|set|given|provided|found|hidden|redacted|masked|removed|invalid|incorrect|wrong|expired|denied|failed|rejected|accepted|ok|changed|mismatch|here|authentication|prompt|basic|bearer|auth|token"
    r"|xx+|\.{2,}|\*+|#+|-+|_+|…+|your\S*|my[-_]?(?:token|key|secret|password)|\[[^\]]*\]?|<[^>]*>?|\{[^}]*\}?|\$\S*|%\S{0,3}|os\.\S*|secretstr\S*"
    r"|(?:self|args?|cfg|config|settings|kwargs|options|opts|environ|getenv|request|params|conf)\b\S*)[.:!?)\]]{0,3}"
)
_NUMBER: Final = Pattern(
    r"(?i)[-+]?[\d_,]*\.?\d*(?:e[-+]?\d+)?[kmbgt%]?|0x[0-9a-f]{1,16}|\d[\d.:/-]*"
)
_CALL: Final = Pattern(r"[A-Za-z_][\w.]*[(\[]")
_ATTRIBUTE: Final = Pattern(r"[a-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PATH: Final = Pattern(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.-]+(?:[/\\][\w."
    r" -]*)*|[\w-]+(?:/[\w.-]+)*\.(?:json|ya?ml|txt|py|sh|pem|key|crt|pub|log|pt|bin|ckpt|safetensors|toml|ini|env|conf|model|jinja)"
)
_PIECE: Final = Pattern(r"[A-Za-z]{2,}\d{0,3}|[A-Za-z]|\d{1,4}|[vVdnk]\d{1,4}|\d{1,4}[a-zA-Z]{1,2}")
_SPLIT: Final = Pattern(r"[_./:\s,|#*-]+|(?<=[a-z])(?=[A-Z][a-z])")
_SECRET_WORD: Final = Pattern(r"(?i)token|key|secret|passw|pwd|passphrase|credential|auth|cookie")


def is_placeholder(value: str) -> bool:
    """Say whether a value is none: a word of prose, a variable, a placeholder, a number of stars."""
    return not any(map(str.isalnum, value)) or bool(_NO_SECRET.fullmatch(value))


def is_code(value: str) -> bool:
    """Say whether a bare value is an expression of a program.

    A call, an attribute, or a variable named like what it holds.
    """
    return (
        bool(_CALL.match(value))
        or (bool(_ATTRIBUTE.fullmatch(value)) and _is_worded(value))
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
    if (
        len(value) < 8
        or is_placeholder(value)
        or _NUMBER.fullmatch(value)
        or is_path(value)
        or any(char in value for char in "()[]{}<>$ ")
        or not value.isascii()
    ):
        return False
    if not _is_worded(value):
        return True
    return len(value) >= 24 and value.isalnum() and switches(value) >= len(value) // 3


def _is_worded(value: str) -> bool:
    """Say whether a value is made of words, each with a short number behind it at most."""
    return all(_PIECE.fullmatch(piece) for piece in _SPLIT.compiled.split(value) if piece)


def switches(value: str) -> int:
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
    if strength is Named.LONG:
        return (
            len(value) >= _SHORTEST_LONG
            and is_random(value)
            and switches(value) * 3 >= len(value)
            and not value.islower()
            and not value.isupper()
        )
    if strength is Named.ISSUED:
        return len(value) >= _SHORTEST_OF_ISSUER and (value.isdigit() or is_random(value))
    if strength is Named.PASSWORD:
        return not (
            is_prose and value.isalpha() and value.islower() and len(value) < 6
        ) and not _is_file(value)
    if strength is Named.KEY:
        return (
            len(value) >= 4
            and not _NUMBER.fullmatch(value)
            and not is_path(value)
            and not (is_prose and not any(char.isdigit() for char in value) and len(value) < 24)
            and "<" not in value[:1]
        )
    return is_random(value)


def _is_file(value: str) -> bool:
    return is_path(value) and value.count("/") > 1 and not any(char.isdigit() for char in value)


def is_secret_setting(name: str, value: str) -> bool:
    """Say whether the whole value of a setting is a secret."""
    strength = named(name)
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
