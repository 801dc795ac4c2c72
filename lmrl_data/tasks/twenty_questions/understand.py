"""What a question means: from a line of English to the answer for each object."""

import tomllib
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmrl_data.language.guesses import Names
from lmrl_data.language.stems import english, is_participle, stem
from lmrl_data.tasks.twenty_questions.counts import counts
from lmrl_data.tasks.twenty_questions.letters import letters
from lmrl_data.tasks.twenty_questions.lexicon import BREAK, NEGATIONS, OBJECT, Lexicon, Match, Sense, best, lexicon
from lmrl_data.tasks.twenty_questions.measures import measures
from lmrl_data.tasks.twenty_questions.question import AUXILIARIES, BE, Question, read_question
from lmrl_data.tasks.twenty_questions.table import NO, SOMETIMES, YES, Values, knowledge_table
from lmrl_data.tasks.twenty_questions.yardsticks import Found, names

ANSWER_NO, ANSWER_YES, ANSWER_WIN = np.uint8(0), np.uint8(1), np.uint8(2)

# Kinds of attributes that a noun or an adjective says of the thing only where it is what the thing is said to be.
_SAID_OF_IT = frozenset("category colour shape material size weight price property".split())
_COPULAS = BE | frozenset(
    """being been feel feels look looks get gets taste tastes smell smells sound sounds seem seems become becomes turn
    turns stay stays remain remains as called count counts considered""".split()
)
_PREPOSITIONS = frozenset(
    """of in at on with without from into onto under over around near through by about off out up down inside for to
    against behind beside between during after before above below across along""".split()
)
_HAVE = frozenset("have has had having got contain contains possess".split())
_RELATIVES = frozenset("that which who what where when".split())
# How sure a reading must be: words of weight explained, at least, or of all that there are.
_ENOUGH, _SHARE = 0.9, 0.6
# A phrase counts beside the best one if it explains this much of what that does.
_BESIDE = 0.7
_PLACED_VALUE = 3.0
# Light words may be left over.
_SLACK = 0.9
_HALF = 0.5
_MUST = frozenset(("category", "number"))


class Answers(NamedTuple):
    """How a question is answered.

    Attributes:
        row: `ANSWER_NO`, `ANSWER_YES` or `ANSWER_WIN` for each object; None for what is not understood.
        reading: what it was taken for, or why it was not understood; for people to read.
    """

    row: NDArray[np.uint8] | None
    reading: str


@cache
def other_things() -> Names[str]:
    """The names of things that are none of the objects."""
    text = (files("lmrl_data.tasks.twenty_questions") / "phrases" / "others.toml").read_text("utf-8")
    listed = {" ".join(name.split()) for names in tomllib.loads(text).values() for name in names.split(",")}
    return Names({"another thing": sorted(listed)}, strict=True)


@lru_cache(maxsize=50_000)
def understand(text: str) -> Answers:
    """The answers to a line of text."""
    guess = names().guess(text)
    if guess is not None:
        return _guessed(guess)
    question = read_question(text)
    if isinstance(question, str):
        return Answers(None, question)
    if other_things().guess(" ".join("." if word == BREAK else word for word in question.words)) is not None:
        return Answers(np.zeros(len(knowledge_table().names), np.uint8), "another thing")
    words = lexicon()
    for spoken in (question.words, question.context):
        row, reading = _read(words, _corrected(words, spoken), question)
        if row is not None:
            break
    if row is None:
        row, reading = _closed_world(words, _corrected(words, question.words)), f"nothing known of: {reading}"
    if row is None:
        return Answers(None, reading)
    return Answers((row >= (YES if question.universal else SOMETIMES)).astype(np.uint8), reading)


def _guessed(guess: int) -> Answers:
    """The answers to a direct guess: no for all others, unless the name is a colour too."""
    table = knowledge_table()
    row = np.zeros(len(table.names), np.uint8)
    colour = table.rows.get(table.names[guess].lower())
    if colour is not None and table.attributes[colour].kind == "colour":
        row[table.values[colour] > NO] = ANSWER_YES
    row[guess] = ANSWER_WIN
    return Answers(row, f"a guess: {table.names[guess]}")


def _corrected(words: Lexicon, spoken: Sequence[str]) -> list[str]:
    """The words with slips mended, and without the "not" of "isn't it …?", which asks whether it is."""
    corrected = [word if word == BREAK else words.speller.correct(word) for word in spoken]
    for place in range(len(corrected) - 2):
        before, negation, after = corrected[place : place + 3]
        opens = place == 0 or corrected[place - 1] not in _SUBJECTS
        if opens and negation == "not" and before in AUXILIARIES and after in _SUBJECTS:
            return corrected[: place + 1] + corrected[place + 2 :]
    return corrected


_SUBJECTS = frozenset("it this that they these those the you i we one people there he she".split())


def _read(words: Lexicon, spoken: list[str], question: Question) -> tuple[Values | None, str]:
    """What holds of each object, by all that the lexicon, the measures and the names find in a question."""
    parts = _measured(spoken)
    for number, part in reversed(list(enumerate(parts))):
        spoken[part.start : part.end] = [f"§{number}"]
    plain, sources = words.plain(spoken)
    placed = [
        Match((place,), Sense(part.name, "number", part.row), _PLACED_VALUE)
        for place, word in enumerate(plain)
        if word.startswith("§")
        for part in (parts[int(word[1:].removesuffix(OBJECT))],)
    ]
    zones = _zones(spoken)
    found = words.attributes(plain)
    said = [match for match in found if _fits(match, zones, sources)]
    chosen = best([*said, *placed])
    if _explained(words, plain, chosen) < _ENOUGH:
        chosen = best([*found, *placed])
    facts = [fact for fact in best(words.facts(plain)) if not _is_part(fact, chosen)]
    explained = _explained(words, plain, chosen + facts)
    total = sum(words.weight(word) for word in plain if word != BREAK and word.removesuffix(OBJECT) not in NEGATIONS)
    meanings = [", ".join(match.sense.name for match in matches) for matches in (chosen, facts)]
    reading = f"{' '.join(plain)}: {'; '.join(meanings)}"
    if not (chosen or facts) or explained < min(_ENOUGH, _SHARE * total):
        return None, reading
    row = _combined(plain, chosen, facts, question)
    if not parts and not NEGATIONS & set(plain) and _explained(words, plain, chosen) < total - _SLACK:
        said_rows = [match.sense.row for match in chosen if match.sense.kind in _MUST]
        allowed = np.minimum.reduce(said_rows) > NO if said_rows else True
        row = np.where(words.related(plain) & allowed, YES, row)
    return row, reading


def _explained(words: Lexicon, plain: Sequence[str], matches: Iterable[Match]) -> float:
    """The weight of the words that matches account for."""
    return sum(words.weight(plain[place]) for place in {place for match in matches for place in match.places})


def _is_part(fact: Match, chosen: Iterable[Match]) -> bool:
    """Whether the words of a fact are only some of those of a phrase that means an attribute: "milk" of "give milk"."""
    return any(set(fact.places) < set(match.places) for match in chosen)


def _measured(spoken: Sequence[str]) -> list[Found]:
    """The parts of a question that compare numbers or speak of the name, in their order."""
    found = letters().find(spoken)
    if not found:
        stems = [word if word == BREAK else stem(word) for word in spoken]
        found = measures().find(stems)
        for part in counts().find(stems):
            if all(part.end <= other.start or part.start >= other.end for other in found):
                found.append(part)
    return sorted(found, key=lambda part: part.start)


def _zones(spoken: Sequence[str]) -> list[str]:
    """For each word whether it stands in what the thing is said to be, to have or to do, or in an addition to that."""
    zones: list[str] = []
    zone = "is"
    for place, word in enumerate(spoken):
        following = spoken[place + 1] if place + 1 < len(spoken) else ""
        if word == BREAK or word in _COPULAS:
            zone = "is"
        elif word in _HAVE:
            zone = "has"
        elif word in AUXILIARIES:
            zone = "does"
        elif (
            word in _PREPOSITIONS
            or (word in _RELATIVES and place > 1)
            or (is_participle(word) and zone == "is" and following in _PREPOSITIONS)
        ):
            zone = "addition"
        zones.append(zone)
    return zones


def _fits(match: Match, zones: Sequence[str], sources: Sequence[int]) -> bool:
    """Whether a single word may mean what it does in the place where it stands."""
    return len(match.places) > 1 or match.sense.kind not in _SAID_OF_IT or zones[sources[match.places[0]]] == "is"


class _Unit:
    """A part of a question that is affirmed or denied as a whole: alternatives, of which each is a list of matches."""

    def __init__(self, affirmed: bool) -> None:
        self.affirmed = affirmed
        self.alternatives: list[list[Match]] = [[]]
        self.facts: list[Match] = []

    def filled(self) -> bool:
        return bool(self.facts) or any(self.alternatives)

    def row(self, level: np.uint8) -> Values:
        """What holds of each object; what is denied holds where the answer to the bare question is no."""
        rows = [_together(matches) for matches in self.alternatives if matches]
        row: Values = np.maximum.reduce([*rows, *(match.sense.row for match in self.facts)])
        return row if self.affirmed else np.where(row >= level, NO, YES)


def _together(matches: Sequence[Match]) -> Values:
    """What holds of each object if all the matches are said of it.

    What it is said to be must all hold. Of the rest, which may be no more than the surroundings of what is asked, half
    must hold, weighed by how much of the question each explains; slight ones beside a good one do not count.
    """
    limit = _BESIDE * max(match.value for match in matches)
    counted = [match for match in matches if match.value >= limit]
    said = [match.sense.row for match in counted if match.sense.kind in _MUST]
    rest = [match for match in counted if match.sense.kind not in _MUST]
    rows = list(said)
    if rest:
        whole = sum(match.value for match in rest)
        shares = [
            np.sum([match.value * (match.sense.row >= level) for match in rest], axis=0) / whole for level in (1, 2)
        ]
        rows.append(sum((share >= _HALF).astype(np.uint8) for share in shares))
    row: Values = np.minimum.reduce(rows)
    return row


def _combined(plain: Sequence[str], chosen: Iterable[Match], facts: Iterable[Match], question: Question) -> Values:
    """The matches of a question joined as its negations, "or" and "but" say."""
    chosen_at = {match.places[0]: match for match in chosen}
    facts_at = {match.places[0]: match for match in facts}
    used = {place for match in (*chosen_at.values(), *facts_at.values()) for place in match.places}
    units = [_Unit(True)]
    for place, word in enumerate(plain):
        unit, root = units[-1], word.removesuffix(OBJECT)
        if root in NEGATIONS and place not in used:
            if question.confirms and root == "not":
                continue
            if unit.filled():
                units.append(_Unit(False))
            else:
                unit.affirmed = not unit.affirmed
        elif word in ("or", "nor"):
            unit.alternatives.append([])
        elif (word == "but" or (word == BREAK and not unit.affirmed)) and unit.filled() and "nor" not in plain:
            units.append(_Unit(True))
        if place in facts_at:
            units[-1].facts.append(facts_at[place])
        if place in chosen_at:
            units[-1].alternatives[-1].append(chosen_at[place])
    level = YES if question.universal else SOMETIMES
    row: Values = np.minimum.reduce([unit.row(level) for unit in units if unit.filled()])
    return row


def _closed_world(words: Lexicon, spoken: Sequence[str]) -> Values | None:
    """No for every object, where a question in plain English asks for what the table says of none."""
    plain, _ = words.plain(spoken)
    content = [word.removesuffix(OBJECT) for word in plain if word != BREAK and words.weight(word) == 1]
    known = sum(word in english() or word in words.known or other_things().find([word]) is not None for word in content)
    if not content or known < _SHARE * len(content):
        return None
    return np.full(len(knowledge_table().names), NO)
