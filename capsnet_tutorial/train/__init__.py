"""Training: the recipe, the loop from first to last step, its checkpoints, evaluation."""

from capsnet_tutorial.train.checkpoint import History
from capsnet_tutorial.train.evaluate import Evaluation, evaluate, over_batches
from capsnet_tutorial.train.loop import (
    Diverged,
    TrainingData,
    faster_threads,
    fit,
    in_float32,
)
from capsnet_tutorial.train.recipe import Objective, Recipe, one_cycle, paper_objective
from capsnet_tutorial.train.record import train_and_save
