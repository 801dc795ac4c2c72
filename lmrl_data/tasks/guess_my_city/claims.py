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
_NEARLY = 0.7
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
    """A fact in a place of a question: its clause, first word, word after the last, and number of words given.

    A partner is one with whom something is done, and no place: "ruled by the French", "a war with America".
    """

    clause: int
    start: int
    end: int
    weight: int
    fact: Fact
    denies: bool = False
    is_partner: bool = False


def special_claim(reading: Reading) -> Claim | None:
    """Everything special that a question mentions must hold; of several things with "or" between them, one."""
    special = [one for one in _mentions(reading) if one.fact.cities != all_cities()]
    if not special:
        return None
    kept = _main_mentions(special, reading.scores)
    meant = _in_places(kept)
    either = {"or", "nor"} & set(reading.all_words)
    names = frozenset[str]().union(*meant) if either else frozenset.intersection(*meant)
    if not names and {one.fact.facet for one in kept} == {kept[0].fact.facet} - set(WHEREABOUTS):
        names = min(meant, key=len)  # two words for one thing: "pilgrims at a shrine"
    return Claim(Fact(kept[0].fact.facet, names), any(one.denies for one in kept))


def _in_places(mentions: Sequence[_Mention]) -> list[Names]:
    """The cities that are meant in each place of a question.

    What stands in one place is one thing, even where several facts are meant by it: the one with the most words; of
    those with as many any, unless they only overlap and one is narrower than the other.
    """
    sets: list[tuple[_Mention, Names]] = []
    for one in sorted(mentions, key=lambda one: (one.clause, one.start, one.end)):
        last, names = sets[-1] if sets else (one, frozenset[str]())
        if not sets or last.clause != one.clause or one.start >= last.end:
            sets.append((one, one.fact.cities))
            continue
        if "continent" in (one.fact.facet, last.fact.facet) and one.fact.facet != last.fact.facet:
            names = one.fact.cities if one.fact.facet == "continent" else last.fact.cities
        elif one.weight != last.weight and not (
            last.start < one.start < last.end < one.end and _nearly_within(names, one.fact.cities)
        ):
            names = max(one, last, key=lambda mention: mention.weight).fact.cities
        elif one.start != last.start and _nearly_within(names, one.fact.cities):
            names = names & one.fact.cities
        else:
            names = names | one.fact.cities
        sets[-1] = max(last, one, key=lambda mention: (mention.weight, mention.end)), names
    return [names for _, names in sets]


def _nearly_within(one: Names, other: Names) -> bool:
    """Whether what holds of nearly all cities of one set holds of the other."""
    return len(one & other) >= _NEARLY * min(len(one), len(other))


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
    return first + [
        one
        for one in special
        if one.fact.facet in WHEREABOUTS
        and one.fact.facet != main
        and not any(_within(one, other) and other.weight > one.weight for other in first)
        and not one.is_partner
    ]


def _within(one: _Mention, other: _Mention) -> bool:
    return one.clause == other.clause and other.start <= one.start and one.end <= other.end


_LANGUAGE_CUE = frozenset(
    map(
        stem,
        "speak spoken language talk say tongue understand learn dialect fluent native word mother communicate converse "
        "manage official lingua accent bilingual subtitles grammar taught".split(),
    )
)
_NAMING = frozenset(
    "name named names called call word words letter letters apostrophe hyphen dash spelt spelled".split()
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
        if one.value.facet == "name" and not _NAMING & set(clause):
            continue
        if one.start > rest or is_people or _belongs_elsewhere(one, reading.stems[number]):
            continue
        denies = bool(_DENIALS & set(clause[one.start : one.end]))
        yield _Mention(number, one.start, one.end, one.weight, one.value, denies)
    for found in found_places:
        is_language = speaks and (found.start, found.end) in tongues
        if found.start <= rest and not is_language and (found.value.city or found.value.points):
            fact = _about_place(found.value, " ".join(clause))
            partner = bool(_PARTNER & set(clause[max(0, found.start - 2) : found.start])) or _is_of_a_kind(
                found, clause
            )
            yield _Mention(number, found.start, found.end, found.weight, fact, is_partner=partner)


_ADJECTIVE_END = ("an", "ish", "ese", "ch", "ek", "i", "sh")
_AFTER_NATION = frozenset(
    """city town place country state nation capital metropolis port megacity territory soil land province region island
    one border coast side and or but is are was here there""".split()
)


def _is_of_a_kind(found: Found[Place], clause: Sequence[str]) -> bool:
    """Whether a nationality says what kind something is of, and not where it is: "a Japanese community"."""
    if found.value.city or found.end - found.start > 1 or found.end >= len(clause):
        return False
    word, after = clause[found.start], clause[found.end]
    adjective = word != found.value.name.lower() and word.endswith(_ADJECTIVE_END)
    return adjective and stem(after) not in _AFTER_ADJECTIVE and after not in _AFTER_NATION


def _comparison_from(clause: Sequence[str]) -> int:
    """Where what only serves for comparison begins: "is tea more popular than coffee"."""
    for place, word in enumerate(clause):
        likens = word in ("like", "as") and {"in", "here", "us", "ours", "mine"} & set(clause[place + 1 : place + 3])
        measured = word == "than" and "".join(clause[place + 1 : place + 2]).isdecimal()  # "more than 500 miles"
        if (word in ("than", "unlike", "instead") and not measured) or (likens and place > 1):
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
_PARTNER = frozenset("by with against from to".split())
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
    r"\b(?:near|nearby|close to|closer to|next to|beside|around|not far|neighbou?ring|adjacent to|next door|"
    r"close by|day (?:trip|tour)|drive to|edge of|excursion|weekend|proximity to|vicinity of|within reach of|"
    r"not too far|hours? away|minutes away|over the border|up the road|down the road|across the (?:border|water|bay|"
    r"river))\b"
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
    if distance := _DISTANCE.search(text):
        return Fact("near", _at_distance(place, distance))
    if _FAR.search(text):
        return Fact("near", all_cities() - place.within(_FAR_KM) - place.cities)
    if _NEAR.search(text):
        return Fact("near", place.near())
    return Fact("region", place.cities)


_DISTANCE = re.compile(
    r"\b(?:(?P<over>over|more than|at least|farther than|further than)|(?P<under>within|less than|under|closer than|"
    r"at most|up to|in a radius of)|(?:about|around|roughly|some))? ?(?P<number>\d+) ?(?P<unit>km|kilomet\w+|miles?)\b"
)
_KM_PER_MILE = 1.609
# How far a distance may be off that is said as it is.
_ABOUT = 0.35


def _at_distance(place: Place, said: re.Match[str]) -> Names:
    """The cities at a distance from a place: "within 200 km of Rome", "about 100 miles from Boston"."""
    limit_km = float(said["number"]) * (_KM_PER_MILE if said["unit"].startswith("mile") else 1.0)
    if said["under"]:
        return place.within(limit_km) - place.cities
    if said["over"]:
        return all_cities() - place.within(limit_km)
    return place.within(limit_km * (1 + _ABOUT)) - place.within(limit_km * (1 - _ABOUT))


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
