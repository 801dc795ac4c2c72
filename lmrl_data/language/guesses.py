"""Direct guesses: whether a line names a thing as the answer ("Is it a cat?", "cat", "I think it's a TV"), and which.

A guess is a clause that says of the subject that it is the thing ("is it …", "are you from …", "my guess is …"), or a
clause that is nothing but the thing's name. What names it must be the whole noun phrase: article, a plain adjective
("just a regular"), a measure ("a pair of"), the name, and at most an addition that does not change what is named
("a fork for eating", "a mountain, like in the Alps"). So these are none: negations ("Is it not a cat?"), comparisons,
lists with "or", possessions ("a cat's toy"), compounds ("catfish", "cat food"), descriptions ("something a cat would
chase"), kinds ("a kind of cat" asks for the family), places ("found in a car", "near California").
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

from lmrl_data.language.spelling import Speller
from lmrl_data.language.stems import singular
from lmrl_data.language.words import any_of, clauses

ID = TypeVar("ID", bound=Hashable)

# A guess is short; of a longer text only the beginning is read.
_MAX_CHARACTERS = 1000
_SHORTEST_TYPO = 4


_THE_OBJECT = any_of(
    """object, thing, item, article, party, subject, specimen, exhibit, entity, answer, word, secret, mystery, solution,
    city, town, place, home, hometown, home town, home city, location, metropolis"""
)
_YOU_THINK_OF = any_of("""thinking of, thinking about, in mind, thought of, chosen, picked, looking for""")
_SUBJECT = (
    "(?:it|this|that|they|these|those|what you are thinking of|where you are|where you live"
    f"|(?:the|your|my|our|this|that) (?:(?:secret|mystery|hidden|unknown|whole) )*{_THE_OBJECT}"
    f"(?: in question| (?:that )?you (?:are|were|have) {_YOU_THINK_OF})?)"
)
_ADVERB = any_of(
    """just, maybe, perhaps, possibly, probably, definitely, simply, actually, really, then, indeed, basically, still,
    only, likely, most likely, certainly, surely, literally, supposed to be, meant to be, called, named, known as,
    by any chance, by chance, perchance, obviously, clearly, in fact, in short, so, thinking, going to be,
    to be, got to be, has to be, have to be, but, nothing but, none other than, nothing other than, nothing else than,
    nothing more than, merely, truly, therefore, thus, also known as"""
)
_FROM = any_of("from, in, living in, based in, located in, staying in, born in, raised in, thinking of, thinking about")
_MODAL = "(?:can|could|might|may|would|must|should|will)"
_I_THINK = any_of(
    """think, guess, say, believe, bet, reckon, suspect, suppose, propose, guessing, saying, thinking, betting,
    answer"""
)
_DO_YOU = any_of(
    """mean, live in, come from, reside in, hail from, be from, be in, be living in, be thinking of, call it, call this,
    have in mind"""
)
# The beginnings of clauses that say what the thing is.
_FRAMES = re.compile(
    "|".join(
        rf"\b{frame}\b"
        for frame in (
            f"(?:is|are|was|were) (?:{_ADVERB} )*{_SUBJECT}",
            f"{_MODAL} {_SUBJECT} (?:{_ADVERB} )*be",
            f"{_SUBJECT} (?:{_ADVERB} )*(?:is|are|was|{_MODAL} (?:{_ADVERB} )*be|(?:has |have |is )?(?:got )?to be)",
            "(?:(?:my|the|a|one|final|last|next|first|second|wild|best|more|lucky|official|only) )*"
            "(?:guess|answer|bet) (?:is|would be|will be|here is)",
            f"i (?:(?:will|would|am|do|can|shall|want to|have to|might|just) )*{_I_THINK}(?: that| of| on)?",
            "(?:i am going|i will go|i would go|i go|going|let us go|i settle) (?:with|for)",
            "(?:what about|how about|let us say|let us try)",
            f"(?:do|did|could|would|might) you (?:possibly )?{_DO_YOU}",
            f"(?:are|were) you (?:{_ADVERB} )*{_FROM}?",
            f"you (?:are|were|must be|could be|might be|have to be) (?:{_ADVERB} )*{_FROM}",
            "(?:you live in|you reside in|you come from)",
        )
    )
)
_NO_OTHER = re.compile(r"(?:it is )?not (?:an? )?\w+")
# The same with the thing first: "is a cat what it is", "is Rome the answer".
_TURNED = re.compile(
    rf"^(?:is|are|was|could|would|might|can) (?P<name>.+?) (?:(?:be )?(?:what (?:it|this|that|they) (?:is|are)"
    rf"|(?:what |the {_THE_OBJECT} )(?:that )?(?:i am|you are|you have|we are)(?: {_YOU_THINK_OF}| looking for)?"
    rf"|(?:the|your|my|our) (?:(?:secret|mystery|hidden|right|correct|final) )*{_THE_OBJECT}|correct|right|the one)"
    "|be)$"
)
_MORE = re.compile(rf"(?:{_ADVERB}|it is|it a|that it is|this is|that is|that)\b ?")
# Before a frame or beside a bare name: what would make the line say something else.
_COMPARING = frozenset("than or nor not never near similar like as close compared between unlike".split())
_BLOCKERS = _COMPARING | frozenset("no neither without if when where whether why what how who which before".split())
_DETERMINERS = frozenset("a an the some one two my your our his her their this that these those any".split())
_PLAIN = frozenset(
    """single simple plain regular normal ordinary typical standard common classic traditional basic real actual good
    old nice usual generic everyday average proper certain specific particular just freaking damn bloody lovely famous
    great big-name beautiful humble mere lowly trusty noble fine""".split()
)
_MEASURES = frozenset(
    """pair pairs set piece pieces sheet sheets bottle tube stick sticks stalk stalks ear head bunch bag pack packet
    block bulb clove slice cob city town metropolis""".split()
)
# What may follow a name without changing what is named.
_ADDITIONS = frozenset("that which who for as in on you we people used i to where when".split())
_AFTER_LIKE = frozenset("in on the a an you we those my they from".split())
_WINDING_UP = re.compile(
    "(?:^| )"
    + any_of(
        """right, correct, yes, no, then, though, dear, sir, madam, please, perhaps, maybe, possibly, by any chance,
        by chance, perchance, or not, or what, or no, or something, or whatever, or nothing, lol, lmao, haha, ha, bro,
        bruh, dude, mate, man, love, darling, sweetie, sweetheart, honey, my dear, my friend, buddy, pal, guys, i think,
        i guess, i wonder, i suppose, i believe, i bet, i say, i reckon, do you think, would you say, am i right, is it,
        is it not, is not it, are you not, are not you, is that it, is that right, is that correct, is this it,
        you know, for sure, fr, ngl, after all, at last, finally, again, instead, by the way, thanks, thank you,
        confirm, i do not know, not sure, i am not sure, no idea, no clue, just guessing, just a guess, who knows, hm,
        hmm, huh, eh, there, just kidding, jk, got it, final answer, is my guess, is my answer,
        is my final answer, is it thou, art thou, only, alone, of course, obviously, clearly, definitely, probably,
        surely, indeed, actually, anyway,
        now"""
    )
    + "$"
)
_LEADING_IN = re.compile(
    "^"
    + any_of(
        """ok, okay, well, so, oh, ooh, ah, aha, hmm, hm, um, uh, er, wait, alright, right, now, and, but, yo, hey, hi,
        bro, bruh, dude, please, then, maybe, perhaps, possibly, probably, definitely, just, like, lol, ha, haha, wow,
        gosh, gee, yes, ngl, lowkey, deadass, got it, i got it, i have got it, i know, i know it, i see, eureka,
        final answer, my guess, final guess, last guess, guess, guessing, answer, estimate, best estimate, hypothesis,
        verdict, conclusion, deduction, prediction, namely, could be, must be, might be,
        any chance of, surely, alternatively, also"""
    )
    + r"(?: (?!(?:is|would)\b)|$)"
)


class Names(Generic[ID]):
    """The names of things, and what guesses they are.

    A name is found in singular or plural, with or without diacritics, in one word or in two ("tooth brush"), and with a
    slip of the keyboard where what is written is no ordinary English word.

    Args:
        names: all names of each thing, by its id.
        strict: whether only "is it a cat" and the like count: no bare name, no slip, no addition.

        ordinary: words of the task that are no slips, besides those of ordinary English.

    Raises:
        ValueError: two things share a name.
    """

    def __init__(
        self, names: Mapping[ID, Iterable[str]], *, strict: bool = False, ordinary: frozenset[str] = frozenset()
    ) -> None:
        self._ids: dict[str, ID] = {}
        self.longest = 1
        known: set[str] = set()
        for key, listed in names.items():
            for name in listed:
                tokens = [word for clause in clauses(name) for word in clause]
                known.update(word for word in tokens if len(word) >= _SHORTEST_TYPO)
                known.add("".join(tokens))
                self.longest = max(self.longest, len(tokens) + 1)
                if self._ids.setdefault(_joined(tokens), key) != key:
                    raise ValueError(f"the name {name!r} belongs to {self._ids[_joined(tokens)]!r} and {key!r}")
        self._speller = Speller(frozenset(known), common=0, ordinary=ordinary) if not strict else None
        self._additions = frozenset() if strict else _ADDITIONS
        self._strict = strict
        self.guess = lru_cache(maxsize=20_000)(self._guess)

    def find(self, tokens: Sequence[str]) -> ID | None:
        """The thing that the words (see `lmrl_data.language.words`) are a name of, and nothing but a name."""
        found = self._ids.get(_joined(tokens))
        if found is None and self._speller and len(tokens) <= self.longest:
            found = self._ids.get(_joined([self._speller.correct(word) for word in tokens]))
        return found

    def _guess(self, text: str) -> ID | None:
        """The thing that a line guesses; None where it is no direct guess of any of them."""
        said = [" ".join(clause) for clause in clauses(text[:_MAX_CHARACTERS])]
        said = [clause for clause in map(_bare, said) if clause]
        guessed: set[ID] = set()
        for place, clause in enumerate(said):
            named = self._named(clause)
            if named is None and not self._strict and place in (0, len(said) - 1):
                others = said[:place] + said[place + 1 :]
                if all(_is_beside(other) for other in others):
                    named = self._noun_phrase(clause.split(), {"for"})
            if named is not None:
                guessed.add(named)
                if any("or" in other.split() for other in said[place:]):
                    return None
        return guessed.pop() if len(guessed) == 1 else None

    def _named(self, clause: str) -> ID | None:
        """What a clause with a frame ("is it …") names."""
        turned = _TURNED.match(clause)
        if turned is not None and not self._strict:
            return self._noun_phrase(turned["name"].split(), ())
        # The last frame counts: "is it the phone company lol is it an apple".
        frame = max(_FRAMES.finditer(clause), key=lambda found: found.end(), default=None)
        if frame is None or _BLOCKERS & set(clause[: frame.start()].split()):
            return None
        rest = clause[frame.end() :].strip()
        while found := _MORE.match(rest):
            rest = rest[found.end() :]
        return self._noun_phrase(rest.split(), self._additions)

    def _noun_phrase(self, tokens: list[str], additions: Iterable[str]) -> ID | None:
        while tokens and tokens[0] in _DETERMINERS:
            tokens = tokens[1:]
        while len(tokens) > 1 and tokens[0] in _PLAIN:
            tokens = tokens[1:]
        for start in (0, 2) if tokens and tokens[0] in _MEASURES and tokens[1:2] == ["of"] else (0,):
            for length in range(min(self.longest, len(tokens) - start), 0, -1):
                named = self.find(tokens[start : start + length])
                if named is not None:
                    return named if _adds_nothing(tokens[start + length :], additions) else None
        return None


def _is_beside(clause: str) -> bool:
    """Whether a clause beside a bare name leaves it a guess: "it has four legs", "not a bird"."""
    said = clause.split()
    return len(said) > 2 and (not _COMPARING & set(said) or _NO_OTHER.fullmatch(clause) is not None)


def _joined(tokens: Sequence[str]) -> str:
    return "".join([*tokens[:-1], singular(tokens[-1])]) if tokens else ""


def _adds_nothing(rest: Sequence[str], additions: Iterable[str]) -> bool:
    """Whether what follows a name leaves it what is named."""
    if not rest:
        return True
    if "or" in rest or "than" in rest:
        return False
    if rest[0] == "like":
        return len(rest) > 1 and rest[1] in _AFTER_LIKE
    return rest[0] in additions


def _bare(clause: str) -> str:
    """A clause without the words that only lead in or wind up; empty for a tag such as "is it not"."""
    shorter = None
    while shorter != clause:
        shorter, clause = clause, _LEADING_IN.sub("", _WINDING_UP.sub("", clause))
    return clause
