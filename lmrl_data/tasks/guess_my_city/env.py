"""The environment of Guess My City."""

from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from weakref import WeakValueDictionary

from gymnasium.spaces import Text

from lmrl_data.env import TextEnv
from lmrl_data.errors import LmrlError
from lmrl_data.seeding import stream_of
from lmrl_data.starts import Starts
from lmrl_data.tasks.guess_my_city.cities import City, cities, find_city
from lmrl_data.tasks.guess_my_city.oracle import CHARACTERS, KnowledgeOracle, Reply, by_rule
from lmrl_data.tasks.guess_my_city.phrasing import line
from lmrl_data.tasks.guess_my_city.understand import MAX_CHARACTERS, understand
from lmrl_data.text import normalise

if TYPE_CHECKING:
    from lmrl_data.tasks.guess_my_city.model_oracle import ModelOracle

QUESTIONS = 20
_START = stream_of("guess-my-city/start")
_LONGEST = 600


class Oracle(Protocol):
    """Who lives in the city and answers.

    Attributes:
        name: as records name it.
        concurrency: how many episodes can usefully be answered at once.
    """

    name: str
    concurrency: int

    def reply(self, question: str, city: City, seed: int, spoken: list[str]) -> Reply:
        """The answer to a question in an episode; `spoken` are its questions and answers so far."""
        ...


class GuessMyCityEnv(TextEnv):
    """Find out by questions in which of 100 large cities of the world somebody lives.

    ## Description
    The oracle lives in a city and answers questions about it: food, waters, language, history, buildings, numbers, 45
    facets in all, without naming the city or its country. The agent asks in its own words, open questions or ones for
    yes or no, and wins by naming the city.

    The built-in oracle answers from tables (`cities/*.toml`), truthfully, and in two or more wordings, among which the
    episode's seed picks: the same question in an episode gets the same answer. How it understands questions is code and
    tables that can be read (`understand.py`); what it makes of a question does not depend on the episode.
    Of 1,400 questions of many people, written without knowledge of it, these are answered right. They have been looked
    into and the tables mended by them, so new questions are answered less well: of 600 not seen before, 92 % were
    right. `python -m lmrl_data.tasks.guess_my_city.accuracy FILE` measures any other set.

    | kind of question | questions | right |
    |---|---|---|
    | open | 615 | 97 % |
    | for yes or no | 394 | 97 % |
    | comparisons | 69 | 96 % |
    | negations | 57 | 98 % |
    | choices ("or") | 54 | 96 % |
    | guesses | 168 | 98 % |
    | lines that ask for nothing | 43 | 84 % |
    | all | 1,400 | 97 % |

    The highest possible mean return is -1 exactly. A first guess wins in at most one of the 100 cities, and a wrong one
    is answered alike in all others, so guessing first gives at best -1.98. Whoever asks for the food, or one of some 20
    other facets of which each city has a fact of its own, and knows the tables, can name the city with the second
    question: the policy `greedy` does. Mean returns over 600 episodes, with 95 % intervals:

    | policy | return | success |
    |---|---|---|
    | `greedy` | -1.00 ± 0.00 | 1.00 |
    | `yes-no` | -3.12 ± 0.08 | 1.00 |
    | `expert` | -4.78 ± 0.25 | 1.00 |
    | `hasty` | -15.78 ± 0.36 | 0.67 |
    | `curious` | -18.74 ± 0.09 | 0.68 |
    | `repetitive` | -18.90 ± 0.09 | 0.59 |
    | `person` | -18.97 ± 0.06 | 0.70 |
    | `random` | -19.50 ± 0.21 | 0.05 |

    ## Action Space
    `Text`: a question or a guess, in any words, of which the first 600 characters count. A guess wins when it puts the
    city forward as the answer by one of its names: "Are you from Bombay?", "It has to be Rome", "kyiv". These are none:
    denials, comparisons, several cities at once, "near", and names within other words. What asks for nothing about the
    city, or is not understood, is answered in character, costs a question like any other, and is marked in
    `info["understood"]` and `info["invalid_action"]`.

    ## Observation Space
    `Text`: first a line that opens the game; then the oracle's answers, of one or two sentences. Where it had to guess
    at a word it says so ("If I read you right: …").

    ## Starting State
    The city: a hash of the seed, each of the 100 as likely as the others. `reset(options={"city": "Paris"})` fixes it,
    by any of its names.

    ## Rewards
    0 for the question that names the city, -1 for each other.

    ## Episode End
    Terminated when the city is named, and after 20 questions.

    ## Information
    With each answer `understood` (bool), and `invalid_action` (str) where it is False. At the end `success` (bool),
    `return` (float) and `secret` (str), the city.

    ## Arguments
    - `oracle`: `"knowledge"`, the built-in one; `"openai:MODEL@URL"` or `"hf:PATH"`: a language model, which is told
      the city's table and answers in its own words. Guesses are judged by the environment all the same. An answer that
      names the city or the country, or rambles, is asked for once more, and then replaced by a refusal that is marked
      like a question that was not understood.

    ## Differences from the paper
    The cities are the paper's under their names of today. The oracle is our own; the paper's is a language model. The
    question that wins is found by the rules above. Of the paper's figures not all can go together: a win with question
    n is worth -(n - 1) and a loss -20, so the mean return is the success rate less the mean length. Our data keep to
    the paper's success rate and return (.53, -18.8), and so they are longer (19.4, not 18.8); with these two the
    standard deviation of the return could be 3.6 at most, not 4.12. The paper's best return is -8.56.

    ## Version History
    - v0: first version.
    """

    max_turns = QUESTIONS
    limit_is_terminal = True  # twenty questions are a rule of the game
    start_options: ClassVar[tuple[str, ...]] = ("city",)

    def __init__(self, env_id: str = "lmrl/GuessMyCity-v0", oracle: str = "knowledge") -> None:
        super().__init__(env_id)
        self._recorded: list[tuple[str, bool]] | None = None
        self._oracle: Oracle | None = make_oracle(oracle)
        self.concurrency = self._oracle.concurrency
        # Copies, for each environment samples with a generator of its own.
        self.action_space, self.observation_space = map(copy, _spaces())

    @property
    def oracle(self) -> Oracle:
        """Who answers."""
        if self._oracle is None:
            raise LmrlError("the environment has been closed; make another")
        return self._oracle

    @property
    def partner(self) -> str:
        """The oracle's name."""
        return self.oracle.name

    def follow(self, replies: Sequence[str], info: dict[str, Any]) -> None:
        """In the episode just started, take the oracle's answers from a record."""
        self._recorded = list(zip(replies, info["usable"], strict=False))
        self._oracle_name = str(info["oracle"])

    def episode_info(self) -> dict[str, Any]:
        """The ``info`` struct of the episode's record."""
        return {
            "city": self._city.name,
            "country": self._city.country,
            "oracle": self._oracle_name,
            "usable": self._usable,
        }

    def close(self) -> None:
        """Let go of the oracle; a language model is closed when the last environment has let go of it."""
        self._oracle = None

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        self._city = find_city(options["city"] if "city" in options else city_names()[evaluation_starts().of(seed)])
        self._seed = seed
        self._spoken: list[str] = []
        self._usable: list[bool] = []
        self._recorded = None
        self._oracle_name = self.oracle.name
        return line("opening", seed)

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self._recorded is None:
            reply = self.oracle.reply(action, self._city, self._seed, self._spoken)
        else:
            reply = self._recorded_reply(action)
        self._spoken += [action, reply.text]
        self._usable.append(reply.invalid is None)
        won = reply.answer == "win"
        info: dict[str, Any] = {"understood": reply.invalid is None}
        if reply.invalid is not None:
            info["invalid_action"] = reply.invalid
        return reply.text, 0.0 if won else -1.0, won, won, info

    def _recorded_reply(self, action: str) -> Reply:
        """The record's answer. Whether the question wins is judged anew; the answer must be one that can be given."""
        turn = len(self._usable)
        if self._recorded is None or turn >= len(self._recorded):
            return Reply("the record has no answer", "none", "none", "the record has no answer")
        text, usable = self._recorded[turn]
        if self._city.leaks.find(text):
            return Reply("the record's answer gives the city away", "none", "none", "the record is wrong")
        said = normalise(action)
        ruled = by_rule(understand(said), said, self._city, self._seed)
        won = ruled is not None and ruled.answer == "win"
        return Reply(text, "win" if won else "open", "", None if usable else "the question was not understood")

    def _final_info(self) -> dict[str, Any]:
        return {"secret": self._city.name}


_models: "WeakValueDictionary[str, ModelOracle]" = WeakValueDictionary()


def make_oracle(spec: str) -> Oracle:
    """An oracle by its spec; environments of one model share it.

    Raises:
        LmrlError: there is no such oracle, or it cannot be had.
    """
    if spec == "knowledge":
        return KnowledgeOracle()
    if not spec.startswith(("openai:", "hf:")):
        raise LmrlError(f"oracle is {spec!r:.80}; it must be knowledge, openai:MODEL@URL or hf:PATH")
    oracle = _models.get(spec)
    if oracle is None:
        from lmrl_data.llm import chat_model
        from lmrl_data.tasks.guess_my_city.model_oracle import ModelOracle

        oracle = _models[spec] = ModelOracle(chat_model(spec))
    return oracle


@cache
def _spaces() -> tuple[Text, Text]:
    """The spaces of actions and of observations: their hundreds of characters take as long to read as ten turns."""
    actions = Text(max_length=MAX_CHARACTERS, charset=CHARACTERS)
    return actions, Text(max_length=_LONGEST, min_length=1, charset=CHARACTERS)


@cache
def city_names() -> tuple[str, ...]:
    """The hidden cities, by their numbers."""
    return tuple(cities())


def evaluation_starts(oracle: str = "knowledge") -> Starts:
    """The starts of evaluation: every city."""
    return Starts(len(city_names()), _START, lambda number: {"city": city_names()[number]})
