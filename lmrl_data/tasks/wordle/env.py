"""The Wordle environment."""

from pathlib import Path
from typing import Any, ClassVar

from lmrl_data.game import GameEnv
from lmrl_data.tasks.wordle.game import WordleGame, wordle_game


class WordleEnv(GameEnv[WordleGame]):
    """Guess a hidden five-letter word in six tries.

    ## Description
    A word is drawn when the episode starts and stays the same. Each guess is answered with a colour per letter, from
    which the agent must work out what is still possible: the game rewards gathering information over several turns.

    ## Action Space
    `Text`: a word of the guess list, spelt with blanks (`s t a r e`) or without (`stare`), in any case. Anything else
    costs a try: text that is no five-letter word, and words outside the list; `info["invalid_action"]` says which.

    ## Observation Space
    `Text`: five letters with blanks between them, such as `b b y g b`. `g`: right letter, right place; `y`: the letter
    is elsewhere in the word; `b`: it is not. A letter guessed more often than it occurs is coloured as often as it
    occurs: greens first, then yellows from left to right. An unusable guess is answered with a sentence that says so.

    ## Starting State
    The hidden word: a hash of the seed, each answer as likely as the others. `reset(options={"word": …})` fixes it.

    ## Rewards
    0 for the guess that solves it, -1 for any other. Returns run from -6 to 0.

    ## Episode End
    Terminated when the word is found, or after six tries: they are the game's own end, not a time limit on top of it.

    ## Information
    `invalid_action` (str) for an unusable guess. At the end `success` (bool), `return` (float) and `secret`, the word.

    ## Arguments
    - `vocabulary`: `"default"` (400 answers), `"full"` (2,300 answers), both with 6,748 guesses; or the path of a file
      with a word a line, which are then the answers and the guesses. Sources: SCOWL; see NOTICE.
    - `feedback`: `"game"` (above) or `"paper"`: every letter that occurs anywhere is `y`, however often it was guessed.

    ## Differences from the paper
    The word is drawn once per episode, not at every step. Repeated letters are coloured as in the real game
    (`feedback="paper"` for the published rule, which differs in about 9 % of pairs). The word list is our own, with 400
    answers for the paper's 431, and any of 6,748 words may be guessed, not only answers.

    ## Version History
    - v0: first version.
    """

    start_options: ClassVar[tuple[str, ...]] = ("word",)

    def __init__(
        self, env_id: str = "lmrl/Wordle-v0", vocabulary: str | Path = "default", feedback: str = "game"
    ) -> None:
        super().__init__(wordle_game(vocabulary, feedback), env_id)

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        if "word" in options:
            return self._begin(self.game.start_of(options["word"]))
        return self._begin(self._draw(seed))
