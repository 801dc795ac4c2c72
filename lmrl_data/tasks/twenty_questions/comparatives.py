"""Adjectives of measure, and their comparatives: by what they compare, and whether they ask for more of it or less."""

from lmrl_data.tasks.twenty_questions.yardsticks import LESS, MORE

# By what is compared (a number of `Yardsticks`): adjectives that ask for more of it, and for less.
_ADJECTIVES = {
    "volume_l": ("big large great bulky huge massive gigantic enormous", "small tiny little teeny minuscule petite"),
    "length_cm": ("long", "short"),
    "height_cm": ("tall high deep", "low shallow"),
    "width_cm": ("wide broad", "narrow"),
    "thickness_cm": ("thick fat", "thin flat"),
    "weight_g": ("heavy", "light"),
    "price_usd": ("expensive pricey costly dear valuable", "cheap inexpensive"),
    "speed": ("fast quick", "slow"),
}
_IRREGULAR = {"big": "bigger", "heavy": "heavier", "tiny": "tinier", "pricey": "pricier", "costly": "costlier"}
_IRREGULAR |= {"bulky": "bulkier", "large": "larger", "huge": "huger", "little": "littler", "wide": "wider"}
_IRREGULAR |= {"thin": "thinner", "fat": "fatter", "flat": "flatter"}
_OPPOSITE = {MORE: LESS, LESS: MORE}

# What each adjective and each comparative compares by, and which way; and the adjective of each comparative.
ADJECTIVES: dict[str, tuple[str, str]] = {}
COMPARATIVES: dict[str, tuple[str, str]] = {}
ADJECTIVE_OF: dict[str, str] = {}
for _key, _both in _ADJECTIVES.items():
    for _which, _words in zip((MORE, LESS), _both, strict=True):
        for _word in _words.split():
            _longer = _IRREGULAR.get(_word, _word.removesuffix("e") + "er")
            ADJECTIVES[_word] = _key, _which
            ADJECTIVE_OF[_longer] = _word
            COMPARATIVES |= dict.fromkeys((f"more {_word}", _longer, _longer + "er"), (_key, _which))
            COMPARATIVES[f"less {_word}"] = _key, _OPPOSITE[_which]
