from .data import ShapesDataset
from .model import ToyClassifier

__all__ = ["ShapesDataset", "ToyClassifier"]
