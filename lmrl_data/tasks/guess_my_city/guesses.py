"""Direct guesses: whether a question names a city as the answer, and which.

A name wins only where the sentence puts it forward as the city: "Are you from Bombay?", "It has to be Rome, hasn't
it?", "Kyiv". It does not where it is compared, denied, one of several, near something, or part of another word or name.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.grammar import Kind, Sentence
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
    r"(?:^|\b(?:is|are|was|be|been|being|must|it|its|this|that|city|town|place|municipality|name|called|named|"
    r"known as|styled|spelt|(?:are|is|be|am|you|i|we|it)(?: \w+){0,2} from|describing|comes? from|hail(?:s|"
    r"ing)? from|born in|based in|located in|situated in|liv(?:e|es|ing) in|resid(?:e|es|ing) in|stationed in|"
    r"(?:are|is|be) (?:you|it|we|this|that|city|mystery city|secret city)(?: \w+)? (?:in|at)|(?:you|it|we|"
    r"this) (?:are|is|must be|have to be)(?: (?!midday|midnight|noon|now|time)\w+)? in|am i in|city of|town of|"
    r"think(?:ing)? of|by any means|^my (?:\w+ ){1,3}(?:says?|writes?|goes|points?|tells?|leans?|picks?|votes?|"
    r"chooses?|names?|reads?|settles?)(?: me| to| at| on| for| towards| with| that it is)*|this has|lock(?:ing|"
    r"ed)? in|talk(?:ing)? about|speak(?:ing)? of|how about|what about|go(?:ing)? (?:with|for)|votes? (?:for|on)|"
    r"voting for|(?:money|bet|bets|betting) (?:is |are )?on|guess|guesses|guessing|say|says|think|thought|believe|"
    r"reckon|answer|mean|so|sure|either|both|maybe|perhaps|possibly|surely|definitely|probably|certainly|obviously|"
    r"clearly|suppose|supposing|welcome to|try|choose|pick|picking|trying|submit|(?:smell|sound|seem|look|"
    r"feel)s? (?:a lot |lot |very much |much |rather |just |to me )?like|then|said|hear|(?:scream|shout|suggest|"
    r"indicate|spell|point|hint|lead|bring|add|smack|reek|tell|whisper|betray)s?(?: me| us| up)?(?: to| at| of)?|"
    r"or rather|actually|alias|aka|formerly|today|now|but|wait|sorry|i mean)|^(?:would|could|might|can|will))$"
)
# Ends of such a lead that make the name something else than the answer.
_NO_LEAD = re.compile(
    r"\b(?:close|next|similar|compared|compare|nearer|closer|equal|relative|identical|go|going|come|went|travel|fly|"
    r"way|flights?|drive|trip|connected|linked|related|respect|route|road|train|far|near|contrast|prefer|belong|"
    r"belongs?|sister|twinned|subject|capital|part|suburb|west|east|north|south|outside|ahead|size|center|mayor|"
    r"people|king|queen|university|bishop|river|time|weather|as|like|than|same|not|never|nor|neither|except|besides|"
    r"without|before|after|between|home|similar|different|far|away|miles|kilometers|km|hours?|imported|"
    r"flight) (?:to|from|of|in|as|so|is|be|called|named|city)$|\b(?:as|than|not|never|nor|except|besides|without|"
    r"unlike|and|or)$"
)
# What may follow it in its clause.
_TRAIL = re.compile(
    r"^(?:|(?:obv|def|lol|right|then|today|now|maybe|perhaps|possibly|correct|surely|obviously|certainly|definitely|"
    r"probably|baby|itself|city|proper|again|finally|of course|by any chance|by chance|this time|instead|here|there|"
    r"dear|to me|to us|please|town|haha|is it|is it not|is not it|it is|i guess|i think|i bet|i say|i suppose|"
    r"my guess|is my guess|is my answer|is my final answer|final answer|be(?: (?:it|right|correct|the (?:one|city|"
    r"answer)|your (?:city|home|town)))?|is the answer|is the city|is the one|your city|your home|the city|you|me|"
    r"as final answer|as the answer|as my answer|for sure|100|tho|though|or not|or what|is that it|is that right)+|"
    r"(?:is|it is|would be|will be|must be|has to be|remains|gets|seems|feels|fits)(?: (?:my|the|a|your|most|very|"
    r"pretty|best|final|next|first|last|safe|good|obvious|only|right|educated|wild))* (?:guess|answer|bet|pick|"
    r"choice|vote|right|correct|likely|one|city|solution|winner|candidate|bill)|(?:fits|comes to mind|"
    r"springs to mind|it must be|rings a bell)|written all over (?:it|this|that)|(?:only|where|that|which|who|"
    r"home of|the home of|the city|the capital|capital|formerly|famous for|known|once|of the|with|because|since|"
    r"as in|in|of|like in|also|you are|we are|i am)\b.*)$"
)
# Where other cities of the same names lie, at the end of a line: "Moscow, Idaho".
_STATES = re.compile(
    r"(?:^|\b)(?:alabama|arizona|arkansas|colorado|connecticut|delaware|georgia|idaho|indiana|iowa|kansas|kentucky|"
    r"louisiana|maine|minnesota|mississippi|missouri|montana|nebraska|ohio|oklahoma|oregon|pennsylvania|tennessee|"
    r"utah|vermont|virginia|wisconsin|new jersey|new hampshire|new mexico|(?:north|south) (?:carolina|dakota)|"
    r"nova scotia|new brunswick|manitoba|saskatchewan)$"
)
# So many words may stand before a name that a possessive goes with: "Tagore's Calcutta".
_SHORT_LEAD = 3
_BEFORE_NAMES = frozenset("the a an your my our dear old good lovely beautiful great sunny fair".split())
# Questions for something else than the city, and those that only sound so.
_ASKING = re.compile(r"^(?:\w+ )?(?:what|which|how|when|where|why|who)\b")
_SUGGESTING = re.compile(r"\b(?:how|what) (?:about|if)\b|\b(?:know|guess) (?:what|where|which)\b")
_COMPARED = re.compile(
    r"\b(?:than|as \w+ as|compared|comparison|closer|nearer|similar|same(?! as (?:me|us|my|mine))|ahead|behind|"
    r"difference|versus|vs)\b"
)
# A question for a name of the past: "Was it once called Saigon?".
_ONCE = re.compile(
    r"^(?:was|has|had|did) (?:it|(?:your|this|the|that) \w+)(?: (?:ever|once|formerly|previously|originally|earlier|"
    r"used to|use to|been|be))* (?:called|named|known as|styled)\b"
)
_DENIED = frozenset("not no never neither nor".split())
_THAT_ONE = re.compile(
    r"^(?:(?:is|was) (?:that|this|it) (?:the one|it|you|yours?(?: \w+)?|where you (?:are|live)|the (?:city|place|"
    r"answer))|are you|is it you|are you it)$"
)
_BUT = re.compile(r"\b(?:not|no|none|nothing|nowhere|never|neither)\b(?: \w+){0,3} (?:but|except|other than|if not)$")
_CORRECTED = re.compile(
    r"\bif not\b|\bnot \w+(?: \w+)? (?:then|but|rather)\b|"
    r"\b(?:no wait|wait|no sorry|sorry|i mean|or rather|scratch that|correction)\b"
)
# Leads after which anything is meant as a name, known or not.
_NAMING = re.compile(
    r"(?:my|the|our|final|first|next|last) (?:guess|answer|bet|money) "
    r"(?:is|would be|goes|has to be)(?: on| to)? (\w+)$|"
    r"^i (?:guess|conjecture that it is|submit that it is|bet on|vote for|say it is) (\w+)$"
)

# Words that say nothing but that the city is the answer.
_COLOURLESS = frozenset(
    """it is are you your yours from in the a of city town place home hometown where live lives living call called name
    named then so guess guessing answer final surely must be have has do to think believe bet reckon say swear mean
    describing describe this that these here there me i my us we am writing calling speaking talking texting typing
    messaging chatting broadcasting sitting staying sit stay dwell dwells dwelling reside residing based born raised
    grew grow up brought settled stuck work working only just definitely certainly probably maybe perhaps possibly
    actually really indeed again now today well oh o ah yes right correct could would might may can should will one by
    any chance return print submit enter put down write lock tick circle choose pick welcome hello old good great dear
    lovely beautiful sunny glorious mighty famous big own very got obviously clearly what how none other all along
    resident citizen native local lock locking happen happens happening someone somebody person folks best first next
    last second wild lucky educated proud""".split()
)
# What a colourless beginning must not end with.
_TOWARDS = frozenset("to by with about at for on up down i me us we and one know what how all".split())
# A speaker who says where they are themselves, or what they have or know.
_MYSELF = re.compile(
    r"^(?:i (?:am(?! (?:saying|guessing|sure|going|betting|thinking))|was|live|stay|sit|work|come|grew|have)|"
    r"my (?!guess|answer|final|bet|money|vote|choice|pick|first|last|next|best))\b"
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
    if _COMPARED.search(whole) or _ONCE.search(whole):
        return None
    if len({one.value.name for _, one in named}) > 1 and re.search(r"\bor\b", whole):
        return Guess(None, clear=False)
    corrected = bool(_CORRECTED.search(whole))
    if corrected:
        named = named[-1:]
    asserted = corrected or (sentence.kind is Kind.YES_NO and not sentence.denied)
    put = [
        one.value
        for number, one in named
        if _is_put_forward(sentence.clauses[number], one, asserted)
        or _says_nothing_else(sentence.clauses[number], places[number])
    ]
    if not put:
        if any(_THAT_ONE.match(" ".join(clause)) for clause in sentence.clauses):
            put = [one.value for _, one in named]
        else:
            return None
    names = {place.name for place in put}
    if len(names) > 1:
        return Guess(None, clear=False)
    city = next(iter(put[-1].cities), None)
    denied = any(_DENIED & set(_without_but(sentence.clauses[number][: one.start])) for number, one in named)
    denied = denied and not asserted and not _asks_not(sentence)
    if city is not None and lies_elsewhere(city, sentence, places):
        city = None
    return Guess(None if denied else city, clear=not denied)


def _without_but(before: Sequence[str]) -> list[str]:
    """The words before a name without a denial that it is the exception to: "it is nothing but"."""
    return _BUT.sub("", " ".join(before)).split()


def _says_nothing_else(clause: Sequence[str], found: Sequence[Found[Place]]) -> bool:
    """Whether a clause has, besides the names of a place, only words that put it forward: "you write from Bombay"."""
    if _MYSELF.search(" ".join(clause)):
        return False
    cities = [one for one in found if one.value.city]
    named = {place for one in found for place in range(one.start, one.end)}
    first = min(one.start for one in cities)
    lead = set(clause[max(0, first - 1) : first])
    possessive = first > 1 and clause[first - 1] == "'s" and first <= _SHORT_LEAD
    rest = {word for place, word in enumerate(clause) if place not in named and not (possessive and place < first)}
    return rest <= _COLOURLESS and not lead & _TOWARDS


def lies_elsewhere(city: str, sentence: Sentence, places: Sequence[Sequence[Found[Place]]]) -> bool:
    """Whether the country that is named along with a city is not its own: "London, Canada"."""
    countries = [one.value for row in places for one in row if not one.value.city and one.value.points]
    if any(city not in country.cities for country in countries):
        return True
    return bool(_STATES.search(" / ".join(" ".join(clause) for clause in sentence.clauses)))


def _asks_not(sentence: Sentence) -> bool:
    """Whether "not" only makes the question more urgent: "isn't it Rome?"."""
    head = sentence.clauses[sentence.main][:4]
    return False if "not" not in head else head[0] in ("is", "are", "was") and head.index("not") == 1


def _is_put_forward(clause: Sequence[str], one: Found[Place], asserted: bool) -> bool:
    left_out = _BEFORE_NAMES | (_DENIED if asserted else frozenset())  # "it isn't Rome, is it?" asks whether it is
    before = " ".join(word for word in clause[: one.start] if word not in left_out)
    after = " ".join(word for word in clause[one.end :])
    if not _TRAIL.match(after) or (_ASKING.search(before) and not _SUGGESTING.search(before)):
        return False
    return bool(_LEAD.search(before)) and not _NO_LEAD.search(before)
