"""Read the lines in which a log says why values are not finite: a subject in a bad state.

In: both ends of each source, the surroundings of values that are not finite. Out: lines without
their prefixes, a question to the interpreter with its answer; the id of the anomaly for what a line
tells. Not here: whether the place fits (`detectors.nonfinite_hints`).

Whoever checks a run prints what he finds in words of his own, but the subjects and their states are
few. Figures of the training are taken out first, so that what is left is told of something else.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily, compile_lazily_with_words, get_last_draw
from postmortem.core.printed_words import join_words, list_words
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.reading.prefixes import clean

_MOST_LINE: Final = 400
_MOST_UNDER: Final = 12
"""Lines that may stand under a heading."""
_FINITENESS_CHECK: Final = compile_lazily(r"(?:isnan|isinf|isfinite)\(")
_YES: Final = compile_lazily(
    r"""\[['"(]|True\b|tensor\(True|False\b|[\w.]{1,120}\.(?:weight|bias)\b"""
)
"""The answer to such a question, but an empty list or a plain no."""
_OF_WEIGHTS: Final = compile_lazily(
    r"param|state_?dict|weight|ckpt|checkpoint|\.bias", re.IGNORECASE
)
_CODE: Final = compile_lazily(
    r"(?:^|[^\w.])(?:torch|np|nn|F|self|math|tf|jnp|K)\.\w+[(.]|^\s*(?:def|return|import|from|class"
    r"|assert|if|elif|for|while|with|raise)\b.*[:)]\s*$|^\s*[\w.\[\]]{1,40} = \S"
)


def get_context_lines(job: Observed) -> Sequence[tuple[int, int, str]]:
    """Give the lines of both ends, and those around bad values: source, number, text."""
    return job.once(_list_context_lines)


def _list_context_lines(job: Observed) -> list[tuple[int, int, str]]:
    return list(_iter_context_lines(job))


def _iter_context_lines(job: Observed) -> Iterator[tuple[int, int, str]]:
    reported: set[tuple[int, int]] = set()
    for source in job.processes:
        parts = [(1, job.heads.get(source, "")), job.tails.get(source, (1, ""))]
        parts += [(begin, text) for place, begin, text in job.around if place == source]
        for begin, part in parts:
            rows = part.split("\n")
            for number, row in enumerate(rows, begin):
                if row.strip() and (source, number) not in reported:
                    reported.add((source, number))
                    text = _extract_statement(row, rows[number - begin + 1 :])
                    yield source, number, _join_heading(text, row, rows[: number - begin])


def _join_heading(text: str, row: str, above: Sequence[str]) -> str:
    """Put the heading before a line that stands indented under it: `the batch:`, `  mean nan`."""
    if not text or not row.startswith((" ", "\t")):
        return text
    heading = next((line for line in reversed(above[-_MOST_UNDER:]) if line[:1].strip()), "")
    return f"{heading.strip()} {text}"[:_MOST_LINE] if heading.rstrip().endswith(":") else text


def _extract_statement(row: str, behind: Sequence[str]) -> str:
    """Give the text of a line; nothing for code, unless it asks and gets an answer."""
    text = clean(get_last_draw(row)[:_MOST_LINE]).text.strip()
    if _FINITENESS_CHECK.search(text) is None:
        return "" if _CODE.search(text) else text
    answer = next((line.strip() for line in behind if line.strip()), "")
    is_no = ("True" if "isfinite" in text else "False") in answer
    if is_no or _YES.match(answer) is None:
        return ""
    subject = "weights" if _OF_WEIGHTS.search(text + answer) else "inputs"
    return f"{subject} with nan: {answer}"[:_MOST_LINE]


_BAD: Final = r"(?:nans?|[+-]?infs?|non-?finite|not finite)"
NOT_FINITE: Final = compile_lazily_with_words(
    " ".join(("nan inf finite", *list_words("not-finite"))),
    r"(?<![A-Za-z\d_-])(?:nans?|[+-]?infs?|infinit\w{1,3}|non-?finites?|not[ _]finite|isnan|isinf"
    r"|" + join_words("not-finite") + r")(?![A-Za-z\d_-])",
    re.IGNORECASE,
)
_NO_TELLING: Final = compile_lazily(
    r"\b(?:no|zero|0|without|never|neither|not|any|removed|dropped) (?:[\w-]{1,20} ){0,3}"
    r"(?:nans?|infs?|non-?finites?)\b|\ball finite|\b(?:is|are) finite|\bfinite[ =:]{1,3}true"
    r"|\bis(?:nan|inf)\w*\W{1,6}(?:false|0)\b|\bnans?[_ ]?\w{0,8}[ =:]{1,3}(?:0|false|none)\b"
    r"|nan_to_num|(?:"
    + join_words("without")
    + r") ?nan|n't\b|\b(?:may|might|could|would|should|if|whether|ensure"
    r"|make sure|please|possibl[ey]|perhaps|maybe|consider|try|why|how|avoid|prevent\w{0,4})\b"
    r"|\?\s*$|(?:from|best[\w ]{0,12}|lowest|initial\w{0,8})\W{0,4}[-+]?inf\w*|"
    + join_words("supposes"),
    re.IGNORECASE,
)
"""What denies it, or only asks, warns and supposes."""
_OF_GRADIENTS: Final = compile_lazily(r"\b[dw]?grad|\bscaler|loss[ _]scal", re.IGNORECASE)
_FIGURE: Final = compile_lazily(
    r"loss|grad|norm|acc|ppl|perplex|psnr|ssim|reward|return|score|kl\b|nll|elbo|recon|logp"
    r"|entropy|r?mse|mae|bpc|bpd|dice|iou|map\b|^ce$|bce|total|value|ratio|\blr\b|rate|advantage",
    re.IGNORECASE,
)
_PAIR: Final = compile_lazily_with_words(
    "nan inf finite",
    r"(?<![A-Za-z\d_.])(?P<name>[A-Za-z_][A-Za-z\d_/.@-]{0,40}|" + join_words("loss") + r")[\"']?"
    r"(?: (?:is|was|are|became|turned|went|got)|[\u4e00-\u9fff，、]{1,12})?"
    r"[ \t]{0,20}[:=]?[ \t]{0,20}[\"'(]{0,2}=?[ \t]?[-+]?(?:nan|inf(?:inity)?)(?![A-Za-z\d_-])"
    r"|(?:nan|inf|non-?finite|not finite)(?: \w{1,6}){0,2} (?:loss|grad)\w{0,12}"
    r"|(?:loss|grad)\w{0,12}(?: \w{1,8}){0,3} (?:non-?finite|not finite)",
    re.IGNORECASE,
)
_HELD: Final = compile_lazily_with_words(
    "nan inf finite",
    r"(?:\b|_)(?:contain\w*|has|have|had|holds?|found|with|min|max|abs_?max|mean|std|sum|var|range|is"
    rf"|are|was|were|any)\W{{1,4}}(?:[\w-]{{1,12}} ){{0,2}}{_BAD}(?![\w-])"
    rf"|\b[1-9]\d{{0,11}} (?:\w{{1,10}} )?{_BAD}(?![\w-])"
    rf"|{_BAD} (?:values? |entries |pixels? |numbers? )?(?:in|at|for) "
    r"|non-?finite (?:values?|pixels?|samples?|inputs?|entries|features?|tensors?|rows?)"
    r"|(?<!non)(?<!non[-_])finite\W{0,3}[=:]\W{0,3}false|\w\.(?:weight|bias)\b.{0,60}\bnan\b"
    rf"|(?:{join_words('holds')}) ?(?:nan|inf)",
    re.IGNORECASE,
)
"""That something holds such values, and is not only a figure of a table."""
_SUBSET: Final = compile_lazily(
    r"\b(?P<some>\d{1,9}) (?:of|out of) (?:the )?(?P<all>\d{1,9}) (?:\w+ )?(?:samples?|rows?"
    r"|utterances?|images?|items?|examples?|records?|graphs?|clips?|frames?|crops?)\b",
    re.IGNORECASE,
)
_NEAR: Final = 12
"""Lines before the first bad value in which a broken input may be named in any words."""
_INPUTS: Final = "told-inputs"
WEIGHTS: Final = "told-weights"


_NO_LENGTH: Final = r"\blen(?:gth)?s?\W{1,4}(?:\d{1,6}\W{1,3}){0,40}?0(?=[\]),; ]|$)"
"""A sample, or one of a batch, that has no length at all."""


class _Topic(NamedTuple):
    """A subject in a bad state, such as a weight that is NaN."""

    id: str
    subject: str
    state: str
    takes_values: bool = False
    """Not finite is a bad state of it as well."""


@functools.cache
def _compile_pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern when a log first asks for it: a start does not pay for it."""
    return re.compile(text, re.IGNORECASE)


_TOPICS: Final = (
    _Topic(
        "told-labels",
        r"\b(?:labels?|targets?|supervis\w{2,4}|answers?|responses?|completions?)\b"
        r"|\b(?:loss|target|valid|label|trainable|unmasked|assistant|response)_?[ -]?tokens?"
        r"|" + join_words("labels"),
        r"\b(?:all|every|each|only|fully|entirely|100 ?%)\b.{0,60}(?:-100|ignore|mask)"
        r"|(?:-100|ignored|masked).{0,40}\b(?:all|every|everywhere|only|100 ?%)"
        r"|\b(?:no|not a single|zero|without(?: any)?) (?:[\w-]{1,20} ){0,2}"
        r"(?:labels?|targets?|tokens?)"
        r"|(?:tokens?|labels?|targets?)\w{0,8}\W{1,4}0(?:\.0{1,6})?"
        r"(?: ?%| ?/ ?\d| of\b|[\s,;)\]]|$)"
        r"|\b0 (?:/|of|out of) \d{1,9} (?:[\w-]{1,20} ){0,2}(?:tokens?|labels?|targets?)"
        r"|" + join_words("all-masked") + r"|unique\(\)\W{1,12}\[-100\]",
    ),
    _Topic(
        "told-mask",
        r"mask(?:s|ed)?\b|\bpad(?:s|ded|ding)?\b|padding_side|\battn|\battention|"
        + join_words("mask"),
        r"\ball[- ]?(?:zeros?|false|masked|-?inf)|\b(?:zeros?|false|masked|padding) only"
        r"|\bonly (?:zeros?|masked|padding)\b|\bfully[- ]masked|\bentirely (?:masked|padding|zero)"
        r"|\bnan\b.{0,60}\bonly (?:with|when|for|in)\b|\bonly (?:with|when|for|in)\b.{0,60}\bnan\b"
        r"|\bno (?:valid|unmasked|real|attended)|\bevery (?:key|position)"
        rf"|{join_words('wholly')}|{_NO_LENGTH}",
        takes_values=True,
    ),
    _Topic(
        "told-embeddings",
        r"\bembed\w{0,8}|\bwte\b|\blm_head rows?|\b(?:new|added|special|extra) (?:tokens?|rows)\b",
        r"untrained|never (?:been )?trained|not (?:been )?trained|uninit\w{0,8}|all[- ]?zeros?"
        r"|\b(?:is|are|were|to|with) zeros?\b|\bzero(?:ed|[- ](?:rows?|norms?|vectors?))"
        r"|norms?\b[ =:]{0,3}(?:~ ?)?0\.0{1,6}\d{0,4}\b|near[- ]zero|" + join_words("untrained"),
    ),
    _Topic(
        WEIGHTS,
        r"(?<!sample )\bweights?\b|\bparam(?:eter)?s?\b|\d tensors\b|state_?dict|checkpoint|\bckpt"
        r"|lm_head|named_parameters|\w\.(?:weight|bias)\b|exp_avg|optimi[sz]er (?:state|moments?)"
        r"|" + join_words("weights"),
        r"uninitiali[sz]ed|never (?:filled|loaded|written)|\ball zeros?\b|garbage|meta device",
        takes_values=True,
    ),
    _Topic(
        "told-operation",
        r"\b(?:log1?p?(?=\(| of)|ln(?=\()|sqrt|rsqrt|exp(?=\()|div(?:ision|ide[sd]?)?|acos|arccos"
        r"|asin|atan2|pow|cholesky|eigh|svd|denominators?|union|intersection)\b|"
        + join_words("operations"),
        r"\(0(?:\.0{0,6})?\)|\bof (?:a )?(?:zero|negative)\b|\bby (?:zero|0)\b"
        r"|(?:<=|==?) ?0(?:\.0{0,6})?(?![.\d])|\bis (?:zero|negative|0)(?![.\d])|\bno eps"
        r"|without (?:an )?eps|\bsingular|max\(\) ?= ?\d{2,}|\boutside\b"
        r"|\bout of (?:its |the )?domain|\bundefined\b|\babove 1\b|\bbelow (?:0|-1)\b",
    ),
    _Topic(
        "told-device",
        r"\branks? \d|\bgpus?\b|\bnodes?\b|\bcards?\b|\breplicas?\b|\bhosts?\b|"
        + join_words("devices"),
        r"(?:checksum|hash|param|weight|result|output|value)s?\b.{0,40}(?:differ|mismatch|disagree)"
        r".{0,60}(?:replica|rank)|(?:replica|rank)s?\b.{0,60}checksum.{0,40}(?:differ|mismatch)"
        r"|bit[- ]?flip|silent data|\bSDC\b|\b(?:re-?run|replay\w{0,8}|re-?comput\w{1,8}"
        r"|swap\w{0,8}|exclud\w{0,8}|replac\w{0,8})\b.{0,60}\b(?:gpu|node|rank|card|host)\b.{0,60}\b(?:ok|fine|finite|clean|gone"
        r"|without|works|mismatch\w{0,8}|differ\w{0,8}|nan)\b",
    ),
    _Topic(
        _INPUTS,
        r"\b(?:inputs?|batch(?:es)?|samples?|rows?|columns?|features?|pixels?|images?|frames?"
        r"|utt\w{0,8}|audio|wav\w{0,8}|mels?|spectrogram\w{0,8}|voxels?|box(?:es)?|points?|records?|graphs?"
        r"|rgb|obs\w{0,8}|targets?|labels?|lens?|lengths?)\b"
        r"|\w\.(?:npy|npz|exr|jpe?g|png|wav|flac|parquet|csv|tfrecord|tar|nii|h5|jsonl?)\b"
        r"|" + join_words("inputs"),
        r"corrupt\w{0,8}|malformed|broken|garbage|zero[- ]length|degenerate|missing values?"
        rf"|\bempty\b|{join_words('damaged')}|{_NO_LENGTH}",
        takes_values=True,
    ),
)


def find_topic(text: str, behind: int) -> str | None:
    """Find the topic of a line, so many lines after the first bad value."""
    topic = _find_named_subject(text, behind)
    if topic is None or is_denial(text) or _OF_GRADIENTS.search(text):
        return None
    return topic


def _find_named_subject(text: str, behind: int) -> str | None:
    """Say what a line names in a bad state, be it to deny it."""
    rest = _PAIR.sub(_remove_training_metric, text)
    is_bad = _HELD.search(rest) is not None
    for topic in _TOPICS:
        if _compile_pattern(topic.subject).search(rest) is None:
            continue
        is_near = topic.id != _INPUTS or -_NEAR <= behind <= 2
        if (topic.takes_values and is_bad) or (
            is_near and _compile_pattern(topic.state).search(text)
        ):
            return topic.id
    subset = _SUBSET.search(text) if NOT_FINITE.search(text) else None
    is_part = subset is not None and int(subset["some"]) < int(subset["all"])
    return _INPUTS if is_part else None


def has_nonfinite_metric(text: str) -> bool:
    """Say whether a line gives a figure of the training that is not finite."""
    return any(_FIGURE.search(name) for name in iter_nonfinite_names(text))


def has_nonfinite_values(text: str) -> bool:
    """Say whether a line says that something else than a metric is not finite."""
    if is_denial(text) or _OF_GRADIENTS.search(text):
        return False
    return _HELD.search(_PAIR.sub(_remove_training_metric, text)) is not None


def iter_nonfinite_names(text: str) -> Iterator[str]:
    """Yield the names of what a line says is not finite."""
    return (match["name"] for match in _PAIR.finditer(text) if match["name"])


def is_denial(text: str) -> bool:
    """Say whether a line denies such values, or only asks, warns and supposes."""
    return _NO_TELLING.search(text) is not None


def _remove_training_metric(match: re.Match[str]) -> str:
    """Take out the figures of the training, leave those of anything else."""
    name = match["name"]
    return match[0] if name is not None and not _FIGURE.search(name) else " "
