"""The layout of Wordle: ``sequence`` of [text, is it an action], ``reward``, ``done``."""

from functools import lru_cache
from typing import Any

from lmrl_data.tasks.wordle.rules import FEEDBACK_RULES, TRIES, feedback_letters, feedback_matrix
from lmrl_generators.importing.plays import Reading, Unreadable, fields_of, flag_of, play_of_history, reading

FIELDS = ("sequence", "reward", "done")
_OPENING = "Wordle:"
_SOLVED = "g g g g g"


def read(value: Any, config: str, env_id: str) -> Reading:
    """An episode of a record; the hidden word is known where it was found."""
    sequence, rewards, done = fields_of(value, FIELDS)
    texts = _alternating(sequence)
    play = play_of_history(texts, rewards, done)
    colours, guesses = play.observations[1:], [action.replace(" ", "").lower() for action in play.actions]
    solved = colours[-1] == _SOLVED
    differences = []
    for feedback, reward in zip(colours, play.rewards, strict=True):
        right = 0.0 if feedback == _SOLVED else -1.0
        if reward != right:
            differences.append("the guess that solves it, worth 0" if right == 0 else "another guess, worth -1")
    word = guesses[-1] if solved and _is_word(guesses[-1]) else None
    if word is not None:
        play.faults += _wrong_colours(word, guesses, colours)
    if _SOLVED in colours[:-1]:
        play.faults.append("goes on after the word is found")
    if len(guesses) > TRIES:
        play.faults.append(f"longer than {TRIES} turns")
    terminated = solved or len(guesses) >= TRIES
    return reading(
        play, success=solved, terminated=terminated, info={"word": word}, env_id=env_id, differences=differences
    )


def _alternating(sequence: Any) -> list[Any]:
    """The texts, the environment's first."""
    if not isinstance(sequence, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in sequence):
        raise Unreadable("the sequence is no list of [text, is it an action]")
    acts = [flag_of(pair[1], "the mark of an action") for pair in sequence]
    texts = [pair[0] for pair in sequence]
    if acts and acts[0]:
        acts, texts = [False, *acts], [_OPENING, *texts]
    if acts != [place % 2 == 1 for place in range(len(acts))]:
        raise Unreadable("texts and actions do not alternate")
    return texts


def _wrong_colours(word: str, guesses: list[str], colours: list[str]) -> list[str]:
    """What is wrong with the colours of an episode whose word is known."""
    told = [(_colours(guess, word), colour) for guess, colour in zip(guesses, colours, strict=True) if _is_word(guess)]
    if all(game == colour for (game, _), colour in told):
        return []
    if all(paper == colour for (_, paper), colour in told):
        return ["repeated letters are coloured by the paper's rule"]
    return ["colours of another word: the hidden word was drawn again"]


# The published data has 431 words, and so 185,761 pairs.
@lru_cache(maxsize=2**18)
def _colours(guess: str, word: str) -> tuple[str, ...]:
    """The feedback by each of `FEEDBACK_RULES`."""
    feedbacks = (feedback_matrix([guess], [word], rule)[0, 0] for rule in FEEDBACK_RULES)
    return tuple(" ".join(feedback_letters(int(feedback))) for feedback in feedbacks)


def _is_word(guess: str) -> bool:
    return len(guess) == 5 and guess.isascii() and guess.isalpha()
