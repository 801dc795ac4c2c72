"""What is measured of lmrl-gym: for each row, a function that prepares the work and returns it."""

import csv
import sysconfig
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import lmrl_data
from benchmarks.rows import fresh, import_seconds, maze_moves, process_seconds, text_nav_commands, wordle_guesses
from benchmarks.timing import Work
from lmrl_data.env import TextEnv
from lmrl_data.episode import to_table
from lmrl_data.game import rollout_game
from lmrl_data.policy import GamePolicy
from lmrl_data.registry import get_task
from lmrl_data.replays import replay_table
from lmrl_data.tasks.twenty_questions.understand import understand
from lmrl_data.vector import GameVectorEnv
from lmrl_generators.plan import make_plans
from lmrl_generators.shards import make_shard

BATCH = 4096
ROLLOUT_BATCH = 256
REPLAY_EPISODES = {"wordle": 4096, "maze": 512, "text-nav": 2048}
ROLLOUT_POLICIES = {"wordle": "mixture", "maze": "random", "text-nav": "random", "twenty-questions": "person"}
SHARD_EPISODES = 50_000
CASES = Path(__file__).parents[1] / "tests" / "lmrl_data" / "cases"


def _batched(task: str, policy: str, text: bool) -> Work:
    """Whole episodes of a batch, reset included, with actions drawn beforehand; counts the steps of unfinished rows."""
    env = lmrl_data.make_vec(task, BATCH)
    assert isinstance(env, GameVectorEnv)
    seeds = np.arange(BATCH)
    drawn = lmrl_data.make_policy(policy, task)
    assert isinstance(drawn, GamePolicy)
    chosen = rollout_game(env.game, drawn.array_policy, seeds).actions.T.copy()

    def play(actions: Sequence[NDArray[np.int32]] | list[list[str]]) -> float:
        steps = 0
        env.reset(seeds)
        going_on = BATCH
        for turn in actions:
            steps += going_on
            _, _, terminated, truncated, _ = env.step(turn)
            going_on = BATCH - int(np.count_nonzero(terminated | truncated))
        return steps

    if not text:
        return Work(play, lambda: list(chosen))
    texts = env.game.action_texts[chosen].tolist()
    return Work(play, lambda: fresh(texts))


def _single(env: TextEnv, episodes: list[list[str]], seeds: Sequence[int] | None = None) -> Work:
    """Episodes one after another, each reset with its seed."""

    def play(episodes: list[list[str]]) -> float:
        steps = 0
        for seed, actions in zip(seeds or range(len(episodes)), episodes, strict=True):
            env.reset(seed=seed)
            for action in actions:
                _, _, terminated, truncated, _ = env.step(action)
                steps += 1
                if terminated or truncated:
                    break
        return steps

    return Work(play, lambda: fresh(episodes))


def _wordle_single() -> Work:
    return _single(lmrl_data.make("wordle"), [[" ".join(word) for word in words] for words in wordle_guesses()])


def _maze_single() -> Work:
    return _single(lmrl_data.make("maze"), [[f"move {move}" for move in moves] for moves in maze_moves()])


def _text_nav_single() -> Work:
    seeds, commands = zip(*text_nav_commands(), strict=True)
    return _single(lmrl_data.make("text-nav"), list(commands), seeds)


def _free_questions() -> Work:
    """Questions in many people's words, those of the tests; each is understood anew, as if it had not been asked."""
    questions = []
    for path in sorted(CASES.glob("twenty_questions_free*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            questions += [case["question"] for case in csv.DictReader(file)]

    def play(questions: list[str]) -> float:
        understand.cache_clear()
        for question in questions:
            understand(question)
        return len(questions)

    return Work(play, lambda: fresh([questions])[0])


def _parquet(folder: Path) -> Work:
    """A shard as `lmrl generate` makes it in one of its workers: played, written, flushed to the disk, hashed."""
    (plan,) = make_plans("wordle", config="full", episodes=SHARD_EPISODES, validation=0, shard_size=SHARD_EPISODES)
    (shard,) = plan.shards
    return Work(lambda _: make_shard(shard, folder)["episodes"])


def _rollout(task: str) -> Work:
    """Episodes in text, through the loop that evaluation and training use."""
    env = lmrl_data.make_vec(task, ROLLOUT_BATCH)
    policy = lmrl_data.make_policy(ROLLOUT_POLICIES[task], task)
    return Work(lambda _: len(lmrl_data.rollout(env, policy, range(ROLLOUT_BATCH))))


def _replay(task: str) -> Work:
    """Recorded episodes played again, with every text, reward, flag and info compared."""
    seeds = range(REPLAY_EPISODES[task])
    policy = lmrl_data.make_policy(ROLLOUT_POLICIES[task], task)
    table = to_table(lmrl_data.rollout(lmrl_data.make_vec(task, len(seeds)), policy, seeds), get_task(task))

    def play(_: object) -> float:
        differences = replay_table(table)
        assert differences == [None] * len(seeds), "recorded episodes must replay"
        return len(differences)

    return Work(play)


def prepare(folder: Path) -> dict[str, Callable[[], Work]]:
    """How to prepare the work of each row.

    Args:
        folder: where data are written, on the disk to be measured.
    """
    lmrl = str(Path(sysconfig.get_path("scripts")) / "lmrl")
    return {
        # Never right, or the rows would not all go the whole way.
        "wordle-batch-index": partial(_batched, "wordle", "never-consistent", text=False),
        "wordle-batch-text": partial(_batched, "wordle", "never-consistent", text=True),
        "wordle-single": _wordle_single,
        "wordle-parquet": partial(_parquet, folder),
        "wordle-rollout": partial(_rollout, "wordle"),
        "wordle-replay": partial(_replay, "wordle"),
        "maze-batch-index": partial(_batched, "maze", "random", text=False),
        "maze-batch-text": partial(_batched, "maze", "random", text=True),
        "maze-single": _maze_single,
        "maze-rollout": partial(_rollout, "maze"),
        "maze-replay": partial(_replay, "maze"),
        "text-nav-batch-index": partial(_batched, "text-nav", "random", text=False),
        "text-nav-batch-text": partial(_batched, "text-nav", "random", text=True),
        "text-nav-single": _text_nav_single,
        "text-nav-rollout": partial(_rollout, "text-nav"),
        "text-nav-replay": partial(_replay, "text-nav"),
        "questions-batch-text": partial(_batched, "twenty-questions", "random", text=True),
        "questions-free": _free_questions,
        "questions-rollout": partial(_rollout, "twenty-questions"),
        "import": lambda: Work(partial(import_seconds, "lmrl_data")),
        "help": lambda: Work(partial(process_seconds, [lmrl, "--help"])),
    }
