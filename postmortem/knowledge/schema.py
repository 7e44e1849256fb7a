"""The shape of every rule, as pydantic models: the linter of `patterns check`.

In: plain values read from YAML. Out: faults, through `knowledge.check`. Not here: loading rules for
a run, which trusts the checked form and does without pydantic. Pydantic, since its messages name
the field and the reason, and it gives editors a JSON Schema.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Level = Literal["decisive", "strong", "moderate", "weak"]
RuleId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+$")]
CauseId = Annotated[str, Field(pattern=r"^[a-z]+\.[a-z0-9-]+$")]
Anchor = Annotated[str, Field(min_length=2, max_length=120)]
Predicate = dict[str, Any]


class Strict(BaseModel):
    """A mapping without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Text(Strict):
    """A text for people, in both languages."""

    en: Annotated[str, Field(min_length=2)]
    zh: Annotated[str, Field(min_length=1)]


class Fires(Strict):
    """An example that must match."""

    text: str
    captures: dict[str, str] = {}
    note: str = ""


class Silent(Strict):
    """A near miss that must not match."""

    text: str
    because: Annotated[str, Field(min_length=3)]


class Examples(Strict):
    """Both kinds are obligatory."""

    fires: Annotated[list[Fires], Field(min_length=1)]
    silent: Annotated[list[Silent], Field(min_length=1)]


class Signature(Strict):
    """`signatures/<area>/<name>.yaml`."""

    id: RuleId
    title: Text
    anchors: Annotated[list[Anchor], Field(min_length=1)]
    match: Annotated[str, Field(min_length=4)]
    unless: str | None = None
    lines: Annotated[int, Field(ge=1, le=40)] = 1
    role: Literal["cause", "consequence", "warning", "harmless", "context"]
    fatal: bool | None = None
    suggests: dict[CauseId, Level] = {}
    group: str = "signature"
    told_by: Literal["launcher", "peer"] | None = None
    source: str = ""
    references: list[str] = []
    status: Literal["stable", "experimental", "deprecated"] = "stable"
    examples: Examples

    @model_validator(mode="after")
    def _role_fits(self) -> "Signature":
        if self.role == "harmless" and self.suggests:
            raise ValueError("a harmless signature suggests no cause")
        if (
            self.role in {"consequence", "warning"}
            and {"decisive", "strong"} & set(self.suggests.values())
            and self.role == "consequence"
        ):
            raise ValueError("a consequence suggests at most `moderate`")
        if self.role == "cause" and not self.suggests:
            raise ValueError("a signature with role `cause` suggests at least one cause")
        return self


class Weighing(Strict):
    """One item of evidence of a cause file."""

    if_: Annotated[Predicate, Field(alias="if")]
    level: Level
    group: str | None = None
    text: Text


class Separates(Strict):
    """What tells a cause from a neighbour."""

    from_: Annotated[CauseId, Field(alias="from")]
    by: Text


class NeedEntry(Strict):
    """What to send or run when the log does not decide."""

    what: Text
    why: Text
    command: str = ""


class Cause(Strict):
    """`causes/<area>/<name>.yaml`."""

    id: CauseId
    explanation: Text
    whose: Literal["user", "data", "library", "platform", "hardware", "unknown"]
    retry: Literal["as-is", "after-fix", "no", "unknown"]
    for_: Annotated[list[Weighing], Field(alias="for")] = []
    against: list[Weighing] = []
    separates: list[Separates] = []
    need: list[NeedEntry] = []
    replay: str | None = None


class Snippet(Strict):
    """Code to copy; `${name|default}` is filled with the user's number, `zh` gives its comments in Chinese."""

    language: str
    code: Annotated[str, Field(min_length=1)]
    zh: dict[str, Annotated[str, Field(min_length=1)]] = {}


class FixEntry(Strict):
    """One entry of `fixes/<area>.yaml`."""

    id: RuleId
    causes: Annotated[list[CauseId], Field(min_length=1)]
    kind: Literal["check", "change", "prevent"]
    order: int = 50
    title: Text
    why: Text
    when: Predicate | None = None
    needs: Literal["good-checkpoint", "gpu", "several-samples-per-step"] | None = None
    safety: Literal["safe", "changes-results", "costly"]
    snippets: dict[str, Snippet] = {}
    references: list[str] = []


class Advisory(Strict):
    """One entry of `advisories/<package>.yaml`."""

    id: RuleId
    package: str
    range: str
    when: Predicate | None = None
    causes: dict[CauseId, Level]
    symptom: Text
    fixed: Text | str
    references: list[str] = []


class Format(Strict):
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
    pair: str | None = None
    step: str | None = None
    loss_key: str | None = None
    names: dict[str, str] = {}
    ignore: list[str] = []
    units: dict[str, str] = {}
    examples: Examples


class TaxonomyEntry(Strict):
    """One id of `taxonomy.yaml`."""

    title: Text
    definition: Text


class Precedence(Strict):
    """`winner` stands before `loser` when both are supported."""

    winner: CauseId
    loser: CauseId
    because: str


class GpuEntry(Strict):
    """One row of `gpus.yaml`."""

    match: str
    name: str
    capability: float
    memory_gib: float | None = None


MODELS: dict[str, type[Strict]] = {
    "signatures": Signature,
    "causes": Cause,
    "fixes": FixEntry,
    "advisories": Advisory,
    "formats": Format,
}
