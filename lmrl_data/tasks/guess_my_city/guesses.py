"""Direct guesses: whether a question names a city as the answer, and which.

A name wins only where the sentence puts it forward as the city: "Are you from Bombay?", "It has to be Rome, hasn't
it?", "Kyiv". It does not where it is compared, denied, one of several, near something, or part of another word or name.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.grammar import Sentence
from lmrl_data.tasks.guess_my_city.patterns import Found
from lmrl_data.tasks.guess_my_city.world import Place


class Guess(NamedTuple):
    """A guess.

    Attributes:
        city: the hidden city that is named; None for another one.
        clear: False where several cities are named, or one is denied: no guess that could win.
    """

    city: str | None
    clear: bool = True


# What a name put forward as the answer stands after, without articles.
_LEAD = re.compile(
    r"(?:^|\b(?:is|are|was|be|been|being|must|it|its|this|that|city|town|place|municipality|name|called|named|known as|"
    r"styled|spelt|(?:are|is|be|am|you|i|we|it)(?: \w+){0,2} from|comes? from|hail(?:s|ing)? from|born in|based in|"
    r"located in|situated in|liv(?:e|es|ing) in|resid(?:e|es|ing) in|stationed in|"
    r"(?:are|is|be) (?:you|it|we|this|that|city|mystery city|secret city)(?: \w+)? (?:in|at)|"
    r"(?:you|it|we|this) (?:are|is|must be|have to be)(?: \w+)? in|am i in|city of|town of|think(?:ing)? of|"
    r"talk(?:ing)? about|speak(?:ing)? of|how about|what about|go(?:ing)? (?:with|for)|votes? (?:for|on)|voting for|"
    r"(?:money|bet|bets|betting) (?:is |are )?on|guess|guesses|guessing|say|says|think|thought|believe|reckon|answer|"
    r"mean|so|sure|either|both|maybe|perhaps|possibly|surely|definitely|probably|certainly|obviously|clearly|suppose|supposing|"
    r"welcome to|try|choose|pick|picking|trying|submit|smells? like|sounds? like|seems? like|looks? like|then|"
    r"or rather|actually|alias|aka|formerly|today|now))$"
)
# Ends of such a lead that make the name something else than the answer.
_NO_LEAD = re.compile(
    r"\b(?:close|next|similar|compared|compare|nearer|closer|equal|relative|identical|go|going|come|went|travel|fly|way|"
    r"flights?|drive|trip|connected|linked|related|respect|route|road|train|far|near|contrast|prefer|belong|belongs?|"
    r"sister|twinned|subject|capital|part|suburb|west|east|north|south|outside|ahead|size|center|mayor|people|king|"
    r"queen|university|bishop|river|time|weather|as|like|than|same|not|never|nor|neither|except|besides|without|before|"
    r"after|between|home|similar|different|far|away|miles|kilometers|km|hours?|imported|flight) "
    r"(?:to|from|of|in|as|so|is|be|called|named|city)$|\b(?:as|than|not|never|nor|except|besides|without|unlike|and|or)$"
)
# What may follow it in its clause.
_TRAIL = re.compile(
    r"^(?:|(?:obv|def|lol|right|then|today|now|maybe|perhaps|possibly|correct|surely|obviously|certainly|definitely|probably|baby|"
    r"itself|city|proper|again|finally|of course|by any chance|by chance|this time|instead|here|there|dear|please|town|"
    r"haha|is it|is it not|is not it|it is|i guess|i think|i bet|i say|i suppose|my guess|is my guess|is my answer|"
    r"is my final answer|final answer|is the answer|is the city|is the one|your city|your home|the city|you|me|"
    r"as final answer|as the answer|as my answer|for sure|100|tho|though|or not|or what|is that it|is that right)+|"
    r"(?:where|that|which|who|home of|the home of|the city|the capital|capital|formerly|famous for|known|once|of the|"
    r"with|because|since|as in|in|of|like in|also|you are|we are|i am)\b.*)$"
)
_BEFORE_NAMES = frozenset("the a an your my our dear old good lovely beautiful great sunny fair".split())
# Questions for something else than the city, and those that only sound so.
_ASKING = re.compile(r"^(?:\w+ )?(?:what|which|how|when|where|why|who)\b")
_SUGGESTING = re.compile(r"\b(?:how|what) (?:about|if)\b|\b(?:know|guess) (?:what|where|which)\b")
_COMPARED = re.compile(
    r"\b(?:than|as \w+ as|compared|comparison|closer|nearer|similar|same|ahead|behind|difference|versus|vs)\b"
)
_DENIED = frozenset("not no never neither nor".split())
_THAT_ONE = re.compile(
    r"^(?:is|was) (?:that|this|it) (?:the one|it|you|yours|where you (?:are|live)|the (?:city|place|answer))$"
)
# Leads after which anything is meant as a name, known or not.
_NAMING = re.compile(
    r"(?:my|the|our|final|first|next|last) (?:guess|answer|bet|money) "
    r"(?:is|would be|goes|has to be)(?: on| to)? (\w+)$|"
    r"^i (?:guess|conjecture that it is|submit that it is|bet on|vote for|say it is) (\w+)$"
)


def find_guess(sentence: Sentence, places: Sequence[Sequence[Found[Place]]]) -> Guess | None:
    """The guess that a question makes; None where it makes none.

    Args:
        sentence: the question.
        places: the places that each of its clauses names.
    """
    named = [(number, one) for number, row in enumerate(places) for one in row if one.value.city]
    if not named:
        return Guess(None) if any(_NAMING.search(" ".join(clause)) for clause in sentence.clauses) else None
    whole = " ".join(word for clause in sentence.clauses for word in clause)
    if _COMPARED.search(whole):
        return None
    if len({one.value.name for _, one in named}) > 1 and re.search(r"\bor\b", whole):
        return Guess(None, clear=False)
    put = [one.value for number, one in named if _is_put_forward(sentence.clauses[number], one)]
    if not put:
        if any(_THAT_ONE.match(" ".join(clause)) for clause in sentence.clauses):
            put = [one.value for _, one in named]
        else:
            return None
    names = {place.name for place in put}
    if len(names) > 1:
        return Guess(None, clear=False)
    city = next(iter(put[-1].cities), None)
    denied = any(_DENIED & set(sentence.clauses[number][: one.start]) for number, one in named) and not _asks_not(
        sentence
    )
    return Guess(None if denied else city, clear=not denied)


def _asks_not(sentence: Sentence) -> bool:
    """Whether "not" only makes the question more urgent: "isn't it Rome?"."""
    head = sentence.clauses[sentence.main][:4]
    return False if "not" not in head else head[0] in ("is", "are", "was") and head.index("not") == 1


def _is_put_forward(clause: Sequence[str], one: Found[Place]) -> bool:
    before = " ".join(word for word in clause[: one.start] if word not in _BEFORE_NAMES)
    after = " ".join(word for word in clause[one.end :])
    if not _TRAIL.match(after) or (_ASKING.search(before) and not _SUGGESTING.search(before)):
        return False
    return bool(_LEAD.search(before)) and not _NO_LEAD.search(before)
