"""What kind of question a text is: open or yes/no, a choice or a statement, and whether it is denied."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from lmrl_data.language.words import clauses

Clause = tuple[str, ...]


class Kind(Enum):
    """What is asked for."""

    OPEN = "open"
    YES_NO = "yes/no"
    CHOICE = "choice"
    FRAGMENT = "fragment"


@dataclass(frozen=True)
class Sentence:
    """A question in its parts.

    Attributes:
        kind: what is asked for; a fragment may be either an open question or one for yes or no.
        clauses: the words of its clauses, without greetings and tags.
        main: the number of the clause that asks.
        denied: whether yes means that what is mentioned does not hold.
        about_me: whether it is a statement of the speaker about themselves, and asks for nothing.
    """

    kind: Kind
    clauses: tuple[Clause, ...]
    main: int
    denied: bool
    about_me: bool


# Short forms of messages that are no English words.
_SHORT_FORMS = {
    "r": "are",
    "n": "and",
    "rn": "now",
    "wats": "what is",
    "wuts": "what is",
    "wich": "which",
    "wen": "when",
    "wher": "where",
    "hw": "how",
    "rite": "right",
    "nite": "night",
    "yr": "year",
    "yrs": "years",
    "peeps": "people",
    "fav": "favourite",
    "fave": "favourite",
    "cld": "cold",
    "temp": "temperature",
    "temps": "temperatures",
    "govt": "government",
    "mtns": "mountains",
    "alt": "altitude",
    "mins": "minutes",
    "hrs": "hours",
} | dict.fromkeys("fr ngl tbh lol haha hahaha jk hmm um uh lmao omg tf".split(), "")

_WH = frozenset("what which who whom whose where whereabouts when how why".split())
_AUX = frozenset("is are was were am do does did has have had can could would will shall should may might must".split())
_ASKING = frozenset(
    "tell describe name give list state explain sketch compare enumerate show share mention talk drop characterize "
    "characterise outline summarize summarise recommend suggest report specify identify indicate present provide "
    "paint elaborate recount narrate detail discuss introduce spill fill guide teach point help surprise".split()
)
_OPENERS = frozenset(
    "so and ok okay well oh ooh ah now please hey hi hello um uh but then right alright also just yes thanks thank "
    "dear wait like good great cool sir madam kindly again next first finally anyway listen look nice perfect "
    "sheesh aight man dude bro mate love darling honey friend hmm gosh goodness still".split()
)
# A question that is put into another one.
_INDIRECT = re.compile(
    r"^(?:(?:can|could|would|will|may|might) (?:you|i|we) (?:please |kindly |perhaps |maybe )*"
    r"(?:tell|inform|ask|say|let|know|share|confirm|explain|find out|remind)|do you (?:know|happen to know)|"
    r"(?:i )?(?:wonder|am wondering|am curious|was wondering|would like to know|want to know|need to know|"
    r"would love to know|wish to know|am asking)|(?:please )?(?:tell|inform) (?:me|us)|let (?:me|us) know|any idea|"
    r"(?:does|did) (?:it|that) (?:mean|imply)|would you say|would it be (?:right|fair|correct|accurate) to say|"
    r"is it (?:true|right|correct|accurate|fair|the case|possible|so|a fact)(?: to say)?|"
    r"am i (?:right|correct)(?: (?:in|to) (?:thinking|think|assuming|assume|holding|saying|say|believing|believe))?|"
    r"do i err in (?:supposing|thinking|assuming)|(?:can|could|may|should) i (?:assume|take it|conclude|suppose)|"
    r"i (?:assume|suppose|take it|guess|think|believe|bet|gather|reckon|imagine|am told|presume|understand|hear))"
    r"(?: me| us| you| it)?(?: please)?(?: a bit| something| a little)?(?: about)?(?: (?P<whether>if|whether|that))?\b"
)
_TAG = re.compile(
    r"^(?:(?:is|are|was|does|do|did|has|have|can|could|will|would|must) (?:not )?(?:it|you|they|there|he|she|we|that)"
    r"(?: not)?(?: dear| love| then)?|right|correct|true|yes|no|yeah|yea|eh|huh|or|agreed|okay|"
    r"ok|surely|innit|hmm|dear|love|pet|my love|my dear|darling|sweetheart|sir|please|"
    r"(?:am i|is that|is this|that is|is it|are we|would that be|would i be) "
    r"(?:right|correct|true|so|it|accurate|wrong|fair|agreed)(?: dear| love| then)?|"
    r"you know|i guess|i think|i bet|i suppose|or not|or nah|or what|or so|then|though|if you do not mind me asking|"
    r"no offence|no offense|by any chance|for sure|if so)$"
)
_ECHO = re.compile(
    r"^(?:is|are|was|were|does|do|did|has|have|can|could|will|would) "
    r"(?:it|you|they|there|we|that|she|he)(?: dear| love| then| now)?$"
)
# Ends of a question that are no part of what is asked.
_TAIL = re.compile(
    r"(?: (?:right|correct|true|yes|yeah|no|then|though|please|dear|love|pet|darling|innit|or not|or nah|or what|"
    r"or something|or anything|or so|you know|i guess|by any chance|at all|is it|is not it|does it not|ok|okay|haha|"
    r"huh|eh|my dear|my love|sir|surely|mate|bro))+$"
)
# Frames that say what the speaker believes: they put a yes/no question.
_BELIEFS = ("am i", "is it", "do i err", "i ", "would you say", "would it")
_AFTER_YOU_ARE = frozenset("in on at near from a an not by the located situated".split())
_NEGATIONS = frozenset(
    "not no never nor neither nothing without none nowhere elsewhere lack lacks lacking free hardly".split()
)
_PRONOUNS = frozenset("it you they there he she we that this your i".split())
_HARD = re.compile(
    r"\b(?:hard|difficult|impossible|tough|rare|unusual|uncommon) to (?:find|get|see|come|spot|buy|meet)\b"
)
_WRONG = frozenset("wrong erroneous incorrect mistaken false untrue inaccurate".split())
_SPEAKER = frozenset("i my me we our".split())
_CITY_WORDS = frozenset(
    "it its city town place there here you your yours country they their this that mayor locals people".split()
)
_RELATIVE_BEFORE = frozenset("that one place city town country land square someone anybody anyone".split())


def clauses_of(text: str, mend: Callable[[str], str]) -> list[Clause]:
    """The words of each clause of a text, with short forms written out.

    Args:
        text: as it was said.
        mend: corrects a word.
    """
    found = []
    for row in clauses(text):
        spelt = [part for word in row for part in _SHORT_FORMS.get(word, word).split()]
        for place, word in enumerate(spelt[:-1]):
            if word == "your" and spelt[place + 1] in _AFTER_YOU_ARE:
                spelt[place] = "you are"
        found.append(tuple(map(mend, " ".join(spelt).split())))
    return [clause for clause in found if clause]


def read(text: str, mend: Callable[[str], str]) -> Sentence:
    """Take a question apart."""
    rows = clauses_of(text, mend)
    tags: list[str] = []
    while len(rows) > 1 and _TAG.match(" ".join(rows[-1])):
        tags.append(" ".join(rows.pop()))
    rows = [row for row in map(_bare, rows) if row]
    for number in range(len(rows) - 1, -1, -1):
        row, kind = _asked(rows[number])
        if kind is not None and not _adds(rows, number):
            break
    else:
        number = _fragment(rows)
        row, kind = (rows[number] if rows else ()), Kind.FRAGMENT
        if _is_statement(row):
            kind = Kind.YES_NO
    shown = [*rows[:number], row, *rows[number + 1 :]] if rows else []
    if kind is Kind.YES_NO and len(row) <= 2 and len(shown) > number + 1:
        row = (*row, *(word for clause in shown[number + 1 :] for word in clause))
        shown[number:] = [row]
    if kind is Kind.YES_NO and any(_asks_before(clause) for clause in shown[:number]):
        kind = Kind.OPEN
    if kind is not Kind.OPEN and any("or" in clause[place == 0 : -1] for place, clause in enumerate(shown[number:])):
        kind = Kind.CHOICE
    asks = kind is Kind.YES_NO and row[0] in _AUX
    if asks and number and row[1] == "not" and row[2] not in _PRONOUNS:
        asks = False  # "football, my kind of it, isn't the top sport"
    denied = kind in (Kind.YES_NO, Kind.FRAGMENT) and _is_denied(row, asks)
    if any(_ECHO.match(tag) for tag in tags):
        denied = False  # "it isn't big, is it?" asks whether it is
    about_me = kind in (Kind.FRAGMENT, Kind.YES_NO) and not asks and _is_about_speaker(row)
    return Sentence(kind, tuple(shown), number if rows else 0, denied, about_me and not tags)


def _adds(rows: Sequence[Clause], number: int) -> bool:
    """Whether a clause only adds to the one before it: "…, where my sister lives"."""
    if not number or rows[number][0] not in ("where", "which", "who", "whose", "whom"):
        return False
    return _asked(rows[number - 1])[1] is Kind.YES_NO and rows[number] != ("which", "one")


def _bare(clause: Clause) -> Clause:
    """A clause without greetings before it and tags after it."""
    start = 0
    while start < len(clause) and clause[start] in _OPENERS and clause[start : start + 2] != ("like", "in"):
        start += 1
    text = " ".join(clause[start:])
    return tuple(_TAIL.sub("", text).split()) or clause[start:]


def _asked(clause: Clause) -> tuple[Clause, Kind | None]:
    """A clause without "can you tell me …" around it, and what it asks for, if anything by its form."""
    text = " ".join(clause)
    found = _INDIRECT.match(text)
    if found is not None:
        rest = tuple(text[found.end() :].split())
        while rest and rest[0] in _OPENERS:
            rest = rest[1:]
        if rest:
            if rest[0] in _WH:
                return rest, Kind.OPEN
            if found["whether"] or text.startswith(_BELIEFS):
                return rest, Kind.YES_NO
            return rest, _kind_of(rest) or Kind.OPEN
    return clause, _kind_of(clause)


def _kind_of(clause: Clause) -> Kind | None:
    """What a clause asks for; None where it asks for nothing by its form."""
    if not clause:
        return None
    first = clause[0]
    if first in _WH or first in _ASKING or (first == "say" and "me" in clause[1:3]):
        return Kind.OPEN
    if first in _AUX and len(clause) > 1:
        asked = first in ("can", "could", "would", "will", "may") and any(word in _ASKING for word in clause[2:4])
        return Kind.OPEN if asked and clause[1] in ("you", "we", "i", "someone", "please") else Kind.YES_NO
    for place, word in enumerate(clause[:-1] if len(clause) > 1 else clause):
        if word in _WH and not (place and _is_relative(clause, place)):
            return Kind.OPEN
    return None


def _asks_before(clause: Clause) -> bool:
    """Whether a clause is the head of a question that goes on after it: "on which river, roughly, …"."""
    return len(clause) < 5 and bool(_WH & set(clause)) and not _AUX & set(clause)


def _is_relative(clause: Clause, place: int) -> bool:
    """Whether "which", "where" or "who" adds to a noun before it, and asks for nothing."""
    if clause[place] not in ("which", "where", "who", "whose", "when", "whom"):
        return clause[place - 1] in ("that", "and", "or", "like") and clause[0] in _AUX
    return clause[0] in ("it", "this", "that", "there", "you", "they") or clause[place - 1] in _RELATIVE_BEFORE


def _fragment(rows: Sequence[Clause]) -> int:
    """The clause that a question without a verb is in: the last that names the city or its matters, else the last."""
    for number in range(len(rows) - 1, -1, -1):
        if _is_statement(rows[number]):
            return number
    return max(0, len(rows) - 1)


def _is_statement(clause: Clause) -> bool:
    return (
        len(clause) > 1
        and any(word in _AUX or word in ("lies", "has") for word in clause[1:4])
        and (bool(_CITY_WORDS & set(clause)))
    )


def _is_denied(clause: Clause, asks: bool) -> bool:
    """Whether a clause denies what it mentions. "Isn't it …?" and "is it not …?" ask whether it is."""
    skipped = 0
    if asks:
        window = clause[1:4]
        skipped = window.index("not") + 2 if "not" in window else 1
    wrong = asks and any(word in _WRONG for word in clause[:5])
    rare = bool(_HARD.search(" ".join(clause)))
    return (any(word in _NEGATIONS for word in clause[skipped:]) != wrong) != rare


def _is_about_speaker(clause: Clause) -> bool:
    return bool(clause) and clause[0] in _SPEAKER and not _CITY_WORDS & set(clause)
