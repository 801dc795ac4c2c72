"""What kind of question a text is: open or yes/no, a choice or a statement, and whether it is denied."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from lmrl_data.tasks.guess_my_city.spoken import OPENERS, Clause, clauses_of


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


_WH = frozenset("what which who whom whose where whereabouts when how why".split())
_AUX = frozenset("is are was were am do does did has have had can could would will shall should may might must".split())
# Verbs that ask to be told something, at the beginning or after "can you"; and those that do at the beginning only.
_TELLING = frozenset(
    "tell describe name give list state explain sketch compare enumerate show share mention characterize characterise "
    "outline summarize summarise recommend suggest report specify identify indicate present provide elaborate recount "
    "narrate detail discuss introduce guide teach reveal help".split()
)
_ASKING = _TELLING | frozenset(
    "talk drop paint spill fill point surprise produce spin weave count quote cite sum walk take fetch bring offer "
    "hand throw hit enlighten educate brief regale elucidate disclose divulge unveil whisper recite draw pen chart "
    "trace relate confess admit supply submit nominate pick choose define classify estimate translate speak expand "
    "amaze impress inform remind advise compute determine calculate retrieve input output report required requested "
    "query wanted needed".split()
)
# Those among them that may as well belong to the word after them.
_ADJECTIVES = frozenset("right dear like good great cool next first nice perfect love honey still".split())
_ARTICLES = frozenset("a an the any some".split())
_AFTER_ASKING = frozenset("me us a an the your some any one two three about of".split())
# Verbs that begin a question in the manner of other languages: "Speak they French?", "Gives it a metro?"
_INVERTED = frozenset(
    "gives give goes go comes come lies lie lives live speaks speak drives drive eats eat flows flow stands stand "
    "snows rains rain exists exist likes like plays play makes make grows grow belongs belong "
    "runs run needs need".split()
)
_THERE_IS = (("gives", "it"), ("exists", "it"), ("exists", "there"), ("exist", "there"))
# A question that is put into another one.
_INDIRECT = re.compile(
    r"^(?:(?:can|could|would|will|may|might) (?:you|i|we) (?:please |kindly |perhaps |maybe )*(?:tell|inform|ask|"
    r"say|let|know|share|confirm|explain|find out|remind)|do you (?:know|happen to know)|(?:i )?(?:wonder(?! of)|"
    r"am wondering|am curious|was wondering|would like to know|want to know|need to know|would love to know|"
    r"wish to know|am asking)|(?:please )?(?:tell|inform) (?:me|us)|let (?:me|us) know|any idea|(?:does|did) (?:it|"
    r"that) (?:mean|imply)|would you say|would it be (?:right|fair|correct|accurate) to say|is it (?:true|right|"
    r"correct|accurate|fair|the case|possible|so|a fact)(?: to say)?|am i (?:right|correct)(?: (?:in|"
    r"to) (?:thinking|think|assuming|assume|holding|saying|say|believing|believe))?|do i err in (?:supposing|"
    r"thinking|assuming)|(?:can|could|may|should|do|am) i (?:to )?(?:assume|take it|conclude|suppose|understand|"
    r"believe|gather)|i (?:assume|suppose|take it|guess|think|believe|bet|gather|reckon|imagine|am told|presume|"
    r"understand|hear))(?: me| us| you| it)?(?: please)?(?: a bit| a little)?(?: about)?(?: (?P<whether>if|whether|"
    r"that))?\b"
)
# What asks for the truth of the sentence after it.
_VERDICTS = frozenset(
    tuple(text.split())
    for text in (
        "true or false",
        "yes or no",
        "right or wrong",
        "fact or fiction",
        "confirm or deny",
        "deny or confirm",
        "confirm",
        "confirmed",
        "agree or disagree",
    )
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
_TAG_QUESTION = re.compile(
    r"^(?:is|are|was|does|do|did|has|have|can|could|will|would) (?:not )?(?:it|you|they|there)(?: not)?$"
)
# Ends of a question that are no part of what is asked.
_TAIL = re.compile(
    r"(?:(?<! the)(?<! or)(?<! left) right|(?<! of) (?:correct|true|yes|yeah|no|then|though|please|dear|love|pet|"
    r"darling|innit|or not|or nah|or what|or something|or anything|or so|you know|i guess|by any chance|at all|is it|"
    r"is not it|does it not|ok|okay|haha|huh|eh|my dear|my love|sir|surely|mate|bro|question mark|full stop|"
    r"exclamation mark))+$"
)
_OR_ELSE = re.compile(
    r" or (?:i|am i|have i|did i|do i|is it not|are you not|i will|i would|would i|not|what|else|something else|"
    r"somewhere (?:else|near|around))\b.*$"
)
# What follows "can't" and the like where the subject is left out.
_WITHOUT_SUBJECT = frozenset("be have do take".split())
# A denial after the subject of a question.
_DENIED_LATER = re.compile(
    r"^(?:is|are|was|does|do|did|has|have) (?:(?:it|you|they|there)|(?:the|your|this) \w+) not\b"
)
# What is put after a question for yes or no to be told more: "…, and when?", "… Which ones?".
_MORE = re.compile(
    r"(?:^|\band )(?:and |or )?(?:by |of |in |from |for |with )?(?:(?:what|which|who|whom|when|where|how)"
    r"(?: ones?| kinds?| sorts?| exactly| so)?|(?:what|how) are they called|what are their names)$"
)
# Frames that say what the speaker believes: they put a yes/no question.
_BELIEFS = ("am i", "is it", "do i err", "i ", "would you say", "would it")
_NEGATIONS = frozenset(
    "not no never nor neither nothing nobody without none nowhere elsewhere lack lacks lacking hardly".split()
)
_PRONOUNS = frozenset("it you they there he she we that this your i".split())
_HARD = re.compile(
    r"\b(?:hard|difficult|impossible|tough|rare|unusual|uncommon) to (?:find|get|see|come|spot|buy|meet)\b"
)
_FREE = re.compile(r"\bfree (?:of|from)\b|(?<!for) free$")
_WRONG = frozenset("wrong erroneous incorrect mistaken false untrue inaccurate".split())
_SPEAKER = frozenset("i my me we our".split())
_CITY_WORDS = frozenset(
    "it its city town place there here you your yours country they their this that mayor locals people".split()
)
_TODAY = tuple(("this", time) for time in ("morning", "afternoon", "evening", "week", "year", "time"))
_RELATIVE_BEFORE = frozenset("that one place city town country land square someone anybody anyone".split())


def read(text: str, mend: Callable[[str], str]) -> Sentence:
    """Take a question apart."""
    rows = clauses_of(text, mend)
    judged = len(rows) > 1 and bool(_VERDICTS & {rows[0], rows[-1]})
    if judged:
        rows = [row for row in rows if row not in _VERDICTS] or rows
    tags: list[str] = []
    if rows:
        rows[-1:] = _tag_apart(rows[-1])
    while len(rows) > 1 and _TAG.match(" ".join(rows[-1])):
        tags.append(" ".join(rows.pop()))
    rows, wants_more = _without_more([row for row in map(_bare, rows) if row])
    for number in range(len(rows) - 1, -1, -1):
        row, kind = _asked(rows[number])
        if kind is not None and not _adds(rows, number) and not (number and _goes_on(row)):
            break
    else:
        number = _fragment(rows)
        row, kind = (rows[number] if rows else ()), Kind.FRAGMENT
        if judged or _is_statement(row):
            kind = Kind.YES_NO
        elif any(len(before) == 1 and before[0] in _ASKING for before in rows[:number]):
            kind = Kind.OPEN
    shown = [*rows[:number], row, *rows[number + 1 :]] if rows else []
    if kind is Kind.YES_NO and len(row) <= 2 and len(shown) > number + 1:
        row = (*row, *(word for clause in shown[number + 1 :] for word in clause))
        shown[number:] = [row]
    if wants_more or (kind is Kind.YES_NO and any(_asks_before(clause) for clause in shown[:number])):
        kind = Kind.OPEN
    if kind is not Kind.OPEN and any("or" in clause[place == 0 : -1] for place, clause in enumerate(shown[number:])):
        kind = Kind.CHOICE
    asks = kind is Kind.YES_NO and row[0] in _AUX
    if asks and row[1] == "not" and row[2:] and row[2] not in _PRONOUNS and (number or row[2] in _WITHOUT_SUBJECT):
        asks = False  # "football, my kind of it, isn't the top sport", "can't be big"
    if asks and tags and _DENIED_LATER.match(" ".join(row)):
        asks = False  # "is your city not on the coast, correct?"
    denied = kind in (Kind.YES_NO, Kind.FRAGMENT) and _is_denied(row, asks)
    if denied and any(_ECHO.match(tag) for tag in tags):  # "it isn't big, is it?" asks whether it is
        denied, shown[number] = False, _affirmed(row)
    about_me = kind in (Kind.FRAGMENT, Kind.YES_NO) and not asks and _is_about_speaker(row)
    return Sentence(kind, tuple(shown), number if rows else 0, denied, about_me and not tags)


def _tag_apart(clause: Clause) -> list[Clause]:
    """A statement and the tag at its end, which has no comma before it: "its not the capital is it"."""
    if clause[0] not in _WH | _AUX | _ASKING:
        for place in range(len(clause) - 3, len(clause) - 1):
            if place > 1 and _TAG_QUESTION.match(" ".join(clause[place:])) and not _WH & set(clause):
                return [clause[:place], clause[place:]]
    return [clause]


def _without_more(rows: list[Clause]) -> tuple[list[Clause], bool]:
    """The clauses without "…, and when?" at their end; and whether it was there."""
    if not rows:
        return rows, False
    last = " ".join(rows[-1])
    found = _MORE.search(last)
    if found is None or (len(rows) == 1 and not found.start()):
        return rows, False
    rest = tuple(last[: found.start()].split())
    return [*rows[:-1], *([rest] if rest else [])], True


def _affirmed(clause: Clause) -> Clause:
    """A clause without its first denial."""
    place = next((place for place, word in enumerate(clause) if word in _NEGATIONS), len(clause))
    return (*clause[:place], *clause[place + 1 :])


def _adds(rows: Sequence[Clause], number: int) -> bool:
    """Whether a clause only adds to the one before it: "…, where my sister lives"."""
    if not number or rows[number][0] not in ("where", "which", "who", "whose", "whom"):
        return False
    return _asked(rows[number - 1])[1] is Kind.YES_NO and rows[number] != ("which", "one")


def _goes_on(clause: Clause) -> bool:
    """Whether a clause without a subject goes on with what was said: "…, can't be many"."""
    return len(clause) > 2 and clause[0] in _AUX and clause[1] == "not" and clause[2] in _WITHOUT_SUBJECT


def _bare(clause: Clause) -> Clause:
    """A clause without greetings before it and tags after it."""
    start = 0
    while start < len(clause) and clause[start] in OPENERS and not _qualifies(clause[start : start + 2]):
        start += 1
    text = _OR_ELSE.sub("", " ".join(clause[start:])).replace(" do not happen to ", " do happen to ")
    return tuple(_TAIL.sub("", text).split()) or clause[start:]


def _qualifies(words: Clause) -> bool:
    """Whether the first of two words is no opener but belongs to the second: "great fire", "like in"."""
    if len(words) < 2 or words[0] not in _ADJECTIVES:
        return False
    return words[1] not in _WH | _AUX | OPENERS | _ASKING | _PRONOUNS | _ARTICLES


def _asked(clause: Clause) -> tuple[Clause, Kind | None]:
    """A clause without "can you tell me …" around it, and what it asks for, if anything by its form."""
    text = " ".join(clause)
    found = _INDIRECT.match(text)
    if found is not None:
        rest = tuple(text[found.end() :].split())
        while rest and rest[0] in OPENERS:
            rest = rest[1:]
        if rest:
            if rest[0] in _WH:
                return rest, Kind.OPEN
            if found["whether"] or text.startswith(_BELIEFS):
                return rest, Kind.YES_NO
            return rest, _kind_of(rest) or Kind.OPEN
    kind = _kind_of(clause)
    if kind is Kind.OPEN and len(clause) > 2 and clause[0] in _ASKING and clause[1] in _AFTER_ASKING:
        return clause[2 if clause[1] in ("me", "us") else 1 :], kind
    if kind is None and len(clause) > 2 and clause[0] in _INVERTED and clause[1] in _PRONOUNS | _ARTICLES:
        return (("is", "there", *clause[2:]) if clause[:2] in _THERE_IS else ("does", *clause)), Kind.YES_NO
    return clause, kind


def _kind_of(clause: Clause) -> Kind | None:
    """What a clause asks for; None where it asks for nothing by its form."""
    if not clause:
        return None
    first = clause[0]
    if first in _ASKING and clause[1:2] and clause[1] in _PRONOUNS - {"your", "this", "that"}:
        return Kind.YES_NO if first not in ("show", "give", "tell") else Kind.OPEN
    if first in _WH or first in _ASKING or (first not in _AUX | _PRONOUNS and {"me", "us"} & set(clause[1:3])):
        return Kind.OPEN
    if first in _AUX and len(clause) > 1:
        asked = first in ("can", "could", "would", "will", "may") and any(word in _TELLING for word in clause[2:4])
        return Kind.OPEN if asked and clause[1] in ("you", "we", "i", "someone", "please", "the") else Kind.YES_NO
    for place, word in enumerate(clause[:-1] if len(clause) > 1 else clause):
        if word in _WH and not (place and _is_relative(clause, place)):
            return Kind.OPEN
    return None


def _asks_before(clause: Clause) -> bool:
    """Whether a clause is the head of a question that goes on after it: "on which river, roughly, …"."""
    if clause[:1] == ("what",) and clause[1:2] and clause[1] in _ARTICLES:
        return False  # "What a finish!"
    return len(clause) < 5 and bool(_WH & set(clause)) and not _AUX & set(clause)


def _is_relative(clause: Clause, place: int) -> bool:
    """Whether "which", "where" or "who" adds to a noun before it, and asks for nothing."""
    if clause[place] not in ("which", "where", "who", "whose", "when", "whom"):
        return clause[place - 1] in ("that", "and", "or", "like") and clause[0] in _AUX
    return (
        clause[0] in ("it", "this", "that", "there", "you", "they", "a", "an", "any")
        or clause[place - 1] in _RELATIVE_BEFORE
    )


def _fragment(rows: Sequence[Clause]) -> int:
    """The clause that a question without a verb is in.

    It is the last that names the city or its matters, else one that gives a choice, else the last.
    """
    for number in range(len(rows) - 1, -1, -1):
        if _is_statement(rows[number]):
            return number
    if choices := [number for number, row in enumerate(rows) if "or" in row[1:-1]]:
        return choices[-1]
    if len(rows) > 1 and len(rows[-1]) == 1 < len(rows[-2]):
        return len(rows) - 2  # "…, sailor"
    return max(0, len(rows) - 1)


def _is_statement(clause: Clause) -> bool:
    if len(clause) < 2 or not _CITY_WORDS & set(clause):
        return False
    verbs = [place for place, word in enumerate(clause) if place and (word in _AUX or word == "lies")]
    return any(place < 4 or clause[place - 1] in _PRONOUNS for place in verbs)


def _is_denied(clause: Clause, asks: bool) -> bool:
    """Whether a clause denies what it mentions. "Isn't it …?" and "is it not …?" ask whether it is."""
    skipped = 0
    if asks:
        window = clause[1:4]
        skipped = window.index("not") + 2 if "not" in window else 1
    wrong = asks and any(word in _WRONG for word in clause[:5])
    rare = bool(_HARD.search(" ".join(clause)))
    free = bool(_FREE.search(" ".join(clause)))
    return ((free or any(word in _NEGATIONS for word in clause[skipped:])) != wrong) != rare


def _is_about_speaker(clause: Clause) -> bool:
    said = [word for place, word in enumerate(clause) if clause[place : place + 2] not in _TODAY]
    return bool(clause) and clause[0] in _SPEAKER and not _CITY_WORDS & set(said)
