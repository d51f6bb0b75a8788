"""Training: recipe, loop, checkpoints, several processes, evaluation."""

from capsnet_tutorial.training.data import TrainingData
from capsnet_tutorial.training.evaluation import Evaluation, evaluate
from capsnet_tutorial.training.fit import fit
from capsnet_tutorial.training.objective import paper_objective
from capsnet_tutorial.training.recipe import Recipe, one_cycle
from capsnet_tutorial.training.state import Diverged, History, Objective, OutOfTime

__all__ = [
    "Diverged",
    "Evaluation",
    "History",
    "Objective",
    "OutOfTime",
    "Recipe",
    "TrainingData",
    "evaluate",
    "fit",
    "one_cycle",
    "paper_objective",
]
