"""What would give a city away: its names, its country's, the words for its people, and words that contain one."""

import re
import unicodedata
from collections.abc import Iterable

# Shorter names are looked for as whole words only: "Rio" would be found in "various".
_SHORT = 3


def plain(text: str) -> str:
    """A text without case, diacritics and the difference between kinds of apostrophes and blanks."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return re.sub(r"\s+", " ", letters.replace("ı", "i").replace("’", "'").replace("ʼ", "'"))


class Leaks:
    """Finds forbidden names in texts.

    A name of one word is found inside of longer words too ("Parisian", "climate" for Lima). Names of several words,
    with marks, or of up to three letters are found as whole words.
    """

    def __init__(self, names: Iterable[str]) -> None:
        whole: set[str] = set()
        inside: set[str] = set()
        for name in map(plain, names):
            (inside if name.isalpha() and len(name) > _SHORT else whole).add(name)
        parts = [rf"\b{re.escape(name)}\b" for name in sorted(whole, key=len, reverse=True)]
        parts += [rf"\w*{re.escape(name)}\w*" for name in sorted(inside)]
        self._pattern = re.compile("|".join(parts))

    def find(self, text: str) -> str | None:
        """The first word or words of a text that give the city away; None where none does."""
        found = self._pattern.search(plain(text))
        return found[0] if found else None
