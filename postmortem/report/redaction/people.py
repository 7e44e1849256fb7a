"""Where a text names people: home folders, variables, trackers, telephone numbers.

In: text. Out: the rules for users and telephone numbers. Not here: logins and addresses
(`machines`), pseudonyms (`pseudonyms`).

All quantifiers are bounded: a pattern costs linear time whatever the log holds.
"""

import re
from typing import Any, Final

from postmortem.core.printed_words import join_words, list_words
from postmortem.report.redaction.hiding import (
    Check,
    HidingPattern,
    HidingRule,
    build_alternation,
    build_line_rule,
    parse_words,
)

COMMON_USERS: Final = parse_words("""
    root git user users ubuntu runner jovyan ec2-user vscode shared public default admin
    administrator work data share home model models project projects workspace scratch code
    common train test username name me pdsh mpirun mpiexec srun prun orted slurmd slurmstepd
""")
_NO_FOLDER_OF_SOMEBODY: Final = parse_words("""
    all cache checkpoint checkpoints ckpt ckpts conda containers datasets dataset db envs exp
    experiments files group groups hf huggingface images imagenet job jobs lib list local log
    login logs new node opt out output outputs pip results run runs slurm software src temp tmp
    tools nvme ssd torch training venv wandb weights profile settings id count batch global gpfs
    lustre nfs raid hub tensorboard corpus tokenizer tokenizers tokenized processed preprocessed
    raw c4 pile train dev team teams lab labs repo repos git docker images apps app bin sbin etc
    opt usr var core assets warehouse hive archive archives backup backups release releases
    data1 data2 dataset1 misc jfs llama llama2 llama3 qwen bert gpt2 mixtral deepspeed megatron
    coco imagenet1k laion hdd disk storage pretrain finetune sft eval evals benchmark benchmarks
    research users-home eng infra ws vol volume volumes mnt media srv apptainer singularity
    spack modules easybuild env python
""")
"""Folders that lie beside those of users."""
_WORDS: Final = parse_words("""
    able adam agent alpha amber anchor apex april arch area asia atlas auto away back base basic
    bear best beta bill blue bold book boot boss brain bright bring brown build burn call card
    care case chat check chen chip city clean clear client close cloud club coach code cold
    compute cook cool copy crash create cross dark dash date dawn deep demo deny desk diff dist
    done down draw drop east easy echo edge elastic engine error even ever exit fact fail fair
    fast feed field fill find fine fire fish flash flow food force form free from full fuse game
    gate gold good grace grad gray great green grid grow guest hand hard have heat help here
    hero high hill hold hope hunt idle info iris iron item jack jade jump june just keep kill
    kind king know lake land last late lead leaf left less lets level life lift light like limit
    line link live load lock long look lord loss love lower luck lynx main make many mark mars
    mask math matrix mean memory mercury merge meta mind mini mint mode month moon more most
    move much name near need nest next nice night north nova null ocean only open orbit order
    over pack page pair park part pass past path peak pick pine pipe plan play plot plus point
    pool port post power pray press pretty prime print pulse pure push queue quick race rain
    range rare rate read ready real reason red rest rich ride ring rise river robot rock rose
    rule sage safe said same sand save scale search seed seek self send serve service shift ship
    short show side sign silver site size skip slow small smart snow soft solar some soon sort
    south spark speed spin spot stage star start state stay step stone stop storm strong style
    such summer super sure sync table take talk tango task tech tell term than that them then
    they thin this time tiny told tool torch total tour town tree trial true turn type unit
    upper used user vast vega version very view vision void wait walk wall want warm warning
    wave well west when wide wild will wind wine wing wire wise with wolf wood word world write
    year zero zone accelerate adam adamw apex bloom chatglm clip cuda deepspeed diffusers falcon
    fairseq flash gemma horovod keras lightning llava megatron mistral nccl numpy openai opencv
    pandas pytest python pytorch pytorch-lightning sglang slurm t5 tensor tensorflow timm
    tokenizer torchrun transformers triton vit vllm wandb whisper xformers yolo baichuan
    internlm deepseek linux nvidia intel google microsoft amazon huggingface anaconda miniconda
    admin worker master slave system daemon nobody student teacher trainer runner builder ubuntu
    debian centos oracle spark hadoop hive kafka redis postgres mysql airflow jenkins gitlab
    github docker kube ray dask mpi hpc cluster compute login batch
""")
ORDINARY_WORDS: Final = COMMON_USERS | _NO_FOLDER_OF_SOMEBODY | _WORDS
"""Names that are hidden in the folders of users alone: elsewhere a log means something else."""
_OF_DATA: Final = parse_words("""
    annotations val validation testing training inputs images labels masks frames videos audio text
    tokens shards index indices meta metadata features embeddings splits splitted train2017
    val2017 trainval instances captions merged tars userexternal userinternal proj-shared
""")
_NO_ENTITY: Final = parse_words("""
    authorize site docs settings home quickstart login signup fully-connected reports runs api
    space o pricing blog guide guides support overview en zh
""")
_NO_NAME: Final = build_alternation(r"""
    none null true false unknown str string n/a nobody id ids name input message messages
    assistant system interrupt is not has was to the \d+
    [\w.]*\.(?:json|ya?ml|csv|txt|py|log|parquet|tsv|pt|zip|gz|sqlite|db|err|out|so)
""")
_NO_SUBJECT: Final = parse_words("""
    account accounts code codes input inputs query queries embedding embeddings id ids name
    names group groups limit limits request requests script scripts space setting settings
    config defined specified provided supplied given interrupt interrupted cannot can could
    may must should does did has have had was were will would who that which and or but not
    no in on at with from for by to is are exceeded submitted killed started requested
    already logged denied lacks found quota permission permissions role roles type types
    session sessions token tokens password passwords key keys module modules process
    processes thread threads function functions error errors mode modes level side dir
    directory namespace namespaces memory guide profile profiles context history message
    messages prompt prompts turn turns feedback item items feature features tower vector
    vectors matrix table column
""")
"""What follows the word user in a sentence and is no name."""
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
_CLUSTER_MOUNT: Final = (
    r"(?:petrelfs|lustre|gpfs|beegfs|cpfs|afs|hwfile|fsx|wekafs|cephfs|ceph|juicefs|pfs|holyscratch"
    r"|gscratch|nobackup|scratch)[a-z]{0,8}\d{0,3}"
)
"""File systems of clusters, in which folders are somebody's."""
_BETWEEN: Final = (
    r"(?:/(?:gpfs|lustre|work|user|users|home|homes|scratch|people|staff|students?|members|shared|public"
    r"|[a-z](?=/)|(?:project|proj|group|grp)[\w-]{0,30}|\w{1,24}(?:lab|group|team)"
    r"|g[a-z]{2,8}(?=/[a-z]{4,20}/)))"
)
_CLUSTER_FOLDER: Final = (
    r"(?:home|work|scratch|projects?|proj|groups?|depot|ocean|eagle|grand|gpfs\w{0,8}|lustre\w{0,8}"
    r"|cdirs|orion|data/?home|p)\d{0,2}"
)
_ACCOUNT: Final = (
    r"(?:project_\d{4,12}|(?:def|rrg|rpp|acct|grp|proj)-[\w-]{1,30}|[a-z]{1,12}(?:lab|group|grp|_root)"
    r"|[a-z]{1,6}\d{1,6}[a-z]?|\d{4,7})(?=/)"
)
"""The folder of a group, by its number or its kind of name."""
_ACCOUNT_HINT: Final = re.sub(r"\{\d+,?\d*\}", "+", _ACCOUNT).replace("(?=/)", "/[a-z]")
_LAYOUTS: Final = build_alternation(r"""
    /p/(?:scratch|project|largedata|fastdata|data)\d?/[\w-]{1,30} /g/data/\w{1,12}
    /(?:userexternal|userinternal)
    /\w{1,16}_(?:work|scratch)/[\w-]{1,30}(?:/user(?:external|internal))?
    (?:work|scratch|store|fs\w{1,8}(?:/projects)?)/rech/[a-z]{3}
    /storage/home/\w{1,12}/\d{1,3} /inspire/\w{1,8}/project/[\w-]{1,40}(?:/public)?
    /home/acct-[\w-]{1,30} /nfs/turbo/[\w-]{1,30} /gscratch/scrubbed /fs/[\w-]{1,20}-scratch
    /rds/user /home/[a-z]/[a-z] /vast /(?:blue|orange)/[\w.-]{1,30}
    /(?:raven|viper|cobra)/u /cluster/work/[a-z]{2,8}
    /home/projects/\w{2,20} /(?:efs|ptmp|netscratch|ssdwork)
    /fs/(?:ess|scratch)/\w{3,12} /users/[A-Z]{2,5}\d{2,6}
    /scratch/client /scratch/gpfs /mnt/bn/[\w-]{1,30}
    /flash/project_\d{4,12} /gs/\w{1,4}/[\w-]{1,20} /hwfile/[a-z]{2,8}
""")
"""Where well-known clusters keep the folders of users."""
_LAYOUT_HINT: Final = re.sub(r"\{\d+,?\d*\}", "+", f"(?:{_LAYOUTS})/[a-z]")
_MEMBER: Final = r"(?P<v>[a-z][a-z]{2,20}(?:[._-][a-z]{2,20})?\d{0,6}|[a-z]{1,3}\d{2,8}[a-z]?)"
_DOES: Final = (
    "cannot|can't|could not|couldn't|may not|is not|isn't|was not|does not|doesn't|did not|has no"
    "|has exceeded|has reached|exceeded|exceeds|lacks|logged (?:in|out)|not allowed|not found"
    "|not in|no permission|denied|over quota|submitted|killed|started|requested|already"
)
"""What a sentence says that somebody does or may not do."""
_TRACKERS: Final = r"wandb\.ai|swanlab\.cn|comet\.(?:com|ml)|neptune\.ai(?:/o)?|dagshub\.com"


_MOBILE: Final = r"1[3-9]\d{9}"
_QUOTED: Final = parse_words("'' \"\" ‘’ “”")
_IS: Final = "".join(list_words("is"))
_HAN: Final = r"\u4e00-\u9fff"
_BEFORE_MOBILE: Final = HidingPattern(
    r"(?i)(?:(?<![a-z])(?:phone|tel|mobile|cell|fax|whatsapp|wechat|contact|sms|call|dial|user|account"
    r"|alipay|owner|member|on-?call|pager?|ring|text(?: me)?(?: at| to)?|hotline|reach|admin|duty"
    r"|operator|emergency|notif(?:y|ied)|alert(?:ed)?)[\w ]{0,16}['\"]?[ :=#(（：＝]{0,3}['\"]?"
    rf"|(?:{join_words('before-mobile')})[{_HAN} ,，:：＝（(]{{0,10}}"
    rf"|(?<![{_HAN}]){join_words('call')}[ :：]?"
    rf"|{join_words('call-at-once')}[ :：]?"
    rf"|(?<![{_HAN}])[{join_words('surnames')}][{_HAN}]?[^\W{join_words('counts')}]"
    r"['\"]?[ :：,，（(]{1,3}['\"]?)$"
)
_CONTACT: Final = HidingPattern(
    r"(?i)(?<![a-z])(?:sms|mms|phone|mobile|twilio|voice ?calls?|phone ?call|called|calling"
    r"|dial(?:ed|ing)?|pager|paged|texted|whatsapp|wechat|answered|deliver(?:ed|y)|recipients?|receivers?|msisdn|contact|ping)(?![a-z])"
    r"|(?<!\d)\d{17}[\dXx](?!\d)|dingtalk|" + join_words("contact")
)
_IS_CONTACTED: Final = HidingPattern(
    r"(?i)(?:[-=]+>|[→:：=(（|,，@/\['\"]|\b(?:to|at|from|by|ping)|[\u4e00-\u9fff]|^|\n)[ \t]{0,4}$"
)
_COUNTED: Final = HidingPattern(
    rf"[ \t]?(?:{join_words('counted')}|token|step|sample|byte|iter|param|of )"
)
_BEFORE_IDENTITY: Final = HidingPattern(
    rf"(?i)(?:{join_words('identity-card')}|(?<![a-z])id[ _-]?(?:card|no|num|number)"
    r"(?:[ _-]?(?:no|num|number))?|(?:identity|citizen)[ _-]?(?:id|no|number|card))"
    rf"\.?['\"]?[ :=：＝{_IS}]{{0,4}}['\"]?$"
)
_BIRTHDAY: Final = HidingPattern(
    r"[1-9]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX]"
)
_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECKS: Final = "10X98765432"


def is_user(match: Any) -> bool:
    """Say whether a name is somebody's: `root` and `ubuntu` are nobody's."""
    return match["v"].lower() not in COMMON_USERS


def _is_named(match: Any) -> bool:
    return is_user(match) and not _NO_USER.fullmatch(match["v"])


def _is_somebody(match: Any) -> bool:
    """Say whether a name in a sentence is somebody's: no word of the language."""
    name = match["v"].lower()
    return _is_named(match) and name not in ORDINARY_WORDS and name not in _NO_SUBJECT


def _is_account(match: Any) -> bool:
    """Say whether a name or number is an account of a messenger."""
    name = match["v"].lower()
    return name not in ORDINARY_WORDS and (name.isdigit() or not name.isalpha())


def _is_folder(match: Any) -> bool:
    """Say whether a folder beside others is somebody's.

    It is no part of a web address, nor of what everybody has.
    """
    if len(match["v"]) < 2 or not _is_named(match) or match["v"].lower() in _NO_FOLDER_OF_SOMEBODY:
        return False
    word = _BREAK.compiled.split(match.string[max(0, match.start() - 200) : match.start()])[-1]
    return not word.lower().startswith(("http://", "https://"))


def _is_member(match: Any) -> bool:
    """Say whether a folder below a group's is somebody's: its name is no word of the trade."""
    return _is_folder(match) and match["v"].lower() not in ORDINARY_WORDS | _OF_DATA


def _is_entity(match: Any) -> bool:
    return is_user(match) and match["v"].lower() not in _NO_ENTITY


def _count_digits(text: str) -> int:
    return sum(char.isdigit() for char in text)


def _is_number(match: Any) -> bool:
    """Say whether digits have the length of a telephone number."""
    return 7 <= _count_digits(match["v"]) <= 15


def _is_international(match: Any) -> bool:
    value = match["v"]
    return 10 <= _count_digits(value) <= 15 and (
        any(char in " -()" for char in value) or value.startswith("+86")
    )


def _cut_line(text: str, start: int, end: int) -> str:
    """Give what stands around a place on its line."""
    before = text[max(0, start - 80) : start].rpartition("\n")[2]
    return before + " " + text[end : end + 60].partition("\n")[0]


def _is_mobile(match: Any) -> bool:
    """Say whether eleven digits are the number of a person, and no count of tokens or steps."""
    start, end = match.span("v")
    if match.string[max(0, start - 1) : start] + match.string[end : end + 1] in _QUOTED:
        return True
    before = match.string[max(0, start - 40) : start]
    if _COUNTED.match(match.string, end):
        return False
    line = before.rpartition("\n")[2]
    if _IS_CONTACTED.search(line) and _CONTACT.search(_cut_line(match.string, start, end)):
        return True
    return bool(_BEFORE_MOBILE.search(before))


def _is_identity(match: Any) -> bool:
    """Say whether eighteen digits are of a Chinese identity card: with a birthday and a check."""
    value = match["v"].upper().replace(" ", "").replace("-", "")
    if _BEFORE_IDENTITY.search(match.string[max(0, match.start() - 24) : match.start()]):
        return True
    if not _BIRTHDAY.fullmatch(value):
        return False
    weighed = sum(int(digit) * weight for digit, weight in zip(value, _WEIGHTS, strict=False))
    return bool(value[-1] == _CHECKS[weighed % len(_CHECKS)])


def _build_user_rule(hint: str, pattern: str, holds: Check = is_user) -> HidingRule:
    return build_line_rule("user", hint, HidingPattern(pattern), holds)


def _build_phone_rule(hint: str, pattern: str, holds: Check) -> HidingRule:
    return build_line_rule("phone", hint, HidingPattern(pattern), holds)


PEOPLE: Final = (
    # folders
    _build_user_rule(
        _LAYOUT_HINT,
        rf"(?:{_LAYOUTS})/{_MEMBER}(?=/)",
        _is_member,
    ),
    _build_user_rule(
        "/home/|/Users/",
        r"(?:/home/(?:j?users/|staff/|students?/|\d{1,6}/(?=[a-z])|[a-z]/(?=[a-z]))?|/Users/)"
        r"(?P<v>\w(?:[\w.-]{0,62}\w)?)",
    ),
    _build_user_rule(
        "(?:users?|sd|scratch[0-9]?|people|staff|/u)/[a-z]/[a-z]",
        r"/(?:users?|sd|\w{0,8}scratch\d?|people|staff|u)/(?P<first>[a-z])/"
        r"(?P<v>(?P=first)[a-z]{2,20}\d{0,4})(?=/)",
        _is_folder,
    ),
    _build_user_rule(
        rf"/{_CLUSTER_FOLDER}(?:/[a-z]+)?/{_ACCOUNT_HINT}",
        rf"(?<![\w.-])(?:/[\w.-]{{1,24}}){{0,2}}/{_CLUSTER_FOLDER}(?:/[a-z]{{1,12}}(?=/[\w.-]{{1,24}}/\w))?"
        rf"/(?P<group>{_ACCOUNT})(?:/(?P=group)(?=/))?(?:/(?:proj-shared|scratch|users?|home|people|members))?"
        rf"/{_MEMBER}{_END}",
        _is_member,
    ),
    _build_user_rule(
        "/(?:users|homes|home[0-9]+|people|staff|students|jusers|user|u[0-9]?|sd)/",
        r"/(?:home\d{1,2}(?:/\d{1,6}(?=/[a-z]))?|users|people|staff|students|jusers|homes(?:/[a-z](?=/))?|(?:user|u\d?)/[a-z](?=/)"
        rf"|[a-z]{{0,8}}scratch\d?/sd(?:/[a-z](?=/))?)/{_ANY}{_END}",
        _is_folder,
    ),
    _build_user_rule(
        "scratch|/u/|/nobackup",
        r"(?<![\w./-])(?:(?:/[\w.-]{1,40}){0,4}/(?:scratch\w{0,8}|nobackup)"
        rf"(?:/(?:project|proj|group|grp)[\w-]{{0,30}}(?=/\w))?|/u)/{_NAME}{_END}",
        _is_folder,
    ),
    _build_user_rule(
        _CLUSTER_MOUNT,
        rf"(?<![\w./-])(?:/[\w.-]{{1,40}}){{0,3}}/{_CLUSTER_MOUNT}{_BETWEEN}{{0,3}}"
        rf"/(?P<v>[a-z][a-z]{{1,20}}(?:\.[a-z]{{2,20}})?\d{{0,4}}|[a-z]{{1,3}}\d{{2,8}}[a-z]?){_END}",
        _is_folder,
    ),
    _build_user_rule(
        "/user/", rf"(?<!home)/user/(?P<v>[a-z][a-z.]{{2,20}}\d{{0,4}}){_END}", _is_folder
    ),
    _build_user_rule(
        r"(?i:[a-z]:[\\/]+users)",
        r"(?i:[a-z]:[\\/]{1,4}users[\\/]{1,4})"
        r"(?P<v>[^\\/:*?\"<>|\r\n]{1,64}(?=[\\/])|[\w.-]{1,64})",
    ),
    # variables, options and messages of databases
    _build_user_rule(
        "(?i:user|logname|entity|workspace)",
        rf"(?:{_VARIABLE}|{_FIELD}){_SET}{_ANY}(?![\w(])",
        _is_named,
    ),
    _build_user_rule(
        "(?i:user|role |entity)",
        r"(?:(?<![\w-])(?:user=|user = |--(?:\w{1,20}[_-])?(?:user|user_?name|entity)[ =])"
        r"|(?i:\b(?:access|permission) denied for user |\bauthentication failed for (?:user )?"
        rf"|\brole )(?=['\"]))['\"]?{_NAME}(?![\w(:])",
        _is_named,
    ),
    _build_user_rule(
        f"(?i:user|{join_words('user')})",
        r"(?:(?i:\b(?:for|by|of|as|from) user |\b(?:user|account) )['\"]?(?=[\w.'\" -]{0,80}"
        rf"(?:{_DOES}))|(?i:\b(?:quota|limit|jobs?|processes|denied|killed|owned|submitted|started)"
        rf"[\w ]{{0,24}} (?:for|by|of|to) user )['\"]?"
        rf"|{join_words('user-name')}[ ：:]{{1,2}}['\"]?)"
        r"(?P<v>[A-Za-z][A-Za-z0-9_.-]{1,62}[A-Za-z0-9])(?![\w(/:@])",
        _is_somebody,
    ),
    _build_user_rule(
        f"(?i:wechat|weixin|qq|{join_words('chat-account')})",
        r"(?:(?i:(?<![a-z])(?:wechat|weixin|wx|qq)(?:[ _-]?(?:id|no|number))?['\"]?[ \t]?[:=：]"
        rf"[ \t]?|{join_words('wechat-account')}[ :：{_IS}]{{1,3}}"
        rf"|qq{join_words('qq-account')}[ :：]{{1,2}}))['\"]?"
        r"(?P<v>[A-Za-z][\w-]{5,19}|[1-9]\d{4,10})(?![\w.(/-])",
        _is_account,
    ),
    # commands, and what they print
    _build_user_rule("[ug]id=", rf"\b[ug]id=\d{{1,10}}\({_ANY}\)"),
    _build_user_rule("UserId=", rf"\bUserId={_ANY}\(\d"),
    _build_user_rule("~[a-z_]", r"(?<![\w/~.=*-])~(?P<v>[a-z_][a-z0-9_-]{2,31})(?=/)"),
    _build_user_rule(
        r"\b(?:sudo|su|squeue|sacct|scancel|qstat|runuser|chown)[ \t]",
        r"\b(?:sudo -u |su -? ?(?:-c )?|runuser -u |(?:squeue|sacct|scancel|qstat)"
        rf"(?: -[a-zA-Z]{{1,3}}(?: \S{{1,20}})?){{0,3}} -u ){_NAME}(?![\w.(/-])",
        _is_named,
    ),
    _build_user_rule(
        "(?:Author|Committer|[Aa]uthored-by|[Ss]igned-off-by): ",
        r"(?:Author|Committer|[Aa]uthored-by|[Ss]igned-off-by): "
        r"(?P<v>[^<>\n]{2,60}?) <(?=[^>\n]{1,80}@|email-)",
    ),
    _build_user_rule(
        "[rwxst-]{9}[+.@]?[ \t]+[0-9]",
        rf"(?<![\w-])[-bcdlps][rwxsStT-]{{9}}[+.@]?[ \t]{{1,4}}\d{{1,6}}[ \t]{{1,4}}{_NAME}[ \t]",
        _is_named,
    ),
    _build_user_rule(
        "[0-9][.][0-9][ \t]+[0-9]+[.][0-9][ \t]+[0-9]+[ \t]+[0-9]+ ",
        rf"(?<![\w.-]){_NAME}[ \t]{{1,20}}\d{{1,8}}[ \t]{{1,6}}\d{{1,4}}\.\d[ \t]{{1,6}}"
        r"\d{1,3}\.\d[ \t]{1,10}\d{1,12}[ \t]{1,10}\d{1,12} ",
        _is_named,
    ),
    # trackers
    _build_user_rule("logged in as", rf"[Cc]urrently logged in as: {_ANY}"),
    _build_user_rule("logged in as", rf"[Cc]urrently logged in as: [\w.-]{{1,64}} \({_ANY}"),
    _build_user_rule(
        "(?i:wandb|swanlab|comet|neptune|dagshub)",
        rf"(?<!docs\.)(?i:{_TRACKERS})/(?:links/|@)?{_ANY}(?=[/\s'\",)]|$)",
        _is_entity,
    ),
    _build_user_rule(
        "/runs/",
        rf"https?://[\w.:-]{{1,80}}/{_ANY}/[\w.%-]{{1,80}}/runs/[a-z0-9]{{8}}\b",
        _is_entity,
    ),
    # telephone numbers
    _build_phone_rule(
        f"(?i:phone|tel|mobile|cell|fax|whatsapp|contact|{join_words('telephone-hint')})",
        r"(?i:(?<![A-Za-z])(?:phone|tel|telephone|mobile|cell|fax|whatsapp|contact)"
        r"(?:[ _-]?(?:no|num|number))?['\"]?\.?[ \t]{0,2}[:=：＝]"
        rf"|(?:{join_words('telephone-number')})['\"]?[ \t]{{0,2}}"
        rf"(?:[:=：＝]|{join_words('is')})?)[ \t]{{0,2}}"
        r"['\"]?(?P<v>\+?[\d(][\d ().-]{5,20}\d)(?![\w.])",
        _is_number,
    ),
    _build_phone_rule(
        r"\+\d",
        r"(?<![\w.+)])(?P<v>\+\d{1,3}[ .-]?\(?\d{1,4}\)?(?:[ .-]?\d{2,5}){2,4})(?![\w.]|[-+]\d)",
        _is_international,
    ),
    _build_phone_rule(
        r"1[3-9]\d[ -]\d{4}[ -]\d{4}",
        r"(?<![\w.+-])(?P<v>1[3-9]\d([ -])\d{4}\2\d{4})(?![\w.-]| \d)",
        _is_number,
    ),
    _build_phone_rule(
        _MOBILE, rf"(?<![A-Za-z0-9_.+/-])(?P<v>{_MOBILE})(?![A-Za-z0-9_/%-]|\.\w)", _is_mobile
    ),
    _build_phone_rule(
        "[0-9]{6}[ -](?:19|20)[0-9]{6}[ -][0-9]{3}[0-9Xx]",
        r"(?<![A-Za-z0-9.-])(?P<v>\d{6}([ -])(?:19|20)\d{6}\2\d{3}[\dXx])(?![A-Za-z0-9-])",
        _is_identity,
    ),
    _build_phone_rule(
        "[0-9]{17}[0-9Xx]",
        r"(?<![A-Za-z0-9])(?<!\d\.)(?P<v>\d{17}[\dXx])(?![A-Za-z0-9])",
        _is_identity,
    ),
)
