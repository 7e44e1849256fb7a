"""Whose fault it is where Hydra calls a class with arguments that it does not take."""

import pytest

from postmortem.api import Report, analyze

UNKNOWN = "{name}.__init__() got an unexpected keyword argument '{argument}'"
MISSING = "{name}.__init__() missing 1 required positional argument: '{argument}'"
FORMS = [
    "Error in call to target '{target}':\nTypeError(\"{error}\")\nfull_key: part\n",
    "hydra.errors.InstantiationException: Error in call to target '{target}':\n"
    'TypeError("{error}")\nfull_key: part\n',
    "TypeError: Error instantiating '{target}' : {error}\n",
]


def of(form: str, target: str, error: str, argument: str) -> Report:
    """The report of such a failure."""
    told = error.format(name=target.rpartition(".")[2], argument=argument)
    head = "Error executing job with overrides: ['model=small']\n"
    return analyze((head + form.format(target=target, error=told)).encode())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("target", "error", "argument", "cause"),
    [
        pytest.param(
            "torch.optim.lr_scheduler.OneCycleLR",
            UNKNOWN,
            "warmup",
            "environment.version-incompatible",
            id="a library does not take it",
        ),
        pytest.param(
            "pytorch_lightning.trainer.trainer.Trainer",
            UNKNOWN,
            "gpus",
            "environment.version-incompatible",
            id="a library takes it no more",
        ),
        pytest.param("src.net.Net", UNKNOWN, "deph", "config.arguments", id="the project's own"),
        pytest.param("net.Net", MISSING, "width", "config.arguments", id="its own, one missing"),
    ],
)
def test_whose_class_it_is_tells(
    form: str, target: str, error: str, argument: str, cause: str
) -> None:
    """Arguments of a library change with its version, those of the project with its code."""
    assert of(form, target, error, argument).verdict.cause == cause


def test_a_missing_argument_of_a_library_leaves_it_open() -> None:
    """The version may ask for more, or the configuration lack it: both are named."""
    report = of(FORMS[0], "torchmetrics.classification.f_beta.F1Score", MISSING, "task")
    assert {"environment.version-incompatible", "config.arguments"} <= {
        one.id for one in report.causes[:2]
    }
    assert report.verdict.status != "established"


def test_another_exception_of_the_class_is_its_own() -> None:
    """What the call raised counts, not that Hydra made it."""
    text = "Error in call to target 'src.data.Files':\nFileNotFoundError(2, 'No such file')\n"
    assert analyze(text.encode()).causes[0].id == "data.missing-file"
