"""The Twenty Questions environment."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from lmrl_data.game import GameEnv
from lmrl_data.tasks.twenty_questions.game import (
    KNOWLEDGE,
    NO_TEXT,
    NOT_ASKED,
    WIN_TEXT,
    YES_TEXT,
    TwentyQuestionsGame,
    knowledge_game,
)
from lmrl_data.tasks.twenty_questions.yardsticks import names
from lmrl_data.text import normalise

if TYPE_CHECKING:
    from lmrl_data.tasks.twenty_questions.oracle import ModelOracle as OracleModel


class TwentyQuestionsEnv(GameEnv[TwentyQuestionsGame]):
    """Find out a hidden object with twenty yes/no questions.

    ## Description
    The environment thinks of one of 158 everyday objects in 17 categories. The agent asks whatever it likes in its own
    words, and the oracle answers truthfully with yes or no. The default oracle is a table of knowledge: some 680
    attributes of every object (what it is, what it is made of, its size, weight, price, parts, places, uses, users,
    sounds, looks), measures to compare with, the letters of the name, and things that are known of single objects.

    ## Action Space
    `Text`: a question or a statement in everyday English ("Is it alive?", "can u eat it", "bigger than a breadbox?",
    "It isn't made of wood, is it?", "I think it's a cat."). Slips of the keyboard are understood. A line that names the
    object wins if that is all it does: "Is it a cat?", "cat", "I think it's a TV"; "Is it bigger than a cat?", "Is it a
    dog or a cat?", "Is it not a cat?", "catfish" do not.

    ## Observation Space
    `Text`: `Yes.` or `No.`; a sentence for the question that names the object; another one for a line that is no yes/no
    question about the object or is not understood. Where honest people differ or it depends ("Is it made of wood?" of a
    chair), a plain question is answered with yes, and one that asks what holds always or usually with no. "Isn't it …?"
    asks whether it is; "It is not …, right?" is answered by whether that statement is true. Letters are those of the
    object's first name. A question in plain words about what the table says of no object is answered with no.

    ## Starting State
    The object: a hash of the seed, each as likely as the others. `reset(options={"object": "Cat"})` fixes it.

    ## Rewards
    0 for the question that names the object, -1 for any other line. Returns run from -20 to 0.

    ## Episode End
    Terminated when the object is named, or after twenty questions: they are the game's own end.

    ## Information
    `understood` (bool), and `invalid_action` (str) where it is not. At the end `success` (bool), `return` (float) and
    `secret`, the object. The batched environment and the records tell by the observation what was not understood.

    ## Arguments
    - `oracle`: `"knowledge"`, or a language model: `"openai:MODEL@URL"`, `"hf:PATH"` (see `lmrl_data.llm.chat_model`).
      A model only says yes or no; what names the object is decided here for every oracle, and a reply that says more
      than yes or no is asked for once more and then counts as not understood.

    ## Differences from the paper
    The oracle is a table instead of a fine-tuned FLAN-T5-XL: no model is needed, and the same question always has the
    same answer. The win is decided by the environment from the whole line, not by a tagger and a comparison of the last
    token. A question that cannot be answered is said to be so.

    ## Version History
    - v0: first version.
    """

    start_options: ClassVar[tuple[str, ...]] = ("object",)

    def __init__(self, env_id: str = "lmrl/TwentyQuestions-v0", oracle: str = "knowledge") -> None:
        super().__init__(knowledge_game(), env_id)
        self._model: OracleModel | None = None
        if oracle != "knowledge":
            from lmrl_data.tasks.twenty_questions.oracle import ModelOracle

            self._model = ModelOracle(oracle)
            self.concurrency = self._model.concurrency
        self._recorded: list[str] | None = None
        self._answered_by = self.partner

    @property
    def partner(self) -> str:
        """The oracle: the version of the table, or the model's name."""
        return KNOWLEDGE if self._model is None else self._model.name

    def follow(self, replies: Sequence[str], info: dict[str, Any]) -> None:
        """In the episode just started, take the oracle's answers from a record; what wins is still decided here."""
        self._recorded = list(replies)
        self._answered_by = str(info["oracle"])

    def episode_info(self) -> dict[str, Any]:
        """The object, its category, and who answered."""
        return {**super().episode_info(), "oracle": self._answered_by}

    def close(self) -> None:
        """Let go of the model."""
        if self._model is not None:
            self._model.close()

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        self._recorded = None
        self._answered_by = self.partner
        self._asked = 0
        if "object" in options:
            return self._begin(self.game.start_of(options["object"]))
        return self._begin(self._draw(seed))

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self._model is None and self._recorded is None:
            observation, reward, won, success, info = super()._play(action)
        else:
            observation = self._other_answer(action)
            won = success = observation == WIN_TEXT
            reward = 0.0 if won else -1.0
            reason = next((reason for reason, text in NOT_ASKED.items() if text == observation), None)
            info = {} if reason is None else {"invalid_action": reason}
        self._asked += 1
        info["understood"] = "invalid_action" not in info
        return observation, reward, won, success, info

    def _other_answer(self, action: str) -> str:
        """The answer of a model or of a record."""
        nothing, _, not_understood = NOT_ASKED.values()
        if not normalise(action):
            return nothing
        guess = names().guess(action)
        if guess is not None:
            return WIN_TEXT if guess == self._start_number else NO_TEXT
        if self._recorded is not None:
            reply = self._recorded[self._asked] if self._asked < len(self._recorded) else ""
            return reply if reply in (YES_TEXT, NO_TEXT, *NOT_ASKED.values()) else "the record has no possible answer"
        assert self._model is not None
        said = self._model.answer(self._start_number, action)
        return not_understood if said is None else YES_TEXT if said else NO_TEXT
