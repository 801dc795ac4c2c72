"""The rows of the table, and what is played in them: the same for us and for every peer."""

import random
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

from benchmarks.commands import cost_of
from lmrl_data import make, make_policy, rollout
from lmrl_data.game import starts_of
from lmrl_data.tasks.maze.rules import MOVES
from lmrl_data.tasks.text_nav.game import text_nav_game
from lmrl_data.tasks.text_nav.rules import ROOMS
from lmrl_data.tasks.wordle.rules import TRIES, load_vocabulary

SECONDS = "s"
EPISODES = 500
MAZE_EPISODES = 50
MAZE_MOVES = 100
TEXT_NAV_EPISODES = 8


@dataclass(frozen=True)
class Row:
    """A quantity that is measured.

    Attributes:
        key: names it in the code and in the JSON file.
        what: names it in the table.
        unit: ``"s"`` where less is better, else something per second.
        target: of DESIGN.md; None where that names none.
    """

    key: str
    what: str
    unit: str
    target: float | None = None

    def met(self, value: float | None) -> bool | None:
        """Whether a value meets the target, which no value (None) does; None where there is no target."""
        if self.target is None:
            return None
        if value is None:
            return False
        return value <= self.target if self.unit == SECONDS else value >= self.target


ROWS = (
    Row("wordle-batch-index", "Wordle batched step, index actions", "steps/s", 3e6),
    Row("wordle-batch-text", "Wordle batched step, text actions", "steps/s", 3e6),
    Row("wordle-single", "Wordle single env.step", "steps/s", 150e3),
    Row("wordle-parquet", "Wordle data, 2.3k-word list, to Parquet", "episodes/s", 60e3),
    Row("wordle-rollout", "Wordle text rollout", "episodes/s"),
    Row("wordle-replay", "Wordle replay", "episodes/s"),
    Row("maze-batch-index", "Maze batched step, index actions", "steps/s", 3e6),
    Row("maze-batch-text", "Maze batched step, text actions", "steps/s", 3e6),
    Row("maze-single", "Maze single env.step", "steps/s"),
    Row("maze-rollout", "Maze text rollout", "episodes/s"),
    Row("maze-replay", "Maze replay", "episodes/s"),
    Row("text-nav-batch-index", "Text-nav batched step, index actions", "steps/s", 3e6),
    Row("text-nav-batch-text", "Text-nav batched step, text actions", "steps/s", 3e6),
    Row("text-nav-single", "Text-nav single env.step", "steps/s"),
    Row("text-nav-rollout", "Text-nav text rollout", "episodes/s"),
    Row("text-nav-replay", "Text-nav replay", "episodes/s"),
    Row("questions-batch-text", "Twenty questions batched step, text", "answers/s", 20e3),
    Row("questions-free", "Twenty questions, free wording understood", "answers/s", 1e3),
    Row("questions-rollout", "Twenty questions text rollout", "episodes/s"),
    Row("import", "import of the package", SECONDS, 0.3),
    Row("help", "lmrl --help, whole process", SECONDS, 0.5),
)


def answers() -> list[str]:
    """The words that everyone plays with: the answers of our default config."""
    return list(load_vocabulary("default").answers)


def fresh(texts: list[list[str]]) -> list[list[str]]:
    """The same texts as new strings."""
    return ["\n".join(line).split("\n") for line in texts]


def wordle_guesses() -> list[list[str]]:
    """Six different answers per episode, drawn blindly, so that nearly every game goes the whole way."""
    generator = random.Random(0)
    return [generator.sample(answers(), TRIES) for _ in range(EPISODES)]


def maze_moves() -> list[list[str]]:
    """A random walk per episode, as long as the limit of 100 moves."""
    generator = random.Random(0)
    return [generator.choices(list(MOVES), k=MAZE_MOVES) for _ in range(MAZE_EPISODES)]


def text_nav_commands() -> list[tuple[int, list[str]]]:
    """Seeds whose episodes start in the bedroom, as the peer's do, and random admissible commands for each."""
    seeds = np.arange(TEXT_NAV_EPISODES * 50)
    seeds = seeds[starts_of(text_nav_game(), seeds) == ROOMS.index("bedroom")][:TEXT_NAV_EPISODES]
    played = rollout(make("text-nav"), make_policy("random", "text-nav"), seeds.tolist())
    return [(episode.seed, episode.actions) for episode in played]


def import_seconds(module: str, _: object = None) -> tuple[float, float]:
    """How long a new interpreter takes to import a module, its own start left out: by the clock, of processor time."""
    code = (
        f"from time import perf_counter as clock, process_time as cpu; a, b = clock(), cpu(); import {module}; "
        "print(clock() - a, cpu() - b)"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if child.returncode:
        raise RuntimeError(child.stderr.strip().splitlines()[-1] if child.stderr.strip() else "no output")
    wall, processor = child.stdout.split()[-2:]
    return float(wall), float(processor)


def process_seconds(command: list[str], _: object = None) -> tuple[float, float]:
    """How long a command takes from start to exit: by the clock, of processor time."""
    cost = cost_of(command)
    return cost.wall, cost.cpu
