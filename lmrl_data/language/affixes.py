"""Words made of other words: what a prefix or an ending denies ("leafless"), and what a derived word comes from."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from lmrl_data.language.stems import english, is_participle, stem

_SHORTEST, _SHORTEST_WHOLE = 3, 8
# What undoing is done to can be done as well: "unlock" has to do with locks, "unbroken" says not broken.
_UNDOING = frozenset(
    """lock wrap roll fold tie plug screw zip button fasten cover pack load hook buckle clip latch seal stick lace
    wind coil veil mask do dress earth cork hitch chain leash""".split()
)
_QUALITY = re.compile(r"(?:ble|ent|ant|ate|ic|ive|al|y|ful|ous|ing)$")
_PLAIN = frozenset("ripe safe real clean kind fair even common worn sharp stable sure wise true pleasant clear".split())
# Endings, and what stands in their place in the words that they are added to.
_ENDINGS = (
    ("iness", ("y",)),
    ("ness", ("",)),
    ("ability", ("", "e", "able")),
    ("able", ("", "e")),
    ("ible", ("", "e")),
    ("ingly", ("", "e", "ing")),
    ("ily", ("y",)),
    ("ly", ("", "le")),
    ("ish", ("", "e")),
    ("like", ("",)),
    ("proof", ("",)),
    ("ful", ("",)),
    ("ous", ("", "y", "e")),
    ("ier", ("y",)),
    ("iest", ("y",)),
    ("est", ("", "e")),
    ("er", ("", "e")),
    ("or", ("", "e")),
    ("ist", ("", "e", "y", "o")),
    ("ation", ("e", "")),
    ("ion", ("", "e")),
    ("ment", ("",)),
    ("ance", ("", "e")),
    ("al", ("", "e")),
    ("ic", ("", "e", "y")),
    ("en", ("", "e")),
    ("y", ("", "e")),
    ("ery", ("", "e")),
    ("age", ("", "e")),
)


def denied(word: str, known: Callable[[str], bool]) -> tuple[str, ...] | None:
    """A word with its denial as a word of its own: "leafless" without leaf, "unripe" not ripe, "unlock" lock.

    Args:
        word: a plain word.
        known: whether a stem is a word of the task; what is denied must be one.
    """
    if word.endswith("less") and len(word) > _SHORTEST + 4:
        root = stem(word[:-4])
        return ("without", root) if known(root) else None
    for prefix in ("un", "non", "in"):
        rest = word.removeprefix(prefix)
        if rest == word or len(rest) < _SHORTEST + 1 or rest not in english():
            continue
        root = stem(rest)
        if prefix == "un" and root in _UNDOING and root == rest:
            return (rest,)
        # "inflexible", but not "inside"; "uncooked", but not "unless"
        says_how = _QUALITY.search(rest) or (prefix == "un" and (rest in _PLAIN or is_participle(rest)))
        if (says_how or prefix == "non") and (known(root) or any(known(form) for form in origins(rest))):
            return ("not", rest)
    return None


@lru_cache(maxsize=20_000)
def origins(word: str) -> tuple[str, ...]:
    """The stems of the words that a word may come from, the likeliest first: "drummer" drum, "curviness" curvy."""
    return tuple(dict.fromkeys(stem(form) for form in _origins(word) if form in english()))


def _origins(word: str) -> Iterator[str]:
    for ending, instead in _ENDINGS:
        root = word.removesuffix(ending)
        if root == word or len(root) < _SHORTEST:
            continue
        if ending[0] in "aeioy" and re.search(r"([bdgklmnprt])\1$", root):
            yield root[:-1]
        yield from (root + end for end in instead)


def parts(word: str, known: Callable[[str], bool]) -> tuple[str, str] | None:
    """The two words of the task that a word is written together of: "bookshelf" book, shelf."""
    if len(word) < _SHORTEST_WHOLE:
        return None
    for cut in range(len(word) - _SHORTEST, _SHORTEST - 1, -1):
        first, second = word[:cut], word[cut:]
        if first in english() and second in english() and known(stem(first)) and known(stem(second)):
            return first, second
    return None
