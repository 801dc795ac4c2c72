"""An oracle that is a language model: it is told the city's facts, and what it says is watched over."""

import re
import weakref
from dataclasses import fields
from typing import TYPE_CHECKING

from lmrl_data.seeding import mix, stream_of
from lmrl_data.tasks.guess_my_city.cities import City
from lmrl_data.tasks.guess_my_city.oracle import CHARACTERS, Reply, by_rule
from lmrl_data.tasks.guess_my_city.phrasing import line
from lmrl_data.tasks.guess_my_city.understand import understand
from lmrl_data.text import normalise

if TYPE_CHECKING:
    from lmrl_data.llm import ChatMessage, ChatModel

MAX_TOKENS = 100
# A longer answer rambles.
MAX_WORDS = 60
MAX_CHARACTERS = 450
_STREAM = stream_of("guess-my-city/model-oracle")
_TEMPERATURE = 0.7
_CHARACTERS = frozenset(CHARACTERS)

_ROLE = (
    "We play a game. You live in the city described below, and the user asks questions to find out which city it is. "
    "Answer truthfully and in character, as somebody who lives there, in one or two short sentences. Answer yes/no "
    "questions with Yes or No first. Use the facts below; where they say nothing, use what you know of the city. Never "
    "say the name of the city, of its country, of its people or its language, nor any word that contains one of them. "
    "Never say that the user has won.\n\nThe city, which you must not name: {name}, {country}.\n{facts}"
)
_AGAIN = (
    "\n\nYour last answer to this question could not be used: it named what must not be named, or was too long. Answer "
    "again in one short sentence. These words are forbidden: {forbidden}."
)


class ModelOracle:
    """Asks a language model for every answer but those of the rules.

    Attributes:
        name: of the model, as records name it.
        concurrency: how many episodes can usefully ask at once.
    """

    def __init__(self, model: "ChatModel") -> None:
        self.name = model.name
        self.concurrency = model.concurrency
        self._model = model
        weakref.finalize(self, model.close)

    def reply(self, question: str, city: City, seed: int, spoken: list[str]) -> Reply:
        """The answer to a question; see `lmrl_data.tasks.guess_my_city.oracle.KnowledgeOracle.reply`.

        An answer that gives the city away or rambles is asked for once more, and then replaced by a refusal in
        character and marked.

        Raises:
            LmrlError: the model cannot be asked.
        """
        said = normalise(question)
        query = understand(said)
        ruled = by_rule(query, said, city, seed)
        if ruled is not None:
            return ruled
        for attempt in range(2):
            text = _tidy(self._ask(question, city, mix(seed, len(spoken)), spoken, again=attempt > 0))
            if is_usable(text, city):
                answer = next((word for word in ("yes", "no") if re.match(rf"{word}\b", text, re.IGNORECASE)), "open")
                return Reply(text, answer, query.facet)
        return Reply(line("not_understood", seed), "none", "none", "the oracle had no answer that may be given")

    def _ask(self, question: str, city: City, seed: int, spoken: list[str], again: bool) -> str:
        from lmrl_data.llm import EmptyReply

        told = _ROLE.format(name=city.name, country=city.country, facts=facts_of(city))
        if again:
            told += _AGAIN.format(forbidden=", ".join([*city.names, *city.country_names, *city.demonyms]))
        messages: list[ChatMessage] = [{"role": "system", "content": told}]
        for place, text in enumerate([*spoken, question]):
            messages.append({"role": "assistant" if place % 2 else "user", "content": text})
        try:
            return self._model.reply(
                messages, max_tokens=MAX_TOKENS, temperature=_TEMPERATURE, seed=mix(seed, _STREAM) >> 1
            )
        except EmptyReply:
            return ""


def facts_of(city: City) -> str:
    """A city's table as lines of a prompt."""
    rows = []
    for field in fields(city):
        if field.name not in ("name", "aliases", "country", "country_names", "demonyms"):
            found = getattr(city, field.name)
            said = ", ".join(map(str, found)) or "none" if isinstance(found, tuple) else found
            rows.append(f"{field.name.replace('_', ' ')}: {said}")
    return "\n".join(rows)


def is_usable(text: str, city: City) -> bool:
    """Whether an answer may be given: it says something, is short and does not give the city away."""
    return (
        any(character.isalpha() for character in text)
        and len(text) <= MAX_CHARACTERS
        and len(text.split()) <= MAX_WORDS
        and city.leaks.find(text) is None
    )


def _tidy(text: str) -> str:
    """An answer in one line, without quotation marks around it, and without characters such as emoji."""
    kept = "".join(character for character in text if character in _CHARACTERS)
    return " ".join(kept.split()).strip("\"'“” ")
