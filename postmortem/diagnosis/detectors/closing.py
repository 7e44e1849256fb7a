"""Detect what a log says after its last record: that all is well, or that it is not.

In: the end of each source, the line of its last record, what rules know of its lines. Out: the
anomalies `closing-words`, `closing-results`, `nan-in-closing`, `traceback-cut`, `trouble-at-end`.
Not here: lines of known wording (`patterns/signatures`), exceptions (`case.final_errors`).
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily, get_last_draw
from postmortem.core.message import cut, quote
from postmortem.core.printed_words import join_words
from postmortem.diagnosis.detectors.ending import BAR_PART, NEARLY, PART
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.extraction.trailing_context import split_level
from postmortem.reading.prefixes import LOUD, clean
from postmortem.rules.vocabulary import Trait, has_trait

_MOST_TEXT: Final = 200
_MOST_LINES: Final = 60
_LAST: Final = 12
"""Lines at the end of a log among which its closing words stand."""
_LATEST: Final = 4
"""The same among which one says that work begins, or shows a bar, if it goes on."""
_OF_NOTHING: Final = compile_lazily(r"\bcount: 0\b|\bepisodes?_?\w{0,10}: 0\b")
"""A mean over nothing is no number, and says so."""
_HEADER: Final = compile_lazily(r"Traceback \(most recent call last\):\s*$")
_ERROR_LINE: Final = compile_lazily(r"^(?:\[rank\d{1,5}\]:)?\[?[EF]\d{3,4} \d")
"""The marks of glog and of c10's logger for an error."""
_PROMPT: Final = compile_lazily(
    r"(?:\([\w.+-]{1,60}\) ?){0,2}"
    r"(?:\[?[\w.-]{1,40}@[\w.-]{1,80}[: ~][^\n]{0,120}[#$%>\]]|PS [A-Z]:\\[^\n>]{0,120}>"
    r"|[A-Z]:\\[^\n>]{0,120}>|[$#%])\s*$"
)
_NOT_FINITE: Final = compile_lazily(
    r"(?<![\w/.@-])(?P<name>[A-Za-z][\w/.@-]{0,60})"
    r"[\"']?[ \t]{0,20}[:=|│┃]?[ \t]{0,20}[\"']?(?:tensor\()?"
    r"(?P<value>[-+]?(?:nan|inf|infinity))(?![\w-])",
    re.IGNORECASE,
)
_GRADIENT_AVERAGE: Final = compile_lazily(
    r"(?<![A-Za-z])g(?:rad)?_?norm\W{1,6}\d[\d.e+-]{0,20} \((?:nan|inf)\)", re.IGNORECASE
)
"""A finite norm with its mean since the start, which one skipped step has spoilt."""
_FIGURES: Final = compile_lazily(
    r"loss|acc|err|reward|return|ppl|perplexity|score|grad|entropy|kl|logp|nll|elbo|mse|mae|rmse"
    r"|bleu|f1|auc|map|iou|dice|wer|cer|bpc|bpb|mean|avg|value|metric",
    re.IGNORECASE,
)
_MAY_LACK: Final = compile_lazily(r"clip|patience|\beta\b|iou_|ap_|class", re.IGNORECASE)
_BOUND: Final = compile_lazily(r"best|min(?!i)|max|lowest|highest|initial|previous", re.IGNORECASE)
"""A bound is infinite before anything is measured."""
_NONFINITE_WORDS: Final = compile_lazily(
    r"(?<![\w-])(?:nans?|infs?|non-?finite|not finite|infinite|infinity)(?![\w(])", re.IGNORECASE
)
_OF_VALUES: Final = compile_lazily(
    r"\b(?:loss(?:es)?|grad\w{0,10}|logits?|outputs?|activations?|weights?|batch|values?|rewards?"
    r"|params?|parameters?)\b",
    re.IGNORECASE,
)
_HARMLESS: Final = compile_lazily(
    r"\b(?:no|without|never|zero|0|any) (?:\w{1,20} ){0,2}(?:nan|inf|non-?finite)"
    r"|(?<![A-Za-z])(?:nan|inf)\w{0,8}[ _]?(?:\w{1,12} ?)?[:=] ?(?:0(?![.\d])|false|true|none)"
    r"|\b(?:check(?:ing|s)?|if|may|might|could|would|avoid\w*|prevent\w*|detect_\w+|nan_to_num"
    r"|enabled?|disabled?)\b",
    re.IGNORECASE,
)
_SUBJECT: Final = (
    r"(?:all|everything|(?:the )?(?:whole |entire )?(?:model |main )?"
    r"(?:train(?:ing)?(?: (?:pipeline|run|job|process|loop|script))?"
    r"|fine-?tuning|pre-?training|pipeline|experiment|job|run|script|program|sweep|optimi[sz]ation))"
)
_VERB: Final = r"(?:done|finished|finish|completed?|complete|ended|over)"
_VERBS: Final = ("done", "Done", "DONE", "finished", "Finished", "completed", "Completed")
_DURATION: Final = r"(?:in|after|took)[ :]{1,3}(?:about )?\d"
_CLOSING: Final = compile_lazily(
    rf"^[\W_]{{0,40}}(?:(?:main|train\w{{0,10}}|run|root)(?:__)?: )?"
    rf"(?:{_SUBJECT}(?: (?:has|have|is|was|are))?(?: been)? (?:successfully )?)?"
    rf"{_VERB}(?: successfully| (?:with )?(?:no|0) errors?)?"
    rf"(?=[\s.!,;:=*#)\]✅🎉-]{{0,12}}(?:$|{_DURATION}|\d+ (?:epoch|step|iteration)s|best|final"
    r"|elapsed|(?:and )?saved|weights|model|total|results|at|on|with|\d{4}-))",
    re.IGNORECASE,
)
_SAVED: Final = compile_lazily(
    r"\b(?:sav(?:ed|ing)|wr(?:ote|itten|iting)|export(?:ed|ing)?|stored|in)\b.{0,80}?"
    r"(?<![A-Za-z])final(?![A-Za-z])"
    r"|(?<![A-Za-z])final (?:model|weights|policy|checkpoint|state)\b.{0,40}"
    r"\b(?:saved|written|exported|stored)|^[\W_]{0,20}final (?:model|weights|policy|checkpoint)",
    re.IGNORECASE,
)
_STEPPED: Final = compile_lazily(
    rf"^[\W_]{{0,40}}{_SUBJECT} (?:is |was )?{_VERB} after \d[\d,]* (?:steps|epochs|iterations)",
    re.IGNORECASE,
)
_FINISHED: Final = compile_lazily(
    rf"^[\W_]{{0,40}}(?:finish(?:ed)?|completed|done(?: with)?|ended) (?:the )?{_SUBJECT}\b"
    r"|^[\W_]{0,40}all (?:\d[\d,]* )?(?:epochs|steps|iterations|rounds) (?:are |were |have been )?"
    r"(?:done|finished|completed?|over)\b"
    r"|\b(?:solved|converged) (?:in|after) \d[\d,]* (?:episodes|steps|epochs|iterations)\b"
    r"|^[\W_]{0,40}early stop(?:ping|ped)?\b"
    r"(?!.{0,40}\bcounter\b|\W{0,4}patience|.{0,40}\bpatience\W{0,3}\d+\W{0,2}(?:/|of\b|out\b))"
    rf"|^[\W_]{{0,40}}(?:{join_words('work')})\w{{0,6}}(?:{join_words('done')})"
    r"|\breached max(?:imum|imal)?[ _-]?(?:number of )?(?:steps|epochs|iter\w{0,7}|updates)"
    r"|\bmax(?:imum)?[ _-]?(?:steps|epochs|iter\w{0,7}|updates)\b.{0,12} reached",
    re.IGNORECASE,
)
_LAST_LINE: Final = compile_lazily(
    r"^[\W_]{0,40}(?!(?:[\w-]{1,20} ){0,2}(?:sav|upload|sync|copy|cop|build|setup)\w{0,8} )"
    rf"(?:[A-Za-z][\w-]{{0,20}} ){{0,3}}{_VERB}(?=[\s.!,:;]{{0,3}}(?:$|\s))"
    r"|^[\W_]{0,40}(?:[A-Za-z][\w.]{0,30} ){0,2}[\u4e00-\u9fff]{0,8}"
    r"(?:" + join_words("done") + r")(?=[\s，。；：！,;:!]|$)",
    re.IGNORECASE,
)
"""What whatever work it was says of its end, where nothing stands behind it."""
_AFTER_ALL: Final = compile_lazily(
    r"\b(?:after|in|all)(?: \d[\d,]*)? (?:epoch|step|iteration|update|round)s?\b"
    r"|\b(?:best|early stop\w*)\b.{0,80}?\b(?:in|at|from) (?:epoch|step|iteration) \d+"
    r"|\bearly stop\w*\b.{0,20}\b(?:epoch|step|iteration)\b"
    r"|\b(?:fail\w*|errors?)(?: \w+)?[:=] ?(?:0|none)\b|\b(?:0|no) (?:fail\w*|errors?)\b",
    re.IGNORECASE,
)
"""How much was done, what was best, and that nothing failed: no sign that it is not the end."""
_NOT_THE_END: Final = compile_lazily(
    r"\b(?:not|un(?:able|done|finished|complete\w*|success\w*)|fail\w*|error|abort\w*|interrupt\w*|when|until|before|will|epoch|fold|round"
    r"|phase|stage|eval\w*|valid\w*|load\w*|download\w*|compil\w*|init\w*|warm\w*|token\w*"
    r"|emergency|crash\w*|rescue\w*|partial\w*)\b"
    r"|" + join_words("not-done") + r"|\bexit (?:code|status)\W{1,3}[1-9]",
    re.IGNORECASE,
)


_GOES_ON: Final = compile_lazily(
    r"\b(?:start(?:ing|ed|s)?|begin(?:ning|s)?|before the start)\b.{0,20}"
    r"\b(?:train\w*|epoch|steps?|iterations?|round)\b|^[\W_]{0,20}training\s?\.{2,3}$",
    re.IGNORECASE,
)
"""What a program says before work, not behind it."""
_RESULT: Final = compile_lazily(
    r"\bsuccessfully (?:saved|written|wrote|exported|stored)\b"
    r"|\b(?:sav(?:ed|ing)|wrote|written|export(?:ed|ing)|stored)\b.{0,80}"
    r"\.(?:pth?|ckpt|bin|safetensors|h5|keras|onnx|pkl|joblib|npz?)\b"
    r"|\b(?:sav(?:ed|ing)|wrote|written|export(?:ed|ing)|stored|upload(?:ed|ing)|push(?:ed|ing)"
    r"|published)\b.{0,60}\b(?:models?|weights?|checkpoints?|results?|polic(?:y|ies)|networks?)\b"
    r"|\b(?:models?|weights?|checkpoints?|results?|polic(?:y|ies)|networks?)\b.{0,60}"
    r"\b(?:saved|written|exported|stored|uploaded|pushed|published)\b"
    r"|\btest metric\b|^[\W_]{0,20}(?:best|total|overall|elapsed)\b.{0,80}?[:=] ?\d"
    r"|(?<![A-Za-z])(?:final[ _](?:test|eval\w{0,10}|valid\w{0,10}|results?|metrics?|scores?"
    r"|acc\w{0,10}|loss|reward|performance)"
    r"|(?:test|eval|valid\w{0,10}|results?)[ _]final)(?![A-Za-z])"
    r"|\btotal\b.{0,20}\btime\b|\btime\b.{0,12}\b(?:passes|passed|elapsed|taken|spent)\b"
    r"|(?<![A-Za-z])total wall|" + join_words("totals"),
    re.IGNORECASE,
)
"""What a program prints of its results: at its end if it has not done so before."""
_TESTED: Final = compile_lazily(r"^[\W_]{0,20}test(?:ing|ed)?\b.{0,60}[:=] ?\d", re.IGNORECASE)
_VALIDATED: Final = compile_lazily(r"(?i)(?<![a-z])(?:val(?:id\w*)?|dev)(?![a-z])")
"""A test comes once, at the end, where the training was watched by validations."""
_TRACKER: Final = compile_lazily(r"wandb: (?:\S+ )?(?:Synced \d|View run\b|Find logs at: )")
"""What a tracker prints when the program leaves it."""
_FRAMED: Final = compile_lazily(r"([=*#~-])\1{2,80} {1,3}[^=*#~]{3,80} {1,3}\1{3,80}$")
_NEAR: Final = 3
"""Lines behind the last record with which it may be part of the closing words itself."""
_FEWEST_BEFORE: Final = 4
"""Lines before the last record that show what is printed all along."""
_FIGURE: Final = compile_lazily(r"[-+]?\d[\d.,:e+-]*")
_LOGGER: Final = compile_lazily(
    r"^(?:(?!(?:step|epoch)\b|[A-Za-z]+ing:)[A-Za-z_][\w.]{0,40}(?::| -)"
    r"|\[[A-Za-z][\w.-]{0,30}\]) (?=[A-Za-z])"
)
"""The name of a logger behind the time, or a tag in brackets."""


class _Line(NamedTuple):
    """A line behind the last record of its source, without its prefix."""

    source: int
    number: int
    text: str
    level: str | None
    raw: str
    """The same with its prefix: `done: 3 epochs` looks like one that has a prefix."""
    is_marked: bool
    """It bears the mark of glog's or c10's logger for an error."""


def detect_after_last_record(observed: Observed) -> Iterator[Anomaly]:
    """Find what the last lines of the sources say of the end, and behind records of values."""
    known = {
        (finding.source, number)
        for finding, _ in observed.findings
        if finding.role in {"harmless", "context"} and not has_trait(finding.signature, Trait.SOUND)
        for number in range(finding.line, finding.end_line + 1)
    }
    for source in observed.tails.keys() - observed.last_records.keys():
        lines = _list_trailing_lines(observed, source)
        if not _goes_on(lines):
            yield from _end(lines)
    for source in observed.last_records:
        lines = [
            line
            for line in _list_trailing_lines(observed, source)
            if (source, line.number) not in known
        ]
        yield from _cut_traceback(observed, source)
        yield from _detect_shell_prompt(observed, lines)
        yield from _detect_final_errors(lines)
        if not _goes_on(lines):
            yield from _detect_closing(observed, source, lines)


def _detect_closing(observed: Observed, source: int, lines: list[_Line]) -> Iterator[Anomaly]:
    """Detect closing words behind the last record, or on it if it is near the end, and results."""
    record = _list_trailing_lines(observed, source, records=1)[:1]
    is_near = len(lines) <= _NEAR and bool(record)
    is_its_own = is_near and record[0].number == observed.last_records[source]
    found = [*_end([*(record if is_its_own else ()), *lines])]
    yield from found or _end_of_training(observed, source)
    yield from _detect_results(observed, lines)


def _goes_on(lines: list[_Line]) -> bool:
    """Say whether one of the last lines says that work begins, or shows a bar in its midst."""
    latest = lines[-_LATEST:]
    bars = filter(None, (BAR_PART.search(line.raw) for line in latest))
    return any(_GOES_ON.search(line.text) for line in latest) or any(
        int(bar["now"]) < NEARLY * int(bar["of"]) for bar in bars
    )


def _end_of_training(observed: Observed, source: int) -> Iterator[Anomaly]:
    """Detect such words behind the last loss of the training: figures of a test may follow them."""
    losses = [
        curve.lines[-1]
        for curve in observed.series
        if curve.name == names.LOSS
        and curve.source == source
        and len(curve.lines) >= _FEWEST_BEFORE
    ]
    last = observed.last_records[source]
    if losses and max(losses) < last:
        lines = _list_trailing_lines(observed, source, records=last - max(losses))
        nothing = [line._replace(text="", raw="") for line in lines[-1:]]
        yield from _end([*lines, *nothing])  # none of them is the last line of the log


def _list_trailing_lines(observed: Observed, source: int, *, records: int = 0) -> list[_Line]:
    """Give the last lines behind the last record, or from it on, that are not empty."""
    first, text = observed.tails.get(source, (1, ""))
    rows = [
        (number, get_last_draw(line))
        for number, line in enumerate(text.split("\n"), first)
        if number > observed.last_records.get(source, 0) - records and line.strip()
    ][-_MOST_LINES:]
    found = []
    for number, row in rows:
        peeled = clean(row[:2000])
        text, stated = split_level(peeled.text, peeled.level)
        found.append(
            _Line(
                source,
                number,
                (peeled.text if stated in LOUD else text).strip(),
                peeled.level,
                row[:2000].strip(),
                bool(_ERROR_LINE.match(row)),
            )
        )
    return found


def _cut_traceback(observed: Observed, source: int) -> Iterator[Anomaly]:
    """Detect a source that ends with the head of a traceback, possibly after a bar."""
    first, text = observed.tails.get(source, (1, ""))
    text = text.rstrip()
    if _HEADER.search(text[-_MOST_TEXT:]):
        number = first + text.count("\n")
        yield Anomaly(
            "traceback-cut",
            quote(cut(text[text.rindex("Traceback") :], _MOST_TEXT)),
            source,
            NOWHERE,
            number,
        )


def _detect_shell_prompt(observed: Observed, lines: list[_Line]) -> Iterator[Anomaly]:
    """Detect a shell prompt at the end, after a record that is not the last step."""
    if not (lines and _PROMPT.match(lines[-1].raw)):
        return
    source = lines[-1].source
    first, text = observed.tails[source]
    place = observed.last_records[source] - first
    record = get_last_draw(text.split("\n")[place]) if place >= 0 else ""
    parts = [(int(part["now"]), int(part["of"])) for part in PART.finditer(record)]
    if any(now < of for now, of in parts):
        yield _build_anomaly("shell-prompt", lines[-1])


def _detect_final_errors(lines: list[_Line]) -> Iterator[Anomaly]:
    """Detect values that are not finite, and an error on the last line."""
    for line in lines:
        if _is_not_finite(line.text) and not _OF_NOTHING.search(line.text):
            yield _build_anomaly("nan-in-closing", line)
    if lines and (lines[-1].level in LOUD or lines[-1].is_marked):
        yield _build_anomaly("trouble-at-end", lines[-1])


def _is_not_finite(text: str) -> bool:
    """Say whether a line holds a value that is not finite, or reports one."""
    text = _GRADIENT_AVERAGE.sub("", text)
    if any(_is_broken(match) for match in _NOT_FINITE.finditer(text)):
        return True
    return bool(_NONFINITE_WORDS.search(text) and _OF_VALUES.search(text)) and not _HARMLESS.search(
        text
    )


def _is_broken(match: re.Match[str]) -> bool:
    """Say whether a named figure that is not finite is more than a bound, or an absent class."""
    name = match["name"]
    before = match.string[max(0, match.start() - 12) : match.end("name")]
    is_bound = "inf" in match["value"].lower() and _BOUND.search(before) is not None
    return bool(_FIGURES.search(name)) and not _MAY_LACK.search(name) and not is_bound


def _end(lines: list[_Line]) -> Iterator[Anomaly]:
    """Detect the words with which a program states that it is complete."""
    last = lines[-1] if lines else None
    for line in reversed(lines[-_LAST:]):
        text = _strip_logger(line)
        if line.level in LOUD or _NOT_THE_END.search(_AFTER_ALL.sub("", text)):
            continue
        is_last = line is last or _FRAMED.match(line.raw) is not None
        forms = (_CLOSING, _SAVED, _STEPPED, _FINISHED, *((_LAST_LINE,) if is_last else ()))
        if any(words.search(text) for words in forms):
            yield _build_anomaly("closing-words", line)
            return


def _strip_logger(line: _Line) -> str:
    """Give a line without its level and the name of its logger."""
    message = line.raw if line.raw.startswith(_VERBS) else line.text
    has_prefix = message != line.raw or message.startswith("[")
    return _LOGGER.sub("", message, count=1) if has_prefix else message


def _detect_results(observed: Observed, lines: list[_Line]) -> Iterator[Anomaly]:
    """Detect results behind the last record, of a kind that no line before it is of.

    A program that has failed may save them too, or close its tracker: they excuse no error.
    """
    if not lines or lines[-1].level in LOUD:
        return
    source = lines[-1].source
    last = observed.last_records[source]
    before = [row for number, row in observed.kept_lines(source) if number <= last and row.strip()]
    if len(before) < _FEWEST_BEFORE:
        return
    usual = {_build_skeleton(clean(row[:2000]).text) for row in before}
    is_validated = any(_VALIDATED.search(row) for row in before)
    for line in lines[-_LAST:]:
        is_new = _is_result(line, is_validated=is_validated) and (
            _build_skeleton(line.text) not in usual
        )
        if is_new or _TRACKER.match(line.raw):
            yield _build_anomaly("closing-results", line)
            return


def _is_result(line: _Line, *, is_validated: bool) -> bool:
    """Say whether a line tells a result: of a test, where validations stand before it."""
    is_test = is_validated and _TESTED.search(line.text) is not None
    return line.level not in LOUD and (is_test or _RESULT.search(line.text) is not None)


def _build_skeleton(text: str) -> str:
    """Give the words of a line without its figures."""
    return _FIGURE.sub("0", text.strip())


def _build_anomaly(name: str, line: _Line) -> Anomaly:
    return Anomaly(name, quote(cut(line.text, _MOST_TEXT)), line.source, NOWHERE, line.number)
