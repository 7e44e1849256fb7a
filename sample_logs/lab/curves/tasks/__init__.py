"""The tasks, by name."""

from curves.tasks.base import Task
from curves.tasks.classification import (
    Distill,
    FineTune,
    GraphGcn,
    SequenceRnn,
    ShapesCnn,
    SignalConv,
    TableMlp,
)
from curves.tasks.generative import Contrastive, Diffusion, Flow, GanRing, Triplet, Vae
from curves.tasks.regression import (
    Autoencoder,
    ForecastGru,
    Recommend,
    Segmentation,
    TableRegression,
)
from curves.tasks.reinforcement import GridDqn, GridPolicy, Preference
from curves.tasks.sequences import CharLm, CtcLines, Reverse

TASKS: dict[str, type[Task]] = {
    one.name: one
    for one in (
        TableMlp, ShapesCnn, SignalConv, SequenceRnn, GraphGcn, FineTune, Distill, TableRegression,
        ForecastGru, Autoencoder, Recommend, Segmentation, CharLm, Reverse, CtcLines, GanRing, Vae,
        Diffusion, Flow, Contrastive, Triplet, GridPolicy, GridDqn, Preference,
    )
}  # fmt: skip
