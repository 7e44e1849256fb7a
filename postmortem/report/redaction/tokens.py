"""Where a text holds secrets that their own shape gives away, or a place made for them.

In: text. Out: the rules of kind `secret` for tokens, addresses with a password, headers. Not here:
values behind a name (`assignments`), secrets on a command line (`arguments`), pseudonyms
(`redactor`).

The shapes follow the list of gitleaks (github.com/gitleaks/gitleaks, config/gitleaks.toml), taken
wider: a length that an issuer changes still fits.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any, Final

from postmortem.report.redaction.hiding import (
    Check,
    HidingPattern,
    HidingRule,
    Span,
    build_alternation,
    build_linear_pattern,
    build_rule,
    is_always_true,
)
from postmortem.report.redaction.secret_names import (
    count_switches,
    is_path,
    is_placeholder,
    is_random,
    is_worded,
)

_AUTHRESS: Final = (
    r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}"
    r"\.[A-Za-z0-9+/_=-]{30,}"
)
_TOKENS: Final = "|".join(
    (
        build_alternation(r"""
    hf_[A-Za-z0-9]{16,} api_org_[A-Za-z0-9]{16,} gh[oprsu]_[A-Za-z0-9]{20,} github_pat_\w{20,}
    gl(?:pat|ptt|rt|dt|ft|imt|soat|agent|oas|ffct|cbt)-[\w.-]{16,} GR1348941[\w-]{16,}
    (?:sk|rk)_(?:[A-Za-z0-9]{24,}|(?:live|test|prod)_[A-Za-z0-9]{10,})
    xox[abeoprs][.-][A-Za-z0-9.-]{10,} xapp-\d-[A-Za-z0-9-]{10,} AIza[\w-]{30,}
    GOCSPX-[\w-]{20,} ya29\.[\w-]{20,} 1//0[\w-]{30,}
    (?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AROA)[A-Z0-9]{16} ABSK[A-Za-z0-9+/]{60,}=*
    bedrock-api-key-[A-Za-z0-9+/=]{20,} LTAI[A-Za-z0-9]{12,} AKID[A-Za-z0-9]{16,}
    wandb_v1_[\w-]{20,} r8_[A-Za-z0-9]{32,} npm_[A-Za-z0-9]{30,} gsk_[A-Za-z0-9]{32,}
    nvapi-[\w-]{32,} pypi-AgE[\w-]{32,} dckr_(?:pat|oat)_[\w-]{20,} SG\.[\w-]{16,}\.[\w-]{16,}
    ey[A-Za-z0-9_-]{8,}\.ey[A-Za-z0-9_/-]{8,}(?:\x20?\.\x20?[A-Za-z0-9_/-]{20,}=*|\.[A-Za-z0-9_/-]*=*)?
    eyJrIjoi[A-Za-z0-9+/=]{40,}
    ZXlK[A-Za-z0-9+/]{40,}=* dapi[0-9a-f]{32}(?:-\d)? do[opr]_v1_[0-9a-f]{32,}
    dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,} duffel_(?:test|live)_[\w=-]{30,}
    dt0c01\.[A-Za-z0-9]{20,}\.[A-Za-z0-9]{40,} EZ[AT]K[A-Za-z0-9]{50,} EAA[A-Za-z0-9]{30,}
    sq0(?:atp|csp|idp)-[\w-]{20,} FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?
    fo1_[\w-]{40,} fm1[ar]_[A-Za-z0-9+/]{60,}=* fm2_[A-Za-z0-9+/]{60,}=* fio-u-[\w=-]{40,}
    shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{24,} sntry[su]_[A-Za-z0-9+/=_]{40,}
    sm_[aps]at_[A-Za-z0-9]{16,} SK[0-9A-Fa-f]{32} hv[sbr]\.[\w-]{24,} s\.[A-Za-z0-9]{24}
    t1\.[\w-]{8,}=*\.[\w-]{60,}=* AQVN[\w-]{30,} tfp_[\w.=-]{40,}
    NR(?:AK|JS|II)-[A-Za-z0-9-]{19,} ntn_[A-Za-z0-9]{30,} secret_[A-Za-z0-9]{43}
    PMAK-[0-9a-f]{24}-[0-9a-f]{34} (?:pat|sat)\.[\w-]{20,}\.[A-Za-z0-9]{20,}\.[A-Za-z0-9]{16,}
    pat[A-Za-z0-9]{14}\.[0-9a-f]{64} pnu_[A-Za-z0-9]{36} pul-[0-9a-f]{40} rdme_[a-z0-9]{60,}
    rubygems_[0-9a-f]{40,} tk-us-[\w-]{40,} xkeysib-[0-9a-f]{60,}-[A-Za-z0-9]{12,}
    shippo_(?:live|test)_[A-Fa-f0-9]{40} sgp_(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}
    sq[uap]_[0-9a-f]{40} sha256~[\w-]{43} pplx-[A-Za-z0-9]{40,}
    pscale_(?:tkn|oauth|pw)_[\w=.-]{32,} lin_(?:api|oauth)_[A-Za-z0-9]{32,}
    glc_[A-Za-z0-9+/]{32,}=* glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8} HRKU-AA[\w-]{50,}
    (?:pub)?key-[0-9a-f]{32} [0-9a-f]{32}-us\d\d A3-[A-Z0-9]{6}-[A-Z0-9-]{20,}
    ops_eyJ[A-Za-z0-9+/=]{60,} p8e-[A-Za-z0-9]{32} AGE-SECRET-KEY-1[A-Z0-9]{40,}
    AT(?:ATT3|CTT3|BB)[\w=-]{24,} AKCp[A-Za-z0-9]{60,} cmVmd[A-Za-z0-9]{59}
    [\w~.]{3}\dQ~[\w~.-]{31,34} v1\.0-[0-9a-f]{24}-[0-9a-f]{100,} 4b1d[A-Za-z0-9]{38}
    CLOJARS_[A-Za-z0-9]{50,} dnkey-[\w=-]{20,} API-[A-Z0-9]{25,36}
    [A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,} tgp_v1_[\w-]{30,} xai-[A-Za-z0-9]{40,}
    lsv2_(?:pt|sk)_[0-9a-f]{32}\w* jina_[A-Za-z0-9]{40,} tvly-[\w-]{20,} rpa_[A-Z0-9]{30,}
    ph[cx]_[A-Za-z0-9]{40,} figd_[\w-]{30,} sbp_[0-9a-f]{40} whsec_[A-Za-z0-9+/=]{24,}
    nfp_[A-Za-z0-9]{30,} aio_[A-Za-z0-9]{28} bkua_[0-9a-f]{40} CCIPAT_\w{30,} oy2[a-z0-9]{43}
    ico-[A-Za-z0-9]{32} s-s4t2(?:ud|af)-[0-9a-f]{64}
    ms-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12} fw_[A-Za-z0-9]{22,}
    (?:live|test)_(?:pub_)?[0-9a-f]{31,35} [A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk
    access-(?:sandbox|development|production)-[0-9a-f-]{36}
    AKLT[A-Za-z0-9+/_-]{16,}=* ALTAK[A-Za-z0-9]{12,} IKID[A-Za-z0-9]{16,} STS\.[A-Za-z0-9]{16,}
    pcsk_[\w-]{30,} (?:vcp|rnd|fal|e2b|csk|lf|fc|hlx|aig)[_-][A-Za-z0-9]{28,} sess-[A-Za-z0-9]{30,}
    v[1-4]\.(?:local|public)\.[\w-]{40,} cal_live_[0-9a-f]{32} ltr?[vs]_[A-Za-z0-9]{30,}
"""),
        _AUTHRESS,
        build_alternation(r"""
    SCT\d{3,8}T[A-Za-z0-9]{16,} [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:fx
    sl\.[\w=-]{100,} \d{15,16}(?:\||%7C)[\w-]{27,40} (?:bot)?\d{6,16}:A[\w-]{32,36}
    AAAA[\w-]{7}:[\w-]{100,} A{22}[A-Za-z0-9%]{60,}
"""),
    )
)
_SK: Final = r"sk-[A-Za-z0-9_-]{16,}"
_ANY: Final = f"(?:{_TOKENS}|{_SK})"
_HINT: Final = re.sub(r"\{\d+,?\d*\}", "+", re.sub(r"\{0,\d*\}", "*", _ANY))
"""The shapes without their lengths: many texts are looked through for them at less cost."""
_HOOK: Final = build_alternation(r"""
    hooks\.slack\.com/(?:services|workflows|triggers) discord(?:app)?\.com/api/webhooks
    open-apis/bot/v2/hook webhook\.office\.com/webhookb2 api\.day\.app sctapi\.ftqq\.com
    pushplus\.plus/send maker\.ifttt\.com/trigger/\w+/with/key hooks\.zapier\.com/hooks/catch
    chat\.googleapis\.com/v1/spaces
""")
_PARAMETER: Final = build_alternation("""
    sig signature x-amz-(?:signature|credential|security-token) x-goog-(?:signature|credential)
    awsaccesskeyid ossaccesskeyid accesskeyid security-token q-ak q-signature
    x-cos-security-token token access_token key api_?key sign sv
""")
_LOGIN: Final = "wandb|api.?key|login|netrc"
_BEFORE_REVISION: Final = HidingPattern(
    r"(?i)(?:commit|sha1?|rev|revision|hash|head|tree|checksum|digest|branch|blobs?|snapshots?|git)"
    r"(?:[ _-]?(?:id|sha1?|hash))?['\"]?[ \t]{0,3}(?:is|at|now at|[:=@/])?[ \t'\"]{0,3}$"
)
_AUTHORIZATION: Final = r"\bauthorization\\{0,3}['\"]? {0,3}[:=] {0,3}\\{0,3}['\"]?"
_SESSION: Final = (
    r"(?i:j_?sessionid|phpsessid|asp\.net_sessionid|connect\.sid|_gitlab_session|laravel_session"
    r"|[cx]srf-?token|session_?cookie|sessdata|bduss|remember_token)"
)
_COOKIES: Final = build_linear_pattern(
    r"(?i)cookie(?:s|_?jar)?\w{0,12}\\{0,3}['\"]?[ \t]{0,3}[:=(]?[ \t]{0,3}"
    r"(?:<?[\w.]{1,40})?[({\[]\{?"
)
_COOKIE: Final = HidingPattern(
    r"\\{0,3}['\"]?(?P<n>[\w.-]{1,64})\\{0,3}['\"]?[ \t]?[:=,][ \t]?"
    r"\\{0,3}['\"](?P<v>[^'\"\n\\]{1,1024})"
)
_OPENS: Final = HidingPattern(
    r"(?i)se?ss|sid|tok|auth|csrf|xsrf|key|user|login|remember|pass|ticket"
)
_SHORTEST_COOKIE: Final = 6
_LONGEST_COOKIES: Final = 2000
_PGPASS: Final = (
    r"(?:543\d|6432|6543|3306|1521|\*):(?:[A-Za-z_][\w-]{0,62}|\*):(?:[A-Za-z_][\w.@-]{0,62}|\*):"
)
_HASHED: Final = (
    r"\$(?:1|2[abxy]?|5|6|7|y|gy|md5|sha1|apr1|P|H|scrypt|argon2[id]{0,2}|pbkdf2[\w-]{0,20})"
    r"\$[./A-Za-z0-9$=,+]{16,}"
)
"""A password as `/etc/shadow` and its like keep it."""
BEGINNING: Final = build_alternation(r"""
    hf_ gh[oprsu]_ github_pat_ gl(?:pat|rt|ptt|dt)- sk-(?:proj|ant|or|svcacct|lf)- xox[abprs]- xapp-
    AKIA ASIA LTAI AKID AIza eyJ SG\. npm_ pypi-AgE dckr_pat_ nvapi- wandb_v1_ r8_ gsk_ ya29\.
    shpat_ dapi
""")
_CUT: Final = (
    rf"(?m:(?:^|[^A-Za-z0-9_])(?P<v>(?:{BEGINNING})[\w.-]+"
    r"|[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]+:[^\s/:@]+"
    rf"|(?i:{_LOGIN})[^\n]{{0,80}}[ :='\"][0-9a-f]{{9,39}})(?:\.\.\.|…)?$)"
)
_REST: Final = HidingPattern(
    r"(?:(?:\[[^\]\n]{1,40}\]"
    r"|\([^)\n]{1,40}\)|[\d:.,TZ-]{1,32}|[A-Z]{4,8}|[│┃|-])[:>]?[ \t]{1,40}){0,6}"
    r"[ \t]*"
    r"(?P<v>[A-Za-z0-9+/_-]{18,512}={0,2})['\"]?[ \t│┃|,)\]}]*(?:\n|$)"
)
"""A first line that holds one word: the rest of a value whose beginning is not shown."""
_SHORTEST_REST: Final = 16
_DRAWN_WORD: Final = (
    r"(?:^|[\s'\"`(\[{<=:,;|>│┃]|[^\x00-\x7f])"
    r"(?P<v>[A-Za-z0-9+_-][A-Za-z0-9+/_-]*(?:[a-z][0-9]+[A-Z]|[A-Z][0-9]+[a-z]|[0-9][a-z]+[A-Z]"
    r"|[a-z][A-Z]+[0-9])[A-Za-z0-9+/_-]*={0,2})"
)
_SHORTEST_WORD: Final = 20
_LONGEST_WORD: Final = 128
"""Characters of a word drawn by lot; a longer one is data."""
_NO_DRAWN_WORD: Final = HidingPattern(
    r"_[ZR]|(?:MIG-)?(?:GPU|MIG)-|(?:chatcmpl|cmpl|req|run|msg|call|toolu|file|ftjob|asst|thread"
    r"|resp|batch|org|user|evt|gen|job|pod|node)[-_]|(?:sha|md)\d+-|[0-9a-fA-F-]*$|0x|-"
)
"""Symbols of compilers, numbers of devices, of requests and of runs, digests."""
_LONG_WORD: Final = HidingPattern("[a-z]{9}|[A-Z]{9}")
_CAMEL: Final = HidingPattern("[A-Z][a-z]{2,}|[a-z]{3,}")
"""Words of a name, which make up most of it; few of them stand in what is drawn by lot."""
_FOLDER: Final = HidingPattern(r"(?:^|/)[a-z]{3,}(?:/|$)")
_BEFORE_MARK: Final = HidingPattern(
    r"(?i)(?:(?<!secret_)(?<!access_)(?<!client_)(?<!app_)(?:id|ids)|etag|nonce|digest|sha\w{0,4}|md5|integrity|checksum|fingerprint"
    r"|hash|commit|revision|rev|version|uuid|symbol|function|kernel|name|req|request|trace|span)"
    r"\\{0,3}['\"]?[ \t]{0,3}[:=(]?[ \t'\"]{0,3}$"
)
_GOES_ON_AS_NAME: Final = HidingPattern(r"\.\w|[(@<\\%*]|:[\d:]")
_KEY_ID: Final = "AKIA|ASIA|LTAI|AKLT|ALTAK|AKID|IKID|AKTP|HPUA|GOOG1E|JDC_|LTAK"
_BETWEEN_KEYS: Final = (
    r"\\{0,3}['\"]?(?:[ \t]*[,:;/|，]\s{0,40}|[ \t]{1,4})"
    r"(?:\\{0,3}['\"]?\w{1,40}\\{0,3}['\"]?[ \t]?[=:][ \t]?)?"
    r"\\{0,3}['\"]?"
)
"""What stands between the two halves of a pair of keys."""
_SHORTEST_CUT: Final = 150
"""Characters that a text has at least if something was cut off behind it."""


def _is_standalone(match: Any) -> bool:
    """Say whether a token ends where it ends.

    It is not a name of the trade of the same shape (`task-...`, `sk-learn-intelex-extension`).
    """
    text, value, end = match.string, match["v"], match.end(1)
    if end < len(text) and text[end].isalnum():
        return False
    return not value.startswith("sk-") or not is_worded(value)


def _has_password(match: Any) -> bool:
    """Say whether what stands before the @ of a URL is one."""
    return ":" in match["v"] or len(match["v"]) >= 24


def _is_value(match: Any) -> bool:
    return not is_placeholder(match["v"])


def _is_drawn(match: Any) -> bool:
    return is_random(match["v"])


def _is_bearer(match: Any) -> bool:
    return not is_placeholder(match["v"]) and (
        len(match["v"]) >= 24 or any(char.isdigit() for char in match["v"][:64])
    )


def _is_no_revision(match: Any) -> bool:
    """Say whether 40 hexadecimal digits are a key: those of git stand behind other words."""
    return not _BEFORE_REVISION.search(match.string[max(0, match.start(1) - 40) : match.start(1)])


def _is_login(match: Any) -> bool:
    return is_basic(match["v"])


def is_basic(value: str) -> bool:
    """Say whether a text is `user:password` in base64."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return False
    return ":" in plain and plain.isprintable() and len(plain) >= 5


def find_value_rest(text: str) -> Span | None:
    """Find what a text begins with if it is the rest of a value: one word drawn by lot."""
    match = _REST.match(text)
    if match is None:
        return None
    value = match["v"].rstrip("=")
    run = max(value.replace("_", "-").split("-"), key=len)
    is_drawn = (
        len(run) >= _SHORTEST_REST
        and any(map(str.isdigit, run))
        and any(map(str.isupper, run))
        and any(map(str.islower, run))
        and count_switches(value) * 3 >= len(value)
    )
    found: Span = match.span("v")
    return found if is_drawn and not value.startswith("_Z") and not is_path(value) else None


def _is_cut(match: Any) -> bool:
    """Say whether a text was cut within a token or a password."""
    begin = match.string.rfind("\n", 0, match.start(1)) + 1
    return match.end() - begin >= _SHORTEST_CUT and not match["v"].rsplit(":", 1)[-1].isdigit()


def _find_cookies(text: str) -> Iterator[Span]:
    """Give the values of a dictionary of cookies that look drawn, or that open a session."""
    done = 0
    for opened in _COOKIES.finditer(text):
        if opened.end() < done:
            continue
        last = min(len(text), opened.end() + _LONGEST_COOKIES)
        end = text.find("}" if opened[0][-1] == "{" else ")", opened.end(), last)
        end = end if end >= 0 else last
        done = end
        for pair in _COOKIE.compiled.finditer(text, opened.end(), end):
            value = pair["v"]
            if not is_placeholder(value) and (
                is_random(value) or (len(value) >= _SHORTEST_COOKIE and _OPENS.search(pair["n"]))
            ):
                yield pair.span("v")


def _build_secret_rule(hint: str, pattern: str, holds: Check = is_always_true) -> HidingRule:
    return build_rule("secret", hint, build_linear_pattern(pattern), holds)


def _is_json(word: str) -> bool:
    """Say whether a word is data in base64, as what a launcher hands on."""
    try:
        plain = base64.b64decode(word + "=" * (-len(word) % 4), validate=True)
    except binascii.Error:
        return False
    return plain[:1] in {b"{", b"["} and plain[-1:] in {b"}", b"]"} and plain.isascii()


def _is_drawn_word(match: Any) -> bool:
    """Say whether a word of letters and digits is drawn by lot, and no public mark of something."""
    value, start = match["v"], match.start(1)
    word = value.rstrip("=")
    if not _SHORTEST_WORD <= len(word) <= _LONGEST_WORD or _NO_DRAWN_WORD.match(word):
        return False
    if _LONG_WORD.search(word) or _BEFORE_MARK.search(match.string[max(0, start - 40) : start]):
        return False
    if _GOES_ON_AS_NAME.match(match.string, match.end(1)):
        return False
    return _is_mixed(word) and not ("/" in word and (is_path(word) or _FOLDER.search(word)))


def _is_mixed(word: str) -> bool:
    """Say whether a word goes over from one kind of characters to another as if drawn by lot."""
    bare = re.sub("[^A-Za-z0-9]", "", word)
    return (
        any(map(str.isdigit, bare))
        and any(map(str.isupper, bare))
        and any(map(str.islower, bare))
        and count_switches(bare) * 8 >= len(bare) * 3
        and not _is_json(word)
        and sum(map(len, _CAMEL.compiled.findall(word))) * 3 < len(word) * 2
    )


TOKENS: Final = (
    _build_secret_rule(
        f"(?:{_KEY_ID})",
        rf"(?:^|[^A-Za-z0-9_])(?:{_KEY_ID})[A-Za-z0-9+/_-]{{10,}}={{0,2}}{_BETWEEN_KEYS}"
        r"(?P<v>[A-Za-z0-9+/_=.-]{16,512})(?:[\s'\"\\,;)\]}]|$)",
        _is_drawn,
    ),
    _build_secret_rule(
        "jdbc:oracle", r"(?i:jdbc:oracle:)\w{1,12}:[^\s/@'\"]{1,64}/(?P<v>[^\s@'\"]{1,128})@"
    ),
    _build_secret_rule(
        _PGPASS,
        rf"(?:(?m:^)|[\s'\"])[a-z0-9*][\w.*-]{{0,128}}:{_PGPASS}(?P<v>[^\s:'\"]{{3,128}})(?:(?m:$)|[\s'\"])",
    ),
    _build_secret_rule(
        "://",
        r"[A-Za-z][A-Za-z0-9+.-]*://"
        r"(?P<v>[^\s/:@?'\"<>]*:[^\s/?'\"<>]+|[A-Za-z0-9._~%=+-]{24,})@",
        _has_password,
    ),
    _build_secret_rule(
        "/t/", r"(?i:conda)[^\s'\"]{0,60}/t/(?P<v>[A-Za-z0-9_-]{16,})(?:[/\s'\"]|$)", _is_drawn
    ),
    _build_secret_rule(
        r"(?i:webhook|hook|api\.day|ftqq|pushplus|ifttt|googleapis\.com/v1)",
        rf"(?i:{_HOOK})/(?P<v>[A-Za-z0-9@/_-]{{12,}})",
    ),
    _build_secret_rule(r"[?&][A-Za-z_-]+=", rf"[?&](?i:{_PARAMETER})=(?P<v>[^\s&'\"<>]{{8,}})"),
    _build_secret_rule(
        _HINT, rf"(?:^|[^A-Za-z0-9_]|%[0-9A-Fa-f]{{2}})(?P<v>{_TOKENS}|{_SK})", _is_standalone
    ),
    _build_secret_rule(
        "(?i:authorization)",
        rf"(?i:{_AUTHORIZATION}(?:basic|bearer|token|digest|apikey|negotiate|aws4-hmac-sha256)"
        r" {1,3})(?P<v>[A-Za-z0-9._~+/=%|:-]{4,})",
        _is_value,
    ),
    _build_secret_rule(
        "(?i:authorization)", rf"(?i:{_AUTHORIZATION})(?P<v>[A-Za-z0-9._~+/=-]{{16,}})"
    ),
    _build_secret_rule(
        "(?i:value)",
        r"(?i:(?:(?:^|[\s'\"])value\\{0,3}['\"]?: {0,3}|input_value=)\\{0,3}['\"]?)"
        r"(?P<v>[A-Za-z0-9+/_=-]{20,512})(?:[\s'\"\\,]|$)",
        _is_drawn,
    ),
    _build_secret_rule(
        "(?i:bearer)", r"(?i:\bbearer) {1,4}(?P<v>[A-Za-z0-9._~+/=%|:-]{8,})", _is_bearer
    ),
    _build_secret_rule("(?i:basic )", r"(?i:\bbasic) (?P<v>[A-Za-z0-9+/]{8,}={0,2})", _is_login),
    _build_secret_rule(
        "(?i:cookie)",
        r"(?i:\b(?:set-)?cookie\\{0,3}['\"]? {0,3}[:=] {0,3}\\{0,3}['\"]?)"
        r"(?P<v>[\w.-]+=[^'\"\n]{6,})",
    ),
    HidingRule("secret", "(?i:cookie)", _find_cookies),
    _build_secret_rule(
        f"(?i:{_LOGIN})",
        rf"(?i:{_LOGIN})[^\n]{{0,80}}?[^A-Za-z0-9](?P<v>[0-9a-f]{{40}})(?:[^A-Za-z0-9]|$)",
        _is_no_revision,
    ),
    _build_secret_rule(
        _SESSION,
        rf"{_SESSION}\\{{0,3}}['\"]? {{0,3}}[=:] {{0,3}}\\{{0,3}}['\"]?(?P<v>[\w.%+/=:~-]{{12,}})",
        _is_value,
    ),
    _build_secret_rule(_HASHED, rf"(?:^|[^\w$])(?P<v>{_HASHED})"),
    _build_secret_rule(
        "['\"]key",
        r"['\"]key\\{0,3}['\"] {0,3}: {0,3}\\{0,3}['\"](?P<v>[0-9a-f]{32})\\{0,3}['\"]",
    ),
    _build_secret_rule(_CUT, _CUT, _is_cut),
    _build_secret_rule(
        "[a-z][0-9]+[A-Z]|[A-Z][0-9]+[a-z]|[0-9][a-z]+[A-Z]|[a-z][A-Z]+[0-9]",
        _DRAWN_WORD,
        _is_drawn_word,
    ),
)
