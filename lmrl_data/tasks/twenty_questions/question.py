"""The shape of a question: which of its clauses ask, what is only talk around them, and what is no yes/no question."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from lmrl_data.language.words import clauses
from lmrl_data.tasks.twenty_questions.phrase_tree import BREAK
from lmrl_data.tasks.twenty_questions.talk import (
    IDLE,
    LEADS,
    OF_ANSWERER,
    OPEN,
    OPENINGS,
    PREFERRED,
    TAG,
    TALK,
    THE_THING,
    TRAILING,
    UNIVERSAL,
)

# A question is short; of a longer text only the beginning is read.
_MAX_CHARACTERS = 600

BE = frozenset("is are was were be am".split())
AUXILIARIES = BE | frozenset("do does did can could would should will might may must shall has have had".split())
# What is asked of the answerer and not of the thing, where nothing speaks of the thing: "would you like …".
_OF_YOU = frozenset(
    """like have sure a an explain help repeat tell give say describe answer hear speak stop ready kidding love hate
    know believe want prefer enjoy human alive real okay ok happy sad tired hungry bored married single here
    there""".split()
)
# Words that speak of the thing.
_THING = frozenset("it its they them their theirs these those object item thing itself".split())
_SUBJECTS = _THING | frozenset("this that he she you i we one people there somebody someone anybody anyone".split())
# After these, "one" is the thing: "would a plumber carry one".
_BEFORE_ONE = frozenset(
    """a the real no any own have has had buy need keep use find see carry wear get sell of every want like without
    make give take hold put owns needs""".split()
)
# What opens a sentence whose "it" is left out: "made of steel?".
_WITHOUT_SUBJECT = frozenset(
    """made goes go got has have having weighs weigh costs cost worn used found starts ends works comes come keeps makes
    feels smells tastes looks sounds needs contains holds lives grows moves runs sits stands hangs fits belongs worth
    bigger smaller larger heavier lighter taller longer shorter faster slower cheaper softer harder something
    someone too very pretty quite""".split()
)
# After "this" or "that" these do not name the thing.
_NOT_THING = frozenset("game question rule rules guess round time way case one's sense".split())


class Question(NamedTuple):
    """A question, read.

    Attributes:
        words: what is asked, with `BREAK` between clauses.
        context: the same with all that was said around it.
        universal: whether it asks what holds always or usually.
        confirms: whether a tag without "not" follows a negative statement ("it's not alive, is it?"): such a question
            is answered by whether the thing itself holds.
        whole: whether it is a sentence about the thing ("made of steel?" is one cut short), and not only a few words.
        marked: whether it ends with a question mark.
    """

    words: list[str]
    context: list[str]
    universal: bool
    confirms: bool
    whole: bool
    marked: bool


def read_question(text: str) -> Question | str:
    """The question in a line, or why it is none: ``"empty"``, ``"open"``, ``"none"``."""
    said = clauses(text[:_MAX_CHARACTERS])
    if not any(said):
        return "empty"
    core, tags = _core(said)
    if not core:
        return "none"
    if len(core) > 1 and core[0][:2] in (["compared", "to"], ["compared", "with"]):
        core = [[*core[1], "than", *core[0][2:]], *core[2:]]
    asking = [number for number, clause in enumerate(core) if _asks(clause)]
    if not asking and len(core) > 1 and core[0][0] in AUXILIARIES:  # "Is carbon, in some form, a part?"
        asking = [0]
    main = core[asking[0] :] if asking else core
    if _is_open(core):
        return "open"
    line = " ".join(main[0])
    marked = text.rstrip().endswith("?")
    if OF_ANSWERER.match(line) or IDLE.search(line) or not (asking or _is_fragment(core, marked=marked)):
        return "none"
    positive = any(_is_positive_tag(tag) for tag in tags)
    universal = bool(UNIVERSAL.search(" ".join(" ".join(clause) for clause in said)))
    whole = bool(asking) or any(set(tag.split()) & _THING for tag in tags) or main[0][0] in _WITHOUT_SUBJECT
    return Question(_joined(main), _joined(core), universal, positive, whole, marked)


def _core(said: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[str]]:
    """The clauses of a line without talk, and its tags."""
    core: list[list[str]] = []
    tags: list[str] = []
    for clause in said:
        line = THE_THING.sub("it", " ".join(_without_talk(clause)))
        if not line or LEADS.fullmatch(line):
            continue
        if TAG.fullmatch(line) and (core or len(said) == 1):
            tags.append(line)
            continue
        trailing = TRAILING.search(line)
        if trailing:
            tags.append(trailing[0].strip())
            line = line[: trailing.start()]
        for pattern, instead in (*OPENINGS, *PREFERRED):
            line = pattern.sub(instead, line)
        if line.strip():
            core.append(line.split())
    return core, tags


def _without_talk(clause: Sequence[str]) -> list[str]:
    start = 0
    while start < len(clause) and clause[start] in TALK:
        start += 1
    return list(clause[start:])


def _joined(parts: Sequence[Sequence[str]]) -> list[str]:
    words: list[str] = []
    for part in parts:
        words += [BREAK, *part] if words else part
    return words


def _asks(clause: Sequence[str]) -> bool:
    """Whether a clause speaks of the thing, or is built as a question."""
    for place, word in enumerate(clause):
        if word in _THING or (word in ("this", "that") and not _names_other(clause, place)):
            return True
        if place and word in ("name", "word") and clause[place - 1] == "the":
            return True
        if word in ("one", "ones") and place and clause[place - 1] in _BEFORE_ONE:
            return True
    return len(clause) > 2 and clause[0] in AUXILIARIES and not (clause[1] == "you" and clause[2] in _OF_YOU)


def _names_other(clause: Sequence[str], place: int) -> bool:
    """Whether "this" or "that" goes with another noun ("this game") or opens a relative clause."""
    following = clause[place + 1] if place + 1 < len(clause) else ""
    if following in _NOT_THING:
        return True
    return clause[place] == "that" and place > 0 and following not in BE and clause[place - 1] not in AUXILIARIES


def _is_open(core: Sequence[Sequence[str]]) -> bool:
    """Whether the question wants more than yes or no."""
    first, last = " ".join(core[0]), " ".join(core[-1])
    if OPEN.search(last) and (len(core) == 1 or len(core[-1]) > 2):
        # "What I mean is …"; "Is iron, or stone, what it is made from?"
        told = re.match(r"^what (?:it|they|i|we|you) \w+", last)
        return not (told and (last.startswith("what i ") or core[0][0] in AUXILIARIES))
    return bool(OPEN.match(first)) and not re.match(r"^(?:what|where|who|which|how)\b", first)


_OF_MINE = frozenset("i me my mine we us our if".split())
_OWN_TALK = AUXILIARIES | frozenset("i we you my let as please as".split())


def _is_fragment(core: Sequence[Sequence[str]], *, marked: bool) -> bool:
    """Whether it may be a question cut down to what matters ("bigger than a breadbox?")."""
    said = {word for clause in core for word in clause}
    has = core[0][0] in ("has", "have") and core[0][1:2] not in (["i"], ["you"], ["we"])  # "has buttons?"
    own = (core[0][0] in _OWN_TALK and not (has and marked)) or (not marked and not _OF_MINE.isdisjoint(said))
    return not own and sum(map(len, core)) <= 12


def _is_positive_tag(tag: str) -> bool:
    words = tag.split()
    return len(words) == 2 and words[0] in AUXILIARIES and words[1] in _SUBJECTS
