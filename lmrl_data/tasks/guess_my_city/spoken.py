"""The words of what people type: short forms, old forms and slips are turned into plain words, clause by clause."""

import re
from collections.abc import Callable

from lmrl_data.language.words import clauses

Clause = tuple[str, ...]

# What people begin with, call each other or sigh, which is no part of a question.
OPENERS = frozenset(
    "so and ok okay well oh ooh ah now please hey hi hello um uh but then right alright also just yes thanks thank "
    "dear wait like good great cool sir madam kindly again next first finally anyway listen look nice perfect "
    "sheesh aight man dude bro bruh fam lol lmao omg yo squire guv mate love darling honey friend hmm "
    "gosh goodness still".split()
)

# Short forms of messages that are no English words.
_SHORT_FORMS = {
    "r": "are",
    "n": "and",
    "rn": "now",
    "wats": "what is",
    "wuts": "what is",
    "wich": "which",
    "wch": "which",
    "whr": "where",
    "govmnt": "government",
    "gvmt": "government",
    "relig": "religion",
    "pplz": "people",
    "bldgs": "buildings",
    "bldg": "building",
    "univ": "university",
    "univs": "universities",
    "xmas": "christmas",
    "footy": "football",
    "brekkie": "breakfast",
    "bevs": "drinks",
    "telly": "television",
    "hols": "holidays",
    "wen": "when",
    "wher": "where",
    "hw": "how",
    "rite": "right",
    "nite": "night",
    "yr": "year",
    "yrs": "years",
    "peeps": "people",
    "fav": "favourite",
    "fave": "favourite",
    "cld": "cold",
    "temp": "temperature",
    "temps": "temperatures",
    "govt": "government",
    "mtns": "mountains",
    "alt": "altitude",
    "mins": "minutes",
    "hrs": "hours",
    "thou": "you",
    "thee": "you",
    "ye": "you",
    "thy": "your",
    "thine": "your",
    "hast": "have",
    "hath": "has",
    "dost": "do",
    "doth": "does",
    "wilt": "will",
    "shalt": "shall",
    "canst": "can",
    "lang": "language",
    "lat": "latitude",
    "pop": "population",
    "elev": "elevation",
    "uni": "university",
    "unis": "universities",
    "bday": "birthday",
    "celebs": "celebrities",
    "celeb": "celebrity",
    "veggies": "vegetables",
    "veg": "vegetarian",
    "resto": "restaurant",
    "grub": "food",
    "nosh": "food",
    "tunes": "songs",
} | dict.fromkeys("fr ngl tbh lol haha hahaha jk hmm um uh lmao omg tf".split(), "")

_COMPARATIVE = re.compile(r"more|less|fewer|(?!other|river|weather|water|summer|winter|over|ever|never)\w{3,}er")
_AFTER_YOU_ARE = frozenset("in on at near from a an not by the located situated".split())


def clauses_of(text: str, mend: Callable[[str], str]) -> list[Clause]:
    """The words of each clause of a text, with short forms written out.

    Args:
        text: as it was said.
        mend: corrects a word.
    """
    found = []
    rows = clauses(text)
    for row in rows:
        row = ["are" if word == "art" and "thou" in row else word for word in row]
        spelt = [part for word in row for part in _SHORT_FORMS.get(word, word).split()]
        if "k" in row[:-1] and row[row.index("k") + 1] == "pop":
            spelt = row  # Korean music, and no population
        for place, word in enumerate(spelt[:-1]):
            if word == "your" and spelt[place + 1] in _AFTER_YOU_ARE:
                spelt[place] = "you are"
        mended = " ".join(spelt).split()
        if len(mended) > 1 or len(rows) == 1:  # a single word beside others is somebody's name, or a sigh
            mended = list(map(mend, mended))
        for place, word in enumerate(mended[1:], 1):
            if word == "then" and _COMPARATIVE.fullmatch(mended[place - 1]):
                mended[place] = "than"
        found.append(tuple(mended))
    return [clause for clause in found if clause]
