"""What words and phrases of a question mean; the files in `phrases/` say at their top how they are written."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.language.words import words
from lmrl_data.tasks.twenty_questions.phrase_tree import OBJECT, Match, PhraseTree, Sense
from lmrl_data.tasks.twenty_questions.table import NO, SOMETIMES, YES, Table, Values, knowledge_table, listed
from lmrl_data.tasks.twenty_questions.vocabulary import FULL, Vocabulary

# The kind of what is no attribute, and what the tables of facts are called.
FACT = "fact"
_CERTAINTY = {"fact": YES, "maybe": SOMETIMES}
# An attribute of at most so many objects tells what their words have to do with; and how much of a question must.
_FEW = 30
# An attribute of at most so many objects, which the facts of other objects may share words with.
_SPECIAL = 60
_RELATED = 0.8


class Lexicon(Vocabulary):
    """Phrases and their senses, and the words that mean the same. Make it with `lexicon`."""

    def __init__(self, table: Table, data: Mapping[str, Any]) -> None:
        self.table = table
        senses = list(self._senses(data))
        spoken = [words(phrase) for phrase, _ in senses]
        super().__init__(data, spoken)
        self._attributes, self._facts = PhraseTree(), PhraseTree(strict=True)
        self.conflicts: list[str] = []
        self.phrases: dict[tuple[str, ...], Sense] = {}
        self.fact_phrases: dict[tuple[str, ...], Sense] = {}
        for said, plain, (_, sense) in zip(spoken, self.listed, senses, strict=True):
            self._add(said, plain, sense)
        for tree, phrases in ((self._attributes, self.phrases), (self._facts, self.fact_phrases)):
            for phrase, sense in phrases.items():
                tree.add(phrase, sense)
        self._related = self._relations()

    def _senses(self, data: Mapping[str, Any]) -> Iterator[tuple[str, Sense]]:
        for expression, phrases in data["also"].items():
            sense = self._sense(expression)
            yield from ((phrase, sense) for phrase in phrases)
        for attribute, row in zip(self.table.attributes, self.table.values, strict=True):
            sense = Sense(attribute.id, attribute.kind, row)
            yield from ((phrase, sense) for phrase in attribute.phrases)
        for name, kinds in data["facts"].items():
            for kind, objects, phrases in ((kind, *line) for kind, lines in kinds.items() for line in lines.items()):
                row = np.full(len(self.table.names), NO)
                row[list(listed(objects, self.table.groups, f"{name}, [{kind}]:"))] = _CERTAINTY[kind]
                sense = Sense(phrases[0], FACT, row)
                yield from ((phrase, sense) for phrase in phrases)

    def attributes(self, question: Sequence[str]) -> list[Match]:
        """All phrases in a question of plain words that mean attributes."""
        return self._attributes.find(question, list(map(self.weight, question)))

    def facts(self, question: Sequence[str]) -> list[Match]:
        """All phrases in a question of plain words that say something of a few objects."""
        return self._facts.find(question, list(map(self.weight, question)))

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
        senses: dict[str, dict[int, Sense]] = {}
        for plain, sense in (*self.phrases.items(), *self.fact_phrases.items()):
            for word in plain:
                senses.setdefault(word.removesuffix(OBJECT), {})[id(sense)] = sense
        related: dict[str, tuple[float, NDArray[np.bool_]]] = {}
        for word, meant in senses.items():
            rows = [sense.row for sense in meant.values() if _tells(sense)]
            if rows and self.weight(word) == FULL:
                holds = np.maximum.reduce(rows) > NO
                related[word] = (float(np.log(len(holds) / holds.sum())), holds)
        return related

    def _add(self, spoken: Sequence[str], plain: tuple[str, ...], sense: Sense) -> None:
        slight = all(self.weight(word) < FULL for word in plain)
        if not plain or (slight and (sense.kind == FACT or (len(plain) == 1 and len(spoken) > 1))):
            self.conflicts.append(f"{' '.join(spoken)!r}: {sense.name}")
            return
        attribute = self.phrases.get(plain) if sense.kind == FACT else None
        # Of a word that means an attribute of many objects a fact says nothing new.
        if attribute and ((sense.row <= attribute.row).all() or (attribute.row > NO).sum() > _SPECIAL):
            return
        phrases = self.fact_phrases if sense.kind == FACT else self.phrases
        known = phrases.get(plain)
        if known is None:
            phrases[plain] = sense
        elif (sense.row > known.row).any():
            # What a word means in several ways is true where it is true in one of them.
            phrases[plain] = Sense(f"{known.name} or {sense.name}", known.kind, np.maximum(known.row, sense.row))

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


def _tells(sense: Sense) -> bool:
    """Whether the words of a phrase with this sense have to do with the objects of which it holds."""
    few = 0 < int(np.count_nonzero(sense.row)) <= _FEW
    return sense.kind == FACT or (few and not set("!|") & set(sense.name))


@cache
def lexicon() -> Lexicon:
    """The lexicon of the task."""
    folder = files("lmrl_data.tasks.twenty_questions") / "phrases"
    data: dict[str, Any] = {}
    for name in ("words", "senses"):
        data |= tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
    groups = sorted((folder / "facts").iterdir(), key=lambda file: file.name)
    data["facts"] = {file.name: tomllib.loads(file.read_text("utf-8")) for file in groups}
    return Lexicon(knowledge_table(), data)
