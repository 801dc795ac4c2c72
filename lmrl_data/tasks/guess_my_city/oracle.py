"""The oracle that knows: it answers from the cities' tables, in character, and never names the city or its country."""

import string
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.cities import City
from lmrl_data.tasks.guess_my_city.phrasing import clauses, line, sentence, tell
from lmrl_data.tasks.guess_my_city.understand import NOTHING, Query, understand
from lmrl_data.text import normalise

# What answers may be written with: the letters of all languages in Latin script, and the usual marks.
_LATIN = "".join(chr(code) for code in (*range(0x00A0, 0x0250), *range(0x1E00, 0x1F00)))
CHARACTERS = string.printable + _LATIN + "‘’“”–—…‑ʻʼ′″€"

# Parts of facets that have phrases of their own.
FACET_OF = {"snow": "temperature"}
# What is told along with a plain yes or no, where the question all but asks for it: a facet, or something less exact.
_TOLD = {
    facet: facet for facet in "continent capital coastal snow currency script drives_on olympics nickname".split()
} | {"temperature": "warmth", "rain": "wetness", "latitude": "hemisphere"}
# What would not fit after a plain yes or no.
_NOT_TOLD = frozenset(["name", "near", "region"])


class Reply(NamedTuple):
    """An answer.

    Attributes:
        text: what the oracle says.
        answer: ``"win"`` or ``"lose"`` to a guess, ``"yes"``, ``"no"``, ``"open"`` for a fact that was asked for, or
            ``"none"`` where the question was not understood.
        facet: what the question was about; ``"none"`` where it was not understood.
        invalid: why the question cannot be answered; None where it was.
    """

    text: str
    answer: str
    facet: str
    invalid: str | None = None


class KnowledgeOracle:
    """Answers from the tables: a pure function of the question's words, the city and the seed."""

    # Goes up when an answer changes: records name it.
    name = "knowledge-1"
    concurrency = 1

    def reply(self, question: str, city: City, seed: int, spoken: list[str]) -> Reply:
        """The answer to a question.

        Args:
            question: any text.
            city: the hidden city.
            seed: of the episode: it picks the wording.
            spoken: the episode's questions and answers so far, in turns; the tables know no more of what was said.
        """
        said = normalise(question)
        query = understand(said)
        reply = by_rule(query, said, city, seed) or _from_table(query, said, city, seed)
        if query.sure or reply.answer == "none":
            return reply
        return reply._replace(text=line("unsure", seed).format(reply.text[0].lower() + reply.text[1:]))


def by_rule(query: Query, said: str, city: City, seed: int) -> Reply | None:
    """The answer to a guess, and to a line that asks for nothing: the rules of the game, whichever oracle answers.

    Args:
        query: what was understood.
        said: the question, normalised.
        city: the hidden city.
        seed: of the episode.

    Returns:
        None where it is the oracle's turn.
    """
    if query.kind == "guess":
        if query.guess == city.name:
            return Reply(line("win", seed), "win", "guess")
        told = "unclear_guess" if query.aspect == "unclear" else "wrong_guess"
        return Reply(line(told, seed, about=query.guess or said), "lose", "guess")
    if query.kind == "open" and query.aspect == "name":
        return Reply(line("refuse_name", seed), "open", "name")
    if not any(character.isalpha() for character in said):
        return Reply(line("nothing_said", seed), "none", NOTHING, "nothing was said")
    return None


def _from_table(query: Query, said: str, city: City, seed: int) -> Reply:
    if query.kind == "nothing":
        told = line("not_understood", seed, about=said)
        return Reply(told, "none", NOTHING, "the question was not understood")
    facet, answer = _fact_and_answer(query, city)
    told = tell(facet, city, seed, about=query.facet)
    return Reply(_spoken(answer, told), answer, FACET_OF.get(query.facet, query.facet))


def _spoken(answer: str, told: str) -> str:
    """What is said: a fact, after "yes" or "no" where that was asked; the bare word where there is nothing to tell."""
    return sentence(told if answer == "open" else f"{answer}, {told}" if told else answer)


def _fact_and_answer(query: Query, city: City) -> tuple[str, str]:
    """Which phrases are said to a question, and the kind of answer that they give."""
    if query.kind == "open":
        return query.aspect or query.facet, "open"
    answer = "yes" if city.name in query.cities else "no"
    if query.tells and query.facet not in _NOT_TOLD:
        return query.facet, answer
    return _TOLD.get(query.facet, answer), answer


def possible_replies(said: str, city: City) -> list[str]:
    """Every text that the oracle may answer a question about a city with, under whatever seed.

    Args:
        said: a normalised question that is asked for a fact or for yes or no, in words that are all known.
        city: the city.
    """
    query = understand(said)
    if query.kind not in ("open", "test") or not query.sure:
        return []
    facet, answer = _fact_and_answer(query, city)
    return [_spoken(answer, clause) for clause in clauses(facet, city.name)]
