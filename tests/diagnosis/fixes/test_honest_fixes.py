"""What no fix may do: change a machine in a check, name a product or a figure without evidence."""

import re
from collections.abc import Iterator

import pytest

import postmortem
from postmortem.rules.base import KnowledgeBase, load
from postmortem.rules.cause_rules import FixRule, Snippet

CHANGES = re.compile(
    r"""
    \b(?:pip3?|uv|mim|conda|mamba|apt(?:-get)?|yum|dnf|brew|npm)\b[^|;&]*?
        \s(?:install|uninstall|upgrade|remove|update)\b
    | \bsudo\b
    | (?<![\w.-])(?:rm|mv|cp|ln|kill|pkill|killall|chmod|chown|truncate|dd|umount|mount|modprobe
        |rmmod|reboot|shutdown|scancel)\s+[-\w/~$.'"]
    | \bgit\s+(?:reset|checkout|clean|stash|pull|rebase|merge|switch|restore|config)\b
    | \bdocker\s+(?:rm|rmi|system|stop|kill|restart|prune)\b
    | nvidia-smi\s+(?:-r|--gpu-reset|-pm|-pl|-mig|-c|-e)\b
    | \bexport\s+\w+= | \bsetx\b | \bsysctl\s+-w | \bunset\s
    | \bsystemctl\s+(?:start|stop|restart|enable|disable)\b
    | (?<![0-9&>=<-])>{1,2}\s*(?!/dev/null)[A-Za-z/~$."'][^=\s]
    | shutil\.(?:rmtree|move) | os\.(?:unlink|rename|replace)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Commands after which a machine is no longer as it was."""
NAMES = re.compile(
    r"(?i)\b(?:01-ai|Yi-\d|Baichuan|Qwen\d?|Llama-?[23]|ChatGLM|GLM-4|InternLM|Mistral|Mixtral"
    r"|Gemma|DeepSeek|Phi-[234]|Falcon|Bloom)\b"
)
"""Models that a fix may name only to whoever uses them."""


def snippets(rule: FixRule, knowledge: KnowledgeBase) -> Iterator[tuple[str, Snippet]]:
    """The code of a fix in every stack."""
    yield from rule.snippets.items()
    for stack in knowledge.stacks:
        if rule.id in stack.snippets:
            yield stack.id, stack.snippets[rule.id]


def commands(snippet: Snippet) -> str:
    """The code without its comments."""
    return re.sub(r"(?m)(?:^|\s)#.*$", "", snippet.code)


@pytest.mark.parametrize(
    ("code", "is_change"),
    [
        pytest.param("pip install -U nnunetv2", True, id="an upgrade"),
        pytest.param("rm -f DATASET/labels/*.cache && yolo train", True, id="a removal"),
        pytest.param("export ROCM_HOME=/opt/rocm", True, id="a variable that stays"),
        pytest.param("sudo dmesg -T", True, id="root"),
        pytest.param("nvidia-smi -q > gpu.txt", True, id="a file written over"),
        pytest.param("nvidia-smi -r", True, id="a reset"),
        pytest.param("git checkout v1.0", True, id="another version of the sources"),
        pytest.param("pip list | grep torch; pip check", False, id="a list"),
        pytest.param("NCCL_DEBUG=INFO torchrun train.py 2>&1 | tee nccl.log", False, id="a run"),
        pytest.param("python -m json.tool ds.json > /dev/null", False, id="thrown away"),
        pytest.param("if norm > 100: print(norm >> 20)", False, id="a comparison"),
    ],
)
def test_what_changes_a_machine(code: str, *, is_change: bool) -> None:
    """The pattern that the fixes are held against sees what it should."""
    assert (CHANGES.search(code) is not None) is is_change


def test_checks_only_look() -> None:
    """No check installs, removes, moves, resets or sets anything that stays."""
    knowledge = load()
    found = [
        (rule.id, stack, hit[0])
        for rule in knowledge.fixes
        if rule.kind == "check"
        for stack, snippet in snippets(rule, knowledge)
        if (hit := CHANGES.search(commands(snippet)))
    ]
    assert found == []


def test_a_model_is_named_only_to_its_users() -> None:
    """A title or a command that names a model asks first whether the run uses it."""
    knowledge = load()
    asked = {rule.id: {one.id for one in rule.asked.wanted} for rule in knowledge.fixes}
    found = [
        (rule.id, hit[0])
        for rule in knowledge.fixes
        for text in [*rule.title.values(), *(commands(one) for _, one in snippets(rule, knowledge))]
        if (hit := NAMES.search(text)) and not any("model-is" in name for name in asked[rule.id])
    ]
    assert found == []


def test_no_figure_is_invented() -> None:
    """A rate, a length or a batch that the run does not tell is a word, never a number."""
    knowledge = load()
    made_up = re.compile(
        r"\$\{(?:learning_rate\w*|(?!batch_size_half\|1\})\w+_(?:half|tenth|tenfold)"
        r"|batch_size|max_seq_length|per_device_train_batch_size)\|[\d.]+(?:e-?\d+)?\}"
        r"|base_batch_size=\d|lr-base-size \d|BASE_LR [\d.]"
    )
    found = [
        (rule.id, stack, hit[0])
        for rule in knowledge.fixes
        for stack, snippet in snippets(rule, knowledge)
        if (hit := made_up.search(snippet.code))
    ]
    assert found == []


def rates_in_fixes(text: str) -> set[str]:
    """The learning rates that the fixes of a log's causes name."""
    report = postmortem.analyze(text.encode(), model=None)
    snippets_of = [fix.snippet for one in report.causes for fix in one.fixes]
    return {
        rate
        for code in snippets_of
        for rate in re.findall(r"(?:learning_rate|lr)=([\d.]+(?:e-?\d+)?)\b", code)
    }


WARMING = (1.3e-7, 2.6e-7, 3.9e-7, 5.2e-7, 6.5e-7, 7.8e-7, 9.1e-7)
LOSSES = ("2.5", "2.4", "2.45", "9.0", "60.0", "3000.0", "nan")


def trainer(rates: tuple[float, ...]) -> str:
    """Records of a run that goes wrong at these rates."""
    return "".join(
        f"{{'loss': {loss}, 'grad_norm': 1.0, 'learning_rate': {rate}, 'epoch': 0.1}}\n"
        for loss, rate in zip(LOSSES, rates, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        pytest.param(trainer(WARMING), set(), id="still rising"),
        pytest.param(
            "python train.py --learning_rate 2e-5\n" + trainer(WARMING),
            {"1e-05", "2e-06"},
            id="still rising, but configured",
        ),
        pytest.param(trainer((5e-5,) * 7), {"2.5e-05", "5e-06"}, id="held"),
        pytest.param(
            "[2026-11-21 02:07:23,106] [INFO] [logging.py:123:log_dist] [Rank 0] step=0, skipped=0,"
            " lr=[5e-05], mom=[(0.9, 0.999)]\n" + trainer((5e-5,) * 7),
            {"2.5e-05", "5e-06"},
            id="held, and printed once by another logger",
        ),
        pytest.param(
            trainer((1e-5, 3e-5, 5e-5, 4e-5, 3e-5, 2e-5, 1e-5)),
            {"2.5e-05", "5e-06"},
            id="past its peak",
        ),
        pytest.param(
            "".join(
                f"step: {n}\nloss: {loss}\nlearning_rate: {rate}\n---\n"
                for n, (loss, rate) in enumerate(zip(LOSSES, WARMING, strict=True))
            ),
            set(),
            id="on lines that read like settings",
        ),
    ],
)
def test_only_a_configured_or_a_peak_rate_goes_into_a_fix(text: str, rates: set[str]) -> None:
    """A rate of the warm-up is that of a moment: a fix made of it would stop the training."""
    assert rates_in_fixes(text) == rates


EXHAUSTED = (
    "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 2, reducing to 1\n"
    "Exception: Current loss scale already at minimum - cannot decrease scale anymore."
    " Exiting run.\n"
)


def advised(command: str) -> list[tuple[str, str]]:
    """The fixes for an exhausted scale behind a command: id and code."""
    report = postmortem.analyze((command + EXHAUSTED).encode(), model=None)
    return [(fix.id, fix.snippet) for one in report.causes for fix in one.fixes]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            "deepspeed sft.py --model_name_or_path baichuan-inc/Baichuan2-7B-Base --fp16\n",
            id="Baichuan",
        ),
        pytest.param(
            "deepspeed sft.py --model_name_or_path meta-llama/Llama-3-8B --fp16 True\n",
            id="Llama 3",
        ),
        pytest.param(
            "deepspeed sft.py --model_name_or_path Qwen/Qwen2-7B --fp16 True\n", id="Qwen"
        ),
        pytest.param("", id="a bare exception"),
    ],
)
def test_tokens_and_models_are_not_guessed(command: str) -> None:
    """Nothing of Yi, nothing of special tokens where the log shows none."""
    fixes = advised(command)
    assert fixes
    assert not {"numerics.reinit-rows", "numerics.chat-model"} & {name for name, _ in fixes}
    assert not [code for _, code in fixes if "Yi-" in code or "01-ai" in code]


def test_what_is_known_of_yi_stays_first() -> None:
    """Chat tokens on its base model: the rows are untrained, and both causes are listed."""
    text = "deepspeed sft.py --model_name_or_path 01-ai/Yi-6B --template chatml --fp16 True\n"
    report = postmortem.analyze((text + "<|im_start|>user\n" + EXHAUSTED).encode(), model=None)
    assert report.causes[0].id == "numerics.loss-scale-exhausted"
    assert "numerics.untrained-embeddings" in {one.id for one in report.causes}
    fixes = [fix for fix in report.causes[0].fixes if fix.kind == "change"]
    assert fixes[0].id == "numerics.reinit-rows"
    assert any("01-ai/Yi-6B-Chat" in fix.snippet for fix in fixes)


def test_rows_that_exist_are_made_anew() -> None:
    """Adding rows or training them leaves a row of zeros as it is."""
    knowledge = load()
    rule = next(one for one in knowledge.fixes if one.id == "numerics.reinit-rows")
    code = {stack: snippet.code for stack, snippet in snippets(rule, knowledge)}
    own = code.pop("axolotl")
    assert own == "fix_untrained_tokens: true"
    assert code
    assert [stack for stack, text in code.items() if "w[bad] = (mean + 0.1 * std" not in text] == []
