"""The fields of a capsule's `manifest.json`: `postmortem.capsule/1`.

In: nothing. Out: frozen values. Not here: JSON (`capsule.json_values`), the batches' trees
(`capsule.json_values`), whether the files agree with it (`capsule.opening`).

A field whose name ends in `_` is a Python keyword without it: `class_` is `class` in JSON.
"""

from dataclasses import dataclass, field
from typing import Any, Final

SCHEMA: Final = "postmortem.capsule/1"
WEIGHTS_FILE: Final = "weights.safetensors"
OPTIMIZER_FILE: Final = "optimizer.safetensors"
BATCHES_FILE: Final = "batches.safetensors"
RNG_FILE: Final = "rng.safetensors"
FILES: Final = (WEIGHTS_FILE, OPTIMIZER_FILE, BATCHES_FILE, RNG_FILE)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the capsule was written."""

    kind: str
    """nonfinite-loss | nonfinite-gradient | scale-collapsed | exception | asked"""
    step: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class DeviceUsed:
    """On what the steps ran."""

    type: str
    name: str = ""
    capability: tuple[int, ...] | None = None
    threads: int | None = None
    """How many threads computed on the CPU: sums differ in their last bits with it."""


@dataclass(frozen=True, slots=True)
class Autocasting:
    """The autocast that was in force in the forward pass."""

    enabled: bool
    dtype: str = ""
    """float16 | bfloat16"""
    device: str = ""


@dataclass(frozen=True, slots=True)
class PrecisionUsed:
    """In which types the steps computed."""

    parameters: dict[str, int] = field(default_factory=dict)
    """How many numbers are of which type: `{"float32": 1024}`."""
    autocast: Autocasting | None = None
    scaler: Json | None = None
    """Figures of the GradScaler's state_dict: scale, growth_factor, backoff_factor …"""


@dataclass(frozen=True, slots=True)
class BaseWeights:
    """Where the weights lie that were not trained."""

    path: str = ""
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ModelRecipe:
    """How the model is built again."""

    kind: str
    """transformers | torch | user"""
    class_: str = ""
    """transformers: the name of a class of it."""
    config: Json | None = None
    attention: str | None = None
    """transformers: the attention implementation in use, such as `sdpa`."""
    adapter: Json | None = None
    """The configuration of a PEFT adapter."""
    base: BaseWeights | None = None
    tree: Json | None = None
    """torch: `{"class": "Linear", "arguments": {…}, "children": {name: tree}}`."""
    file: str = ""
    """user: the Python file."""
    module: str = ""
    name: str = ""
    """user: a function without arguments, or a class."""
    arguments: Json | None = None
    """user: of the class; None means a function."""
    sha256: str = ""
    """user: of the file."""


@dataclass(frozen=True, slots=True)
class LossRecipe:
    """How the loss is computed of what the model gives."""

    kind: str = "output"
    """output (`model(**batch).loss`) | torch | user"""
    function: str = ""
    """torch: a name of torch.nn.functional."""
    arguments: Json = field(default_factory=dict)
    inputs: Any = None
    """torch: the key, or keys, of the batch that go into the model; None: all but the target."""
    target: Any = None
    """torch: the key, or place in a list, of the target in the batch."""
    output: Any = None
    """torch: the key or attribute of the model's output that holds the prediction; None: itself."""
    file: str = ""
    name: str = ""
    """user: a function `(model, batch) -> loss`; with a dot, a method of a class of the file."""
    further: tuple[Any, ...] = ()
    """user: what the function is given behind the batch: `training_step(model, batch, 0)`."""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class FrozenWeight:
    """A weight that was not trained and is not in the capsule."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """The weights at the start of the window."""

    file: str = WEIGHTS_FILE
    trainable: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    frozen: tuple[FrozenWeight, ...] = ()
    kept: tuple[str, ...] = ()
    """Weights that were not trained and are in the file all the same, as nothing else has them."""
    frozen_from: str | None = None
    tied: tuple[tuple[str, str], ...] = ()
    """(kept, alias): the alias is the same tensor and is not in the file."""


@dataclass(frozen=True, slots=True)
class StoredOptimizer:
    """The optimiser at the start of the window."""

    class_: str
    """torch.optim.AdamW and the like."""
    groups: tuple[Json, ...]
    """Each `{"parameters": [names], "lr": …, …}`."""
    file: str | None = OPTIMIZER_FILE
    """None: it held no tensors yet."""
    state: dict[str, Json] = field(default_factory=dict)
    """By parameter: each entry a figure, or `{"tensor": key}`."""


@dataclass(frozen=True, slots=True)
class Clipping:
    """How gradients were clipped."""

    max_norm: float | None = None
    norm_type: float = 2.0


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """One forward and backward pass."""

    batch: Json
    """A tree: see `capsule.json_values`."""
    rng: str = ""
    """Prefix of its keys in the RNG file; empty if not recorded.

    `<prefix>/torch` and `<prefix>/cuda:0` (the GPU of this process; older recorders wrote its
    number on that machine) as torch gives them, `<prefix>/python` and `<prefix>/numpy` as 625
    integers (624 of the generator, then its place).
    """
    samples: tuple[int | None, ...] | None = None
    """Their indices in the data set."""
    loss: float | None = None
    factor: float | None = None
    """What the loss was multiplied with before the backward pass, apart from the scaler: one over
    the micro-batches mostly. None: not seen."""


@dataclass(frozen=True, slots=True)
class WindowStep:
    """One step of the optimiser."""

    step: int
    micro_batches: tuple[MicroBatch, ...]
    lr: tuple[float, ...] = ()
    """In force in the step, for each group."""
    loss: float | None = None
    grad_norm: float | None = None
    scale: float | None = None
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The recorded steps, of which the last is the suspect one."""

    first: int
    last: int
    steps: tuple[WindowStep, ...]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of the capsule as it was written."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that `manifest.json` says."""

    written_at: str
    reason: Reason
    model: ModelRecipe
    weights: StoredWeights
    window: Window
    versions: dict[str, str] = field(default_factory=dict)
    framework: str = "pytorch"
    device: DeviceUsed = field(default_factory=lambda: DeviceUsed("cpu"))
    precision: PrecisionUsed = field(default_factory=PrecisionUsed)
    loss: LossRecipe = field(default_factory=LossRecipe)
    train_mode: bool = True
    seed: int | None = None
    deterministic: bool = False
    optimizer: StoredOptimizer | None = None
    clipping: Clipping | None = None
    accumulation: int = 1
    files: dict[str, StoredFile] = field(default_factory=dict)
    partial: tuple[str, ...] = ()
    """What could not be recorded; empty: the capsule is complete."""
    schema: str = SCHEMA
