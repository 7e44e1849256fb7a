"""What a log says in words of why values are not finite: a weight, an input, a label, a mask.

In: both ends of each source, the lines around values that are not finite. Out: the shapes `told-*`,
at the line that tells. Not here: messages of known wording (`patterns/signatures`), two settings of
which one works (`shapes.contrasts`), the curves themselves (`shapes.nonfinite`).

Whoever checks a run prints what he finds in words of his own, but the subject and its state are
few. Figures of the training are taken out first, so that what is left is told of something else.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.model.lines import NOWHERE
from postmortem.model.said import cut, quote
from postmortem.reading.prefixes import clean
from postmortem.shapes.observed import Observed
from postmortem.shapes.shape import Shape

_MOST_LINE: Final = 400
_MOST_TEXT: Final = 300
_NEAR: Final = 12
"""Lines before the first bad value in which a broken input may be named in any words."""
NOT_FINITE: Final = re.compile(
    r"(?i)(?<![\w-])(?:nans?|[+-]?infs?|infinit\w{1,3}|non-?finites?|not[ _]finite|isnan|isinf"
    r"|无穷|非数)(?![\w-])"
)
_NO_TELLING: Final = re.compile(
    r"(?i)\b(?:no|zero|0|without|never|neither|not|n't|any|removed|dropped) (?:[\w-]{1,20} ){0,3}"
    r"(?:nans?|infs?|non-?finites?)\b|\ball finite|\b(?:is|are) finite|\bfinite[ =:]{1,3}true"
    r"|\bis(?:nan|inf)\w*\W{1,6}(?:false|0)\b|\bnans?[_ ]?\w{0,8}[ =:]{1,3}(?:0|false|none)\b"
    r"|nan_to_num|(?:没有|无) ?nan|n't\b|\b(?:may|might|could|would|should|if|whether|ensure"
    r"|make sure|please|possibl[ey]|perhaps|maybe|consider|try|why|how|avoid|prevent\w*)\b|\?\s*$"
    r"|(?:from|best[\w ]{0,12}|lowest|initial\w*)\W{0,4}[-+]?inf\w*|如果|可能|是否|请"
)
"""What denies it, or only asks, warns and supposes."""
_CODE_OF: Final = re.compile(
    r"(?:^|[^\w.])(?:torch|np|nn|F|self|math|tf|jnp|K)\.\w+[(.]|^\s*(?:def|return|import|from|class"
    r"|assert|if|elif|for|while|with|raise)\b.*[:)]\s*$|^\s*[\w.\[\]]{1,40} = \S"
)
_FIGURE: Final = re.compile(
    r"(?i)loss|grad|norm|acc|ppl|perplex|psnr|ssim|reward|return|score|kl\b|nll|elbo|recon|logp"
    r"|entropy|r?mse|mae|bpc|bpd|dice|iou|map\b|^ce$|bce|total|value|ratio|\blr\b|rate|advantage"
)
_PAIR: Final = re.compile(
    r"(?i)(?<![\w.])(?P<name>[A-Za-z_][\w/.@-]{0,40})[\"']?(?: (?:is|was|are|became|turned|went|got))?"
    r"[ \t]{0,6}[:=]?[ \t]{0,6}[\"'(]{0,2}[-+]?(?:nan|inf(?:inity)?)(?![\w-])"
    r"|(?:nan|inf|non-?finite|not finite)(?: \w{1,6}){0,2} (?:loss|grad)\w{0,12}"
    r"|(?:loss|grad)\w{0,12}(?: \w{1,8}){0,3} (?:non-?finite|not finite)"
)
_HELD: Final = re.compile(
    r"(?i)\b(?:contain\w*|has|have|had|holds?|found|with|min|max|abs_?max|mean|std|sum|var|range|is|are"
    r"|was|were|any)\W{1,4}(?:[\w-]{1,12} ){0,2}(?:nans?|[+-]?infs?|non-?finite|not finite)(?![\w-])"
    r"|\b[1-9]\d{0,11} (?:\w{1,10} )?(?:nans?|infs?|non-?finite|not finite)(?![\w-])"
    r"|(?:nans?|infs?|non-?finite|not finite) (?:values? |entries |pixels? |numbers? )?(?:in|at|for) "
    r"|non-?finite (?:values?|pixels?|samples?|inputs?|entries|features?|tensors?|rows?)"
    r"|finite\W{0,3}[=:]\W{0,3}false|\w\.(?:weight|bias)\b.{0,60}\bnan\b|(?:含|有|存在|为) ?(?:nan|inf)"
)
"""That something holds such values, and is not only a figure of a table."""
_SUBSET: Final = re.compile(
    r"(?i)\b(?P<some>\d{1,9}) (?:of|out of) (?:the )?(?P<all>\d{1,9}) (?:\w+ )?(?:samples?|rows?"
    r"|utterances?|images?|items?|examples?|records?|graphs?|clips?|frames?|crops?)\b"
)
_LOADED: Final = re.compile(
    r"(?i)load|resum|restor|checkpoint|merge|ckpt|pretrained|init|from_|加载|恢复"
)


class _Topic(NamedTuple):
    """What may be told of: a subject in one of its bad states."""

    id: str
    subject: re.Pattern[str]
    state: re.Pattern[str]
    takes_values: bool
    """Not finite is a bad state of it as well."""


def _topic(name: str, subject: str, state: str, *, takes_values: bool = False) -> _Topic:
    return _Topic(
        name, re.compile(subject, re.IGNORECASE), re.compile(state, re.IGNORECASE), takes_values
    )


_TOPICS: Final = (
    _topic(
        "told-labels",
        r"\b(?:labels?|targets?|supervis\w{2,4}|answers?|responses?|completions?)\b"
        r"|\b(?:loss|target|valid|label|trainable|unmasked|assistant|response)_?[ -]?tokens?"
        r"|标签|有效 ?token",
        r"\b(?:all|every|each|only|fully|entirely|100 ?%)\b.{0,40}(?:-100|ignore|mask)"
        r"|(?:-100|ignored|masked).{0,40}\b(?:all|every|everywhere|only|100 ?%)"
        r"|\b(?:no|not a single|zero|without(?: any)?) (?:[\w-]+ ){0,2}(?:labels?|targets?|tokens?)"
        r"|(?:tokens?|labels?|targets?)\w{0,8}\W{1,4}0(?:\.0+)?(?: ?%| ?/ ?\d| of\b|[\s,;)\]]|$)"
        r"|\b0 (?:/|of|out of) \d+ (?:[\w-]+ ){0,2}(?:tokens?|labels?|targets?)"
        r"|(?:全|都|均).{0,8}(?:-100|屏蔽|忽略|为空)|unique\(\)\W{1,12}\[-100\]",
    ),
    _topic(
        "told-mask",
        r"mask(?:s|ed)?\b|\bpad(?:s|ded|ding)?\b|padding_side|掩码|填充",
        r"\ball[- ]?(?:zeros?|false|masked|-?inf)|\b(?:zeros?|false|masked|padding) only"
        r"|\bonly (?:zeros?|masked|padding)\b|\bfully[- ]masked|\bentirely (?:masked|padding|zero)"
        r"|\bnan\b.{0,60}\bonly (?:with|when|for|in)\b|\bonly (?:with|when|for|in)\b.{0,60}\bnan\b"
        r"|\bno (?:valid|unmasked|real|attended)|\bevery (?:key|position)|全(?:部|为|是)",
        takes_values=True,
    ),
    _topic(
        "told-embeddings",
        r"\bembed\w*|\bwte\b|\blm_head rows?|\b(?:new|added|special|extra) (?:tokens?|rows)\b",
        r"untrained|never (?:been )?trained|not (?:been )?trained|uninit\w*|all[- ]?zeros?"
        r"|\b(?:is|are|were|to|with) zeros?\b|\bzero(?:ed|[- ](?:rows?|norms?|vectors?))|norms?\b[ =:]{0,3}(?:~ ?)?0\.0{1,6}\d{0,4}\b|near[- ]zero|未训练",
    ),
    _topic(
        "told-weights",
        r"(?<!sample )\bweights?\b|\bparam(?:eter)?s?\b|\d tensors\b|state_?dict|checkpoint|\bckpt|lm_head"
        r"|named_parameters|\w\.(?:weight|bias)\b|exp_avg|optimi[sz]er (?:state|moments?)|权重|参数",
        r"uninitiali[sz]ed|never (?:filled|loaded|written)|\ball zeros?\b|garbage|meta device",
        takes_values=True,
    ),
    _topic(
        "told-operation",
        r"\b(?:log1?p?(?=\(| of)|ln(?=\()|sqrt|rsqrt|exp(?=\()|div(?:ision|ide[sd]?)?|acos|arccos"
        r"|asin|atan2|pow|cholesky|eigh|svd|denominators?|union|intersection)\b|除以|除零|对数",
        r"\(0(?:\.0*)?\)|\bof (?:a )?(?:zero|negative)\b|\bby (?:zero|0)\b|(?:<=|==?) ?0(?:\.0*)?(?![.\d])"
        r"|\bis (?:zero|negative|0)(?![.\d])|\bno eps|without (?:an )?eps|\bsingular|max\(\) ?= ?\d{2,}",
    ),
    _topic(
        "told-device",
        r"\branks? \d|\bgpus?\b|\bnodes?\b|\bcards?\b|\breplicas?\b|\bhosts?\b|卡|节点",
        r"(?:checksum|hash|param|weight|result|output|value)\w*.{0,40}(?:differ|mismatch|disagree)"
        r".{0,60}(?:replica|rank)|(?:replica|rank)s?\b.{0,60}checksum.{0,40}(?:differ|mismatch)"
        r"|bit[- ]?flip|silent data|\bSDC\b|\b(?:re-?run|replay\w*|re-?comput\w+|swap\w*|exclud\w*"
        r"|replac\w*)\b.{0,60}\b(?:gpu|node|rank|card|host)\b.{0,60}\b(?:ok|fine|finite|clean|gone"
        r"|without|works|mismatch\w*|differ\w*|nan)\b",
    ),
    _topic(
        "told-inputs",
        r"\binputs?\b|\bbatch(?:es)?\b|\bsamples?\b|\brows?\b|\bcolumns?\b|\bfeatures?\b|\bpixels?\b"
        r"|\bimages?\b|\bframes?\b|\butt\w*|\baudio\b|\bwav\w*|\bmels?\b|\bspectrogram|\bvoxels?\b"
        r"|\bbox(?:es)?\b|\bpoints?\b|\brecords?\b|\bgraphs?\b|\brgb\b|\bobs\w*|\btargets?\b|\blabels?\b"
        r"|\w\.(?:npy|npz|exr|jpe?g|png|wav|flac|parquet|csv|tfrecord|tar|nii|h5|jsonl?)\b"
        r"|数据|样本|输入|特征|图像",
        r"corrupt\w*|malformed|broken|garbage|zero[- ]length|degenerate|missing values?|损坏|异常",
        takes_values=True,
    ),
)
_OF_GRADIENTS: Final = re.compile(r"(?i)\bgrad|\bscaler|loss[ _]scal")
_ASKS: Final = re.compile(r"(?:isnan|isinf|isfinite)\(")
_OF_WEIGHTS: Final = re.compile(r"(?i)param|state_?dict|weight|ckpt|checkpoint|\\.bias")
_YES: Final = re.compile(r"""\[['"(]|True\b|tensor\(True|False\b|[\w.]{1,120}\.(?:weight|bias)\b""")
"""The answer to such a question, but an empty list or a plain no."""


def reasons(observed: Observed) -> Iterator[Shape]:
    """Tell of what is said to be bad where values are not finite, or the loss is 0."""
    first = _first_bad(observed)
    if first is None:
        return
    known = {
        (finding.source, number)
        for finding, _ in observed.findings
        if not (finding.signature.startswith(_RECORDS) or finding.signature.endswith(".words"))
        for number in range(finding.line, finding.end_line + 1)
    }
    found: dict[str, Shape] = {}
    for source, number, text in lines_told(observed):
        if (source, number) in known:
            continue
        topic = _topic_of(text, number - first.get(source, number))
        if topic == "told-weights" and not _may_be_origin(observed, source, number, text):
            continue
        if topic is not None and topic not in found:
            said = quote(cut(text, _MOST_TEXT))
            found[topic] = Shape(topic, said, source, NOWHERE, number)
    yield from found.values()


def _first_bad(observed: Observed) -> dict[int, int] | None:
    """Give the first line of a bad value by source; None where no value is bad."""
    lines = [
        (series.source, series.first_nonfinite.line)
        for series in observed.series
        if series.first_nonfinite is not None
    ]
    lines += [
        (series.source, series.first.line)
        for series in observed.series
        if series.first is not None and series.last is not None and "loss" in series.name
        if series.first.value == series.last.value == 0.0
    ]
    lines += [
        (finding.source, finding.line)
        for finding, _ in observed.findings
        if finding.signature.startswith(_SIGNS)
    ]
    lines = lines or [
        (source, number)
        for source, number, text in lines_told(observed)
        if any(_FIGURE.search(match["name"] or "") for match in _PAIR.finditer(text))
    ]
    found: dict[int, int] = {}
    for source, line in lines:
        found[source] = min(line, found.get(source, line))
    return found or None


_RECORDS: Final = (
    "numerics.nan.",
    "numerics.figure.",
    "numerics.evaluation.",
    "numerics.gradnorm.",
    "numerics.context.",
    "numerics.batch.told",
    "numerics.labels.told",
)
"""Rules of figures, and of words like these; any other has its own say on its lines."""
_SIGNS: Final = (
    "numerics.nan.",
    "numerics.consequence.",
    "numerics.figure.",
    "numerics.evaluation.",
)


def lines_told(observed: Observed) -> Iterator[tuple[int, int, str]]:
    """Yield the lines of both ends, and those around bad values: source, number, text."""
    told: set[tuple[int, int]] = set()
    for source in observed.processes:
        parts = [(1, observed.heads.get(source, "")), observed.tails.get(source, (1, ""))]
        parts += [(begin, text) for place, begin, text in observed.around if place == source]
        for begin, text in parts:
            rows = text.split("\n")
            for number, row in enumerate(rows, begin):
                if row.strip() and (source, number) not in told:
                    told.add((source, number))
                    yield source, number, _whole(row, rows[number - begin + 1 :])


def _whole(row: str, behind: Sequence[str]) -> str:
    """Give the text of a line; of one that asks, with the answer on the next."""
    text = clean(row.rsplit("\r", 1)[-1][:_MOST_LINE]).text.strip()
    if _ASKS.search(text) is None:
        return "" if _CODE_OF.search(text) else text
    answer = next((line.strip() for line in behind if line.strip()), "")
    is_no = ("True" if "isfinite" in text else "False") in answer
    is_bad = _YES.match(answer) is not None and not is_no
    subject = "weights" if _OF_WEIGHTS.search(text + answer) else "inputs"
    return f"{subject} with nan: {answer}"[:_MOST_LINE] if is_bad else ""


def _topic_of(text: str, behind: int) -> str | None:
    """Say what a line tells of, so many lines behind the first bad value."""
    if _NO_TELLING.search(text) or _OF_GRADIENTS.search(text):
        return None
    rest = _PAIR.sub(_kept, text)
    is_bad = _HELD.search(rest) is not None
    for topic in _TOPICS:
        if topic.subject.search(rest) is None:
            continue
        is_near = topic.id != "told-inputs" or -_NEAR <= behind <= 2
        if (topic.takes_values and is_bad) or (is_near and topic.state.search(text)):
            return topic.id
    subset = _SUBSET.search(text) if NOT_FINITE.search(text) else None
    is_part = subset is not None and int(subset["some"]) < int(subset["all"])
    return "told-inputs" if is_part else None


def _kept(match: re.Match[str]) -> str:
    """Take out the figures of the training, leave those of anything else."""
    name = match["name"]
    return match[0] if name is not None and not _FIGURE.search(name) else " "


def _may_be_origin(observed: Observed, source: int, line: int, text: str) -> bool:
    """Say whether weights were bad before the training spoilt them."""
    trained = (
        series.first.line
        for series in observed.series
        if series.source == source and series.first is not None
        if "loss" in series.name and series.nonfinite < series.points
        if series.first.value == series.first.value
    )
    return line < min(trained, default=line + 1) or _LOADED.search(text) is not None
