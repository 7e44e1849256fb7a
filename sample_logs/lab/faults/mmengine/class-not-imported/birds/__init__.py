from birds.accuracy import Accuracy
from birds.classifier import BirdClassifier
from birds.photos import LoadPhoto, PackPhoto, PhotoFolder, ResizePhoto

__all__ = ["Accuracy", "BirdClassifier", "LoadPhoto", "PackPhoto", "PhotoFolder", "ResizePhoto"]
