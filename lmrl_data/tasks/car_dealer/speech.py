"""How buyers and scripted sellers put things: phrases by act and speaker, none said twice where others are left."""

import tomllib
from functools import cache
from importlib.resources import files

from lmrl_data.seeding import mix, stream_of

Phrases = dict[str, list[str]]

# With an article where they need one.
FEATURE_NAMES = {"backup camera": "a backup camera", "premium sound": "a premium sound system"}


@cache
def phrases_of(speaker: str) -> Phrases:
    """The phrases of a file in ``phrases/``."""
    content: Phrases = tomllib.loads((files(__package__) / "phrases" / f"{speaker}.toml").read_text("utf-8"))
    return content


def dollars(value: float) -> str:
    """A sum as it is written: ``$27,500``, ``$27,500.50``."""
    return f"${value:,.2f}" if value % 1 else f"${value:,.0f}"


def listed(names: tuple[str, ...] | list[str]) -> str:
    """Features in a row: ``leather seats, navigation and a backup camera``."""
    names = [FEATURE_NAMES.get(name, name) for name in names]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def with_article(car: str) -> str:
    """``an Audi SUV``, ``a BMW sedan``."""
    return f"{'an' if car[0] in 'AEIOU' else 'a'} {car}"


class Speech:
    """What one speaker says in one episode.

    Phrases are chosen by a hash of seed and key, so the same seed and the same conversation give the same words.
    """

    def __init__(self, seed: int, *speakers: str) -> None:
        """Speak with the phrases of these files; those of the first are preferred."""
        self._seed = seed
        self._books = [phrases_of(speaker) for speaker in speakers]
        self._used: set[str] = set()

    def knows(self, act: str) -> bool:
        """Whether there are phrases for an act."""
        return any(act in book for book in self._books)

    def say(self, act: str, key: int, **slots: str) -> str:
        """A phrase for an act, filled in.

        Args:
            act: a key of the files, such as ``"ask_price"``.
            key: what the choice depends on, besides the seed.
            **slots: the words for ``{ask}`` and the like.
        """
        draw = mix(mix(self._seed, stream_of(act)), key)
        books = [book[act] for book in self._books if act in book]
        # Two times in three in the speaker's own words, if it has some; then whatever has not been said yet.
        if draw % 3 == 0:
            books.reverse()
        fresh = [phrase for book in books for phrase in book if phrase not in self._used]
        own = [phrase for phrase in books[0] if phrase in fresh]
        choice = own or fresh or books[0]
        phrase = choice[(draw >> 8) % len(choice)]
        self._used.add(phrase)
        return phrase.format(**slots, **{_upper(name): _upper(text) for name, text in slots.items()})


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
