"""The peers: text environments for language models that install from the package index.

textarena and gem take their word lists from NLTK's data folder, which they try to download. They get one that holds the
answers of our default config, so they run without a network, and everybody plays with the same words; their own code is
untouched.
"""

import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from benchmarks.rows import MAZE_EPISODES, MAZE_MOVES, answers, fresh, import_seconds, text_nav_commands, wordle_guesses
from benchmarks.timing import Work
from lmrl_data.tasks.wordle.rules import TRIES

GEM_BATCH = 64


@dataclass(frozen=True)
class Peer:
    """A package that we compare with.

    Attributes:
        name: in the package index.
        module: that it installs.
        works: how to prepare the work of each row that it has.
    """

    name: str
    module: str
    works: dict[str, Callable[[], Work]]

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None


def _textarena(env: Any, episodes: list[list[str]]) -> Work:
    """Episodes one after another, each reset with its seed; the observation is a call of its own there."""

    def play(episodes: list[list[str]]) -> float:
        steps = 0
        for seed, actions in enumerate(episodes):
            env.reset(num_players=1, seed=seed)
            env.get_observation()
            for action in actions:
                done, _ = env.step(action)
                env.get_observation()
                steps += 1
                if done:
                    break
        return steps

    return Work(play, lambda: fresh(episodes))


def _textarena_wordle() -> Work:
    textarena: Any = import_module("textarena")
    # "-raw": without the wrappers that paste the whole conversation into every observation; its fastest form.
    return _textarena(textarena.make("Wordle-v0-raw"), [[f"[{word}]" for word in words] for words in wordle_guesses()])


def _textarena_maze() -> Work:
    textarena: Any = import_module("textarena")
    # Its nearest game: text moves on a grid, 100 of them. Bumping into a wall twice ends it: so walk to and fro.
    walk = ["[down]", "[up]"] * (MAZE_MOVES // 2)
    return _textarena(textarena.make("FrozenLake-v0-raw", num_holes=0), [walk] * MAZE_EPISODES)


def _gem_wordle() -> Work:
    gem: Any = import_module("gem")
    env = gem.make("game:Wordle-v0-hard", max_turns=TRIES)
    episodes = [[f"\\boxed{{{word}}}" for word in words] for words in wordle_guesses()]

    def play(episodes: list[list[str]]) -> float:
        steps = 0
        for seed, actions in enumerate(episodes):
            env.reset(seed=seed)
            for action in actions:
                _, _, terminated, truncated, _ = env.step(action)
                steps += 1
                if terminated or truncated:
                    break
        return steps

    return Work(play, lambda: fresh(episodes))


def _gem_wordle_batched() -> Work:
    gem: Any = import_module("gem")
    env = gem.make_vec(["game:Wordle-v0-hard"] * GEM_BATCH, max_turns=TRIES)
    env.reset(seed=0)
    turns = [[f"\\boxed{{{word}}}" for word in column] for column in zip(*wordle_guesses()[:GEM_BATCH], strict=True)]

    def play(turns: list[list[str]]) -> float:
        # Its rows reset themselves in the step that ends their episode.
        for actions in turns:
            env.step(actions)
        return GEM_BATCH * len(turns)

    return Work(play, lambda: fresh(turns))


def _verifiers_wordle() -> Work:
    textarena: Any = import_module("textarena")
    taskset: Any = import_module("verifiers.v1.tasksets.textarena.taskset")
    episodes = [[f"[{word}]" for word in words] for words in wordle_guesses()]
    game = textarena.make(env_id="Wordle-v0")
    history = game.env.full_observations

    def play(episodes: list[list[str]]) -> float:
        # What `TextArenaEnv.run` does besides waiting for the model, which it reaches through a server.
        steps = 0
        for seed, actions in enumerate(episodes):
            random.seed(seed)
            history.clear()  # there each episode has a game of its own; this one's wrapper never forgets
            game.reset(num_players=1)
            for action in actions:
                game.step(action)
                steps += 1
                if game.state.done:
                    break
                _, observation = game.get_observation()
                taskset._latest_feedback(str(observation))
        return steps

    return Work(play, lambda: fresh(episodes))


def _textworld() -> Work:
    textworld: Any = import_module("textworld")
    # The house that the differential test plays, compiled for TextWorld.
    place = Path(__file__).parent.parent / "tests" / "lmrl_data" / "textworld_house.py"
    spec = spec_from_file_location("textworld_house", place)
    assert spec is not None and spec.loader is not None
    house = module_from_spec(spec)
    spec.loader.exec_module(house)
    folder = Path(mkdtemp(prefix="lmrl-benchmark-"))
    house.TextWorldHouse(folder)
    env = textworld.start(str(folder / "house.z8"), textworld.EnvInfos(admissible_commands=True, won=True, lost=True))
    episodes = [commands for _, commands in text_nav_commands()]

    def play(episodes: list[list[str]]) -> float:
        steps = 0
        for commands in episodes:
            env.reset()
            for command in commands:
                env.step(command)
                steps += 1
        return steps

    return Work(play, lambda: fresh(episodes))


PEERS = (
    Peer(
        "textarena",
        "textarena",
        {
            # It has no batched environment: N episodes are N single ones.
            "wordle-batch-text": _textarena_wordle,
            "wordle-single": _textarena_wordle,
            "maze-batch-text": _textarena_maze,
            "maze-single": _textarena_maze,
            "import": lambda: Work(partial(import_seconds, "textarena")),
        },
    ),
    Peer(
        "textworld",
        "textworld",
        {
            "text-nav-batch-text": _textworld,
            "text-nav-single": _textworld,
            "import": lambda: Work(partial(import_seconds, "textworld")),
        },
    ),
    Peer(
        "gem-llm",
        "gem",
        {
            "wordle-batch-text": _gem_wordle_batched,
            "wordle-single": _gem_wordle,
            "import": lambda: Work(partial(import_seconds, "gem")),
        },
    ),
    Peer(
        "verifiers",
        "verifiers",
        {
            # It has no batched environment either.
            "wordle-batch-text": _verifiers_wordle,
            "wordle-single": _verifiers_wordle,
            "import": lambda: Work(partial(import_seconds, "verifiers.v1")),
        },
    ),
)


@contextmanager
def quiet_and_offline() -> Iterator[None]:
    """Give NLTK our words and an empty index in place of its server's, and keep what the peers print to themselves."""
    if find_spec("nltk") is None:
        yield
        return
    printed = io.StringIO()
    with TemporaryDirectory(prefix="lmrl-benchmark-") as folder, redirect_stdout(printed), redirect_stderr(printed):
        # Imported here, because NLTK keeps the stream for its errors from the time it is imported.
        nltk: Any = import_module("nltk")
        _write_nltk_data(Path(folder))
        nltk.data.path.insert(0, folder)
        nltk.downloader._downloader.url = (Path(folder) / "index.xml").as_uri()
        yield


def _write_nltk_data(folder: Path) -> None:
    corpus, tagger = folder / "corpora" / "words", folder / "taggers" / "averaged_perceptron_tagger_eng"
    corpus.mkdir(parents=True)
    tagger.mkdir(parents=True)
    for name in ("en", "en-basic"):
        (corpus / name).write_text("\n".join(answers()) + "\n", encoding="ascii")
    # TextArena hides nouns only, and asks the tagger for them when an environment is made, which is not timed.
    model = {"weights": {}, "tagdict": dict.fromkeys(answers(), "NN"), "classes": ["NN"]}
    for part, value in model.items():
        path = tagger / f"averaged_perceptron_tagger_eng.{part}.json"
        path.write_text(json.dumps(value), encoding="ascii")
    index = "<?xml version='1.0'?><nltk_data><packages/><collections/></nltk_data>"
    (folder / "index.xml").write_text(index, encoding="ascii")
