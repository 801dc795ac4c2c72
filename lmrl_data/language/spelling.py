"""Slips of the keyboard: what word was meant."""

from functools import lru_cache

from lmrl_data.language.stems import english, is_form, stem

_LONG = 7


# Names that are no slips of a common word.
_NAMES = frozenset(
    """france germany italy spain england britain ireland scotland wales europe america usa africa asia australia canada
    mexico brazil china japan india russia greece egypt rome paris london york california texas hawaii iceland norway
    sweden finland denmark poland turkey israel iran iraq korea vietnam thailand antarctica arctic atlantic pacific
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december christmas easter halloween messi ronaldo lebron jordan nadal federer wimbledon nba nfl
    fifa ikea google amazon apple microsoft samsung nike disney mozart beethoven picasso shakespeare einstein newton
    titanic hogwarts frodo simba shrek nemo elsa thor batman superman popeye garfield snoopy pikachu mario""".split()
)


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
        self._rank |= {word: -(10**6) for word in vocabulary if word not in ranks}
        self._near: dict[str, list[str]] = {}
        self._long: dict[str, list[str]] = {}
        for word in sorted({word for word in vocabulary if len(word) > 2 and word.isalpha()} | set(often)):
            for key in {word, *_without_a_letter(word)}:
                self._near.setdefault(key, []).append(word)
            if len(word) >= _LONG - 1 and word in vocabulary:
                self._long.setdefault(word[0], []).append(word)
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
        return min(near, key=lambda candidate: self._preference(word, candidate), default=word)

    def _preference(self, word: str, candidate: str) -> tuple[bool, bool, int, str]:
        swapped = sorted(word) == sorted(candidate)
        return candidate[0] != word[0], not swapped, self._rank[candidate], candidate


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
