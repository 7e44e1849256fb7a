"""Capsules made to harm: none executes code, hangs or takes the memory, and each is told why.

Each row changes an honest capsule. All are replayed without `--trust-code` by one warm process,
whose folder holds modules that must never be imported.
"""

import hashlib
import json
import os
import pickle
import re
import selectors
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

from tests.recorded_windows import Training, record  # noqa: E402
from tests.replay.rerun.test_verdicts import CLASSES, SMOOTH, built, entropy, labelled  # noqa: E402

HERE = Path(__file__).parent
MOST_SECONDS, MOST_MIB, PATIENCE = 2.0, 200.0, 90.0
EVIL = "from pathlib import Path\nPath(__file__).with_name('executed').touch()\nclass Evil: ...\n"
WEIGHTS, BATCHES = "weights.safetensors", "batches.safetensors"


class Capsule(NamedTuple):
    """An honest capsule in memory, to be changed."""

    told: dict[str, Any]
    files: dict[str, bytes]


Attack = Callable[[Capsule], object]


class Row(NamedTuple):
    """An attack, and what is said to it; an empty word: it does no harm, and the window runs."""

    change: Attack
    message: str


def tree(name: str, **arguments: Any) -> Attack:
    """The model is one module of torch.nn."""

    def change(capsule: Capsule) -> None:
        capsule.told["model"]["tree"] = {"class": name, "arguments": arguments, "children": {}}

    return change


def layered(name: str, **arguments: Any) -> Attack:
    """A module behind the layers of the honest model, so that it is met in the forward pass."""

    def change(capsule: Capsule) -> None:
        child = {"class": name, "arguments": arguments, "children": {}}
        capsule.told["model"]["tree"]["children"]["3"] = child

    return change


def alone(name: str, shape: tuple[int, ...], kind: str = "F32", **arguments: Any) -> Attack:
    """A module without weights over an input of zeros."""

    def change(capsule: Capsule) -> None:
        tree(name, **arguments)(capsule)
        capsule.told["weights"] |= {"trainable": [], "buffers": []}
        capsule.told["optimizer"] = None
        capsule.files.pop(WEIGHTS)
        batches_of(capsule, {"input": (kind, shape)})

    return change


def batches_of(capsule: Capsule, tensors: dict[str, tuple[str, tuple[int, ...]]]) -> None:
    """One batch of zeros, and the sum as its loss as far as there is one."""
    items = {name: {"kind": "tensor", "key": name} for name in tensors}
    items["target"] = {"kind": "tensor", "key": "target"}
    step = capsule.told["window"]["steps"][0]
    batch = {"kind": "dict", "items": items}
    step["micro_batches"] = [step["micro_batches"][0] | {"batch": batch, "rng": ""}]
    capsule.told["window"] |= {"steps": [step], "last": step["step"]}
    capsule.files[BATCHES] = safetensors({"target": ("I64", (1,))} | tensors)
    capsule.files.pop("rng.safetensors", None)


def weights_of(capsule: Capsule, tensors: dict[str, tuple[str, tuple[int, ...]]]) -> None:
    """These weights, all zero."""
    capsule.files[WEIGHTS] = safetensors(tensors)
    capsule.told["weights"] |= {"trainable": [*tensors], "buffers": []}
    capsule.told["optimizer"] = None


def safetensors(tensors: dict[str, tuple[str, tuple[int, ...]]]) -> bytes:
    """A file of zeros."""
    sizes = {"F32": 4, "I64": 8, "U8": 1, "BOOL": 1}
    header: dict[str, Any] = {}
    place = 0
    for name, (kind, shape) in tensors.items():
        size = sizes[kind]
        for side in shape:
            size *= side
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [place, place + size]}
        place += size
    return with_header(json.dumps(header).encode(), bytes(place))


def with_header(text: bytes, data: bytes = b"") -> bytes:
    """A file of this header."""
    return struct.pack("<Q", len(text)) + text + data


def told(path: str, value: Any) -> Attack:
    """Another value in the manifest, at a dotted path."""

    def change(capsule: Capsule) -> None:
        *above, last = path.split(".")
        place: Any = capsule.told
        for name in above:
            place = place[int(name) if isinstance(place, list) else name]
        place[int(last) if isinstance(place, list) else last] = value

    return change


def file(name: str, data: bytes) -> Attack:
    """Another file with the right checksum."""
    return lambda capsule: capsule.files.update({name: data})


def transformers(**config: Any) -> Attack:
    """A model of transformers with this in its configuration."""
    given = {"vocab_size": 16, "hidden_size": 4, "intermediate_size": 4, "num_hidden_layers": 1}
    given |= {"num_attention_heads": 1, "num_key_value_heads": 1}

    def change(capsule: Capsule) -> None:
        recipe = {"kind": "transformers", "class": "LlamaForCausalLM", "config": given | config}
        capsule.told["model"] = recipe

    return change


def adapter(**fields: Any) -> Attack:
    """An adapter on the honest model, with these fields."""
    given = {"peft_type": "LORA", "r": 2, "target_modules": ["0", "2"]}

    def change(capsule: Capsule) -> None:
        long = {"class": "Tanh", "arguments": {}, "children": {}}
        capsule.told["model"]["tree"]["children"]["a" * 60 + "!"] = long
        capsule.told["model"]["adapter"] = given | fields

    return change


def user(recipe: str) -> Attack:
    """Code in a file, with the right checksum."""

    def change(capsule: Capsule) -> None:
        sha256 = hashlib.sha256(EVIL.encode()).hexdigest()
        capsule.told[recipe] = {"kind": "user", "file": "evil.py", "name": "Evil", "sha256": sha256}

    return change


def deep(depth: int) -> dict[str, Any]:
    """Containers in containers."""
    found: dict[str, Any] = {"class": "Identity"}
    for _ in range(depth):
        found = {"class": "Sequential", "children": {"0": found}}
    return found


def long_name(capsule: Capsule) -> None:
    """A name of a megabyte above many values, of which paths would be made."""
    inner = {f"k{number}": {"kind": "value", "value": 0} for number in range(60_000)}
    items = {"x" * 1_000_000: {"kind": "dict", "items": inner}}
    micro = capsule.told["window"]["steps"][0]["micro_batches"][0]
    micro["batch"]["items"] |= items


def long_state(capsule: Capsule) -> None:
    """The same in the optimiser's state."""
    capsule.told["optimizer"]["state"] = {
        "x" * 1_000_000: {f"k{number}": number for number in range(100_000)}
    }


def frozen(capsule: Capsule) -> None:
    """Weights that are claimed to lie elsewhere, to be allowed more memory."""
    tree("Linear", in_features=20_000, out_features=20_000)(capsule)
    one = {"name": "weight", "shape": [20_000, 20_000], "dtype": "float32"}
    capsule.told["weights"]["frozen"] = [one]


def based(capsule: Capsule) -> None:
    """The same of a model of transformers; its base is the capsule's own folder."""
    transformers()(capsule)
    capsule.told["model"]["base"] = {"path": "."}
    one = {"name": "weight", "shape": [2], "dtype": "float32"}
    capsule.told["weights"]["frozen"] = [one]


class Boom:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Make the file."""
        return os.system, ("touch executed",)


TREE = "model.tree"
RUNS = ""
ROWS: dict[str, Row] = {
    # code
    "the model is a file of code": Row(user("model"), "--trust-code"),
    "the loss is a file of code": Row(user("loss"), "--trust-code"),
    "a module by a dotted name": Row(tree("os.system", command="touch executed"), "no module"),
    "a module of Python": Row(tree("functional"), "no module"),
    "a dunder of torch.nn": Row(tree("__builtins__"), "no module"),
    "a pickle for weights": Row(file(WEIGHTS, pickle.dumps(Boom(), protocol=4)), "a pickle"),
    "a checkpoint of torch": Row(file(WEIGHTS, b"PK\x03\x04" + bytes(100)), "a zip archive"),
    "another module as the loss": Row(told("loss.function", "importlib"), "no loss"),
    "a function that makes functions": Row(told("loss.function", "boolean_dispatch"), "no loss"),
    "a module's device": Row(
        tree("Linear", in_features=1, out_features=1, device="cuda"), "device"
    ),
    "a module's type": Row(tree("Linear", in_features=1, out_features=1, dtype="load"), "dtype"),
    "a private argument": Row(
        tree("Embedding", num_embeddings=1, embedding_dim=1, _weight=[1]), "_weight"
    ),
    "an encoder of the user": Row(
        tree("Transformer", custom_encoder="evil.Evil"), "custom_encoder"
    ),
    "an activation by name": Row(
        tree("TransformerEncoderLayer", d_model=8, nhead=1, activation="evil.Evil"), "activation"
    ),
    "an object as an argument": Row(tree("ReLU", inplace={"evil": 1}), "inplace"),
    "an optimiser elsewhere": Row(told("optimizer.class", "evil.Evil"), RUNS),
    "an optimiser that is a function": Row(told("optimizer.class", "torch.optim.os.system"), RUNS),
    "autocast to a function of torch": Row(
        told("precision.autocast", {"enabled": True, "dtype": "load", "device": "cpu"}),
        "autocast computes in",
    ),
    "remote code of transformers": Row(
        transformers(auto_map={"AutoModel": "evil.Evil"}, trust_remote_code=True), "weight"
    ),
    "attention from a hub": Row(
        transformers(_attn_implementation="evil/kernel", attn_implementation="evil/kernel"),
        "weight",
    ),
    "an activation from a hub": Row(transformers(hidden_act="evil/kernel"), "a place to load"),
    "a folder in a nested configuration": Row(
        transformers(text_config={"encoder": {"name": "./evil"}}), "a place to load"
    ),
    "a backbone to load": Row(
        transformers(backbone="evil", use_timm_backbone=True), "another model"
    ),
    "a quantiser of another package": Row(
        transformers(quantization_config={"quant_method": "evil"}), "another package"
    ),
    "an address as a value": Row(transformers(url="https://evil.example"), "a place to load"),
    "a class of transformers that is none": Row(
        lambda capsule: (transformers()(capsule), told("model.class", "importlib")(capsule)),
        "no model 'importlib'",
    ),
    "a base without weights": Row(based, "not here as safetensors"),
    "megatron as a module": Row(
        adapter(megatron_config={"tensor_model_parallel_size": 1}, megatron_core="evil"), "megatron"
    ),
    "megatron in a package": Row(
        adapter(megatron_config={"a": 1}, megatron_core="megatron.evil"), "megatron"
    ),
    "an adapter with a tokeniser": Row(
        adapter(peft_type="PROMPT_TUNING", tokenizer_name_or_path="evil"), "PROMPT_TUNING"
    ),
    "an adapter's own class": Row(
        adapter(auto_mapping={"parent_library": "evil", "base_model_class": "Evil"}), "weight"
    ),
    "an adapter's start from data": Row(adapter(init_lora_weights="eva"), "init_lora_weights"),
    "an adapter's unknown field": Row(adapter(evil_module="evil"), "evil_module"),
    # time
    "a pattern that never ends": Row(adapter(target_modules="(a+)+$"), "target_modules"),
    "a pattern with a lookahead that never ends": Row(
        adapter(target_modules="(?=.)((a+)+)+$"), "for ever"
    ),
    "a pattern of a billion letters": Row(
        adapter(target_modules="a{1000000000}"), "target_modules"
    ),
    "a pattern nested in itself": Row(adapter(target_modules="(?R)*a"), "target_modules"),
    "ranks by a pattern that never ends": Row(adapter(rank_pattern={"(a+)+$": 2}), "weight"),
    "saved modules by a pattern": Row(adapter(modules_to_save=["([a-z]+)+!"]), "modules_to_save"),
    "excluded modules by a pattern": Row(adapter(exclude_modules="(a+)+$"), "weight"),
    "layers by a pattern": Row(
        adapter(layers_to_transform=[1], layers_pattern="([a-z]+)+!"), "layers_pattern"
    ),
    "layers repeated a million times": Row(
        adapter(layer_replication=[[0, 1_000_000]]), "layer_replication"
    ),
    "a million layers": Row(transformers(num_hidden_layers=1_000_000), "num_hidden_layers"),
    "many small layers": Row(transformers(num_hidden_layers=90_000), "account for"),
    "a recurrence of a million layers": Row(
        tree("LSTM", input_size=1, hidden_size=1, num_layers=1_000_000), "account for"
    ),
    "an encoder of a million layers": Row(
        tree("Transformer", d_model=1, nhead=1, dim_feedforward=1, num_encoder_layers=1_000_000),
        "account for",
    ),
    "a name of a megabyte in a batch": Row(long_name, "a name of more than"),
    "a name of a megabyte in a state": Row(long_state, RUNS),
    "pooling over everything, everywhere": Row(
        alone("MaxPool1d", (1, 1, 200_000), kernel_size=100_000, stride=1), "multiplications"
    ),
    "averages over everything": Row(
        alone("AvgPool1d", (1, 1, 200_000), kernel_size=100_000, stride=1), "multiplications"
    ),
    "a billion threads": Row(told("device", {"type": "cpu", "threads": 10**9}), "threads"),
    "a pipe for a file": Row(
        lambda capsule: capsule.files.update({BATCHES: b"pipe"}), "regular file"
    ),
    "holes for weights": Row(lambda capsule: capsule.files.update({BATCHES: b"holes"}), "holes"),
    # memory
    "a loss of everything with everything": Row(
        lambda capsule: (
            alone("Identity", (1, 20_000))(capsule),
            batches_of(capsule, {"input": ("F32", (20_000, 1)), "target": ("F32", (1, 20_000))}),
            told("loss.function", "mse_loss")(capsule),
        ),
        "MiB",
    ),
    "a transposed convolution with a long stride": Row(
        lambda capsule: (
            tree("ConvTranspose1d", in_channels=1, out_channels=1, kernel_size=1, stride=10**7)(
                capsule
            ),
            weights_of(capsule, {"weight": ("F32", (1, 1, 1)), "bias": ("F32", (1,))}),
            batches_of(capsule, {"input": ("F32", (1, 1, 1_000))}),
        ),
        "MiB|multiplications",
    ),
    "a convolution as long as its input": Row(
        lambda capsule: (
            tree("Conv1d", in_channels=1, out_channels=1, kernel_size=50_000, padding=10**6)(
                capsule
            ),
            weights_of(capsule, {"weight": ("F32", (1, 1, 50_000)), "bias": ("F32", (1,))}),
            batches_of(capsule, {"input": ("F32", (1, 1, 50_000))}),
        ),
        "multiplications",
    ),
    "a large linear layer": Row(
        tree("Linear", in_features=20_000, out_features=20_000), r"\[20000, 20000\]"
    ),
    "a large linear layer of frozen weights": Row(frozen, "not in the capsule"),
    "an embedding of ten billion rows": Row(
        tree("Embedding", num_embeddings=10**10, embedding_dim=1), "MiB"
    ),
    "a convolution with a large kernel": Row(
        tree("Conv2d", in_channels=1, out_channels=1, kernel_size=100_000), "MiB"
    ),
    "a form in three ways": Row(
        tree("Bilinear", in1_features=1_000, in2_features=1_000, out_features=1_000), "MiB"
    ),
    "a model that is lazy": Row(layered("LazyLinear", out_features=10**9), "MiB|weight"),
    "a number beyond all": Row(
        tree("Linear", in_features=10**30, out_features=1), "cannot be built"
    ),
    "a vocabulary of a billion": Row(transformers(vocab_size=10**9), "MiB"),
    "a million labels": Row(
        transformers(id2label={str(number): "x" for number in range(120_000)}), "id2label"
    ),
    "a million heads": Row(transformers(num_labels=10**9), "num_labels"),
    "an upsampling": Row(alone("Upsample", (1, 1, 100), scale_factor=1e7), "MiB"),
    "padding of a billion": Row(layered("ConstantPad1d", padding=10**9, value=0.0), "MiB"),
    "pooling to a larger size": Row(layered("AdaptiveAvgPool1d", output_size=10**9), "MiB"),
    "windows over one another": Row(
        alone("Unfold", (1, 1, 300, 300), kernel_size=150, padding=100), "MiB|multiplications"
    ),
    "a manifest of many parts": Row(
        told("model.config", {"a": [[] for _ in range(3_000_000)]}), "parts"
    ),
    "a header of many parts": Row(
        file(WEIGHTS, with_header(b'{"a":[' + b"[]," * 3_000_000 + b"[]]}")), "parts"
    ),
    "a header that nests": Row(file(WEIGHTS, with_header(b'{"a":' * 200_000)), "header"),
    "a header beyond the file": Row(file(WEIGHTS, b"\xff" * 8 + bytes(100)), "header"),
    "offsets over one another": Row(
        file(
            WEIGHTS,
            with_header(
                json.dumps(
                    {
                        name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
                        for name in ("a", "b")
                    }
                ).encode(),
                bytes(8),
            ),
        ),
        "overlap",
    ),
    "offsets beyond the end": Row(
        file(
            WEIGHTS,
            with_header(
                b'{"a":{"dtype":"U8","shape":[1000000000000],"data_offsets":[0,1000000000000]}}'
            ),
        ),
        "cut short",
    ),
    "an empty tensor with a large side": Row(
        file(
            WEIGHTS,
            with_header(
                b'{"a":{"dtype":"F32","shape":[0,4611686018427387904],"data_offsets":[0,0]}}'
            ),
        ),
        "what the tensor",
    ),
    "a number of a thousand digits": Row(told("clipping", {"max_norm": 10**400}), "range"),
    "containers in containers": Row(told(TREE, deep(90)), "no module"),
    "a configuration that nests": Row(
        transformers(a=json.loads('{"a":' * 300 + "1" + "}" * 300)),
        "weight",
    ),
    "a window of no step": Row(told("window.steps", []), "0 steps"),
    "a frozen weight of a trillion sides": Row(
        told("weights.frozen", [{"name": "x", "shape": [1] * 99, "dtype": "float32"}]), "shape"
    ),
    "a frozen weight that is too large": Row(
        told("weights.frozen", [{"name": "x", "shape": [10**11], "dtype": "float32"}]), "GiB"
    ),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capsule that the rows change."""
    torch.manual_seed(0)
    training = Training(SMOOTH, built(SMOOTH), labelled(2), CLASSES, entropy)
    return record(tmp_path_factory.mktemp("honest") / "a.capsule", training)


class Worker:
    """The warm process."""

    def __init__(self, folder: Path) -> None:
        """Start it in a folder of canaries."""
        self.folder = folder
        (folder / "megatron").mkdir()
        for name in ("evil.py", "megatron/__init__.py", "megatron/evil.py"):
            (folder / name).write_text(EVIL, encoding="utf-8")
        fakes = [name for name in ("peft", "transformers") if find_spec(name) is None]
        for name in fakes:
            code = (HERE / "packages" / f"{name}.py").read_text(encoding="utf-8")
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
        paths = [str(folder), str(HERE.parents[2]), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "hostile_worker.py")],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def replay(self, capsule: Path) -> dict[str, Any]:
        """Have a capsule replayed, and wait for as long as a hang takes to be one."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(str(capsule)) + "\n")
        self.process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.process.stdout, selectors.EVENT_READ)
            if not waiting.select(PATIENCE):
                self.process.kill()
                pytest.fail(f"it hangs for {PATIENCE} s")
        answer = self.process.stdout.readline()
        assert answer, "the process died of it"
        found: dict[str, Any] = json.loads(answer)
        return found

    @property
    def executed(self) -> list[Path]:
        """What a canary leaves behind when it is imported."""
        return [*self.folder.rglob("executed")]

    def close(self) -> None:
        """End it."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(20)
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, honest: Path) -> Iterator[Worker]:
    """The process, warmed by honest capsules: of torch, of transformers, with an adapter."""
    started = Worker(tmp_path_factory.mktemp("canaries"))
    folder = tmp_path_factory.mktemp("warm")
    assert started.replay(honest)["outcome"] == "ran"
    for number, change in enumerate((transformers(), adapter(), layered("LazyLinear"))):
        started.replay(write(folder / f"{number}.capsule", honest, change))
    yield started
    started.close()


def write(folder: Path, honest: Path, change: Attack) -> Path:
    """Write a changed capsule, whose checksums are right."""
    capsule = Capsule(
        json.loads((honest / "manifest.json").read_text(encoding="utf-8")),
        {one.name: one.read_bytes() for one in honest.glob("*.safetensors")},
    )
    change(capsule)
    folder.mkdir()
    capsule.told["files"] = {}
    for name, data in capsule.files.items():
        (folder / name).write_bytes(data)
        size, sha256 = len(data), hashlib.sha256(data).hexdigest()
        if data == b"pipe":
            (folder / name).unlink()
            os.mkfifo(folder / name)
        elif data == b"holes":
            size = 8 << 30
            text = (
                f'{{"a":{{"dtype":"U8","shape":[{size - 100}],"data_offsets":[0,{size - 100}]}}}}'
            )
            (folder / name).write_bytes(with_header(text.ljust(92).encode()))
            os.truncate(folder / name, size)
        capsule.told["files"][name] = {"bytes": size, "sha256": sha256}
    (folder / "manifest.json").write_text(json.dumps(capsule.told), encoding="utf-8")
    return folder


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs /proc to measure")
@pytest.mark.parametrize("name", ROWS)
def test_it_does_no_harm(name: str, worker: Worker, honest: Path, tmp_path: Path) -> None:
    """Nothing is executed, it ends at once, takes little memory, and says what was wrong."""
    row = ROWS[name]
    found = worker.replay(write(tmp_path / "a.capsule", honest, row.change))
    record_figures(name, found)
    assert worker.executed == []
    assert not (tmp_path / "executed").exists()
    assert found["cpu"] <= MOST_SECONDS, found
    assert found["mib"] <= MOST_MIB, found
    if row.message:
        assert found["outcome"] == "refused", found
        assert re.search(row.message, found["message"]), found
    else:
        assert found["outcome"] == "ran", found


def record_figures(name: str, found: dict[str, Any]) -> None:
    """Print what it cost, which `-rP` shows."""
    print(f"{name}: {found['outcome']}, {found['cpu']:.2f} s, {found['mib']:.0f} MiB")


def test_there_are_enough_of_them() -> None:
    """The table is what the statement in the threat model stands on."""
    assert len(ROWS) >= 60
