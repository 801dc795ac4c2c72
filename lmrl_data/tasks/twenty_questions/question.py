"""The shape of a question: which of its clauses ask, what is only talk around them, and what is no yes/no question."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from lmrl_data.language.words import any_of, clauses
from lmrl_data.tasks.twenty_questions.lexicon import BREAK

# A question is short; of a longer text only the beginning is read.
_MAX_CHARACTERS = 600

BE = frozenset("is are was were be am".split())
AUXILIARIES = BE | frozenset("do does did can could would should will might may must shall has have had".split())
# What is asked of the answerer and not of the thing: "would you like …", "can you explain …".
_OF_YOU = frozenset(
    "like have sure a an explain help repeat tell give say describe answer hear speak stop ready kidding".split()
)
# Words that speak of the thing.
_THING = frozenset("it its they them their theirs these those object item thing itself".split())
_SUBJECTS = _THING | frozenset("this that he she you i we one people there somebody someone anybody anyone".split())
# After "this" or "that" these do not name the thing.
_NOT_THING = frozenset("game question rule rules guess round time way case one's sense".split())

_TALK = frozenset(
    """ok okay well so oh ooh ah aha hmm hm mm um uh er wait alright right now yo hey hi hello please wow gosh gee ouch
    aww     dear darling love sweetheart sweetie honey mate sir madam dude bro bruh man lol haha ha thanks
    sorry goodness cool
    anyway seriously honestly basically actually then and but hello again aight sheesh omg damn lads friend
    buddy""".split()
)
_LEADS = re.compile(
    any_of(
        """let me think, let me see, let me guess, let me ask, let us see, so let us see, i wonder, i wonder if,
        i have to ask,         just to narrow it down, just to narrow it down a bit, you know what, what is the
        word, i mean, i dunno,
        i do not know, out of curiosity, just curious, now i am curious, i am curious, tell me, quick question,
        next question, my next question, question, okay wild thought, wild thought, i have it, i have got it,
        to be precise,
        to be exact, for the avoidance of doubt, if we are being honest, i suppose, i think, i guess, i bet,
        i am going out on a limb here, just a stab in the dark, this may sound weird, this might sound silly,
        do you reckon, hear me out, hot take, real quick, one more thing, last one, okay dessert time,
        trying to figure this out, let us try this, let us try something silly, let us try something else,
        strictly speaking, technically speaking, generally speaking, in your opinion, never mind, i am
        picturing, be honest,
        okay so, listen, look, think, fair enough, got it, good to know, noted, interesting, nice, great, sure, yes,
        no"""
    )
)
_VERBS = "(?:is|are|was|were|does|do|did|can|could|would|will|has|have|should|might)"
_TAG = re.compile(
    f"(?:(?:or )?{_VERBS}(?: not)? (?:it|they|you|he|she|we|one|i|there|that|this)(?: not)?|"
    + any_of(
        """right, correct, yes, no, true, false, okay, ok, agree, agreed, is that right, is that correct, is that true,
        is that it, is that so, is that the idea, is that about right, is that fair, am i right, am i correct,
        am i warm,
        am i close, am i wrong, am i hot, am i cold, am i on the right track, confirm, eh, huh, you know, would you say,
        i think, i guess, i suppose, i mean, or not, or what, or nah, please, yay or nay, yes or no, true or false,
        a real one i mean, i mean a real one, do you think, no cap"""
    )
    + ")"
)
_TRAILING = re.compile(
    "(?: "
    + any_of(
        """right, correct, yes, no, then, though, lol, lmao, dear, please, ok, huh, eh, or nah, or no, or not, or what,
        am i right, is that right, haha, bro, fr, ngl, irl, you know, i guess, i think, do you think, would you say,
        do you reckon, by any chance, is it, is it not, is not it, does it, does not it, are they, at all, whatsoever,
        for sure, sir, mate, man, dude, just asking, i wonder, i suppose"""
    )
    + ")+$"
)
_OPEN = re.compile(
    r"^(?:what(?! if)|why|where|who|whose|which|how(?! about)|describe|tell|explain|give me|show me|name (?:it|the|one)"
    r"|list|repeat|write|say (?:it|that|something))\b"
)
_UNIVERSAL = re.compile(
    r"\b"
    + any_of(
        """always, usually, typically, mostly, generally, normally, primarily, mainly, predominantly, principally,
        largely,         ordinarily, customarily, in most cases, most often, as a rule, every time, most of the time,
        exclusively, solely,
        nearly all"""
    )
    + r"\b"
)
_CUT = re.compile(r"\b(?:rather than|instead of|as opposed to|and not|but not as)\b")
_MORE_THAN = re.compile(r"\bmore (\w+) than (\w+)$")


class Question(NamedTuple):
    """A question, read.

    Attributes:
        words: what is asked, with `BREAK` between clauses.
        context: the same with all that was said around it.
        universal: whether it asks what holds always or usually.
        confirms: whether a tag without "not" follows a negative statement ("it's not alive, is it?"): such a question
            is answered by whether the thing itself holds.
    """

    words: list[str]
    context: list[str]
    universal: bool
    confirms: bool


def read_question(text: str) -> Question | str:
    """The question in a line, or why it is none: ``"empty"``, ``"open"``, ``"none"``."""
    said = clauses(text[:_MAX_CHARACTERS])
    if not any(said):
        return "empty"
    core: list[list[str]] = []
    tags: list[str] = []
    for clause in said:
        line = " ".join(_without_talk(clause))
        if not line or _LEADS.fullmatch(line):
            continue
        if _TAG.fullmatch(line) and (core or len(said) == 1):
            tags.append(line)
            continue
        trailing = _TRAILING.search(line)
        if trailing:
            tags.append(trailing[0].strip())
            line = line[: trailing.start()]
        line = _CUT.split(line)[0]
        line = _MORE_THAN.sub(r"\1", line)
        if line.strip():
            core.append(line.split())
    if not core:
        return "none"
    asking = [number for number, clause in enumerate(core) if _asks(clause)]
    main = core[asking[0] :] if asking else core
    if _is_open(core, asking):
        return "open"
    if not asking and not _is_fragment(core):
        return "none"
    positive = any(_is_positive_tag(tag) for tag in tags)
    universal = bool(_UNIVERSAL.search(" ".join(" ".join(clause) for clause in said)))
    return Question(_joined(main), _joined(core), universal, positive)


def _without_talk(clause: Sequence[str]) -> list[str]:
    start = 0
    while start < len(clause) and clause[start] in _TALK:
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
    return len(clause) > 2 and clause[0] in AUXILIARIES and not (clause[1] == "you" and clause[2] in _OF_YOU)


def _names_other(clause: Sequence[str], place: int) -> bool:
    """Whether "this" or "that" goes with another noun ("this game") or opens a relative clause."""
    following = clause[place + 1] if place + 1 < len(clause) else ""
    if following in _NOT_THING:
        return True
    return clause[place] == "that" and place > 0 and following not in BE and clause[place - 1] not in AUXILIARIES


def _is_open(core: Sequence[Sequence[str]], asking: Sequence[int]) -> bool:
    """Whether the question wants more than yes or no."""
    first, last = " ".join(core[0]), " ".join(core[-1])
    if _OPEN.match(last) and (len(core) == 1 or len(core[-1]) > 2):
        return not re.match(r"^what i \w+", last)
    return bool(_OPEN.match(first)) and not re.match(r"^(?:what|where|who|which|how)\b", first)


_OWN_TALK = AUXILIARIES | frozenset("i we you my let as please as".split())


def _is_fragment(core: Sequence[Sequence[str]]) -> bool:
    """Whether it is a question cut down to what matters ("bigger than a breadbox?"), and not a statement of another."""
    first = core[0]
    return first[0] not in _OWN_TALK and sum(map(len, core)) <= 12


def _is_positive_tag(tag: str) -> bool:
    words = tag.split()
    return len(words) == 2 and words[0] in AUXILIARIES and words[1] in _SUBJECTS
