"""A run is a folder: what trackers and launchers leave beside a log, through the whole program."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import postmortem
from postmortem.extraction.formats import binary_files

DATA = Path(__file__).resolve().parents[1] / "data" / "run_folder"
LOSSES = [2.5, 2.25, 2.125, 1.75, 1.5, 1.375, 1.25, 1.0]


def report(folder: Path) -> dict[str, Any]:
    """The report of a folder or file, as JSON."""
    text = postmortem.analyze(folder).render("json", redact=False)
    return dict(json.loads(text))


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    """A folder with these files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def sources(told: dict[str, Any], folder: Path) -> dict[str, tuple[str, str]]:
    """Kind and note of each source, by its path below the folder."""
    return {
        str(Path(one["path"]).relative_to(folder)): (one["kind"], one["note"] or "")
        for one in told["sources"]
    }


def settings(told: dict[str, Any], folder: Path) -> dict[str, tuple[Any, str, int]]:
    """Value, file and line of each setting."""
    return {
        name: (
            one["value"],
            str(Path(told["sources"][one["source"]]["path"]).relative_to(folder)),
            one["line"],
        )
        for name, one in told["settings"].items()
    }


def curves(told: dict[str, Any]) -> list[tuple[int, str, int]]:
    """Source, name and count of each curve."""
    return [(one["source"], one["name"], one["points"]) for one in told["series"]]


def log_of(losses: list[float]) -> str:
    """A log with a line for every tenth step."""
    return "".join(f"step {10 * n} loss {loss:.4f}\n" for n, loss in enumerate(losses))


def _evidence(told: dict[str, Any]) -> list[str]:
    """The sentences of the evidence for all causes."""
    return [item["text"] for cause in told["causes"] for item in cause["evidence"]]


def test_hydra_and_wandb_tell_settings_and_the_console_is_one_run() -> None:
    """What Hydra composed gives the settings; its log and wandb's are one attempt, not two."""
    folder = DATA / "hydra_wandb"
    told = report(folder)
    found = settings(told, folder)
    assert found["learning_rate"] == (0.6, ".hydra/overrides.yaml", 1)
    assert found["per_device_train_batch_size"] == (32, ".hydra/config.yaml", 6)
    assert found["max_steps"] == (200, ".hydra/config.yaml", 9)
    assert told["environment"]["packages"]["hydra-core"] == "1.3.8"
    assert told["environment"]["precision"] == "fp32"
    assert sorted(name for _, name, _ in curves(told)) == ["grad_norm", "loss"]
    assert len(told["attempts"]) == 1
    output = "wandb/offline-run-20250304_101500-q1w2e3r4/files/output.log"
    assert sources(told, folder)[output] == (
        "log",
        "grad_norm, loss as in train_hydra.log, which has most of it",
    )
    assert told["outcome"] == "failed"


def test_the_store_of_mlflow_tells_curves_and_parameters() -> None:
    """A metric is a file, a parameter is a file; the log beside them tells the end."""
    folder = DATA / "mlflow"
    told = report(folder)
    run = "mlruns/974734887512094988/e2c64626df514201bbe63c4ae21873ad"
    found = settings(told, folder)
    assert found["learning_rate"] == (1.5, f"{run}/params/lr", 1)
    assert found["num_train_epochs"] == (5, f"{run}/params/epochs", 1)
    assert [(name, count) for _, name, count in curves(told)] == [("loss", 38), ("eval_loss", 38)]
    kinds = sources(told, folder)
    assert kinds["run.log"] == ("log", "loss as in train_loss, which has most of it")
    assert kinds[f"{run}/tags/mlflow.user"] == ("ignored", "MLflow's own record")
    assert [one["source"] for one in told["attempts"]] == [list(kinds).index("run.log")]
    assert told["verdict"]["cause"] == "numerics.lr-divergence"
    assert not any("training finite" in text for text in _evidence(told))


def test_the_table_of_lightning_has_holes() -> None:
    """Each row tells what stands in it; the hyperparameters lie beside it."""
    folder = DATA / "lightning"
    told = report(folder)
    counts = {name: count for _, name, count in curves(told)}
    assert counts == {"epoch": 15, "loss": 9, "eval_loss": 3, "train_loss_epoch": 3}
    assert settings(told, folder)["learning_rate"][0] == 0.0005


def test_the_flight_recorder_tells_which_rank_is_behind() -> None:
    """Dumps are pickles; they are read without unpickling, and ranks are compared."""
    told = report(DATA / "flight_recorder")
    assert told["verdict"]["cause"] == "distributed.rank-desync"
    notes = [one["note"] for one in told["sources"]]
    assert "last enqueued 2 (gloo:all_reduce [[8]])" in notes[2]
    assert any("wait for rank 2: nothing enqueued" in text for text in _evidence(told))
    assert told["first_failure"]["where"]["rank"] == 2
    assert told["outcome"] == "stalled"


def test_the_flight_recorder_as_json(tmp_path: Path) -> None:
    """Its counts are texts there."""
    entry = {
        "collective_seq_id": 3,
        "process_group": ["0", "default_pg"],
        "profiling_name": "nccl:all_reduce",
        "input_sizes": [[8]],
    }
    files: dict[str, str | bytes] = {
        f"comm_lib_trace_rank_{rank}.json": json.dumps(
            {
                "comm_lib_version": "",
                "entries": [entry],
                "pg_status": {
                    "0": {
                        "last_completed_collective": "2",
                        "last_enqueued_collective": count,
                        "last_started_collective": "-1",
                    }
                },
            }
        )
        for rank, count in enumerate("3323")
    }
    told = report(put(tmp_path, files))
    assert "last enqueued 3 (nccl:all_reduce [[8]]), last completed 2" in told["sources"][0]["note"]
    assert any("wait for rank 2: nothing enqueued" in text for text in _evidence(told))


def test_event_files_of_tensorboard_are_read(tmp_path: Path) -> None:
    """The scalars of a run, each with the number of its record, beside a sparser log."""
    pytest.importorskip("tensorboard")
    folder = tmp_path / "run"
    shutil.copytree(DATA / "tensorboard", folder)
    shutil.copy(DATA / "mlflow" / "run.log", folder)
    told = report(folder)
    assert {name: count for _, name, count in curves(told)} == {"loss": 38, "learning_rate": 38}
    loss = next(one for one in told["series"] if one["name"] == "loss")
    assert (loss["producer"], loss["nonfinite"]) == ("tensorboard", 1)
    assert len(told["attempts"]) == 1


def test_a_cut_event_file_tells_what_it_holds(tmp_path: Path) -> None:
    """A crash leaves half a record behind."""
    pytest.importorskip("tensorboard")
    whole = next((DATA / "tensorboard").iterdir())
    put(tmp_path, {whole.name: whole.read_bytes()[:2000]})
    told = report(tmp_path / whole.name)
    assert "breaks off behind record" in told["sources"][0]["note"]
    assert told["series"][0]["points"] > 10


def test_without_the_package_event_files_are_listed_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is passed over in silence."""
    monkeypatch.setattr(binary_files, "load_parser", lambda: None)
    name = "events.out.tfevents.1.host"
    folder = put(tmp_path, {"run.log": log_of(LOSSES), name: b"\x18\0\0\0\0\0\0\0"})
    assert sources(report(folder), folder)[name] == (
        "ignored",
        "TensorBoard events: to read them, pip install '.[tensorboard]' in a checkout of postmortem",
    )


WANDB = """wandb_version: 1

_wandb:
  desc: null
  value:
    cli_version: 0.16.0
    huggingface_version: 4.40.1
    python_version: 3.10.12
    t:
      1:
      - 1
      - 5
learning_rate:
  desc: null
  value: 0.0003
fp16:
  desc: null
  value: true
model:
  desc: null
  value:
    optim:
      lr: 5
"""
MMENGINE = """batch_size = 1
model = dict(
    llm=dict(
        pretrained_model_name_or_path='internlm/internlm2-chat-7b',
        quantization_config=dict(load_in_4bit=True)),
    type='xtuner.model.SupervisedFinetune')
optim_wrapper = dict(
    clip_grad=dict(error_if_nonfinite=False, max_norm=1),
    dtype='float16',
    optimizer=dict(
        betas=(
            0.9,
            0.999,
        ),
        lr=0.0002,
        type='torch.optim.AdamW'),
    type='mmengine.optim.AmpOptimWrapper')
train_cfg = dict(max_epochs=3)
"""
VERL = """actor_rollout_ref:
  actor:
    optim:
      lr: 1.0e-06
    grad_clip: 1.0
    ppo_micro_batch_size_per_gpu: 4
  rollout:
    n: 8
  model:
    path: Qwen/Qwen2.5-7B
critic:
  optim:
    lr: 1.0e-05
trainer:
  total_epochs: 15
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param(
            "wandb/run-20250102_030405-abcd1234/files/config.yaml",
            WANDB,
            {"learning_rate": (0.0003, 15), "fp16": (True, 18)},
            id="wandb: each value lies under `value`, the shallow name leads",
        ),
        pytest.param(
            "vis_data/config.py",
            MMENGINE,
            {
                "learning_rate": (0.0002, 15),
                "max_grad_norm": (1, 8),
                "per_device_train_batch_size": (1, 1),
                "model": ("internlm/internlm2-chat-7b", 4),
                "load_in_4bit": (True, 5),
                "num_train_epochs": (3, 18),
                "optim": ("torch.optim.AdamW", 16),
            },
            id="mmengine: the dump is read, not run",
        ),
        pytest.param(
            ".hydra/config.yaml",
            VERL,
            {
                "learning_rate": (1e-6, 4),
                "max_grad_norm": (1.0, 5),
                "per_device_train_batch_size": (4, 6),
                "num_generations": (8, 8),
                "num_train_epochs": (15, 15),
                "model": ("Qwen/Qwen2.5-7B", 10),
            },
            id="verl: the actor's rate, not the critic's",
        ),
        pytest.param(
            "ds_config.json",
            '{\n  "train_micro_batch_size_per_gpu": "auto",\n  "zero_optimization": {"stage": 3,\n'
            '    "offload_optimizer": {"device": "cpu"}},\n\t"fp16": {"enabled": "auto"},\n'
            '  "bf16": {"enabled": true},\n  "optimizer": {"params": {"lr": 5e-5}}\n}\n',
            {
                "zero_stage": (3, 3),
                "offload": ("cpu", 4),
                "bf16": (True, 6),
                "learning_rate": (5e-5, 7),
                "deepspeed": (True, 3),
            },
            id="DeepSpeed: `auto` says nothing",
        ),
        pytest.param(
            "args.yaml",
            "task: detect\nmodel: yolo11n.pt\nepochs: 100\nbatch: 16\nimgsz: 640\nworkers: 8\n"
            "optimizer: auto\nlr0: 0.01\n",
            {
                "learning_rate": (0.01, 8),
                "model": ("yolo11n.pt", 2),
                "num_train_epochs": (100, 3),
                "num_workers": (8, 6),
                "per_device_train_batch_size": (16, 4),
            },
            id="Ultralytics",
        ),
        pytest.param(
            "hparams.yaml",
            "lr: 0.001\nscheduler: !!python/object/apply:os.system [echo]\ntrainer:\n"
            "  precision: 16-mixed\n  gradient_clip_val: 0.5\n",
            {"learning_rate": (0.001, 1), "max_grad_norm": (0.5, 5)},
            id="Lightning: a tag calls nothing",
        ),
        pytest.param(
            "adapter_config.json",
            '{"peft_type": "LORA", "r": 16,\n "target_modules": ["q_proj", "v_proj"]}',
            {
                "lora": (True, 1),
                "lora_r": (16, 1),
                "lora_target_modules": ("[q_proj, v_proj]", 2),
            },
            id="an adapter",
        ),
        pytest.param(
            "checkpoint-10/config.json",
            '{\n"architectures": ["LlamaForCausalLM"],\n"torch_dtype": "bfloat16",\n"vocab_size": 32000\n}',
            {"checkpoint_dtype": ("bfloat16", 3), "vocab_size": (32000, 4)},
            id="a model: the type of its weights is not the precision",
        ),
        pytest.param(
            "train.yaml",
            "model_name_or_path: Qwen/Qwen2-7B\nfinetuning_type: lora\nlora_target: all\n"
            "learning_rate: 1.0e-4\ncutoff_len: 2048\nlr: ${other}\n",
            {
                "model": ("Qwen/Qwen2-7B", 1),
                "lora": (True, 2),
                "lora_target_modules": ("all", 3),
                "learning_rate": (1e-4, 4),
                "max_seq_length": (2048, 5),
            },
            id="what a user wrote for a trainer",
        ),
    ],
)
def test_a_configuration_states_settings_at_its_lines(
    tmp_path: Path, name: str, text: str, expected: dict[str, tuple[Any, int]]
) -> None:
    """Under the common names, wherever they are nested."""
    folder = put(tmp_path, {"run.log": log_of(LOSSES), name: text})
    told = report(folder)
    assert settings(told, folder) == {
        key: (value, name, line) for key, (value, line) in expected.items()
    }
    assert sources(told, folder)[name][0] == "environment"
    assert len(told["attempts"]) == 1


def test_the_metadata_of_wandb_tells_the_machine(tmp_path: Path) -> None:
    """Where the run was started, on what."""
    text = json.dumps(
        {
            "os": "Linux-5.15.0-91-generic-x86_64-with-glibc2.35",
            "python": "3.10.12",
            "args": ["--lr", "3"],
            "gpu": "NVIDIA A100-SXM4-80GB",
            "gpu_count": 8,
        },
        indent=4,
    )
    name = "wandb/run-20250102_030405-abcd1234/files/wandb-metadata.json"
    machine = report(put(tmp_path, {"run.log": log_of(LOSSES), name: text}))["environment"]
    assert (machine["python"], machine["os"][:5]) == ("3.10.12", "Linux")
    assert [(one["name"], one["count"]) for one in machine["gpus"]] == [("A100 (80 GB)", 8)]


STATE = {
    "global_step": 8,
    "log_history": [{"loss": loss, "step": n + 1} for n, loss in enumerate(LOSSES)],
}


@pytest.mark.parametrize(
    ("files", "leader", "copies"),
    [
        pytest.param(
            {
                "checkpoint-4/trainer_state.json": json.dumps(
                    {"global_step": 4, "log_history": STATE["log_history"][:4]}  # type: ignore[index]
                ),
                "checkpoint-8/trainer_state.json": json.dumps(STATE),
                "run.log": "".join(
                    f"{{'loss': {loss}, 'epoch': {n / 10}}}\n" for n, loss in enumerate(LOSSES)
                ),
            },
            ("checkpoint-8/trainer_state.json", 8),
            2,
            id="states of several checkpoints and a log without steps",
        ),
        pytest.param(
            {
                "metrics.csv": "step,loss\n"
                + "".join(f"{n},{2.5 - 0.01 * n}\n" for n in range(80)),
                "run.log": log_of([2.5 - 0.1 * n for n in range(8)]),
            },
            ("metrics.csv", 80),
            1,
            id="a table with ten times as many points",
        ),
        pytest.param(
            {
                "scalars.json": "".join(
                    json.dumps({"lr": 0.02, "loss": loss, "iter": 10 * n, "step": 10 * n}) + "\n"
                    for n, loss in enumerate(LOSSES)
                ),
                "run.log": log_of(LOSSES),
            },
            ("run.log", 8),
            1,
            id="as many points in both: the log",
        ),
        pytest.param(
            {
                "wandb/run-20250102_030405-a/files/wandb-summary.json": '{"train/loss": 1.0, "_step": 99}',
                "run.log": log_of(LOSSES),
            },
            ("run.log", 8),
            1,
            id="the last value",
        ),
        pytest.param(
            {
                "metrics.csv": "step,loss\n" + "".join(f"{10 * n},{9 - n}\n" for n in range(8)),
                "run.log": log_of(LOSSES),
            },
            None,
            0,
            id="another curve of the same steps is no copy",
        ),
    ],
)
def test_a_curve_in_several_files_is_told_once(
    tmp_path: Path, files: dict[str, str | bytes], leader: tuple[str, int] | None, copies: int
) -> None:
    """The fullest leads, the others say whose copies they are; there is one attempt."""
    folder = put(tmp_path, files)
    told = report(folder)
    paths = list(sources(told, folder))
    losses = [(paths[source], count) for source, name, count in curves(told) if name == "loss"]
    assert losses == [leader] if leader is not None else len(losses) == 2
    assert sum("as in" in note for _, note in sources(told, folder).values()) == copies
    assert len(told["attempts"]) == 1


def test_ranks_with_one_loss_keep_their_curves(tmp_path: Path) -> None:
    """The mean over all ranks is the same on each: they are processes, not copies."""
    log = log_of(LOSSES)
    told = report(put(tmp_path, {"rank0.log": log, "rank1.log": log}))
    assert len(curves(told)) == 2


def test_of_runs_side_by_side_the_last_counts(tmp_path: Path) -> None:
    """The others are listed with the folder by which they are analyzed."""
    early, late = (f"wandb/run-2025010{day}_030405-abcd1234/files/" for day in (1, 2))
    files: dict[str, str | bytes] = {}
    for name, rate in ((early, 9.0), (late, 0.5)):
        files |= {f"{name}config.yaml": WANDB.replace("0.0003", str(rate))}
        files |= {f"{name}output.log": log_of(LOSSES)}
    told = report(put(tmp_path, files))
    assert told["settings"]["learning_rate"]["value"] == 0.5
    kind, note = sources(told, tmp_path)[f"{early}output.log"]
    assert kind == "ignored"
    assert note == f"of an earlier run; for that one, analyze {(tmp_path / early).parent}"


def test_configurations_that_contradict_each_other_say_nothing(tmp_path: Path) -> None:
    """Which of a user's files ran is not told; what they agree on is."""
    common = "num_train_epochs: 3\nmodel_name_or_path: a/b\nlearning_rate: "
    files: dict[str, str | bytes] = {
        "run.log": log_of(LOSSES),
        "one.yaml": f"{common}0.1\n",
        "two.yaml": f"{common}0.2\n",
    }
    told = report(put(tmp_path, files))
    assert set(told["settings"]) == {"num_train_epochs", "model"}


BOMB = "lr: 0.1\nepochs: 3\na: &a [x, x]\n" + "".join(
    f"{one}: &{one} [*{two}, *{two}, *{two}, *{two}]\n"
    for one, two in zip("bcdefghijkl", "abcdefghijk", strict=True)
)


@pytest.mark.parametrize(
    ("name", "content", "kind", "note"),
    [
        pytest.param(
            ".hydra/config.yaml", BOMB, "environment", "composed by Hydra", id="a bomb of aliases"
        ),
        pytest.param(
            "ds_config.json",
            '{"zero_optimization": {"stage": 2},\n "optimizer": {"params": {"lr": 0.0',
            "environment",
            "breaks off at line 2",
            id="JSON that is cut off",
        ),
        pytest.param(
            ".hydra/config.yaml",
            "lr: 0.1\nbatch_size: 4\n" + "".join(f"key_{n}: {n}\n" for n in range(120_000)),
            "environment",
            "only its beginning was read",
            id="a huge configuration",
        ),
        pytest.param(
            ".hydra/config.yaml", "[" * 50_000, "environment", "breaks off", id="endless nesting"
        ),
        pytest.param(
            "metrics.csv",
            ",".join(["step", "loss", *(f"c{n}" for n in range(9998))])
            + "\n"
            + "".join(",".join([str(n), "1.5", *(["0.25"] * 9998)]) + "\n" for n in range(6)),
            "metrics",
            "of 10,000 columns the first 400 were read",
            id="a table of ten thousand columns",
        ),
        pytest.param(
            "nccl_trace_rank_0",
            pickle.dumps(Path("x")),
            "ignored",
            "holds none",
            id="a pickle that names a class",
        ),
        pytest.param(
            "nccl_trace_rank_0",
            b"\x80\x02}r\xff\xff\xff\x7f.",
            "ignored",
            "holds none",
            id="a pickle that asks for memory",
        ),
        pytest.param(
            "checkpoint-1/training_args.bin",
            b"PK\x03\x04",
            "ignored",
            "run code that stands in it",
            id="arguments as a pickle",
        ),
        pytest.param(
            "config.py",
            "import os\nlr = 1\nmodel = dict(a=1)\nb = 2\n",
            "ignored",
            "source code",
            id="code that only looks like a configuration",
        ),
    ],
)
def test_hostile_files_get_a_note_and_lose_nothing(
    tmp_path: Path, name: str, content: str | bytes, kind: str, note: str
) -> None:
    """The log beside them is told all the same."""
    folder = put(tmp_path, {"run.log": log_of(LOSSES), name: content})
    told = report(folder)
    found_kind, found_note = sources(told, folder)[name]
    assert found_kind == kind
    assert note in found_note
    assert ("loss", 8) in [(one, count) for _, one, count in curves(told)]


def test_garbage_called_like_events_is_no_event_file(tmp_path: Path) -> None:
    """With the package or without, the log beside it is told."""
    name = "events.out.tfevents.1.host"
    folder = put(tmp_path, {"run.log": log_of(LOSSES), name: bytes(range(256)) * 40})
    told = report(folder)
    assert sources(told, folder)[name][0] == "ignored"
    assert curves(told)
