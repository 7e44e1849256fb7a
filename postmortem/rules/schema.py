"""The shape of every rule, as pydantic models: the linter of `patterns check`.

In: plain values read from YAML. Out: faults, through `rules.check`; the JSON Schema of each kind of
file, for editors. Not here: the shape of a predicate (`rules.predicate_schema`); loading rules for
a run, which trusts the checked form and does without pydantic. Pydantic, since its messages name
the field and the reason, and it gives editors a JSON Schema.
"""

import datetime as dt
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter, model_validator

from postmortem.rules.cause_rules import INLINE, MOST_NAMES
from postmortem.rules.predicate_schema import CaseEntry, PredicateEntry, Strict

Level = Literal["decisive", "strong", "moderate", "weak"]
RuleId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+$")]
CauseId = Annotated[str, Field(pattern=r"^[a-z]+\.[a-z0-9-]+$")]
Anchor = Annotated[str, Field(min_length=2, max_length=120)]
StackId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*([_-][a-z0-9]+)*$", max_length=40)]
ConditionId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=50)]
FeatureName = Annotated[str, Field(pattern=r"^[a-z_]+\.[a-z_]+$")]
Names = list[Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]*(\.\*)?$")]]


class TextEntry(Strict):
    """A text for people, in both languages."""

    en: Annotated[str, Field(min_length=2)]
    zh: Annotated[str, Field(min_length=1)]


class FiresEntry(Strict):
    """An example that must match."""

    text: str
    captures: dict[str, str] = {}
    note: str = ""


class SilentEntry(Strict):
    """A near miss that must not match."""

    text: str
    because: Annotated[str, Field(min_length=3)]


class ExamplesEntry(Strict):
    """Both kinds are obligatory."""

    fires: Annotated[list[FiresEntry], Field(min_length=1)]
    silent: Annotated[list[SilentEntry], Field(min_length=1)]


class SnippetEntry(Strict):
    """Code to copy; `${name|default}` is filled with the user's number.

    `zh` gives its comments in Chinese.
    """

    language: str
    code: Annotated[str, Field(min_length=1)]
    zh: dict[str, Annotated[str, Field(min_length=1)]] = {}


class AdviceFixEntry(Strict):
    """One thing to do about a message, in its own names."""

    title: TextEntry
    kind: Literal["check", "change", "prevent"] = "change"
    why: TextEntry | None = None
    snippet: SnippetEntry | None = None
    safety: Literal["safe", "changes-results", "costly"] = "safe"
    otherwise: bool = False
    references: list[str] = []


class AdviceEntry(Strict):
    """What a message means for the run at hand, and what to do about it."""

    meaning: TextEntry | None = None
    fixes: Annotated[list[AdviceFixEntry], Field(max_length=6)] = []


class RaisedEntry(Strict):
    """An exception of an example: `Class: message`, the statement, the frames."""

    raised: str
    code: str = ""
    frames: list[str] = []
    log: str = ""
    captures: dict[str, str] = {}


class NotRaisedEntry(Strict):
    """A near miss."""

    raised: str
    code: str = ""
    frames: list[str] = []
    because: Annotated[str, Field(min_length=3)]


class ExceptionExamples(Strict):
    """Both kinds are obligatory."""

    fires: Annotated[list[RaisedEntry], Field(min_length=1)]
    silent: Annotated[list[NotRaisedEntry], Field(min_length=1)]


class ExceptionEntry(AdviceEntry):
    """One entry of `exceptions/<area>.yaml`."""

    id: RuleId
    exception: list[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]] = []
    message: Annotated[str | None, Field(min_length=2)] = None
    unless: Annotated[str | None, Field(min_length=2)] = None
    code: Annotated[str | None, Field(min_length=2)] = None
    frames: Annotated[str | None, Field(min_length=2)] = None
    raised_in: Literal["user", "library"] | None = None
    order: Annotated[int, Field(ge=1, le=99)] = 50
    renamed: dict[str, str] = {}
    causes: list[CauseId] = []
    last_resort: bool = False
    with_class: bool = False
    keeps_changes: bool = False
    source: str = ""
    examples: ExceptionExamples

    @model_validator(mode="after")
    def _asks_something(self) -> "ExceptionEntry":
        if not (self.exception or self.message or self.code or self.frames):
            raise ValueError("it asks nothing, so it would fit every exception")
        return self


class SignatureEntry(AdviceEntry):
    """`signatures/<area>/<name>.yaml`."""

    id: RuleId
    title: TextEntry
    anchors: Annotated[list[Anchor], Field(min_length=1)]
    match: Annotated[str, Field(min_length=4)]
    unless: str | None = None
    beside: list[Annotated[str, Field(min_length=2)]] = []
    lines: Annotated[int, Field(ge=1, le=40)] = 1
    role: Literal["cause", "consequence", "warning", "harmless", "context"]
    fatal: bool | None = None
    suggests: dict[CauseId, Level] = {}
    group: str = "signature"
    told_by: Literal["launcher", "peer"] | None = None
    broad: bool = False
    keeps_changes: bool = True
    source: str = ""
    references: list[str] = []
    status: Literal["stable", "experimental", "deprecated"] = "stable"
    examples: ExamplesEntry

    @model_validator(mode="after")
    def _check_role(self) -> "SignatureEntry":
        if self.role == "harmless" and self.suggests:
            raise ValueError("a harmless signature suggests no cause")
        if (
            self.role in {"consequence", "warning"}
            and {"decisive", "strong"} & set(self.suggests.values())
            and self.role == "consequence"
        ):
            raise ValueError("a consequence suggests at most `moderate`")
        if self.broad and {"decisive", "strong"} & set(self.suggests.values()):
            raise ValueError("a broad signature suggests at most `moderate`")
        if self.role == "cause" and not self.suggests:
            raise ValueError("a signature with role `cause` suggests at least one cause")
        return self


class AskingEntry(Strict):
    """What asks a case: all of `if` must hold, and none of `not`."""

    if_: Annotated[Names, Field(alias="if", max_length=MOST_NAMES)] = []
    not_: Annotated[Names, Field(alias="not", max_length=MOST_NAMES)] = []

    @model_validator(mode="before")
    @classmethod
    def _names_only(cls, value: Any) -> Any:
        if isinstance(value, dict):
            inline = [key for key in ("if", "not") if isinstance(value.get(key), dict)]
            if inline or "when" in value:
                raise ValueError(f"a predicate stands where names belong: {INLINE}")
        return value

    @model_validator(mode="after")
    def _limit_names(self) -> "AskingEntry":
        if len(self.if_) + len(self.not_) > MOST_NAMES:
            raise ValueError(
                f"it names more than {MOST_NAMES} conditions: make one condition of those that"
                " belong together"
            )
        return self


class WeighingEntry(AskingEntry):
    """One item of evidence of a cause file."""

    level: Level
    group: str | None = None
    text: TextEntry

    @model_validator(mode="after")
    def _asks_something(self) -> "WeighingEntry":
        if not self.if_ and not self.not_:
            raise ValueError("it names no condition, so it would hold in every case")
        return self


class ConditionExamples(Strict):
    """Both kinds are obligatory: small made-up cases."""

    holds: Annotated[list[CaseEntry], Field(min_length=1)]
    fails: Annotated[list[CaseEntry], Field(min_length=1)]


class ConditionEntry(Strict):
    """One entry of `conditions/<area>.yaml`."""

    id: ConditionId
    meaning: TextEntry
    holds: PredicateEntry
    examples: ConditionExamples


class FeatureBoundsEntry(Strict):
    """Bounds of features that all have to be kept, and why they stand where they do."""

    above: dict[FeatureName, float] = Field(default_factory=dict)
    below: dict[FeatureName, float] = Field(default_factory=dict)
    not_above: dict[FeatureName, float] = Field(default_factory=dict)
    """Kept by a feature without a value, too."""
    because: str
    """Where the bounds come from: what sound runs reach."""


class FeatureConditionEntry(FeatureBoundsEntry):
    """Bounds that show an anomaly, and the role of the curve that is told and marked."""

    role: Annotated[str, Field(pattern=r"^[a-z_]+$")]


class CurvesEntry(Strict):
    """The curves of a process that is made up, by name; a record stands on each line."""

    curves: dict[str, list[float | None]]


class SoundCurvesEntry(CurvesEntry):
    """Curves that only look like an anomaly."""

    because: str
    """Why they are none."""


class AnomalyExamples(Strict):
    """Curves that show an anomaly, and curves that only look like it."""

    shows: Annotated[list[CurvesEntry], Field(min_length=1)]
    silent: Annotated[list[SoundCurvesEntry], Field(min_length=1)]


class AnomalyEntry(Strict):
    """One entry of `anomalies/<area>.yaml`; its fields are those of `AnomalyType`."""

    id: ConditionId
    meaning: TextEntry
    is_bad: bool = False
    is_grave: bool = False
    can_be_first: bool = False
    spoils: bool = False
    is_turn: bool = False
    spreads: bool = False
    curve_class: CauseId | None = None
    when: list[FeatureConditionEntry] = Field(default_factory=list)
    contradicted_by: list[FeatureBoundsEntry] = Field(default_factory=list)
    examples: AnomalyExamples | None = None

    @model_validator(mode="after")
    def _columns_agree(self) -> "AnomalyEntry":
        if bool(self.when) != (self.examples is not None):
            raise ValueError("what has `when` has `examples`, and nothing else has")
        if self.contradicted_by and self.curve_class is None:
            raise ValueError("`contradicted_by` is of the model: it stands beside `curve_class`")
        if self.is_grave and not (self.is_bad and self.is_turn):
            raise ValueError("what is grave is bad, and a turn of the run's story")
        if self.meaning.en.endswith(".") or self.meaning.zh.endswith("\u3002"):
            raise ValueError("a meaning ends without a full stop")
        return self


class SeparatesEntry(Strict):
    """What tells a cause from a neighbour."""

    from_: Annotated[CauseId, Field(alias="from")]
    by: TextEntry


class NeedEntry(Strict):
    """What to send or run when the log does not decide, and by what it is there already."""

    what: TextEntry
    why: TextEntry
    command: str = ""
    given: list[
        Literal[
            "traceback",
            "environment",
            "precision",
            "gpu",
            "every-rank",
            "rank-dumps",
            "loss",
            "grad-norm",
            "oom-line",
        ]
    ] = []


class CauseEntry(Strict):
    """`causes/<area>/<name>.yaml`."""

    id: CauseId
    explanation: TextEntry
    whose: Literal["user", "data", "library", "platform", "hardware", "unknown"]
    retry: Literal["as-is", "after-fix", "no", "unknown"]
    retry_if: Annotated[Names, Field(max_length=MOST_NAMES)] = []
    for_: Annotated[list[WeighingEntry], Field(alias="for")] = []
    against: list[WeighingEntry] = []
    separates: list[SeparatesEntry] = []
    need: list[NeedEntry] = []


class FixEntry(AskingEntry):
    """One entry of `fixes/<area>.yaml`."""

    id: RuleId
    causes: Annotated[list[CauseId], Field(min_length=1)]
    kind: Literal["check", "change", "prevent"]
    order: int = 50
    title: TextEntry
    why: TextEntry
    needs: Literal["good-checkpoint", "gpu", "known-package", "several-samples-per-step"] | None = (
        None
    )
    safety: Literal["safe", "changes-results", "costly"]
    stacks: list[StackId] = []
    snippets: dict[str, SnippetEntry] = {}
    snippets_of: RuleId | None = None
    references: list[str] = []


class StackEntry(Strict):
    """`stacks/<id>.yaml`."""

    id: StackId
    title: Annotated[str, Field(min_length=2)]
    kind: Literal["trainer", "backend", "system"] = "trainer"
    packages: list[str] = []
    imports: list[str] | None = None
    paths: list[Anchor] = []
    over: list[StackId] = []
    takes: list[StackId] = []
    beside: list[StackId] = []
    loop: bool = False
    model: bool | None = None
    defaults: dict[str, float | str | bool] = {}
    causes: list[CauseId] = []
    words: list[Annotated[str, Field(min_length=3)]] = []
    snippets: dict[RuleId, SnippetEntry] = {}
    references: list[str] = []
    examples: ExamplesEntry


class AdvisoryExamples(Strict):
    """Small made-up cases: where it is evidence, and where the versions or the machine are sound.

    Both kinds are obligatory.
    """

    fires: Annotated[list[CaseEntry], Field(min_length=1)]
    silent: Annotated[list[CaseEntry], Field(min_length=1)]


class AdvisoryEntry(AskingEntry):
    """One entry of `advisories/<package>.yaml`."""

    id: RuleId
    package: str
    range: str
    with_: Annotated[dict[str, str], Field(alias="with")] = {}
    where: Annotated[Names, Field(max_length=MOST_NAMES)] = []
    not_where: Annotated[Names, Field(max_length=MOST_NAMES)] = []
    message: Annotated[str | None, Field(min_length=4)] = None
    causes: Annotated[dict[CauseId, Level], Field(min_length=1)]
    symptom: TextEntry
    fixed: TextEntry | str
    install: str = ""
    references: list[str] = []
    examples: AdvisoryExamples


class CellsEntry(Strict):
    """How the figures in the group `cells` of a format are named."""

    behind: str
    default: list[str] = []


class FormatEntry(Strict):
    """One entry of `formats/<name>.yaml`."""

    id: RuleId
    kind: Literal["facts", "metrics"]
    framework: str = ""
    anchors: Annotated[list[Anchor], Field(min_length=1)]
    match: Annotated[str, Field(min_length=4)]
    unless: str | None = None
    set: dict[str, str] = {}
    each: bool = False
    strength: Literal[0, 1, 2] = 1
    lines: Annotated[int, Field(ge=1, le=100)] = 1
    producer: str = ""
    redraws: bool = False
    is_bare: bool = False
    cells: CellsEntry | None = None
    pair: str | None = None
    step: str | None = None
    loss_key: str | None = None
    names: dict[str, str] = {}
    ignore: list[str] = []
    units: dict[str, str] = {}
    examples: ExamplesEntry


class TaxonomyEntry(Strict):
    """One id of `taxonomy.yaml`."""

    title: TextEntry
    definition: TextEntry


class PrecedenceEntry(Strict):
    """`winner` stands before `loser` when both are supported."""

    winner: CauseId
    loser: CauseId
    because: str


class GpuRow(Strict):
    """One row of `gpus.yaml`."""

    match: str
    name: str
    capability: float
    memory_gib: float | None = None


class KeyRow(Strict):
    """One row of `keys.yaml`."""

    to: Annotated[str, Field(pattern=r"^(?:setting|env|gpu|package)_[a-z0-9_]+$")]
    is_: Annotated[Literal["number", "whole", "flag", "word", "list"] | None, Field(alias="is")] = (
        None
    )
    values: dict[str, str] | None = None
    as_: Annotated[str | None, Field(alias="as")] = None
    keys: Annotated[list[str], Field(min_length=1)]

    @model_validator(mode="after")
    def _has_a_reading(self) -> "KeyRow":
        if (self.is_ is None) == (self.values is None):
            raise ValueError("either `is` or `values` says what a value means")
        return self


class OtherNameEntry(Strict):
    """A name that only looks like one of a class."""

    name: str
    because: Annotated[str, Field(min_length=3)]


class MetricExamples(Strict):
    """Both kinds are obligatory."""

    belongs: Annotated[list[str], Field(min_length=1)]
    others: Annotated[list[OtherNameEntry], Field(min_length=1)]


class MetricRow(Strict):
    """One row of `metrics.yaml`."""

    id: ConditionId
    names: Annotated[str | None, Field(min_length=2)] = None
    match: Annotated[str | None, Field(min_length=2)] = None
    not_: Annotated[list[ConditionId], Field(alias="not")] = []
    better: Literal["higher", "lower"] | None = None
    bounds: Annotated[list[float] | None, Field(min_length=2, max_length=2)] = None
    examples: MetricExamples

    @model_validator(mode="after")
    def _has_a_pattern(self) -> "MetricRow":
        if (self.names is None) == (self.match is None):
            raise ValueError("either `names` or `match` says which names belong")
        return self


class ActionRow(Strict):
    """One row of `actions.yaml`."""

    id: ConditionId
    pattern: Annotated[str, Field(min_length=4)]
    area: str = ""
    refuted_by: Annotated[list[str], Field(min_length=1)]


class TaxonomyFile(Strict):
    """`taxonomy.yaml`."""

    date: dt.date | str = ""
    causes: dict[CauseId, TaxonomyEntry] | None = None
    precedence: list[PrecedenceEntry] | None = None


TABLES: Final[dict[str, TypeAdapter[Any]]] = {
    "taxonomy": TypeAdapter(TaxonomyFile),
    "actions": TypeAdapter(list[ActionRow]),
    "gpus": TypeAdapter(list[GpuRow]),
    "keys": TypeAdapter(list[KeyRow]),
    "metrics": TypeAdapter(list[MetricRow]),
}
"""Files that are no rules, by their names."""

MODELS: Final[dict[str, type[Strict]]] = {
    "signatures": SignatureEntry,
    "exceptions": ExceptionEntry,
    "anomalies": AnomalyEntry,
    "conditions": ConditionEntry,
    "causes": CauseEntry,
    "fixes": FixEntry,
    "stacks": StackEntry,
    "advisories": AdvisoryEntry,
    "formats": FormatEntry,
}


def build_json_schema(kind: str) -> dict[str, Any]:
    """Give the JSON Schema of a file of a kind: one rule, or a list of them."""
    model = MODELS[kind]
    either: Any = model | list[model]  # type: ignore[valid-type]
    schema = TypeAdapter(either).json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"postmortem {kind}",
        **schema,
    }
