"""How the words of questions and phrases are made alike before they are compared; `phrases/words.toml` says which."""

from collections.abc import Mapping, Sequence
from typing import Any

from lmrl_data.language.affixes import denied, origins, parts
from lmrl_data.language.spelling import Speller
from lmrl_data.language.stems import english, is_participle, stem
from lmrl_data.language.words import words
from lmrl_data.tasks.twenty_questions.phrase_tree import BREAK, NEGATIONS, OBJECT

LIGHT, FULL = 0.25, 1.0
_AUXILIARIES = frozenset(
    """is are was were be been being am do does did do can could would should will might may must shall have has had
    that which when if where who most many""".split()
)
# Who does it, where anybody might: "do people eat it", "can you eat it".
_SUBJECTS = frozenset("you i we one people humans everybody everyone somebody someone anybody anyone folks".split())


class Vocabulary:
    """Words that tell nothing or little, words and phrases that mean the same, and slips that are mended.

    Args:
        data: what `words.toml` says.
        phrases: the words of all phrases that mean something in the task.

    Attributes:
        listed: those phrases in plain words, in the same order.
        known: the stems of the task.
        speller: what mends slips.
    """

    def __init__(self, data: Mapping[str, Any], phrases: Sequence[Sequence[str]]) -> None:
        self._dropped = frozenset(words(data["dropped"]))
        self._light = frozenset(map(stem, words(data["light"])))
        self._same = {stem(word): stem(kept) for kept, others in data["same"].items() for word in words(others)}
        self._rewritten: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        for kept, sources in data["rewrite"].items():
            for source in map(tuple, map(words, sources)):
                self._rewritten.setdefault(source[0], []).append((source, tuple(kept.split())))
        for options in self._rewritten.values():
            options.sort(key=lambda option: -len(option[0]))
        self.listed = [tuple(self.plain(phrase)[0]) for phrase in phrases]
        plain = {word.removesuffix(OBJECT) for word in {word for phrase in self.listed for word in phrase}}
        rewritten = {word for options in self._rewritten.values() for source, _ in options for word in source}
        self.known = frozenset(plain | NEGATIONS | self._light | self._dropped | rewritten | self._same.keys())
        plurals = {word + "s" for word in self.known if word + "s" in english()}
        self.speller = Speller(self.known.union(plurals, *phrases))

    def weight(self, word: str) -> float:
        """How much a plain word tells."""
        root = word.removesuffix(OBJECT)
        return LIGHT if root in self._light or root in NEGATIONS else FULL

    def plain(self, spoken: Sequence[str]) -> tuple[list[str], list[int]]:
        """Words without inflection and one of those that mean the same.

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

    def mended(self, spoken: Sequence[str]) -> list[str]:
        """Spoken words without slips: mistyped, or two words written together."""
        said: list[str] = []
        for word in spoken:
            if word == BREAK or not word.isalpha() or self._knows(stem(word)) or denied(word, self._knows):
                said.append(word)
            else:
                said += self._apart(word)
        return said

    def derived(self, spoken: Sequence[str]) -> list[str]:
        """Spoken words with those that the task does not know replaced by what they come from."""
        said: list[str] = []
        for word in spoken:
            if word == "free" and said and said[-1] not in self._dropped | _AUXILIARIES and self._knows(stem(said[-1])):
                said.insert(-1, "without")  # "fat free"
            elif word.isalpha() and not self._knows(stem(word)):
                said += self._derived(word) or (word,)
            else:
                said.append(word)
        return said

    def _knows(self, root: str) -> bool:
        return root in self.known

    def _derived(self, word: str) -> Sequence[str]:
        """What a word comes from, if the task knows that; a denial is a word of its own."""
        roots = tuple(root for root in origins(word) if self._knows(root))[:1]
        return denied(word, self._knows) or roots

    def _apart(self, word: str) -> Sequence[str]:
        """The word that was meant by one that the task does not know, or the two words."""
        if self.speller.knows(word):
            return (word,)
        if word.endswith("in") and self.speller.knows(word + "g"):  # "wearin"
            return (word + "g",)
        meant = self.speller.correct(word)
        if meant == word:
            together = parts(word, self._knows)
            if together is not None:
                return together
            for glued in ("it", "is", "the", "a"):  # "itman made"
                if word.startswith(glued) and self._knows(stem(word.removeprefix(glued))):
                    return glued, word.removeprefix(glued)
        return (meant,)
