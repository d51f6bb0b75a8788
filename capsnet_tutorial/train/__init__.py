"""Training: the recipe, the loop from first to last step, its checkpoints, evaluation."""

from capsnet_tutorial.images import TrainingData
from capsnet_tutorial.train.checkpoint import History
from capsnet_tutorial.train.distributed import Processes
from capsnet_tutorial.train.evaluate import Evaluation, evaluate, over_batches
from capsnet_tutorial.train.loop import Diverged, fit
from capsnet_tutorial.train.machine import faster_threads
from capsnet_tutorial.train.recipe import Objective, Recipe, one_cycle, paper_objective
from capsnet_tutorial.train.record import train_and_save
from capsnet_tutorial.train.step import in_float32
