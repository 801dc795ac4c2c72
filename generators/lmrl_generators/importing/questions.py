"""The layout of Twenty Questions and Guess My City: ``lines`` of a question and its answer, ``correct``, ``word``."""

from functools import cache
from typing import TYPE_CHECKING, Any

from lmrl_data.errors import LmrlError
from lmrl_data.registry import find_env, make
from lmrl_generators.importing.plays import (
    POLICY,
    Play,
    Reading,
    Unreadable,
    fields_of,
    flag_of,
    reading,
    text_of,
)

if TYPE_CHECKING:
    from lmrl_data.env import TextEnv

FIELDS = ("lines", "correct", "word")
QUESTIONS = 20
# What the published code puts before the first question.
_OPENING = "Questions:"
_SECRETS = {"twenty-questions": "object", "guess-my-city": "city"}


def read(value: Any, config: str, env_id: str) -> Reading:
    """An episode of a record; who wins with which question by the rules is compared with ``correct``."""
    lines, correct, word = fields_of(value, FIELDS)
    if not isinstance(lines, list) or not lines:
        raise Unreadable("the lines are no list of questions and answers")
    pairs = [_split(text_of(line, "a line")) for line in lines]
    won = flag_of(correct, "correct")
    secret = _name(word)
    rewards = [-1.0] * len(pairs)
    if won:
        rewards[-1] = 0.0
    play = Play([_OPENING, *(answer for _, answer in pairs)], [question for question, _ in pairs], rewards, True)
    over = won or len(pairs) >= QUESTIONS
    play.done = over
    if len(pairs) > QUESTIONS:
        play.faults.append(f"longer than {QUESTIONS} turns")
    task = find_env(env_id)[0].name
    info, differences = _judged(play, task, secret)
    return reading(play, success=won, terminated=over, info=info, env_id=env_id, differences=differences)


def _split(line: str) -> tuple[str, str]:
    """Question and answer: the last question mark with a blank parts them."""
    question, mark, answer = line.rpartition("? ")
    if not mark:
        raise Unreadable(f"the line {line[:60]!r} is no question with an answer")
    return f"{question}?", answer.strip()


def _name(word: Any) -> str:
    """The first of the names; of a city it may have the country after a comma."""
    names = word if isinstance(word, list) else [word]
    if not names:
        raise Unreadable("the word is empty")
    name = text_of(names[0], "the word").split(";")[0].strip()
    if not name:
        raise Unreadable("the word is empty")
    return name


def _judged(play: Play, task: str, secret: str) -> tuple[dict[str, Any], list[str]]:
    """The info struct, and the rewards that the rules would not give."""
    env, option = _env(task), _SECRETS[task]
    name, _, country = secret.partition(",")
    try:
        env.reset(seed=0, options={option: name.strip() if option == "city" else secret})
    except LmrlError:
        play.faults.append(f"the {option} is not one of ours: its rewards are not checked")
        rest = {"category": None} if option == "object" else {"country": country.strip() or None, "usable": None}
        return {option: name.strip() if option == "city" else secret, "oracle": POLICY, **rest}, []
    # Only what the agent says decides who wins, so any possible answer will do.
    env.follow(["Yes."] * len(play.actions), {"oracle": POLICY, "usable": [True] * len(play.actions)})
    differences = []
    for question, reward in zip(play.actions[:QUESTIONS], play.rewards, strict=False):
        _, right, over, _, _ = env.step(question)
        if right != reward:
            differences.append(f"a question that names the {option}, worth 0" if right == 0 else _not_named(option))
        if over:
            break
    known = {key: env.episode_info()[key] for key in (option, "category", "country") if key in env.episode_info()}
    return {**known, "oracle": POLICY, **({"usable": None} if option == "city" else {})}, differences


def _not_named(option: str) -> str:
    return f"a question that does not name the {option}, worth -1"


@cache
def _env(task: str) -> "TextEnv":
    return make(task)
