"""A question with everything that the tables find in it: facts, places, and how strongly it points to each facet."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TypeVar

from lmrl_data.language.spelling import Speller
from lmrl_data.language.stems import english, stem
from lmrl_data.language.words import words
from lmrl_data.tasks.guess_my_city.facts import Fact, facts
from lmrl_data.tasks.guess_my_city.grammar import Sentence, read
from lmrl_data.tasks.guess_my_city.mentions import known_words
from lmrl_data.tasks.guess_my_city.patterns import Found, Phrase, Phrases, longest, parse_name, parse_phrase, root
from lmrl_data.tasks.guess_my_city.spoken import OPENERS, Clause
from lmrl_data.tasks.guess_my_city.topics import topic_scores, topics
from lmrl_data.tasks.guess_my_city.world import Place, place_names

T = TypeVar("T")

# The commonest words say nothing special.
_FREQUENT = 700
# Slips are not corrected towards these.
FUNCTION_WORDS = 250


@dataclass(frozen=True)
class Reading:
    """A question and what was found in it.

    Attributes:
        sentence: the question.
        stems: of the words of each clause.
        facts: what each clause mentions.
        places: what each clause names.
        scores: how strongly the question points to each facet.
    """

    sentence: Sentence
    stems: tuple[Clause, ...]
    facts: tuple[tuple[Found[Fact], ...], ...]
    places: tuple[tuple[Found[Place], ...], ...]
    scores: dict[str, float]

    @property
    def main_words(self) -> Clause:
        """The words of the clause that asks."""
        return self.sentence.clauses[self.sentence.main] if self.sentence.clauses else ()

    @property
    def all_words(self) -> Clause:
        """The words of all clauses."""
        return tuple(chain.from_iterable(self.sentence.clauses))

    @property
    def all_stems(self) -> Clause:
        """Their stems."""
        return tuple(chain.from_iterable(self.stems))


def read_text(text: str) -> Reading:
    """Take a question apart and look everything up that it mentions."""
    sentence = read(text, mend)
    stems = tuple(tuple(map(root, clause)) for clause in sentence.clauses)
    found = [longest(_phrases().find(row)) for row in stems]
    return Reading(
        sentence,
        stems,
        tuple(tuple(_of_kind(row, Fact)) for row in found),
        tuple(tuple(_of_kind(row, Place)) for row in found),
        topic_scores(stems, sentence.main),
    )


def _of_kind(row: Iterable[Found[Fact | Place]], kind: type[T]) -> Iterator[Found[T]]:
    """What was found and is of a kind."""
    for one in row:
        if isinstance(one.value, kind):
            yield Found(one.start, one.end, one.value, one.weight)


@cache
def _phrases() -> Phrases[Fact | Place]:
    """Everything that a yes/no question may mention."""
    meant: list[tuple[Phrase, Fact | Place]] = [(parse_phrase(phrase), fact) for phrase, fact in facts()]
    return Phrases([*meant, *((parse_name(name), place) for name, place in place_names())])


def mend(word: str) -> str:
    """The word that was meant: itself where it is English, stands in a table, or is said to anybody ("bro")."""
    return word if word in OPENERS or word in known_words() else speller().correct(word)


def is_known(word: str) -> bool:
    """Whether a word is English or stands in a table."""
    return word in known_words() or speller().knows(word)


@cache
def speller() -> Speller:
    """Corrects slips towards the words that questions are understood by."""
    known = {word for text in _table_texts() for word in words(text)}
    ranks = english()
    return Speller(frozenset(w for w in known if w.isalpha() and ranks.get(w, FUNCTION_WORDS) >= FUNCTION_WORDS))


def _table_texts() -> Iterable[str]:
    for phrase, _ in chain(facts(), topics()):
        yield phrase.replace("|", " ").replace("..", " ")
    for name, _ in place_names():
        yield name


@cache
def frequent_stems(limit: int = _FREQUENT) -> frozenset[str]:
    """The stems of so many of the commonest English words."""
    return frozenset(stem(word) for word, rank in english().items() if rank < limit)
