"""A task that is not the benchmark's, as a package of somebody else would have it: find a hidden number."""

from collections.abc import Sequence
from typing import Any, ClassVar

from gymnasium.spaces import Text

from lmrl_data.env import TextEnv
from lmrl_data.errors import LmrlError
from lmrl_data.registry import Bounds, Config, Task
from lmrl_data.seeding import mix, stream_of
from lmrl_data.starts import Starts
from lmrl_data.text import Message, normalise

WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
NUMBERS = {word: number for number, word in enumerate(WORDS, 1)}
OPENING, HIGHER, LOWER, FOUND, UNUSABLE = (
    "I think of a number from 1 to 15. Which is it?",
    *("Higher.", "Lower.", "Yes, that is it!", "Say a number from 1 to 15."),
)
GUESS = stream_of("high-low/guess")


def starts() -> Starts:
    return Starts(len(NUMBERS), stream_of("high-low/start"), lambda start: {"number": start + 1})


class HighLowEnv(TextEnv):
    """Find a hidden number.

    ## Description
    The environment thinks of a number; after each guess it says whether that is higher or lower.

    ## Action Space
    `Text`: a number from 1 to 15, in letters.

    ## Observation Space
    `Text`: one of five sentences.

    ## Starting State
    The hidden number: a hash of the seed, each as likely as the others.

    ## Rewards
    0 for the hidden number, -1 for anything else.

    ## Episode End
    Terminated when the number is found, or after 8 guesses.

    ## Information
    `invalid_action` where the guess is no number that can be. At the end `success` and `return`.

    ## Arguments
    None.

    ## Differences from the paper
    The paper has no such task.

    ## Version History
    - v0: first version.
    """

    max_turns, limit_is_terminal = 8, True
    start_options: ClassVar[tuple[str, ...]] = ("number",)

    def __init__(self, env_id: str = "mine/HighLow-v0") -> None:
        super().__init__(env_id)
        self.action_space = Text(max_length=8, charset="efghilnorstuvwx")
        self.observation_space = Text(
            max_length=len(OPENING), charset="".join({*OPENING, *HIGHER, *LOWER, *FOUND, *UNUSABLE})
        )

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        self.number = options.get("number", starts().of(seed) + 1)
        if self.number not in range(1, 16):
            raise LmrlError(f"number is {self.number!r}; give one from 1 to 15")
        self.usable: list[bool] = []
        return OPENING

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        guess = NUMBERS.get(normalise(action))
        self.usable.append(guess is not None)
        if guess is None:
            return UNUSABLE, -1.0, False, False, {"invalid_action": "not a number from 1 to 15"}
        if guess == self.number:
            return FOUND, 0.0, True, True, {}
        return HIGHER if guess < self.number else LOWER, -1.0, False, False, {}

    def episode_info(self) -> dict[str, Any]:
        return {"number": self.number, "usable": self.usable}

    def _final_info(self) -> dict[str, Any]:
        return {"secret": str(self.number)}


class RandomGuesser:
    name = "random"

    def reset(self, seeds: Sequence[int]) -> None:
        self.seeds = seeds

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        return [
            WORDS[mix(mix(seed, GUESS), len(conversation)) % 15]
            for seed, conversation in zip(self.seeds, conversations, strict=True)
        ]


class Bisector:
    name = "bisect"

    def reset(self, seeds: Sequence[int]) -> None:
        pass

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        return [self.guess(conversation) for conversation in conversations]

    def guess(self, conversation: list[Message]) -> str:
        low, high = 1, 15
        for said, heard in zip(conversation[1::2], conversation[2::2], strict=False):
            if heard["content"] == HIGHER:
                low = NUMBERS[said["content"]] + 1
            elif heard["content"] == LOWER:
                high = NUMBERS[said["content"]] - 1
        return WORDS[(low + high) // 2 - 1]


TASK = Task(
    name="high-low",
    title="High-low",
    summary="The agent finds a number from 1 to 15.",
    challenge="Each guess should halve what is possible.",
    configs={
        "default": Config(
            env_id="mine/HighLow-v0",
            kwargs={},
            bounds=Bounds(minimum=-8, mean=-6, maximum=-34 / 15, maximum_from="bisect", exact=True),
            collection={"random": 0.5, "bisect": 0.5},
            sizes={"small": (300, 30)},
            evaluation_episodes=60,
        ),
    },
    env=f"{__name__}:HighLowEnv",
    starts=f"{__name__}:starts",
    policies={"random": f"{__name__}:RandomGuesser", "bisect": f"{__name__}:Bisector"},
    info={"number": "int32", "usable": "list<bool>"},
    options={"number": "int32"},
    column_notes={"number": "the hidden number", "usable": "whether each guess was a number that can be"},
    provenance="Two scripted guessers.",
    rules="Find the hidden number from 1 to 15 with as few guesses as you can.",
)
