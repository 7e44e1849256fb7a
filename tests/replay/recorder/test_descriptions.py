"""How a model is built and a loss is computed is found out, or what is not known is said."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from postmortem.replay.recorder.recipes import (  # noqa: E402
    Criterion,
    NoTreeError,
    build_model_recipe,
    build_module_tree,
    describe_user_loss,
    make_plain,
)
from postmortem.replay.recorder.recorded_state import (  # noqa: E402
    Subject,
    strip_model_wrappers,
    strip_optimizer_wrappers,
)
from postmortem.replay.recorder.recording import (  # noqa: E402
    find_loss,
    name_inputs,
)
from tests.replay.recorder.reruns import built  # noqa: E402


class Users(nn.Module):
    """A class of the user's."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, first: Any, second: Any = None, **rest: Any) -> Any:  # noqa: ARG002
        """Pass on."""
        return self.layer(first)


class Needing(Users):
    """One that cannot be built without being told how."""

    def __init__(self, width: int, depth: Any) -> None:  # noqa: ARG002
        super().__init__(width)


class WithHyperparameters(Needing):
    """One that keeps what it was built with, as Lightning's do."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__(width, depth)
        self.hparams = {"width": width, "depth": depth}


def users_build() -> nn.Module:
    """Build a model."""
    return Users(6)


MODULES = [
    nn.Linear(3, 5),
    nn.Linear(3, 5, bias=False),
    nn.Sequential(
        nn.Conv2d(1, 4, (3, 5), stride=2, padding=1, groups=1, bias=False),
        nn.BatchNorm2d(4, eps=1e-3),
    ),
    nn.Sequential(
        nn.Embedding(9, 4, padding_idx=2),
        nn.LayerNorm(4, elementwise_affine=False),
        nn.Dropout(0.3),
    ),
    nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.GELU(approximate="tanh")), nn.Softmax(dim=-1)),
    nn.MultiheadAttention(8, 2, bias=False, batch_first=True),
    nn.LSTM(4, 6, num_layers=2, bidirectional=True, batch_first=True),
    nn.Sequential(
        nn.ConvTranspose1d(2, 3, 4),
        nn.GroupNorm(3, 3),
        nn.LeakyReLU(0.3),
        nn.Flatten(1),
        nn.PReLU(),
    ),
    nn.Sequential(
        nn.Unfold((2, 2)), nn.AdaptiveAvgPool2d((1, None)), nn.Upsample(scale_factor=2.0)
    ),
]


@pytest.mark.parametrize("module", MODULES, ids=lambda one: repr(one).replace("\n", " ")[:60])
def test_a_tree_gives_the_same_module(module: nn.Module) -> None:
    """The same classes, with the same arguments, and weights of the same shapes."""
    again = built(build_module_tree(module))
    assert repr(again).replace("[", "(").replace("]", ")") == repr(module)
    assert {name: one.shape for name, one in again.state_dict().items()} == {
        name: one.shape for name, one in module.state_dict().items()
    }


@pytest.mark.parametrize(
    "module",
    [Users(), nn.Sequential(nn.Linear(2, 2), Users()), nn.TransformerEncoderLayer(8, 2)],
    ids=["of the user", "of the user within", "not to be seen in it"],
)
def test_what_has_no_tree_is_refused(module: nn.Module) -> None:
    """Nothing is guessed."""
    with pytest.raises(NoTreeError):
        build_module_tree(module)


@pytest.mark.parametrize(
    ("model", "build", "name", "arguments", "noted"),
    [
        (Users(), None, "Users", {}, ""),
        (Needing(4, None), None, "Needing", {}, "name build="),
        (WithHyperparameters(4, 2), None, "WithHyperparameters", {"width": 4, "depth": 2}, ""),
        (Needing(4, None), users_build, "users_build", None, ""),
        (Users(), Users, "Users", {}, ""),
    ],
    ids=["no arguments needed", "arguments not known", "kept as hparams", "a function", "a class"],
)
def test_a_class_of_the_user(
    model: nn.Module, build: Callable[..., Any] | None, name: str, arguments: Any, noted: str
) -> None:
    """It is named with its file and the file's checksum."""
    recipe, notes = build_model_recipe(model, build, None)
    assert (recipe.kind, recipe.name, recipe.arguments) == ("user", name, arguments)
    assert recipe.file.endswith("test_descriptions.py")
    assert len(recipe.sha256) == 64
    assert noted in "".join(notes)
    assert bool(notes) is bool(noted)


def test_what_stands_in_no_file_is_said() -> None:
    """A class that was typed into an interpreter cannot be built again."""
    spaces: dict[str, Any] = {"__name__": "typed", "nn": nn}
    exec("class Typed(nn.Module):\n    pass", spaces)  # noqa: S102 -- as an interpreter does
    recipe, notes = build_model_recipe(spaces["Typed"](), None, None)
    assert recipe.file == ""
    assert notes == ["model: Typed stands in no file"]


@pytest.mark.parametrize(
    ("named", "function", "arguments"),
    [
        (
            nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1),
            "cross_entropy",
            {"reduction": "mean", "ignore_index": 0, "label_smoothing": 0.1},
        ),
        (nn.SmoothL1Loss(beta=0.5), "smooth_l1_loss", {"reduction": "mean", "beta": 0.5}),
        (functional.mse_loss, "mse_loss", {}),
        (
            functools.partial(functional.cross_entropy, ignore_index=-1),
            "cross_entropy",
            {"ignore_index": -1},
        ),
    ],
    ids=["a module", "another", "a function", "a function with an argument"],
)
def test_a_loss_of_torch(named: Any, function: str, arguments: dict[str, Any]) -> None:
    """Its function and all of its arguments."""
    recipe = Criterion(named).describe(("input",))
    assert (recipe.kind, recipe.function, recipe.arguments) == ("torch", function, arguments)
    assert (recipe.inputs, recipe.target) == (["input"], "target")


def test_a_loss_of_the_user() -> None:
    """A function in a file; a method by its class."""
    assert Criterion(find_loss).is_users
    recipe = Criterion(find_loss).describe(())
    assert (recipe.kind, recipe.name) == ("user", "find_loss")
    assert describe_user_loss(Users.forward, (0,)).name == "Users.forward"
    assert describe_user_loss(Users.forward, (0,)).further == (0,)


def test_a_loss_of_part_of_the_output() -> None:
    """The part is named; what is not to be found in the output is said."""
    criterion = Criterion(functional.mse_loss)
    part = torch.ones(2)
    criterion.record_call(part, {"other": 1, "logits": part}, {})
    assert criterion.describe(("x",)).output == "logits"
    assert not criterion.notes
    criterion.record_call(part * 2, {"logits": part}, {"weight": part})
    assert [*criterion.notes] == [
        "loss: its argument weight is a tensor",
        "loss: of something else than the model gives; name loss=a function",
    ]


@pytest.mark.parametrize(
    ("arguments", "keywords", "names"),
    [
        ((1,), {}, ["first"]),
        ((1, 2), {}, ["first", "second"]),
        ((1,), {"labels": 3}, ["first", "labels"]),
        ((), {"second": 2}, ["second"]),
    ],
    ids=["one", "two", "one and a keyword", "a keyword"],
)
def test_inputs_have_names(arguments: Any, keywords: Any, names: list[str]) -> None:
    """Those of the signature."""
    assert [*name_inputs(Users(), arguments, keywords)] == names


def test_the_loss_in_an_output() -> None:
    """An attribute, a key, or the sum of several."""
    one = torch.tensor(2.0)
    assert find_loss({"loss": one, "logits": torch.ones(3)}) is one
    assert find_loss({"loss_a": one, "loss_b": torch.tensor([1.0, 3.0])}) == 4
    assert find_loss({"logits": one}) is None
    assert find_loss(one) is None


def test_wrappers_are_taken_off() -> None:
    """DataParallel and torch.compile; optimisers within others."""
    model = Users()
    assert strip_model_wrappers(nn.DataParallel(model)) is model
    compiled = nn.Identity()
    compiled._orig_mod = model
    assert strip_model_wrappers(compiled) is model
    inner = torch.optim.SGD(model.parameters(), lr=1.0)
    wrapper = type("Wrapper", (), {"optimizer": inner})()
    assert strip_optimizer_wrappers(wrapper) is inner
    assert strip_optimizer_wrappers(inner) is inner
    assert strip_optimizer_wrappers(None) is None


def test_weights_that_are_tied_are_named_once() -> None:
    """Each with its other name."""
    model = nn.ModuleDict(
        {"a": nn.Linear(3, 3, bias=False), "b": nn.Linear(3, 3, bias=False), "c": nn.Linear(2, 2)}
    )
    model["b"].weight = model["a"].weight
    model["c"].requires_grad_(False)
    subject = Subject(model, torch.optim.SGD(model["a"].parameters(), lr=0.5), None)
    assert [*subject.trainable] == ["a.weight"]
    assert [*subject.frozen] == ["c.weight", "c.bias"]
    assert subject.tied == [("a.weight", "b.weight")]
    (group,) = subject.get_groups()
    assert (group["parameters"], group["lr"], subject.get_rates()) == (["a.weight"], 0.5, (0.5,))


def test_parts_of_weights_are_seen() -> None:
    """FSDP's parameters are parts of weights."""
    model = Users()
    subject = Subject(model, None, None)
    assert not subject.is_in_parts
    part = type("FlatParameter", (nn.Parameter,), {})
    subject.trainable = {"flat": part(torch.ones(2))}
    assert subject.is_in_parts


def test_a_configuration_is_json() -> None:
    """Sets, types and the like too."""
    import json

    told = make_plain({"a": {"q", "k"}, "b": torch.float16, 3: (1, None), "c": [functional]})
    assert told["a"] == ["k", "q"]
    assert told["b"] == "torch.float16"
    assert told["3"] == [1, None]
    assert json.dumps(told)
