"""What a question says of each object: the phrases, measures and names found in it, joined as its words say."""

from collections.abc import Iterable, Sequence

import numpy as np

from lmrl_data.language.stems import is_participle, stem
from lmrl_data.tasks.twenty_questions.combining import combined
from lmrl_data.tasks.twenty_questions.comparatives import ADJECTIVE_OF
from lmrl_data.tasks.twenty_questions.counts import counts
from lmrl_data.tasks.twenty_questions.letters import letters
from lmrl_data.tasks.twenty_questions.lexicon import Lexicon
from lmrl_data.tasks.twenty_questions.measures import measures
from lmrl_data.tasks.twenty_questions.phrase_tree import BREAK, NEGATIONS, OBJECT, Match, Sense, best
from lmrl_data.tasks.twenty_questions.question import AUXILIARIES, BE, Question
from lmrl_data.tasks.twenty_questions.table import NO, YES, Values, knowledge_table
from lmrl_data.tasks.twenty_questions.vocabulary import FULL
from lmrl_data.tasks.twenty_questions.yardsticks import Found, names

# Kinds of attributes that a noun or an adjective says of the thing only where it is what the thing is said to be.
_SAID_OF_IT = frozenset("category colour shape material size weight price property".split())
_MUST = frozenset("category colour material property".split())
# Kinds of what is done to a thing, which must be true of it whoever does it: "would a tourist wear it".
_DONE = frozenset("wear food".split())
_COPULAS = BE | frozenset(
    """being been feel feels look looks get gets taste tastes smell smells sound sounds seem seems become becomes turn
    turns stay stays remain remains as called count counts considered""".split()
)
_PREPOSITIONS = frozenset(
    """of in at on with without from into onto under over around near through by about off out up down inside for to
    against behind beside between during after before above below across along""".split()
)
# "A piece of jewelry" is jewelry.
_MEASURES = frozenset("means piece pieces kind kinds type types sort sorts item items form pair article bit".split())
_HAVE = frozenset("have has had having got contain contains possess".split())
_RELATIVES = frozenset("that which who what where when".split())
_SUBJECTS = frozenset("it this that they these those the you i we one people there he she".split())
_AMOUNTS = {"cost more": "expensive", "cost less": "cheap", "weigh more": "heavy", "weigh less": "light"}
# How sure a reading must be: words of weight explained, at least, or the share of all that there are; for a few words,
# by whether they are marked as a question.
_ENOUGH, _SHARE, _FRAGMENT_SHARE = 0.9, 0.6, (0.7, 0.5)
_PLACED_VALUE = 3.0
# Light words may be left over.
_SLACK = 0.9
# What a fact must explain to count.
_FACT = 0.7


def sincere(spoken: Sequence[str]) -> list[str]:
    """The words without the "not" of "isn't it …?", which asks whether it is."""
    for place in range(len(spoken) - 2):
        before, negation, after = spoken[place : place + 3]
        opens = place == 0 or spoken[place - 1] not in _SUBJECTS
        if opens and negation == "not" and before in AUXILIARIES and after in _SUBJECTS:
            return [*spoken[: place + 1], *spoken[place + 2 :]]
    return list(spoken)


def read(words: Lexicon, spoken: list[str], question: Question) -> tuple[Values | None, str]:
    """What holds of each object, by all that the lexicon, the measures and the names find in a question.

    Args:
        words: the lexicon.
        spoken: the words of the question, without slips.
        question: how it is asked.

    Returns:
        The row of the objects, or None if too little of the question is understood; and how it was read.
    """
    parts = _measured(spoken)
    for number, part in reversed(list(enumerate(parts))):
        spoken[part.start : part.end] = [f"§{number}"]
    spoken = words.derived(_without_comparand(spoken))
    plain, sources = words.plain(spoken)
    placed = [
        Match((place,), Sense(part.name, "number", part.row), _PLACED_VALUE, needed=True)
        for place, word in enumerate(plain)
        if word.startswith("§")
        for part in (parts[int(word[1:].removesuffix(OBJECT))],)
    ]
    zones = _zones(spoken)
    found = [_placed(match, plain, zones, sources, spoken) for match in words.attributes(plain)]
    found = [match for match in found if not _is_class(match, zones, sources, spoken)]
    said = [match for match in found if _fits(match, zones, sources)]
    chosen = best([*said, *placed])
    if _explained(words, plain, chosen) < _ENOUGH:
        chosen = best([*found, *placed])
    facts = [fact for fact in best(words.facts(plain)) if fact.value >= _FACT and not _is_part(fact, chosen, plain)]
    chosen = [match for match in chosen if not any(_says_more(words, plain, fact, match) for fact in facts)]
    explained = _explained(words, plain, chosen + facts)
    total = sum(words.weight(word) for word in plain if word != BREAK and word.removesuffix(OBJECT) not in NEGATIONS)
    meanings = [", ".join(match.sense.name for match in matches) for matches in (chosen, facts)]
    reading = f"{' '.join(plain)}: {'; '.join(meanings)}"
    needed = min(_ENOUGH, _SHARE * total) if question.whole or parts else _FRAGMENT_SHARE[question.marked] * total
    if not (chosen or facts) or explained < needed:
        return None, reading
    row = combined(plain, chosen, facts, question)
    if not (question.whole or parts or row.any()):  # words that have nothing to do with each other
        return None, reading
    if not parts and not NEGATIONS & set(plain) and _explained(words, plain, chosen) < total - _SLACK:
        said_rows = [match.sense.row for match in chosen if match.needed]
        allowed = np.minimum.reduce(said_rows) > NO if said_rows else True
        row = np.where(words.related(plain) & allowed, YES, row)
    return row, reading


def _explained(words: Lexicon, plain: Sequence[str], matches: Iterable[Match]) -> float:
    """The weight of the words that matches account for."""
    return sum(words.weight(plain[place]) for place in {place for match in matches for place in match.places})


def _is_part(fact: Match, chosen: Iterable[Match], plain: Sequence[str]) -> bool:
    """Whether a phrase that means an attribute says what a fact does, and better.

    It has more words ("milk" of "give milk"), the same in their very role, or all but a "no" ("seeds", "no seeds");
    or it says what the thing is ("jewelry").
    """
    places = {place for place in fact.places if plain[place] not in NEGATIONS}
    denies = len(places) < len(fact.places)
    return any(
        set(fact.places) < set(match.places)
        or (fact.places == match.places and match.needed and match.sense.kind == "category")
        or (fact.places == match.places and fact.value < match.value)
        or (denies and places <= set(match.places))
        for match in chosen
    )


def _says_more(words: Lexicon, plain: Sequence[str], fact: Match, match: Match) -> bool:
    """Whether a fact has all words of a phrase that means an attribute, and more that tell: "play with the feet"."""
    if match.needed or not set(match.places) < set(fact.places):
        return False
    return any(words.weight(plain[place]) == FULL for place in set(fact.places) - set(match.places))


def _measured(spoken: Sequence[str]) -> list[Found]:
    """The parts of a question that compare numbers, speak of the name, or deny that it is an object, in their order."""
    found = letters().find(spoken) or _denied(spoken)
    if not found:
        stems = [word if word == BREAK else stem(word) for word in spoken]
        found = measures().find(stems)
        for part in counts().find(stems):
            if all(part.end <= other.start or part.start >= other.end for other in found):
                found.append(part)
    return sorted(found, key=lambda part: part.start)


def _denied(spoken: Sequence[str]) -> list[Found]:
    """The objects that a question names only to exclude them: "a fruit that is not a mango"."""
    for place in range(2, len(spoken) - 1):
        if spoken[place - 1] == "not" and spoken[place] in ("a", "an", "the"):
            for length in range(min(names().longest, len(spoken) - place - 1), 0, -1):
                column = names().find(spoken[place + 1 : place + 1 + length])
                end = place + 1 + length
                if column is not None and (end == len(spoken) or spoken[end] == BREAK):
                    row = np.zeros(len(knowledge_table().names), np.uint8)
                    row[column] = YES
                    return [Found(place, end, row, knowledge_table().names[column])]
    return []


def _without_comparand(spoken: Sequence[str]) -> list[str]:
    """The words without what a thing is compared with: "softer than a wooden floor" asks whether it is soft."""
    kept: list[str] = []
    dropping = False
    for word in spoken:
        if word == "than" and (amount := " ".join(kept[-2:])) in _AMOUNTS:
            kept[-2:] = [_AMOUNTS[amount]]
        elif word == "than" and kept[-1:] and kept[-1] in ADJECTIVE_OF:
            kept[-1] = ADJECTIVE_OF[kept[-1]]
        dropping = (dropping or word in ("than", "compared")) and word not in (BREAK, "or", "and", "but")
        if not dropping:
            kept.append(word)
    return kept


def _zones(spoken: Sequence[str]) -> list[str]:
    """For each word where it stands: in what the thing is said to be, to have or to do, in an addition, or apart."""
    zones: list[str] = []
    zone = "is"
    for place, word in enumerate(spoken):
        following = spoken[place + 1] if place + 1 < len(spoken) else ""
        if word == BREAK:
            zone = "apart"
        elif word in _COPULAS and following != "there":
            zone = "is"
        elif word in _HAVE or word == "there":
            zone = "has"
        elif word in AUXILIARIES:
            zone = "does"
        elif word == "of" and place and spoken[place - 1] in _MEASURES:
            pass
        elif (
            word in _PREPOSITIONS
            or (word in _RELATIVES and place > 1)
            or (is_participle(word) and zone == "is" and following in _PREPOSITIONS)
        ):
            zone = "addition"
        if following == "'s":
            zones.append("addition")
        else:  # "is its skin green" says what the skin is
            zones.append("has" if place and spoken[place - 1] in ("its", "their") else zone)
    return zones


def _fits(match: Match, zones: Sequence[str], sources: Sequence[int]) -> bool:
    """Whether a single word may mean what it does in the place where it stands."""
    zone = zones[sources[match.places[0]]]
    return len(match.places) > 1 or match.sense.kind not in _SAID_OF_IT or zone in ("is", "apart")


def _placed(
    match: Match, plain: Sequence[str], zones: Sequence[str], sources: Sequence[int], spoken: Sequence[str]
) -> Match:
    """A match with whether it must hold, since it says what the thing is, what is done to it, or all that it has."""
    stands = {zones[sources[place]] for place in match.places}
    is_said = match.sense.kind in _MUST and stands == {"is"}
    is_listed = match.sense.kind == "part" and stands == {"has"} and "and" in spoken
    is_done = match.sense.kind in _DONE and len(match.places) == 1 and plain[match.places[0]].endswith(OBJECT)
    return match._replace(needed=is_said or is_listed or is_done)


def _is_class(match: Match, zones: Sequence[str], sources: Sequence[int], spoken: Sequence[str]) -> bool:
    """Whether a word for a part says what the thing is: "is it a leaf" does not ask for leaves."""
    source = sources[match.places[0]]
    alone = len(match.places) == 1 and match.sense.kind == "part" and zones[source] == "is"
    return alone and source > 0 and spoken[source - 1] in ("a", "an")
