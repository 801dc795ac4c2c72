"""What words and phrases of a question mean: the lexicon, and how its phrases are found.

The files in `phrases/` say at their top how they are written. Their phrases and those of `attributes.toml` are kept in
a tree over plain words, in which they are found also when other words stand in between.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.language.spelling import Speller
from lmrl_data.language.stems import english, is_participle, stem
from lmrl_data.language.words import words
from lmrl_data.tasks.twenty_questions.table import NO, SOMETIMES, YES, Table, Values, knowledge_table, listed

# Between two clauses; no phrase reaches over it.
BREAK = "|"
# A verb or preposition whose object is the thing: "climb it", "be climbed" and "climbed" are all "climb+".
OBJECT = "+"
# Words that turn a question round; no phrase reaches over them.
NEGATIONS = frozenset(
    """not never no without lack devoid incapable unable neither none nothing untrue false mistaken mistake wrong
    incorrect hardly barely impossible zero fail avoid except unlike""".split()
)
# The kind of what is no attribute.
FACT = "fact"
# How many words may stand between the words of a phrase, and what a change of role costs.
_GAP = 2
_GAP_COST, _ROLE_COST, _LENGTH_BONUS = 0.2, 0.15, 0.3
# An attribute of at most so many objects tells what their words have to do with; and how much of a question must.
_FEW = 30
# An attribute of at most so many objects, which the facts of other objects may share words with.
_SPECIAL = 6
_RELATED = 0.8


class Sense(NamedTuple):
    """What a phrase means.

    Attributes:
        name: the attribute or expression, for people to read.
        kind: the kind of the attribute (see `table.KINDS`), or ``fact``.
        row: what holds of each object, shape (objects,).
    """

    name: str
    kind: str
    row: Values


class Match(NamedTuple):
    """A phrase found in a question.

    Attributes:
        places: the numbers of its words in the question.
        sense: what it means.
        value: how much of the question it explains.
    """

    places: tuple[int, ...]
    sense: Sense
    value: float


class _Node:
    __slots__ = ("after", "sense")

    def __init__(self) -> None:
        self.after: dict[str, _Node] = {}
        self.sense: Sense | None = None

    def add(self, words: Sequence[str], sense: Sense) -> None:
        node = self
        for word in words:
            node = node.after.setdefault(word, _Node())
        node.sense = sense


class Lexicon:
    """Phrases and their senses, and the words that mean the same. Make it with `lexicon`."""

    def __init__(self, table: Table, data: Mapping[str, Any]) -> None:
        self.table = table
        self._dropped = frozenset(words(data["dropped"]))
        self.light = frozenset(map(stem, words(data["light"])))
        self._same = {stem(word): stem(kept) for kept, others in data["same"].items() for word in words(others)}
        self._rewritten: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        for kept, phrases in data["rewrite"].items():
            for source in map(tuple, map(words, phrases)):
                self._rewritten.setdefault(source[0], []).append((source, tuple(kept.split())))
        for options in self._rewritten.values():
            options.sort(key=lambda option: -len(option[0]))
        self._attributes, self._facts = _Node(), _Node()
        self.conflicts: list[str] = []
        self.phrases: dict[tuple[str, ...], Sense] = {}
        for phrase, sense in self._senses(data):
            self._add(phrase, sense)
        for plain, sense in self.phrases.items():
            (self._facts if sense.kind == FACT else self._attributes).add(plain, sense)
        self._related = self._relations()
        known = {word.removesuffix(OBJECT) for phrase in self.phrases for word in phrase} | self.light
        known |= {
            *self._same,
            *self._dropped,
            *(word for first in self._rewritten.values() for s, _ in first for word in s),
        }
        self.known = frozenset(known)
        spoken = {word for phrase, _ in self._senses(data) for word in words(phrase)}
        self.speller = Speller(self.known | spoken | {word + "s" for word in self.known if word + "s" in english()})

    def _senses(self, data: Mapping[str, Any]) -> Iterator[tuple[str, Sense]]:
        for expression, phrases in data["also"].items():
            sense = self._sense(expression)
            yield from ((phrase, sense) for phrase in phrases)
        for attribute, row in zip(self.table.attributes, self.table.values, strict=True):
            sense = Sense(attribute.id, attribute.kind, row)
            yield from ((phrase, sense) for phrase in attribute.phrases)
        for kind, value in (("fact", YES), ("maybe", SOMETIMES)):
            for objects, phrases in data[kind].items():
                row = np.full(len(self.table.names), NO)
                row[list(listed(objects, self.table.groups, f"facts.toml, [{kind}]:"))] = value
                yield from ((phrase, Sense(phrases[0], FACT, row)) for phrase in phrases)

    def plain(self, spoken: Sequence[str]) -> tuple[list[str], list[int]]:
        """Words as the lexicon compares them, without inflection and one of those that mean the same.

        Returns:
            The words that are left, and the number of the spoken word that each comes from.
        """
        kept: list[str] = []
        sources: list[int] = []
        numbers = [number for number, word in enumerate(spoken) if not (word in self._dropped and word.endswith("ly"))]
        spoken = [spoken[number] for number in numbers]
        place = 0
        while place < len(spoken):
            word = spoken[place]
            for source, target in self._rewritten.get(word, ()):
                if tuple(spoken[place : place + len(source)]) == source:
                    kept += target
                    sources += [numbers[place]] * len(target)
                    place += len(source)
                    break
            else:
                place += 1
                if word in ("it", "them") and kept and place > 1 and spoken[place - 2] not in _AUXILIARIES:
                    kept[-1] = kept[-1].removesuffix(OBJECT) + OBJECT
                elif word in _SUBJECTS and (place == 1 or spoken[place - 2] in _AUXILIARIES) and place < len(spoken):
                    continue
                elif word not in self._dropped:
                    root = stem(word)
                    kept.append(self._same.get(root, root) + (OBJECT if is_participle(word) else ""))
                    sources.append(numbers[place - 1])
        return kept, sources

    def weight(self, word: str) -> float:
        """How much a word tells."""
        return 0.25 if word.removesuffix(OBJECT) in self.light else 1.0

    def attributes(self, question: Sequence[str]) -> list[Match]:
        """All phrases in a question that mean attributes; `BREAK` parts its clauses."""
        return [match for start in range(len(question)) for match in self._from(self._attributes, question, start)]

    def facts(self, question: Sequence[str]) -> list[Match]:
        """All phrases in a question that say something of a few objects."""
        return [match for start in range(len(question)) for match in self._from(self._facts, question, start)]

    def related(self, question: Sequence[str]) -> NDArray[np.bool_]:
        """The objects with which nearly all that a question speaks of has to do, by the words of their phrases."""
        content = {word.removesuffix(OBJECT) for word in question if self.weight(word) == 1}
        found = [self._related[word] for word in content if word in self._related]
        shared = np.zeros(len(self.table.names))
        common = np.zeros(len(self.table.names), np.int64)
        for told, row in found:
            shared += told * row
            common += row & (row.sum() <= _FEW)
        unknown = (len(content) - len(found)) * float(np.log(len(self.table.names)))
        related: NDArray[np.bool_] = (common >= 2) & (shared >= _RELATED * (unknown + sum(told for told, _ in found)))
        return related

    def _relations(self) -> dict[str, tuple[float, NDArray[np.bool_]]]:
        """For each word of the phrases that hold of few objects how much it tells, and those objects."""
        rows: dict[str, NDArray[np.bool_]] = {}
        for plain, sense in self.phrases.items():
            holds = sense.row > NO
            plainly = not set("!|") & set(sense.name)
            if sense.kind == FACT or (plainly and 0 < holds.sum() <= _FEW):
                for word in {word.removesuffix(OBJECT) for word in plain}:
                    if self.weight(word) == 1:
                        rows[word] = rows.get(word, False) | holds
        return {word: (float(np.log(len(row) / row.sum())), row) for word, row in rows.items()}

    def _from(self, root: _Node, question: Sequence[str], start: int) -> Iterator[Match]:
        stack: list[tuple[_Node, int, tuple[int, ...], float, int]] = [(root, start - 1, (), 0.0, 0)]
        while stack:
            node, last, places, value, gaps = stack.pop()
            # A word that alone tells of few objects must have the very role that it is listed with.
            if node.sense is not None and not (
                root is self._facts
                and len(places) == 1
                and value < self.weight(question[start])
                and not question[start].endswith(OBJECT)
            ):
                yield Match(places, node.sense, value * (1 + _LENGTH_BONUS * (len(places) - 1)) - _GAP_COST * gaps)
            ahead = range(last + 1, min(len(question), last + 2 + _GAP - gaps)) if places else (start,)
            for place in ahead:
                word = question[place]
                if word == BREAK or (place > last + 1 and question[place - 1] in NEGATIONS):
                    break
                gap = place - last - 1
                other = word.removesuffix(OBJECT) if word.endswith(OBJECT) else word + OBJECT
                for form, cost in ((word, 0.0), (other, _ROLE_COST)):
                    found = node.after.get(form)
                    if found is not None:
                        step = value + self.weight(word) * (1 - cost)
                        stack.append((found, place, (*places, place), step, gaps + gap))

    def _add(self, phrase: str, sense: Sense) -> None:
        plain = tuple(self.plain(words(phrase))[0])
        alone = len(plain) == 1 and self.weight(plain[0]) < 1
        if not plain or (alone and (sense.kind == FACT or len(words(phrase)) > 1)):
            self.conflicts.append(f"{phrase!r}: {sense.name}")
            return
        known = self.phrases.get(plain)
        if known is not None:
            # Of a word that means an attribute of many objects a fact says nothing new.
            if sense.name in known.name.split(" or ") or (sense.kind == FACT and not _is_special(known)):
                return
            # What a word means in several ways is true where it is true in one of them.
            sense = Sense(f"{known.name} or {sense.name}", known.kind, np.maximum(known.row, sense.row))
        self.phrases[plain] = sense

    def _sense(self, expression: str) -> Sense:
        """The sense of an expression over attributes: ``!`` not, ``&`` and, ``|`` or, in this order of strength."""
        terms = [[factor.strip() for factor in term.split("&")] for term in expression.split("|")]
        for name in (factor.removeprefix("!") for term in terms for factor in term):
            if name not in self.table.rows:
                raise LmrlError(f"senses.toml: {name!r} in {expression!r} is no attribute; correct it")
        rows: list[Values] = [np.minimum.reduce([self._row(factor) for factor in term]) for term in terms]
        kind = (
            self.table.attributes[self.table.rows[expression]].kind if expression in self.table.rows else "expression"
        )
        whole: Values = np.maximum.reduce(rows)
        return Sense(expression, kind, whole)

    def _row(self, factor: str) -> Values:
        row: Values = self.table.values[self.table.rows[factor.removeprefix("!")]]
        return (YES - row).astype(np.uint8) if factor.startswith("!") else row


_AUXILIARIES = frozenset(
    """is are was were be been am do does did can could would should will might may must shall have has had that which
    when if where who most many""".split()
)
# Who does it, where anybody might: "do people eat it", "can you eat it".
_SUBJECTS = frozenset("you i we one people humans everybody everyone somebody someone anybody anyone folks".split())


def _is_special(sense: Sense) -> bool:
    return sense.kind == FACT or int((sense.row > NO).sum()) <= _SPECIAL


def best(matches: Sequence[Match]) -> list[Match]:
    """The matches that together explain the most, of which no two overlap, in the order of the question."""
    ordered = sorted(matches, key=lambda match: (match.places[-1], match.places[0]))
    value = [0.0]
    chosen: list[tuple[Match, ...]] = [()]
    for number, match in enumerate(ordered):
        before = number
        while before and ordered[before - 1].places[-1] >= match.places[0]:
            before -= 1
        if value[before] + match.value > value[-1]:
            value.append(value[before] + match.value)
            chosen.append((*chosen[before], match))
        else:
            value.append(value[-1])
            chosen.append(chosen[-1])
    return list(chosen[-1])


@cache
def lexicon() -> Lexicon:
    """The lexicon of the task."""
    folder = files("lmrl_data.tasks.twenty_questions") / "phrases"
    data: dict[str, Any] = {}
    for name in ("words", "senses", "facts"):
        data |= tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
    return Lexicon(knowledge_table(), data)
