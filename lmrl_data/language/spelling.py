"""Slips of the keyboard: what word was meant."""

import re
from functools import lru_cache

from lmrl_data.language.stems import english, is_form, stem

_LONG = 7
# Words so common that they are meant rather than a word of the task that is as near.
_VERY_COMMON = 300


# Names that are no slips of a common word.
_NAMES = frozenset(
    """france germany italy spain england britain ireland scotland wales europe america usa africa asia australia canada
    mexico brazil china japan india russia greece egypt rome paris london york california texas hawaii iceland norway
    sweden finland denmark poland turkey israel iran iraq korea vietnam thailand antarctica arctic atlantic pacific
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december christmas easter halloween messi ronaldo lebron jordan nadal federer wimbledon nba nfl
    fifa ikea google amazon apple microsoft samsung nike disney mozart beethoven picasso shakespeare einstein newton
    lakh crore rupee rupees
    titanic hogwarts frodo simba shrek nemo elsa thor batman superman popeye garfield snoopy pikachu mario""".split()
)
# Letters that sound alike.
_SOUND = (
    *(("ph", "f"), ("ck", "k"), ("sch", "sk"), ("sci", "si"), ("sce", "se"), ("ce", "se"), ("ci", "si"), ("cy", "sy")),
    *(("ch", "C"), ("c", "k"), ("q", "k"), ("x", "ks"), ("z", "s"), ("wh", "w"), ("kn", "n"), ("gh", "")),
)
_SHORTEST = 4
_VOWELS = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"(.)\1")


class Speller:
    """Corrects slips of the keyboard towards the words that a task knows, and towards the commonest English ones.

    A word that is ordinary English, or a form of it, is never changed: "cat" does not become "car".

    Args:
        vocabulary: the words of the task.
        common: how many of the commonest English words are what may have been meant.
        ordinary: more words that are no slips.
    """

    def __init__(self, vocabulary: frozenset[str], common: int = 8000, ordinary: frozenset[str] = frozenset()) -> None:
        self.vocabulary = vocabulary
        self._ordinary = ordinary | _NAMES
        ranks = english()
        often = [word for word, rank in ranks.items() if rank < common and len(word) > 2]
        self._rank = {word: rank - 10**6 * (word in vocabulary) for word, rank in ranks.items()}
        self._rank |= {word: len(ranks) - 10**6 for word in vocabulary if word not in ranks}
        self._rank |= {word: rank - 2 * 10**6 for word, rank in ranks.items() if rank < _VERY_COMMON}
        self._near: dict[str, list[str]] = {}
        self._long: dict[str, list[str]] = {}
        for word in sorted({word for word in vocabulary if len(word) > 2 and word.isalpha()} | set(often)):
            for key in {word, *_without_a_letter(word)}:
                self._near.setdefault(key, []).append(word)
            if len(word) >= _LONG - 1 and word in vocabulary:
                self._long.setdefault(word[0], []).append(word)
        self._sounds: dict[str, list[str]] = {}
        for word in sorted(word for word in vocabulary if word.isalpha() and len(word) >= _SHORTEST):
            for key in {_sound(word), _consonants(word)}:
                self._sounds.setdefault(key, []).append(word)
        self.correct = lru_cache(maxsize=20_000)(self._correct)

    def knows(self, word: str) -> bool:
        """Whether a word is one of the vocabulary, ordinary English, or a form of either."""
        return word in self._rank or word in self._ordinary or is_form(word) or stem(word) in self._rank

    def _correct(self, word: str) -> str:
        """The word that was meant; the word itself where it is known or nothing is near."""
        if len(word) < 3 or not word.isalpha() or len(word) > 24 or self.knows(word):
            return word
        near = {
            candidate
            for key in (word, *_without_a_letter(word))
            for candidate in self._near.get(key, ())
            if _plausible(word, candidate)
        }
        if not near and len(word) >= _LONG:
            lengths = range(len(word) - 2, len(word) + 3)
            near = {
                candidate
                for candidate in self._long.get(word[0], ())
                if len(candidate) in lengths and distance(word, candidate, 2) <= 2
            }
        near |= self._sounding_like(word)
        return min(near, key=lambda candidate: self._preference(word, candidate), default=word)

    def _sounding_like(self, word: str) -> set[str]:
        """The word of the vocabulary that sounds like one, or that it cuts short; none where there are several."""
        keys = (_sound(word), _consonants(word))
        near = {candidate for key in keys for candidate in self._sounds.get(key, ()) if _likeness(word, candidate)}
        if not near and len(word) >= _LONG - 1:
            near = {
                candidate
                for candidate in self._long.get(word[0], ())
                if candidate[-1] == word[-1] and len(candidate) <= 2 * len(word) and _is_within(word, candidate)
            }
        return near if len({stem(candidate) for candidate in near}) == 1 else set()

    def _preference(self, word: str, candidate: str) -> tuple[bool, bool, int, str]:
        swapped = sorted(word) == sorted(candidate)
        likeness = _likeness(word, candidate) if candidate in self.vocabulary else 0
        return candidate[0] != word[0], not (swapped or likeness), self._rank[candidate] - 10**7 * likeness, candidate


def _likeness(word: str, candidate: str) -> int:
    """2 for a word that has lost vowels or doubled letters ("metl", "sleves"), 1 where both sound alike ("muzik")."""
    lost = _consonants(word) == _consonants(candidate) and _is_within(word, candidate)
    if lost or _once(word) == _once(candidate):
        return 2
    return int(_sound(word) == _sound(candidate))


def _is_within(word: str, candidate: str) -> bool:
    """Whether a word is what another leaves if letters are left out."""
    letters = iter(candidate)
    return all(letter in letters for letter in word)


def _once(word: str) -> str:
    """A word with each doubled letter written once."""
    return _DOUBLED.sub(r"\1", word)


def _consonants(word: str) -> str:
    return word[0] + _VOWELS.sub("", _once(word)[1:])


def _sound(word: str) -> str:
    """A word as it sounds: "sizzors" and "scissors" are the same."""
    for written, spoken in _SOUND:
        word = word.replace(written, spoken)
    return _once(word)


def _without_a_letter(word: str) -> list[str]:
    return [word[:place] + word[place + 1 :] for place in range(len(word))]


def _plausible(word: str, candidate: str) -> bool:
    """Whether one slip makes the candidate the word; short words must keep their first letter and lose none."""
    if distance(word, candidate, 1) > 1:
        return False
    if len(word) > 4:
        return True
    if word[0] != candidate[0]:
        return False
    return len(candidate) > len(word) or sorted(word) == sorted(candidate) or len(word) == 4


def distance(first: str, second: str, limit: int) -> int:
    """The number of letters dropped, added, changed, or swapped with the next between two words; above `limit`, more.

    Damerau and Levenshtein's distance in its restricted form (optimal string alignment).
    """
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    before: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, above = above, current
    return above[-1]
