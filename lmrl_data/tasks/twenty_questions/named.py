"""Questions that name things: direct guesses ("Is it a cat?"), lists ("Is it a cat or a dog?"), and other things."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from lmrl_data.language.guesses import Names
from lmrl_data.language.stems import english
from lmrl_data.tasks.twenty_questions.lexicon import lexicon
from lmrl_data.tasks.twenty_questions.phrase_tree import BREAK
from lmrl_data.tasks.twenty_questions.question import Question
from lmrl_data.tasks.twenty_questions.table import NO, YES, Values, knowledge_table
from lmrl_data.tasks.twenty_questions.yardsticks import names

_IT = "(?:it|they|this|that|these|those|he|she)"
_ADVERBS = "(?: (?:be|either|possibly|maybe|perhaps|called|named|just|something like|actually|really|a kind of))*"
_SAID = re.compile(
    r"(?:^|\| )(?:(?!(?:than|or|not|when|if|how|why|what|where|without|like|as|for)\b)\w+ ){0,3}?"
    rf"(?:(?:is|are|was|were) {_IT}{_ADVERBS}|(?:could|might|would|can|must|may|will) {_IT} (?:possibly )?be{_ADVERBS}"
    rf"|{_IT} (?:is|are|was|must be|could be|might be|may be|has to be){_ADVERBS}"
    rf"|(?:do|would|could|can|should) (?:you|we|i|one|people) (?:call|consider|name|label) {_IT}(?: as)?"
    r"|(?:are you|am i) (?:thinking|looking)(?: of| about| for)?) "
)
_BETWEEN = re.compile(r"(?: ?(?:\||\bor\b|\bnor\b) ?)+(?:(?:is it|are they|maybe|perhaps|possibly|even|rather) )*")
_DETERMINERS = re.compile(r"^(?:(?:a|an|the|some|one|my|your|our|their|any|pair of|just|maybe|more like) )+")
_BESIDES = re.compile(r" (?:with|instead|perhaps|maybe|then|by chance)\b.*$")
# What may close a list of names: "a cat, a dog or the like".
_CLOSING = frozenset("the like|such|similar|so|something|something similar|something else|what".split("|"))


@cache
def other_things() -> Names[str]:
    """The names of things that are none of the objects."""
    text = (files("lmrl_data.tasks.twenty_questions") / "phrases" / "others.toml").read_text("utf-8")
    listed = {" ".join(name.split()) for names in tomllib.loads(text).values() for name in names.split(",")}
    return Names({"another thing": sorted(listed)}, strict=True)


def things_named(question: Question) -> tuple[Values, str] | None:
    """Which of the objects a question names, if all that it asks is whether the thing is one of some things."""
    line = " ".join(question.words)
    frame = _SAID.search(line)
    if frame is None and (question.whole or lexicon().attributes(lexicon().plain(question.words)[0])):
        return None
    columns: set[int] = set()
    said = [piece for piece in _BETWEEN.split(line[frame.end() if frame else 0 :].removesuffix(f" {BREAK}")) if piece]
    for piece in said:
        thing = _DETERMINERS.sub("", piece)
        if len(said) > 1 and thing in _CLOSING:
            continue
        words = thing.split()
        column = names().find(words) if len(said) > 1 else None
        if column is not None:
            columns.add(column)
        elif other_things().find(_BESIDES.sub("", thing).split()) is None and not (frame and _is_compound(words)):
            return None
    if not said:
        return None
    row = np.full(len(knowledge_table().names), NO)
    row[list(columns)] = YES
    return row, f"one of: {', '.join(said)}"


def _is_compound(words: Sequence[str]) -> bool:
    """Whether words name something else by the name of an object: "car door", but not "cat toy", which is a toy."""
    if len(words) < 2 or names().find(words[:-1]) is None or lexicon().attributes(lexicon().plain(words[:-1])[0]):
        return False
    head = lexicon().attributes(lexicon().plain(words[-1:])[0])
    return words[-1] in english() and not any(match.sense.kind == "category" for match in head)
