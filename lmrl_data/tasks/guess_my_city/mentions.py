"""What the tables mention: whether the words of a question stand in what is known of a city."""

import math
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from lmrl_data.language.stems import stem
from lmrl_data.language.words import words
from lmrl_data.tasks.guess_my_city.cities import City, cities
from lmrl_data.tasks.guess_my_city.facts import Names
from lmrl_data.tasks.guess_my_city.quantities import quantities

# A city is meant where so much of what the question says is known of it, by the weight of the words.
_SHARE = 0.55
# A word that stands in the tables of more cities than this tells nothing.
_COMMON = 45


@cache
def keywords() -> dict[str, str]:
    """What a city is known for besides its table, by its name: for questions only, never said."""
    table = tomllib.loads(files(__package__).joinpath("keywords.toml").read_text("utf-8"))
    if wrong := table.keys() - cities().keys():
        raise ValueError(f"keywords.toml: no such city: {wrong}")
    return table


@cache
def known_words() -> frozenset[str]:
    """Every word that stands in the tables of the cities."""
    return frozenset(word for city in cities().values() for word in words(_all_texts(city)))


@cache
def _stems() -> dict[str, frozenset[str]]:
    """The stems of everything that is known of each city."""
    return {name: frozenset(map(stem, words(_all_texts(city)))) for name, city in cities().items()}


def _all_texts(city: City) -> str:
    return "\n".join([*(text for _, text in city.texts()), keywords().get(city.name, "")])


@cache
def _frequencies() -> Counter[str]:
    """In the tables of how many cities each stem stands."""
    return Counter(word for stems in _stems().values() for word in stems)


@cache
def _facets_of_words() -> dict[str, Counter[str]]:
    """In the texts of which facets each stem stands, and in how many cities'."""
    found: dict[str, Counter[str]] = {}
    for city in cities().values():
        for facet, text in city.texts():
            for word in set(map(stem, words(text))):
                found.setdefault(word, Counter())[facet] += 1
    return found


def facet_of_words(rare: Iterable[str]) -> str | None:
    """The facet in whose texts most of these stems stand; None where none stands in any."""
    total: Counter[str] = Counter()
    for word in rare:
        found = _facets_of_words().get(word, Counter())
        for facet, count in found.items():
            total[facet] += round(1000 * count / found.total())
    return max(sorted(total), key=lambda facet: total[facet], default=None)


def rare_words(stems: Iterable[str], ordinary: frozenset[str]) -> list[str]:
    """The stems that say something special: no ordinary words, and in the tables of few cities."""
    return [
        word
        for word in stems
        if word not in ordinary
        and _frequencies()[word] <= _COMMON
        and len(word) > 2
        and word.isalpha()
        and not quantities([word])
    ]


def mentioned(rare: Iterable[str]) -> Names:
    """The cities whose tables have most of these stems."""
    wanted = list(dict.fromkeys(rare))
    weights = {word: math.log(len(cities()) / max(1, _frequencies()[word])) + 0.5 for word in wanted}
    total = sum(weights.values())
    return frozenset(
        name
        for name, stems in _stems().items()
        if total and sum(weights[word] for word in wanted if word in stems) >= _SHARE * total
    )
