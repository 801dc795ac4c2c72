"""From a question in anybody's words to a query: which facet, and for yes/no questions, of which cities it holds."""

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain

from lmrl_data.language.guesses import Names as GuessNames
from lmrl_data.language.words import words
from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.claims import (
    WHEREABOUTS,
    Claim,
    general_claim,
    is_special_name,
    ordinary_stems,
    special_claim,
)
from lmrl_data.tasks.guess_my_city.comparisons import compare
from lmrl_data.tasks.guess_my_city.facts import Fact, Names, all_cities
from lmrl_data.tasks.guess_my_city.grammar import Kind
from lmrl_data.tasks.guess_my_city.guesses import find_guess, lies_elsewhere
from lmrl_data.tasks.guess_my_city.leaks import plain
from lmrl_data.tasks.guess_my_city.letters import read_spelling
from lmrl_data.tasks.guess_my_city.mentions import facet_of_words, rare_words
from lmrl_data.tasks.guess_my_city.patterns import Found
from lmrl_data.tasks.guess_my_city.reading import Reading, is_known, read_text
from lmrl_data.tasks.guess_my_city.small_talk import is_small_talk
from lmrl_data.tasks.guess_my_city.spoken import Clause
from lmrl_data.tasks.guess_my_city.topics import best_topic

# Of a longer text only the beginning is read.
MAX_CHARACTERS = 600

NOTHING = "none"


@dataclass(frozen=True)
class Query:
    """What a question asks for.

    Attributes:
        kind: ``"open"``: the fact of a facet is to be told; ``"test"``: yes or no; ``"guess"``: a city is named as the
            answer; ``"nothing"``: not understood.
        facet: what it is about; `NOTHING` where it is not understood.
        cities: of a test, the cities of which it holds.
        guess: of a guess, the city; None for one that is none of the hidden ones, or no clear guess.
        aspect: of an open question, what of the facet is asked, such as ``"letter 0"`` of the name.
        tells: whether the fact belongs into the answer to a yes/no question: "Are there good universities?"
        sure: whether every word was known as it was written.
    """

    kind: str
    facet: str = NOTHING
    cities: Names = frozenset()
    guess: str | None = None
    aspect: str = ""
    tells: bool = False
    sure: bool = True


# Signs of comparison that people type for words.
_SIGN_WORDS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most", "==": "is", "=": "is"}
_SIGNS = re.compile(r"[<>]=?|={1,2}")


@lru_cache(maxsize=100_000)
def understand(text: str) -> Query:
    """What a text asks for.

    Args:
        text: normalised (see `lmrl_data.text.normalise`).
    """
    text = _SIGNS.sub(lambda found: f" {_SIGN_WORDS[found[0]]} ", text[:MAX_CHARACTERS])
    reading = read_text(text)
    if not reading.all_words:
        return Query("nothing")
    query = _query(text, reading)
    strange = [word for word in words(text) if word.isalpha() and len(word) > 1 and not is_known(word)]
    return replace(query, sure=not strange)


@cache
def _guess_names() -> GuessNames[str]:
    return GuessNames({city.name: city.names for city in cities().values()})


def _query(text: str, reading: Reading) -> Query:
    guess = _misspelt(text, _guess_names().guess(text))
    if guess is not None and not lies_elsewhere(guess, reading.sentence, reading.places):
        return Query("guess", "guess", guess=guess)
    found = find_guess(reading.sentence, reading.places)
    if found is not None:
        return Query("guess", "guess", guess=found.city, aspect="" if found.clear else "unclear")
    if asks_name(" ".join(words(text)), reading):
        return Query("open", "name", aspect="name")
    spelling = _spelling(reading)
    if spelling is not None:
        return spelling
    if is_small_talk(reading, "?" in text):
        return Query("nothing")
    for attempt in _ATTEMPTS[reading.sentence.kind]:
        query = attempt(reading)
        if query is not None:
            return query
    return Query("nothing")


def _misspelt(text: str, guess: str | None) -> str | None:
    """A guess, unless it is read out of words that are right as they are: "Chinatown?"."""
    if guess is None or not all(map(is_known, words(text))):
        return guess
    said = plain(text)
    return guess if any(plain(name) in said for name in cities()[guess].names) else None


_NAME = re.compile(
    r"^(?:(?:just|please|so|ok|okay|now|then|come on|and|well|can you|could you|would you|will you|go on) )*"
    r"(?:(?:what|which|whats?) (?:is|s|city is|town is|city are|place is|place are)?\b.*"
    r"\b(?:name|called|named|(?:which|what) (?:city|town) (?:are|is))\b.*|(?:which|what) (?:city|town|place) "
    r"(?:is it|are you|is this|is that|are we|do you|is yours|am i|it is|is the answer|do i)\b.*|"
    r"(?:tell|give|say|reveal|spell|just say|whisper) .*\b(?:name|answer|solution)\b.*|"
    r".*\bspell (?:it|the name|your)\b.*|"
    r"(?:what|who) is (?:it|the answer|the city|your city|the solution|this city)|name the city|"
    r"(?:tell|say) .*\b(?:which|what) (?:city|town|place) (?:it|this|that) is|"
    r".*\bwhat do you call your(?:self| city| town)\b.*)$"
)
_MEANING = re.compile(
    r"\bname (?:mean|means|signif\w+|translate\w*|derives?|comes? from)\b|\b(?:meaning|origin|etymology) of .*\bname\b|"
    r"\bname .*\b(?:meaning|etymology|come from|stands? for|pronounced?)\b|\bpronounce .*\bname\b"
)
_NO_NAME = re.compile(
    r"\b(?:letters?|words?|vowels?|syllables?|begin|begins|start|starts|end|ends|river|sea|language|currency|money|"
    r"name of (?:the|a|your|its|one|some|any|that) (?!city|town|place)|country|dish|food|nickname|famous|university|"
    r"street|airport|continent|state|region|people|person|building|landmark|team|club|mountain|lake|president|king|"
    r"mayor|area|palace|square|drink|market|festival|park|another name|other name|also|pet name|otherwise|museum|"
    r"besides|apart)\b"
)


def asks_name(text: str, reading: Reading) -> bool:
    """Whether a question asks to be told the name, or what it means, and for nothing else."""
    others = (score for facet, score in reading.scores.items() if facet not in _ABOUT_NAMES)
    if reading.sentence.kind is not Kind.YES_NO and _MEANING.search(text):
        return True
    return max(others, default=0.0) < _CLEAR and bool(_NAME.match(text)) and not _NO_NAME.search(text)


# What is asked for in words like those that ask for the name.
_ABOUT_NAMES = frozenset(["nickname", "region", "fun_fact", "people", "founded"])


def _test(reading: Reading, claim: Claim) -> Query:
    """The query for a yes/no question that makes a claim."""
    denied = reading.sentence.denied and not claim.denies
    holds = all_cities() - claim.fact.cities if denied else claim.fact.cities
    return Query("test", claim.fact.facet, cities=holds, tells=not claim.special or _asks_for_any(reading))


_ANY = re.compile(r"\b(?:any|anyone|anybody|anything|some|someone|somebody)\b")


def _asks_for_any(reading: Reading) -> bool:
    """Whether a question asks if there is something of a kind, and so wants to hear of it."""
    return bool(_ANY.search(" ".join(reading.main_words[:6])))


def _spelling(reading: Reading) -> Query | None:
    kind = reading.sentence.kind
    for row in (reading.main_words, reading.all_words):
        asked = read_spelling(row, kind is Kind.OPEN)
        if asked is None and kind in (Kind.FRAGMENT, Kind.CHOICE):
            asked = read_spelling(row, True)
        if asked is not None and asked.aspect:
            return Query("open", "name", aspect=asked.aspect)
        if asked is not None:
            return _test(reading, Claim(Fact("name", asked.cities)))
    return None


def _comparison(reading: Reading) -> Query | None:
    """A comparison with a number or a place."""
    main = reading.sentence.main
    for row, places in (
        (reading.main_words, reading.places[main]),
        (reading.all_words, tuple(chain.from_iterable(reading.places))),
    ):
        fact = compare(row, [one.value for one in places])
        if fact is not None:
            return _test(reading, Claim(fact))
    return None


def _special(reading: Reading) -> Query | None:
    claim = special_claim(reading)
    if claim is None or (_asks_for_any(reading) and _is_beside(claim.fact.facet, reading)):
        return None
    return _test(reading, claim)


def _is_beside(facet: str, reading: Reading) -> bool:
    """Whether something else than a facet is clearly asked for: "an event that draws crowds"."""
    topic = best_topic(reading.scores)
    if topic is None or facet in WHEREABOUTS:
        return False
    return reading.scores[topic] >= max(2 * _CLEAR, 3 * reading.scores.get(facet, 0.0))


def _general(reading: Reading) -> Query | None:
    claim = general_claim(reading)
    return None if claim is None else _test(reading, claim)


def _choice(reading: Reading) -> Query | None:
    """One of several things: the fact itself is the answer, unless the things go together."""
    found = [one.value for row in reading.facts for one in row if one.value.cities != all_cities()]
    rare = all(len(fact.cities) < _COMMON for fact in found)
    together = len(found) > 1 and rare and all(_go_together(found[0].cities, fact.cities) for fact in found[1:])
    if together or any(
        _holds_or(one, stems) for stems, row in zip(reading.stems, reading.facts, strict=True) for one in row
    ):
        return None
    named = [fact.facet for fact in found]
    if len(found) > 1 and set(named) <= _BESIDE_EACH_OTHER and _WHETHER_ANY.match(" ".join(reading.main_words)):
        return None
    topic = best_topic(reading.scores)
    alike = _facet_of_all(reading)
    if alike is not None and reading.scores.get(alike, 0.0) + 2 * _FACT_SCORE >= reading.scores.get(
        topic or alike, 0.0
    ):
        topic = alike
    elif named and (topic is None or (named[0] in ("continent", "region") and reading.scores[topic] < _CLEAR)):
        topic = named[0]
    return None if topic is None else Query("open", topic)


# Of these a city may well have several, so that one is enough: "are there castles or palaces?"
_BESIDE_EACH_OTHER = frozenset(
    """landmarks nature architecture nightlife shopping arts industry festival university sports transport
    history""".split()
)
_WHETHER_ANY = re.compile(
    r"^(?:(?:is|are|was|were) there|(?:can|could|may) (?:i|we|you|one)|"
    r"(?:do|does) (?:you|it|they|(?:the|your) city) have|.* (?:ever|any)|"
    r"are (?:\w+ )?\w+ or (?:\w+ )?\w+ (?:made|built|produced))\b"
)


def _facet_of_all(reading: Reading) -> str | None:
    """The facet that all things have of which a question names several: "Atlantic or Mediterranean?"."""
    facets: dict[tuple[int, int], set[str]] = {}
    for number, row in enumerate(reading.facts):
        for one in row:
            facets.setdefault((number, one.start), set()).add(one.value.facet)
    shared = set.intersection(*facets.values()) if len(facets) > 1 else set()
    return min(shared, default=None)


def _holds_or(one: Found[Fact], stems: Clause) -> bool:
    """Whether alternatives are one thing: "a king or a queen"."""
    return "or" in stems[one.start : one.end]


# What so many cities have is named as a choice, even where one thing comes with the other: "bus or metro".
_COMMON = 40


def _go_together(one: Names, other: Names) -> bool:
    """Whether things are no alternatives: where there is one of them, there is nearly always the other."""
    return len(one & other) >= 0.9 * min(len(one), len(other))


def _open(reading: Reading) -> Query | None:
    scores = dict(reading.scores)
    for row in reading.facts:
        for facet, _ in sorted({(one.value.facet, one.start) for one in row if one.value.facet != "name"}):
            scores[facet] = scores.get(facet, 0.0) + _FACT_SCORE
    topic = best_topic(scores) or facet_of_words(rare_words(reading.all_stems, ordinary_stems()))
    return None if topic is None else Query("open", topic)


# A topic with so high a score is asked for, whatever else is mentioned along with it.
_CLEAR = 5.0
# What a fact that is mentioned adds to the score of its facet in an open question.
_FACT_SCORE = 2.5
_KINDS = frozenset("top best most favourite favorite main kind type typical easiest local closest nearest".split())


def _fragment(reading: Reading) -> Query | None:
    """A question without a verb: open where it names a facet, for yes or no where it names something special."""
    topic = best_topic(reading.scores)
    if not _KINDS & set(reading.all_words):
        compared = _comparison(reading)
        if compared is not None:
            return compared
        query = _special(reading)
        clear = topic is not None and reading.scores[topic] >= _CLEAR
        told = {*WHEREABOUTS, "near", *reading.scores, *(_WEATHER if topic in _WEATHER else ())}
        if query is not None and (not clear or query.facet in told or _names_a_thing(reading)):
            return query
    if _ANY.match(" ".join(reading.main_words)) or (topic is None and is_special_name(reading)):
        return _general(reading)
    return _open(reading)


def _names_a_thing(reading: Reading) -> bool:
    """Whether a fragment begins with something of two words that only few cities have: "silk road stop?"."""
    found = reading.facts[reading.sentence.main]
    return any(one.start == 0 and one.weight > 1 and len(one.value.cities) <= _FEW for one in found)


_WEATHER = frozenset("climate temperature rain snow".split())
# So many cities at most have what is a thing of its own.
_FEW = 12

_ATTEMPTS = {
    Kind.OPEN: (_open,),
    Kind.YES_NO: (_comparison, _special, _general),
    Kind.CHOICE: (_choice, _comparison, _special, _general),
    Kind.FRAGMENT: (_fragment,),
}
