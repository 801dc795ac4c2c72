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
# What the model is told, hears and says fits into a context of 1,024 tokens, whatever the city: of the conversation it
# hears the end, and of a line the beginning, in characters.
_HEARD = 280
_LONGEST_LINE = 120
_STREAM = stream_of("guess-my-city/model-oracle")
_TEMPERATURE = 0.7
_CHARACTERS = frozenset(CHARACTERS)

_ROLE = (
    "The user asks questions to guess your city. Answer truthfully, as somebody who lives there, in one or two short "
    "sentences, yes/no questions with Yes or No first. Use these facts, else what you know. Never name the city, its "
    "country, people or language, not even inside another word. Never say that the user has won.\n\n"
    "Your city, not to be named: {name}, {country}\n"
)
_AGAIN = (
    "\n\nYour last answer was too long or had a forbidden word in it, such as {forbidden}. Answer in one short "
    "sentence."
)
# All that the table holds; the numbers, of which there are many, in few words.
_FACTS = """\
place: {region}, {continent}, at {latitude}, {longitude}, {elevation_m} m, UTC{utc_offset:+g}
terrain: {terrain}
water: {water}, coastal: {coastal}
climate: {climate}, January {january_c} °C, July {july_c} °C, rain {rain_mm} mm, snow {snow}
founded: {founded}, {population_millions} million people
capital of: {capital}
government: {government}
neighbours: {neighbours}
near: {near}; flag: {flag}
language: {language}; {script}
religion: {religion}; currency: {currency}
industry: {industry}
history: {history}
people: {people}
landmarks: {landmarks}
architecture: {architecture}
nature: {nature}
food: {food}
drink: {drink}
arts: {arts}
music: {music}
sports: {sports}, Olympics: {olympics}
festival: {festival}
university: {university}
transport: {transport}, driving on the {drives_on}
shopping: {shopping}
nightlife: {nightlife}
nickname: {nickname}
fun fact: {fun_fact}"""


class ModelOracle:
    """Asks a language model for every answer but those of the rules.

    The model is told the facts at each question, but hears no more than the end of the conversation.

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

        told = _ROLE.format(name=city.name, country=city.country) + facts_of(city)
        if again:
            told += _AGAIN.format(forbidden=", ".join([city.name, city.country, *city.demonyms[:2]]))
        messages: list[ChatMessage] = [{"role": "system", "content": told}]
        for place, text in enumerate(_heard([] if again else spoken, question)):
            messages.append({"role": "assistant" if place % 2 else "user", "content": text})
        try:
            return self._model.reply(
                messages, max_tokens=MAX_TOKENS, temperature=_TEMPERATURE, seed=mix(seed, _STREAM) >> 1
            )
        except EmptyReply:
            return ""


def _heard(spoken: list[str], question: str) -> list[str]:
    """The end of a conversation, from a question to a question."""
    said = [" ".join(text.split())[:_LONGEST_LINE] for text in (*spoken, question)]
    first = len(said) - 1
    while first and sum(map(len, said[first - 2 :])) <= _HEARD:
        first -= 2
    return said[first:]


def facts_of(city: City) -> str:
    """A city's table as lines of a prompt."""
    values = {field.name: getattr(city, field.name) for field in fields(city)}
    said = {
        name: ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else value
        for name, value in values.items()
    }
    return _FACTS.format(**said)


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
