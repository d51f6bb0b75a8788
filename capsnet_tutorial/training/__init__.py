"""Training: recipe, loop, checkpoints, several processes, evaluation."""

from capsnet_tutorial.training.fit import Evaluation, OutOfTime, TrainingData, evaluate, fit
from capsnet_tutorial.training.objective import paper_objective
from capsnet_tutorial.training.recipe import Recipe, one_cycle
from capsnet_tutorial.training.run import Diverged, History, Objective

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
