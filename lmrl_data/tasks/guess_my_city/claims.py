"""What a yes/no question claims: of which cities everything that it mentions is true."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from lmrl_data.language.stems import stem
from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.facts import Fact, Names, all_cities, facts, in_country, where
from lmrl_data.tasks.guess_my_city.mentions import facet_of_words, mentioned, rare_words
from lmrl_data.tasks.guess_my_city.patterns import Found, Phrases, parse_phrase
from lmrl_data.tasks.guess_my_city.reading import FUNCTION_WORDS, Reading, frequent_stems
from lmrl_data.tasks.guess_my_city.topics import STRONG, best_topic, topics
from lmrl_data.tasks.guess_my_city.world import Place

# A question may say where a city is along with anything else.
WHEREABOUTS = ("continent", "region", "coastal", "capital", "latitude", "longitude")
# A question of so few words may be no more than a name.
_FEW_WORDS = 5
_FAR_KM = 1000.0
_SUBURB_KM = 60.0


class Claim(NamedTuple):
    """What a question says of the city.

    Attributes:
        fact: of which cities it is true.
        denies: whether a denial in the question belongs to the fact: "they eat no meat".
        special: whether some cities have it and others do not; else every city has it in its own way.
    """

    fact: Fact
    denies: bool = False
    special: bool = True


class _Mention(NamedTuple):
    """A fact in a place of a question: its clause, first word, word after the last, and number of words given."""

    clause: int
    start: int
    end: int
    weight: int
    fact: Fact
    denies: bool = False


def special_claim(reading: Reading) -> Claim | None:
    """Everything special that a question mentions must hold; of several things with "or" between them, one."""
    special = [one for one in _mentions(reading) if one.fact.cities != all_cities()]
    if not special:
        return None
    kept = _main_mentions(special, reading.scores)
    # What stands in one place of the question is one thing, even where several facts are meant by it.
    sets: dict[tuple[int, int, int], Names] = {}
    for one in kept:
        place = (one.clause, one.start, one.end)
        sets[place] = sets.get(place, frozenset()) | one.fact.cities
    either = {"or", "nor"} & set(reading.all_words)
    names = frozenset[str]().union(*sets.values()) if either else frozenset.intersection(*sets.values())
    return Claim(Fact(kept[0].fact.facet, names), any(one.denies for one in kept))


def _main_mentions(special: Sequence[_Mention], scores: dict[str, float]) -> list[_Mention]:
    """The facts of the facet that weighs most, that facet first, and those about where the city is."""
    weights: dict[str, float] = {}
    for one in special:
        facet = one.fact.facet
        weights[facet] = weights.get(facet, 0.15 * scores.get(facet, 0.0)) + one.weight
    others = {facet: weight for facet, weight in weights.items() if facet not in WHEREABOUTS} or weights
    main = max(others, key=lambda facet: others[facet])
    places = {(one.clause, one.start, one.end) for one in special if one.fact.facet == main}
    first = [one for one in special if (one.clause, one.start, one.end) in places]
    first.sort(key=lambda one: one.fact.facet != main)
    return first + [one for one in special if one.fact.facet in WHEREABOUTS and one.fact.facet != main]


_LANGUAGE_CUE = frozenset(
    map(
        stem,
        "speak spoken language talk say tongue understand learn dialect fluent native word mother communicate converse "
        "manage lingua accent bilingual subtitles grammar taught".split(),
    )
)
_GET_BY = re.compile(r"\b(?:get by|get along|survive|manage|be understood|make do) (?:with|in|on)\b")


def _mentions(reading: Reading) -> Iterator[_Mention]:
    """The facts in the clause that asks; where that has none which is special, in every clause."""
    sentence = reading.sentence
    numbers = range(sentence.main, sentence.main + 1)
    if not reading.places[sentence.main] and not any(
        one.value.cities != all_cities() for one in reading.facts[sentence.main]
    ):
        numbers = range(len(sentence.clauses))
    speaks = bool(_LANGUAGE_CUE & set(reading.all_stems) or _GET_BY.search(" ".join(reading.all_words)))
    for number in numbers:
        yield from _mentions_in(reading, number, speaks)


def _mentions_in(reading: Reading, number: int, speaks: bool) -> Iterator[_Mention]:
    clause, found_facts, found_places = reading.sentence.clauses[number], reading.facts[number], reading.places[number]
    rest = _comparison_from(clause)
    named = {(one.start, one.end) for one in found_places}
    tongues = {(one.start, one.end) for one in found_facts if one.value.facet == "language"}
    for one in found_facts:
        is_people = one.value.facet == "language" and not speaks and (one.start, one.end) in named
        if one.start > rest or is_people or _belongs_elsewhere(one, reading.stems[number]):
            continue
        denies = bool(_DENIALS & set(clause[one.start : one.end]))
        yield _Mention(number, one.start, one.end, one.weight, one.value, denies)
    for found in found_places:
        is_language = speaks and (found.start, found.end) in tongues
        if found.start <= rest and not is_language and (found.value.city or found.value.points):
            fact = _about_place(found.value, " ".join(clause))
            yield _Mention(number, found.start, found.end, found.weight, fact)


def _comparison_from(clause: Sequence[str]) -> int:
    """Where what only serves for comparison begins: "is tea more popular than coffee"."""
    for place, word in enumerate(clause):
        if word in ("than", "unlike", "instead") or clause[place : place + 2] in (("like", "in"), ("as", "in")):
            return place
        if word == "where" and place > 2:
            return place
    return len(clause)


_ADJECTIVES = frozenset(
    map(stem, "old new young big large small little high low hot cold warm poor rich cool great".split())
)
_AFTER_ADJECTIVE = frozenset(
    map(stem, "city town place country capital metropolis one enough there here and or but weather".split())
)
_DENIALS = frozenset("not no never hardly rarely seldom barely without".split())
_MEANWHILE = frozenset(map(stem, "after before during since until".split()))


def _belongs_elsewhere(one: Found[Fact], stems: Sequence[str]) -> bool:
    """Whether something is said of something else than the city: "my old bones", "after the war"."""
    before = stems[max(0, one.start - 2) : one.start]
    if one.value.facet == "history" and _MEANWHILE & set(before):
        return True
    if stems[one.end - 1] not in _ADJECTIVES or one.weight > 2:
        return False
    if "i" in before:
        return True
    return one.end < len(stems) and stems[one.end] not in _AFTER_ADJECTIVE | frequent_stems(FUNCTION_WORDS)


_NEAR = re.compile(
    r"\b(?:near|nearby|close to|closer to|next to|beside|around|not far|neighbou?ring|adjacent to|next door|close by|"
    r"day (?:trip|tour)|drive to|edge of|excursion|weekend|proximity to|vicinity of|within reach of|not too far)\b"
)
_FAR = re.compile(r"(?<!not )(?<!not too )\b(?:far from|far away from|away from|distant from|nowhere near)\b")
_BORDER = re.compile(
    r"\b(?:borders?|bordering|bordered|frontiers?|boundary|neighbou?rs?|adjoins?|touch|touches|adjacent to)\b"
)
_SUBURB = re.compile(r"\b(?:suburb|district|part|outskirts|satellite|quarter|borough) of\b")
_ALIKE = re.compile(
    r"\b(?:similar to|resembles?|remind\w* .* of|just like|a bit like|much like|looks? like|feels? like)\b"
)
_SAME_COUNTRY = re.compile(r"\b(?:same (?:country|nation|state)|compatriots?|fellow countrymen)\b")
_SAME_CONTINENT = re.compile(r"\bsame (?:continent|part of the world|region)\b")


def _about_place(place: Place, text: str) -> Fact:
    """What a yes/no question says of a place that it names."""
    home = cities()[min(place.cities)] if place.cities else None
    if home is not None and _SAME_COUNTRY.search(text):
        return Fact("region", in_country(home.country))
    if home is not None and _SAME_CONTINENT.search(text):
        return Fact("continent", where(lambda city: city.continent == home.continent))
    if home is not None and place.city and _ALIKE.search(text):
        return Fact("region", in_country(home.country) - place.cities)
    if place.city and _SUBURB.search(text):
        return Fact("near", place.within(_SUBURB_KM) - place.cities)
    if not place.city and _BORDER.search(text):
        return Fact("neighbours", place.neighbours)
    if _FAR.search(text):
        return Fact("near", all_cities() - place.within(_FAR_KM) - place.cities)
    if _NEAR.search(text):
        return Fact("near", place.near())
    return Fact("region", place.cities)


def general_claim(reading: Reading) -> Claim | None:
    """A claim about something that every city has in its own way, or in words that only the tables know."""
    facet = best_topic(reading.scores) or next((one.value.facet for row in reading.facts for one in row), None)
    rare = rare_words(reading.all_stems, ordinary_stems())
    facet = facet or facet_of_words(rare)
    if facet is None and is_special_name(reading):
        facet = "landmarks"
    if facet is None:
        return None
    if rare:
        return Claim(Fact(facet, mentioned(rare)))
    return Claim(Fact(facet, all_cities()), special=False)


def is_special_name(reading: Reading) -> bool:
    """Whether a few words name something that the tables know of some cities only."""
    rare = rare_words(reading.all_stems, ordinary_stems())
    return bool(rare) and len(reading.all_words) <= _FEW_WORDS and bool(mentioned(rare))


@cache
def ordinary_stems() -> frozenset[str]:
    """The stems that say nothing special: those of the phrases that name a facet and of what every city has."""
    usual = Phrases((parse_phrase(phrase), fact) for phrase, fact in facts() if fact.cities == all_cities())
    naming = Phrases((parse_phrase(phrase), topic) for phrase, topic in topics() if topic.weight > STRONG)
    return frozenset(naming.vocabulary | usual.vocabulary | frequent_stems())
