"""What a report says first of an exception: in the script's own names, whatever the cause is."""

import pytest

import postmortem
from postmortem.diagnosis.fixes.close_names import closest, listed_names
from postmortem.diagnosis.fixes.exception_parts import parse_message, parse_statement
from postmortem.rules.base import load

HEAD = 'Traceback (most recent call last):\n  File "/src/train.py", line 12, in step\n    '


@pytest.mark.parametrize(
    ("statement", "raised", "wanted"),
    [
        pytest.param(
            "optimiser.setp()",
            "AttributeError: 'SGD' object has no attribute 'setp'. Did you mean: 'step'?",
            "Write `step`",
            id="the name that Python suggests",
        ),
        pytest.param(
            "net = build_net(size).cuda()",
            "AttributeError: 'NoneType' object has no attribute 'cuda'",
            "Let `build_net` return",
            id="the function that returned None",
        ),
        pytest.param(
            "rate = hits / (total - skipped)",
            "ZeroDivisionError: division by zero",
            "Find why `total - skipped` is 0",
            id="the divisor",
        ),
        pytest.param(
            "x = self.head(x)",
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x64 and 32x10)",
            "`nn.Linear(64, 10)`",
            id="which shape is the layer's",
        ),
        pytest.param(
            "assert 0 <= ratio < 1",
            "AssertionError",
            "Print the values of `ratio`",
            id="the values of a bare assertion",
        ),
        pytest.param(
            "raise ValueError(f'no such mode: {mode}')",
            "ValueError: no such mode: fast",
            "`mode`",
            id="an exception that nothing is known of: the values of its statement",
        ),
        pytest.param(
            "raise ValueError(f'unknown optimizer {name!r}, choose from: {known}')",
            "ValueError: unknown optimizer 'adamm', choose from: sgd, adam, adamw",
            "Write `adam",
            id="a list of choices in the message, and the one that was meant",
        ),
        pytest.param(
            "parts = spectrum.chunk(count)",
            "RuntimeError: the plan expects `parts` to be sorted, got: 0",
            "it got 0",
            id="what a message says it needs, and what came",
        ),
        pytest.param(
            "window = tone.shape_up(size)",
            "RuntimeError: the tone is not tuned. Call tone.tune() first.",
            "Call tone.tune() first",
            id="what a message asks for",
        ),
        pytest.param(
            "for step in range(total / batch):",
            "TypeError: 'float' object cannot be interpreted as an integer",
            "`//`",
            id="a division that gives no whole number",
        ),
        pytest.param(
            "json_file.write(record)",
            "TypeError: write() argument must be str, not dict",
            "json.dumps",
            id="a dictionary where text is written",
        ),
        pytest.param(
            "y = x.gather(1, idx)",
            "RuntimeError: gather(): Expected dtype int64 for index",
            "index.long()",
            id="the kind of an index",
        ),
    ],
)
def test_the_first_action_names_what_the_message_names(
    statement: str, raised: str, wanted: str
) -> None:
    """The first fix comes from the message, and the explanation from the statement."""
    best = postmortem.analyze(f"{HEAD}{statement}\n{raised}\n".encode(), model=None).causes[0]
    assert wanted in best.fixes[0].title
    assert "train.py, line 12, in `step`" in best.explanation


def test_general_changes_do_not_stand_before_those_of_the_message() -> None:
    """For a wrong kind of labels nobody is told to change the precision of the run."""
    log = HEAD + "loss = criterion(net(x), y)\n"
    log += "RuntimeError: expected scalar type Long but found Float\n"
    best = postmortem.analyze(log.encode(), model=None).causes[0]
    shown = " ".join(f"{fix.title} {fix.snippet}" for fix in best.fixes[:4])
    assert ".long()" in shown
    assert "autocast" not in shown


def test_a_line_without_the_class_is_explained_too() -> None:
    """What a script prints of an exception that it has caught has the same wording."""
    log = "Training failed: shape '[4, 7]' is invalid for input of size 12\n"
    best = postmortem.analyze(log.encode(), model=None).causes[0]
    assert "12 numbers do not make [4, 7]" in best.fixes[0].title


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        pytest.param("lables", "dict_keys(['image', 'labels'])", "labels", id="of a list"),
        pytest.param("optim", "Namespace(optimizer='sgd')", "optimizer", id="a beginning"),
        pytest.param("learning_rate", "train: lr=0.1", "lr", id="initials"),
        pytest.param("mask", "epoch 3 of 10", "", id="nothing close"),
    ],
)
def test_close_names_are_found_in_the_log(name: str, text: str, wanted: str) -> None:
    """Names that the log lists count more than its words."""
    assert closest(name, text) == wanted


def test_listed_names_are_those_of_the_last_list() -> None:
    """A list that holds the missing name is not the one that was asked."""
    assert listed_names("dict_keys(['a', 'b'])", "c") == "a, b"
    assert listed_names("dict_keys(['a', 'b'])", "a") == ""


@pytest.mark.parametrize(
    ("statement", "captured", "part", "wanted"),
    [
        ("y = cfg['train']['lr']", {"key": "lr"}, "container", "cfg['train']"),
        ("for image, mask in loader:", {}, "iterable", "loader"),
        ("train, val = load('x')", {}, "maker", "load"),
        ("x = F.relu(self.fc1(x))", {}, "innermost", "self.fc1"),
        ("loss = weight * loss_fn(out.logits, y)", {}, "names", "weight, out.logits, y"),
        ("model = Net(", {}, "called", "Net"),
        ("elif step % every == 0:", {}, "divisor", "every"),
    ],
)
def test_parts_of_a_statement(
    statement: str, captured: dict[str, str], part: str, wanted: str
) -> None:
    """Heads of blocks and first lines of longer statements are read too."""
    assert parse_statement(statement, captured)[part] == wanted


@pytest.mark.parametrize(
    ("statement", "entered", "wanted"),
    [
        ("opt = Adam(net.named_parameters())", "__init__", "Adam"),
        ("x = torch.stack([load(p) for p in names])", "load", "load"),
        ("loss = criterion(net(x), y)", "_wrapped_call_impl", "criterion"),
    ],
)
def test_the_call_that_was_entered(statement: str, entered: str, wanted: str) -> None:
    """Of several calls it is the one whose function the next frame is in."""
    assert parse_statement(statement, {}, entered)["innermost"] == wanted


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("must be real number, not NoneType", {"needed": "real number", "received": "NoneType"}),
        ("got 12, need 16", {"needed": "16", "received": "12"}),
        ("'trian' is not a valid mode", {"rejected": "trian"}),
        ("Unknown model resnet18b", {"rejected": "resnet18b"}),
        (
            "Not there. You can use download=True to get it",
            {"asked": "You can use download=True to get it"},
        ),
        ("not allowed: use default_factory", {"asked": "use default_factory"}),
        (
            "mode 'x' is unknown, must be one of ['low', 'high']",
            {"rejected": "x", "offered": "low, high"},
        ),
        ("Please report this bug to the authors", {}),
        ("dictionary changed size during iteration", {}),
        ("invalid load key, 'v'.", {}),
    ],
)
def test_parts_of_a_message(message: str, wanted: dict[str, str]) -> None:
    """What it needs, what came, what it refuses, what it offers and what it asks for."""
    assert parse_message(message) == wanted


def test_what_was_raised_while_it_was_handled_explains_it_too() -> None:
    """A library that turns a KeyError into words for people is understood."""
    log = """Traceback (most recent call last):
  File "/v/lib/python3.11/site-packages/sklearn/utils/_encode.py", line 227, in _encode
    return _map_to_integer(values, uniques)
KeyError: 'owl'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/src/encode.py", line 9, in <module>
    y = encoder.transform(labels)
  File "/v/lib/python3.11/site-packages/sklearn/utils/_encode.py", line 229, in _encode
    raise ValueError(f"y contains previously unseen labels: {e}")
ValueError: y contains previously unseen labels: 'owl'
"""
    best = postmortem.analyze(log.encode(), model=None).causes[0]
    assert "'owl' is new" in best.fixes[0].title


@pytest.mark.parametrize(
    ("statement", "library", "raised"),
    [
        (
            "loader = DataLoader(clips, shuffle=True)",
            "torch/utils/data/sampler.py",
            "TypeError: object of type 'ClipSet' has no len()",
        ),
        (
            "p = join(root, fold)",
            "posixpath.py",
            "TypeError: join() argument must be str, bytes, or os.PathLike object, not 'int'",
        ),
    ],
)
def test_a_call_that_a_library_refuses_is_the_scripts(
    statement: str, library: str, raised: str
) -> None:
    """Where the rule of an exception says whose it is, the verdict says so."""
    place = f"/v/lib/python3.11/site-packages/{library}"
    log = f'{HEAD}{statement}\n  File "{place}", line 5, in __init__\n    check(x)\n{raised}\n'
    verdict = postmortem.analyze(log.encode(), model=None).verdict
    assert verdict is not None
    assert verdict.cause == "code.user-exception"


def test_no_statement_of_another_language_is_read() -> None:
    """What Python cannot parse has no parts."""
    assert parse_statement("let x = 3;", {}) == {}


def test_each_advice_is_in_both_languages() -> None:
    """Every text of a rule has its Chinese form with the same places."""
    rules = load().exceptions
    assert len(rules) > 100
    for rule in rules:
        for fix in rule.advice.fixes:
            assert fix.title["zh"], fix.id
