"""Where a text holds secrets.

By the name before them, by the shape that an issuer gives them, by their place on a command line.

In: text. Out: the rules of kind `secret`. Not here: which names say secret (`secret_names`),
pseudonyms (`redactor`).

The shapes follow the list of gitleaks (github.com/gitleaks/gitleaks, config/gitleaks.toml), taken
wider: a length that an issuer changes still fits.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from postmortem.redaction.hiding import Pattern, Rule, Span, linear, rule
from postmortem.redaction.secret_names import (
    NAME,
    NAME_HINT,
    Named,
    is_placeholder,
    is_random,
    is_secret,
    named,
)

_HEX8_4: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LONG: Final = r"[A-Za-z0-9_=.~+/-]{12,}"
_TOKENS: Final = (
    r"hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl(?:pat|ptt|rt|dt|ft|imt|soat|agent|oas|ffct|cbt)-[\w.-]{16,}|GR1348941[\w-]{16,}"
    r"|(?:sk|rk)_(?:[A-Za-z0-9]{24,}|(?:live|test|prod)_[A-Za-z0-9]{10,})|xox[abeoprs][.-][A-Za-z0-9.-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}|AIza[\w-]{30,}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{30,}"
    r"|(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AROA)[A-Z0-9]{16}|ABSK[A-Za-z0-9+/]{60,}=*|bedrock-api-key-[A-Za-z0-9+/=]{20,}|LTAI[A-Za-z0-9]{12,}|AKID[A-Za-z0-9]{16,}"
    r"|wandb_v1_[\w-]{20,}|r8_[A-Za-z0-9]{32,}|npm_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{32,}|nvapi-[\w-]{32,}|pypi-AgE[\w-]{32,}|dckr_(?:pat|oat)_[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|ey[A-Za-z0-9_-]{8,}\.ey[A-Za-z0-9_/-]{8,}\.[A-Za-z0-9_/-]{8,}=*|eyJrIjoi[A-Za-z0-9+/=]{40,}|ZXlK[A-Za-z0-9+/]{40,}=*|dapi[0-9a-f]{32}(?:-\d)?|do[opr]_v1_[0-9a-f]{32,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}"
    r"|duffel_(?:test|live)_[\w=-]{30,}|dt0c01\.[A-Za-z0-9]{20,}\.[A-Za-z0-9]{40,}|EZ[AT]K[A-Za-z0-9]{50,}|EAA[A-Za-z0-9]{30,}|sq0(?:atp|csp|idp)-[\w-]{20,}|FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"
    r"|fo1_[\w-]{40,}|fm1[ar]_[A-Za-z0-9+/]{60,}=*|fm2_[A-Za-z0-9+/]{60,}=*|fio-u-[\w=-]{40,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{24,}|sntry[su]_[A-Za-z0-9+/=_]{40,}|sm_[aps]at_[A-Za-z0-9]{16,}|SK[0-9A-Fa-f]{32}"
    r"|hv[sbr]\.[\w-]{24,}|s\.[A-Za-z0-9]{24}|t1\.[\w-]{8,}=*\.[\w-]{60,}=*|AQVN[\w-]{30,}|tfp_[\w.=-]{40,}|NR(?:AK|JS|II)-[A-Za-z0-9-]{19,}|ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{43}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}"
    r"|(?:pat|sat)\.[\w-]{20,}\.[A-Za-z0-9]{20,}\.[A-Za-z0-9]{16,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|pnu_[A-Za-z0-9]{36}|pul-[0-9a-f]{40}|rdme_[a-z0-9]{60,}|rubygems_[0-9a-f]{40,}|tk-us-[\w-]{40,}|xkeysib-[0-9a-f]{60,}-[A-Za-z0-9]{12,}"
    r"|shippo_(?:live|test)_[A-Fa-f0-9]{40}|sgp_(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}|sq[uap]_[0-9a-f]{40}|sha256~[\w-]{43}|pplx-[A-Za-z0-9]{40,}|pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}|lin_(?:api|oauth)_[A-Za-z0-9]{32,}"
    r"|glc_[A-Za-z0-9+/]{32,}=*|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|HRKU-AA[\w-]{50,}|(?:pub)?key-[0-9a-f]{32}|[0-9a-f]{32}-us\d\d|A3-[A-Z0-9]{6}-[A-Z0-9-]{20,}|ops_eyJ[A-Za-z0-9+/=]{60,}|p8e-[A-Za-z0-9]{32}|AGE-SECRET-KEY-1[A-Z0-9]{40,}"
    r"|AT(?:ATT3|CTT3|BB)[\w=-]{24,}|AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{59}|[\w~.]{3}\dQ~[\w~.-]{31,34}|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|4b1d[A-Za-z0-9]{38}|CLOJARS_[A-Za-z0-9]{50,}|dnkey-[\w=-]{20,}|API-[A-Z0-9]{25,36}"
    r"|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}|tgp_v1_[\w-]{30,}|xai-[A-Za-z0-9]{40,}|lsv2_(?:pt|sk)_[0-9a-f]{32}\w*|jina_[A-Za-z0-9]{40,}|tvly-[\w-]{20,}|rpa_[A-Z0-9]{30,}|ph[cx]_[A-Za-z0-9]{40,}|figd_[\w-]{30,}|sbp_[0-9a-f]{40}"
    rf"|whsec_[A-Za-z0-9+/=]{{24,}}|nfp_[A-Za-z0-9]{{30,}}|aio_[A-Za-z0-9]{{28}}|bkua_[0-9a-f]{{40}}|CCIPAT_\w{{30,}}|oy2[a-z0-9]{{43}}|ico-[A-Za-z0-9]{{32}}|s-s4t2(?:ud|af)-[0-9a-f]{{64}}|ms-{_HEX8_4}|fw_[A-Za-z0-9]{{22,}}"
    r"|(?:live|test)_(?:pub_)?[0-9a-f]{31,35}|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|access-(?:sandbox|development|production)-[0-9a-f-]{36}|(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}"
    r"|sl\.[\w=-]{100,}|\d{15,16}(?:\||%7C)[\w-]{27,40}|(?:bot)?\d{6,16}:A[\w-]{32,36}|AAAA[\w-]{7}:[\w-]{100,}|A{22}[A-Za-z0-9%]{60,}"
)
_SK: Final = r"sk-[A-Za-z0-9_-]{16,}"
_HOOKS: Final = (
    r"(?i:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks|open-apis/bot/v2/hook|webhook\.office\.com/webhookb2|api\.day\.app|sctapi\.ftqq\.com|pushplus\.plus/send"
    r"|maker\.ifttt\.com/trigger/\w+/with/key|hooks\.zapier\.com/hooks/catch|chat\.googleapis\.com/v1/spaces)/(?P<v>[A-Za-z0-9@/_-]{12,})"
)
_PARAMETERS: Final = "sig|signature|x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|awsaccesskeyid|ossaccesskeyid|accesskeyid|security-token|q-ak|q-signature|x-cos-security-token|token|access_token|key|api_?key|sign|sv"


def _stands_alone(match: Any) -> bool:
    """Say whether a token ends where it ends, and is not a name of the trade of the same shape (`task-...`, `sk-learn-intelex-extension`)."""
    text, value, end = match.string, match["v"], match.end(1)
    if end < len(text) and text[end].isalnum():
        return False
    return not value.startswith("sk-") or any(char.isdigit() for char in value)


def _holds_password(match: Any) -> bool:
    """Say whether what stands before the @ of a URL is one."""
    return ":" in match["v"] or len(match["v"]) >= 24


def _is_value(match: Any) -> bool:
    return not is_placeholder(match["v"])


def _is_bearer(match: Any) -> bool:
    return not is_placeholder(match["v"]) and (
        len(match["v"]) >= 24 or any(char.isdigit() for char in match["v"][:64])
    )


_BEFORE_NAMES: Final = (
    rule(
        "secret",
        "://",
        linear(
            r"[A-Za-z][A-Za-z0-9+.-]*://(?P<v>[^\s/:@?'\"<>]*:[^\s/?'\"<>]+|[A-Za-z0-9._~%=+-]{24,})@"
        ),
        _holds_password,
    ),
    rule(
        "secret",
        "/t/",
        linear(r"(?i:conda)[^\s'\"]{0,60}/t/(?P<v>[A-Za-z0-9_-]{16,})(?:[/\s'\"]|$)"),
        lambda match: is_random(match["v"]),
    ),
    rule(
        "secret",
        r"(?i:webhook|hook|api\.day|ftqq|pushplus|ifttt|googleapis\.com/v1)",
        linear(_HOOKS),
    ),
    rule(
        "secret", r"[?&][A-Za-z_-]+=", linear(rf"[?&](?i:{_PARAMETERS})=(?P<v>[^\s&'\"<>]{{8,}})")
    ),
    rule(
        "secret",
        rf"(?:{_TOKENS}|{_SK})",
        linear(rf"(?:^|[^A-Za-z0-9_]|%[0-9A-Fa-f]{{2}})(?P<v>{_TOKENS}|{_SK})"),
        _stands_alone,
    ),
    rule(
        "secret",
        "(?i:authorization)",
        linear(
            r"(?i:\bauthorization\\{0,3}['\"]? {0,3}[:=]"
            r" {0,3}\\{0,3}['\"]?(?:basic|bearer|token|digest|apikey|negotiate|aws4-hmac-sha256)"
            r" {1,3})(?P<v>[A-Za-z0-9._~+/=%|:-]{4,})"
        ),
        _is_value,
    ),
    rule(
        "secret",
        "(?i:authorization)",
        linear(
            r"(?i:\bauthorization\\{0,3}['\"]? {0,3}[:=]"
            r" {0,3}\\{0,3}['\"]?)(?P<v>[A-Za-z0-9._~+/=-]{16,})"
        ),
    ),
    rule(
        "secret",
        "(?i:bearer)",
        linear(r"(?i:\bbearer) {1,4}(?P<v>[A-Za-z0-9._~+/=%|:-]{8,})"),
        _is_bearer,
    ),
    rule(
        "secret",
        "(?i:basic )",
        linear(r"(?i:\bbasic) (?P<v>[A-Za-z0-9+/]{8,}={0,2})"),
        lambda match: is_basic(match["v"]),
    ),
    rule(
        "secret",
        "(?i:cookie)",
        linear(
            r"(?i:\b(?:set-)?cookie\\{0,3}['\"]? {0,3}[:=]"
            r" {0,3}\\{0,3}['\"]?)(?P<v>[\w.-]+=[^'\"\n]{6,})"
        ),
    ),
    rule(
        "secret",
        "(?i:wandb|api.?key|login|netrc)",
        linear(
            r"(?i:wandb|api.?key|login|netrc)[^\n]{0,80}?[^A-Za-z0-9](?P<v>[0-9a-f]{40})(?:[^A-Za-z0-9]|$)"
        ),
    ),
    rule("secret", "_gitlab_session=", linear(r"_gitlab_session=(?P<v>[0-9a-z]{32})")),
    rule(
        "secret",
        "['\"]key",
        linear(r"['\"]key\\{0,3}['\"] {0,3}: {0,3}\\{0,3}['\"](?P<v>[0-9a-f]{32})\\{0,3}['\"]"),
    ),
)


_CUT: Final = linear(
    r"(?m:(?:^|[^A-Za-z0-9_])(?P<v>(?:hf_|gh[oprsu]_|github_pat_|gl(?:pat|rt|ptt|dt)-|sk-(?:proj|ant|or|svcacct|lf)-|xox[abprs]-|xapp-|AKIA|ASIA|LTAI|AKID|AIza|eyJ|SG\.|npm_|pypi-AgE|dckr_pat_|nvapi-|wandb_v1_|r8_|gsk_|ya29\.|shpat_|dapi)"
    r"[\w.-]+|[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]+:[^\s/:@]+|(?i:wandb|api.?key|login|netrc)[^\n]{0,80}["
    r" :='\"][0-9a-f]{9,39})(?:\.\.\.|…)?$)"
)
_SHORTEST_CUT: Final = 150
"""Characters that a text has at least if something was cut off behind it."""


def _is_cut(match: Any) -> bool:
    """Say whether a text was cut within a token or a password."""
    begin = match.string.rfind("\n", 0, match.start(1)) + 1
    return match.end() - begin >= _SHORTEST_CUT and not match["v"].rsplit(":", 1)[-1].isdigit()


def is_basic(value: str) -> bool:
    """Say whether a text is `user:password` in base64."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return False
    return ":" in plain and plain.isprintable() and len(plain) >= 5


# What stands between a name and its value.
_SET: Final = (
    r"(?:\\{0,3}['\"`]?\]?[ \t]*(?:=>|->|:=|==?|[:：])[ \t]*|(?:%22)?%3[AD](?:%20|\+)?(?:%22)?)"
)
_ROW: Final = (
    r"['\"]?[ \t]*(?:\.{3,}|[│┃|])[ \t]*|[ \t]{2,}|\t|\\{0,3}['\"][ \t]{1,4}value=|['\"]?,?(?:["
    r" \t]?['\"]type['\"][ \t]?:[ \t]?['\"]\w{1,40}['\"],)?\s{1,24}['\"]?value['\"]?[ \t]*[:=]["
    r" \t]*|\\{0,3}['\"]["
    r" \t]{0,2},\s{0,24}|(?:</\w{1,12}>\s{0,24}<\w{1,12})?>|\s{1,24}(?:[^\n\[]{1,120}"
    r" )?\[type=\w{1,40}, input_value="
)
_ASSIGNED: Final = linear(rf"(?i)(?P<n>{NAME})(?P<s>{_SET}|{_ROW})")
_OPTION: Final = linear(rf"(?i)(?:^|[\s'\"(\[,])(?P<n>--?{NAME})(?P<s>[ \t]{{1,4}}|=)")
_TOLD: Final = linear(
    r"(?i)(?:\b(?:setenv|ENV|configure set|config set|password|secret set)[ \t]{1,4}|\bmachine["
    r" \t]+\S+[ \t]+login[ \t]+\S+[ \t]+|\b(?:login|user(?:name)?)[ \t]+\S+["
    rf" \t]+)(?P<n>{NAME})(?P<s>[ \t]{{1,4}})"
)
_SAID: Final = linear(
    r"(?i)(?P<n>(?:[\w-]+ )?\b[\w-]*(?:token|key|password|passphrase|secret))(?: is| was| of|"
    r" provided| given| used| set to)?(?P<s>:?)["
    r" \t]['\"(`]?(?P<v>[^\s'\"`<>()0-9]*[0-9][^\s'\"`<>()]*)"
)
_SHORTEST_SAID: Final = 6
_SHORTEST_TOKEN_SAID: Final = 20
_SHORTEST_KEY_SAID: Final = 16
_ARTICLES: Final = frozenset(
    {
        "the",
        "a",
        "an",
        "this",
        "your",
        "my",
        "our",
        "with",
        "using",
        "invalid",
        "incorrect",
        "wrong",
    }
)
"""Words of a sentence that say nothing about the token or key behind them."""
_BARE: Final = frozenset({"token", "key", "auth", "secret"})
_VALUE: Final = Pattern(
    r"(?:[rbufRBUF]{0,2}(?=\\{0,3}['\"]))(?:\\{0,3}'(?P<a>[^'\n]{0,512})|\\{0,3}\"(?P<b>[^\"\n]{0,512})|`(?P<c>[^`\n]{0,512}))|(?P<d>[^\s'\"`<>\\](?:[^\s'\"`<>\\]|(?<=\w)'(?=\w)){0,511})"
)
_SHORTEST: Final = {
    Named.LONG: 24,
    Named.ISSUED: 15,
    Named.PERHAPS: 8,
    Named.KEY: 4,
    Named.PASSWORD: 1,
}
"""Characters of a value under which nothing of it needs a look."""
_LOOKED_AT: Final = 512
"""Characters of a value that tell whether it is a secret; one that is goes on as far as it goes on."""
_REST: Final = {
    "a": Pattern(r"[^'\n]*"),
    "b": Pattern(r"[^\"\n]*"),
    "c": Pattern(r"[^`\n]*"),
    "d": Pattern(r"(?:[^\s'\"`<>\\]|(?<=\w)'(?=\w))*"),
}
_BLOCK: Final = Pattern(
    r"(?:[|>][+-]?[ \t]{0,4}\n[ \t]{1,40}|\n[ \t]{0,40}-"
    r" (?=[^\s:]{4,512}(?:\n|$)))(?P<d>[^\s'\"`]{4,512})"
)  # of YAML, on the next line
_OPENING: Final = Pattern(
    r"(?:[A-Z]\w{0,40}\(|[\[({])["
    r" \t]*(?=[rbufRBUF]?\\{0,3}['\"])(?!\\{0,3}['\"]\w{1,40}\\{0,3}['\"]["
    r" \t]*:)|\{\s{0,24}\\{0,3}['\"]value\\{0,3}['\"][ \t]*:[ \t]*"
    r"|[A-Za-z_][\w.]{0,40}(?:\[[\w., |]{1,40}\])?(?: \| [\w.]{1,40}){0,3} ?="
    r" ?(?=[rbufRBUF]?['\"])|invalid [\w ]{1,40}: (?=['\"])|!!?[\w/:.-]{1,40}[ \t]+|&[\w-]{1,40}["
    r" \t]+"
    r"|\n[ \t]{1,40}(?:desc(?:ription)?:[^\n]{0,80}\n[ \t]{1,40})?value:[ \t]*"
)
"""What may stand between a name and its value: a class around it, a bracket, a type, a tag of YAML, the words of argparse, a line `value:`."""
_QUOTED_SIGN: Final = Pattern(r"%2[26]")
_NEXT: Final = Pattern(r"[,;&|](?=[\w. -]{1,60}[=:])|[,;](?=$)")
_CLOSING: Final = Pattern(r"[)\]}]")
_PAIR: Final = ("('", '("')
_PAIRED: Final = ("')", '")')
_LEFT_OPEN: Final = {")": "(", "]": "[", "}": "{"}


def _named(pattern: Any, text: str) -> Iterator[Span]:
    """Give the values behind names that say secret."""
    done = 0
    for match in pattern.finditer(text):
        begin, behind = match.span(1)
        if begin < done:
            continue
        after = match.end()
        name, mark = text[begin:behind], text[behind:after]
        strength = named(name)
        value = _value(text, after) if strength else None
        if value is None or (
            value.end() - value.start() < _SHORTEST[strength] and not name.startswith("-")
        ):
            continue
        group = value.lastgroup or "d"
        shown = value[group].rstrip("\\")
        start = value.start(group)
        if group == "d":
            shown = bare(_QUOTED_SIGN.compiled.split(shown)[0] if "%" in mark else shown)
            if shown.endswith(("=", ":", "(")) and text[start + len(shown) :].startswith(
                ("'", '"')
            ):  # another name, whose value this match has not seen
                continue
        is_pair = (
            text.startswith(_PAIR, max(begin - 2, 0))
            and text.startswith(_PAIRED, value.end())
            and not named(shown)
        )  # a name alone with its value
        if _holds(name, strength, "=" if is_pair else mark, shown, is_quoted=group != "d"):
            done = start + len(shown)
            if len(shown) >= _LOOKED_AT - 1:
                done = _REST[group].match(text, done).end()
            yield start, done


def _value(text: str, start: int) -> Any:
    """Match the value that stands at a place or behind what opens it."""
    opened = _OPENING.match(text, start)
    return _BLOCK.match(text, start) or _VALUE.match(text, opened.end() if opened else start)


def _holds(name: str, strength: Named, mark: str, value: str, *, is_quoted: bool) -> bool:
    """Say whether a value is the secret that its name promises."""
    is_option = name.startswith("-")
    if ("," in mark and "value" not in mark and not is_quoted) or (
        is_option and value.startswith("-")
    ):
        return False
    if is_option:
        strength = (
            Named.KEY
            if strength is Named.PERHAPS or name.lstrip("-").lower() in _BARE
            else strength
        )
    elif ("," in mark and "value" not in mark) or (
        not mark.strip() and not is_quoted
    ):  # names in a list, a row of a table
        strength = min(strength, Named.PERHAPS)
    is_prose = (
        not is_option
        and not is_quoted
        and "value" not in mark
        and mark.lstrip(" \t")[:1] in {":", "："}
    )
    return is_secret(strength, value, is_quoted=is_quoted, is_prose=is_prose) or (
        name.lower().endswith(("auth", "authorization")) and is_basic(value)
    )


def bare(value: str) -> str:
    """Cut from a value without quotes what belongs to the text around it.

    The next pair, a bracket that was opened before it, a full stop.
    """
    found = _NEXT.search(value)
    value = value[: found.start()] if found else value
    for index, char in enumerate(value) if _CLOSING.search(value) else ():
        if char in _LEFT_OPEN and value.count(_LEFT_OPEN[char], 0, index) < value.count(
            char, 0, index + 1
        ):
            value = value[:index]
            break
    return value.rstrip(",;:!?") if not value.endswith(".") else value.rstrip(",;:!?.")


def _is_said(match: Any) -> bool:
    """Say whether a sentence tells a secret: `using token SOvHcvTU...`, `the password is ...`."""
    words, value = match["n"].split(" ")[-2:], match["v"]
    strength = named("_".join(words[-1:] if words[0].lower() in _ARTICLES else words))
    if match["s"] and strength < Named.KEY:  # behind a colon it is the value of a field
        return False
    if strength is Named.PASSWORD:
        return len(value) >= _SHORTEST_SAID and not value.isdigit() and not is_placeholder(value)
    return (
        strength >= Named.PERHAPS
        and len(value)
        >= (_SHORTEST_TOKEN_SAID if strength is Named.PERHAPS else _SHORTEST_KEY_SAID)
        and is_random(value)
    )


def _named_rule(pattern: Any) -> Rule:
    return Rule("secret", NAME_HINT, lambda text: _named(pattern, text))


_WORD: Final = r"(?:'(?P<a>[^'\n]+)'|\"(?P<b>[^\"\n]+)\"|(?P<c>[^\s'\"|;&$-][^\s'\"|;&]*))"
_COMMANDS: Final = (
    # programs, and how the secret is handed to them
    (
        "curl|http|https",
        (
            r"(?:-u|-U|--user|--proxy-user)["
            r" =]?(?:'(?P<a>[^':\n]*:[^'\n]+)'|\"(?P<b>[^\":\n]*:[^\"\n]+)\"|(?P<c>[^\s'\":-][^\s'\":]*:[^\s'\"]+))"
        ),
    ),
    ("sshpass", rf"-p ?{_WORD}"),
    ("mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mycli", rf"-p{_WORD}"),
    ("redis-cli", rf"(?:-a|--pass) {_WORD}"),
    (
        "mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|clickhouse-client|az|cqlsh|sqlcmd|kaggle|oc|argocd|rabbitmqadmin",
        rf"(?:-p|-P|--pass) {_WORD}",
    ),
    (
        (
            "(?:docker|podman|nerdctl|skopeo|buildah|oras|helm|singularity|apptainer|crane|az"
            " acr)[^\n]{0,40}? login"
        ),
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
_PLACED: Final = (
    linear(
        r"\becho (?:-n )?(?:'(?P<a>[^'\n]+)'|\"(?P<b>[^\"\n]+)\"|(?P<c>[^\s|$]+)) ?\| ?(?:sudo"
        r" -\w*S|docker login|podman login|passwd|chpasswd|kinit|openssl|gpg|sshpass)"
    ),
    linear(r"\bauth ?= ?\(\\{0,3}['\"][^'\"\n]*\\{0,3}['\"], ?\\{0,3}['\"](?P<c>[^'\"\n]+)['\"]"),
    linear(
        r"\b(?:HTTPBasicAuth|HTTPDigestAuth|BasicAuth)\(\\{0,3}['\"][^'\"\n]*['\"],"
        r" ?['\"](?P<c>[^'\"\n]+)['\"]"
    ),
    linear(
        r"\b(?:wandb|swanlab|comet_ml|neptune|modelscope|api|HubApi\(\))\.(?:login\(|(?:login|init)\((?:[^)\n]*["
        r" ,])?(?:api_key|key|token) ?= ?)['\"](?P<c>[^\s'\"]{8,})['\"]"
    ),
    linear(r"(?i:\bidentified(?: with \S+)? by )'(?P<c>[^'\n]+)'"),
    linear(r"\bmachine[ \t]+\S+[ \t]+login[ \t]+\S+[ \t]+password[ \t]+(?P<c>\S+)"),
    linear(r"(?:^|[\s'\"=@])(?:[\w.-]+):(?P<c>[^\s/:@'\"=,]+)@[\w-]+(?:\.[\w-]+)+:\d{2,5}\b"),
    linear(r"(?m:^[ \t]*password[ \t]+(?P<c>[^\s:=]+)[ \t]*$)"),
    linear(r"--from-literal[= ]['\"]?[\w.-]+=(?P<c>[^\s'\"]+)"),
)


def _handed(match: Any, offset: int = 0) -> Iterator[Span]:
    """Give the groups that matched, unless they are placeholders."""
    for group, value in enumerate(match.groups(), 1):
        if value is not None and not is_placeholder(value):
            start, end = match.span(group)
            yield offset + start, offset + end


def _placed(pattern: Any) -> Rule:
    def spans(text: str) -> Iterator[Span]:
        return (span for match in pattern.finditer(text) for span in _handed(match))

    return Rule("secret", pattern.text, spans)


def _command(program: str, place: str) -> Rule:
    """Make the rule of a program.

    Everything behind its name on the line, which is gone through once.
    """
    called, handed = linear(rf"(?:^|[^\w.-])(?:{program})[ \t]"), linear(rf"(?:^|[ \t]){place}")

    def spans(text: str) -> Iterator[Span]:
        done = 0
        for match in called.finditer(text):
            if match.end() > done:
                done = text.find("\n", match.end()) + 1 or len(text)
                for found in handed.finditer(text[match.end() : done]):
                    yield from _handed(found, match.end())

    return Rule("secret", called.text, spans)


SECRETS: Final = (
    *_BEFORE_NAMES, rule("secret", _CUT.text, _CUT, _is_cut), *map(_named_rule, (_OPTION, _TOLD, _ASSIGNED)), rule("secret", NAME_HINT, _SAID, _is_said), *map(_placed, _PLACED), *(_command(program, place) for program, place in _COMMANDS),
)  # fmt: skip
