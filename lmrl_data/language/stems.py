"""Inflected forms of English words, and the list of common words that tells which forms there are."""

import re
from functools import cache, lru_cache
from importlib.resources import files

_SPELLINGS = {
    british: american
    for british, american in zip(
        """colour flavour odour harbour neighbour armour favour favourite humour vapour behaviour labour rumour parlour
        metre centimetre kilometre millimetre litre millilitre theatre centre fibre grey tyre plough jewellery
        jeweller licence defence pyjamas aluminium moustache doughnut kilogramme gramme storey cosy sceptical
        mould moulded catalogue programme cheque axe aeroplane woollen coloured multicoloured colourful travelled
        traveller organise recognise analyse realise specialise pulverise sterilise harmonise motorised
        organised recognised specialised practise grey-haired yoghurt whisky tonne""".split(),
        """color flavor odor harbor neighbor armor favor favorite humor vapor behavior labor rumor parlor
        meter centimeter kilometer millimeter liter milliliter theater center fiber gray tire plow jewelry
        jeweler license defense pajamas aluminum mustache donut kilogram gram story cozy skeptical
        mold molded catalog program check ax airplane woolen colored multicolored colorful traveled
        traveler organize recognize analyze realize specialize pulverize sterilize harmonize motorized
        organized recognized specialized practice gray-haired yogurt whiskey ton""".split(),
        strict=True,
    )
}
_IRREGULAR = {
    form: base
    for line in """
    child children|man men|woman women|person persons|foot feet|tooth teeth|goose geese|mouse mice|ox oxen
    knife knives|leaf leaves|loaf loaves|half halves|wolf wolves|shelf shelves|scarf scarves|hoof hooves|wife wives
    calf calves|life lives|elf elves|thief thieves|cactus cacti|people peoples
    eat ate eaten|drink drank drunk|wear wore worn|drive drove driven|ride rode ridden|fly flew flown|grow grew grown
    make made|build built|buy bought|sell sold|sit sat|sleep slept|write wrote written|draw drew drawn|hold held
    keep kept|find found|stand stood|swim swam swum|sing sang sung|ring rang rung|throw threw thrown|catch caught
    take took taken|give gave given|see seen|go went gone|know knew known|feel felt|tell told|teach taught
    think thought|bring brought|wake woke woken|break broke broken|speak spoke spoken|steal stole stolen
    choose chose chosen|freeze froze frozen|bite bitten|hide hid hidden|fall fell fallen|lose lost|leave left
    shake shook shaken|spin spun|stick stuck|swing swung|dig dug|hang hung|shoot shot|lie lay lain lying
    blow blew blown|light lit|feed fed|lead led|run ran|win won|begin began begun|become became|come came|fight fought
    bend bent|send sent|spend spent|lend lent|sew sewn sewed|mow mown mowed|tie tying tied|die dying died
    sweep swept|weave wove woven|tear tore torn|swear swore sworn|beat beaten|bind bound|wind wound
    have has had having|do does did done|be is are was were been being am|say says said|mean meant|meet met|pay paid
    use used using|forget forgot forgotten|understand understood|dry dried dries|fry fried fries|hear heard
    """.replace("|", "\n").split("\n")
    if line.strip()
    for base, *forms in [line.split()]
    for form in forms
}
# Nouns that only look like forms of verbs, plurals that have no singular, and adjectives in -ed.
_WHOLE = frozenset(
    """evening morning nothing something anything everything during wedding clothing bedding building painting earring
    ceiling pudding stocking string spring king ring wing thing sling swing bring sting cling lightning darling dressing
    clothes always perhaps news species series means lens bus gas plus this his yes its us less unless across glass
    tennis chess canvas christmas compass octopus virus bonus campus genius lotus minus bias atlas
    naked wicked sacred hundred red bed shed sled bred crossed left ground felt saw bored tired rose""".split()
)
_VOWEL = re.compile(r"[aeiouy]")
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")


@cache
def english() -> dict[str, int]:
    """The rank of each of 30,000 common English words, the commonest first."""
    listed = (files("lmrl_data.language") / "english.txt").read_text("utf-8").split()
    return {word: rank for rank, word in enumerate(["i", "a", *listed])}


_PLURALS = frozenset(
    """children men women feet teeth geese mice oxen knives leaves loaves halves wolves shelves scarves hooves wives
    calves elves thieves cacti""".split()
)


@lru_cache(maxsize=100_000)
def singular(word: str) -> str:
    """The singular of a plural noun; any other word as it is."""
    if word in _PLURALS:
        return _IRREGULAR[word]
    if word in _WHOLE or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 5:
        return word[:-3] + "y"
    shorter = _without_plural(word)
    return next((form for form in shorter if form in english()), shorter[0])


def _without_plural(word: str) -> list[str]:
    """What a word in -s may be the plural of, the likeliest first."""
    if word.endswith(("ches", "shes", "sses", "xes")):
        return [word[:-2], word[:-1]]
    return [word[:-1], word[:-2]] if word.endswith("es") else [word[:-1]]


def is_form(word: str) -> bool:
    """Whether a word is listed here as an irregular form or a British spelling."""
    return word in _IRREGULAR or word in _SPELLINGS


_PARTICIPLES = frozenset(
    """eaten drunk worn driven ridden flown grown made built bought sold written drawn held kept found sung thrown
    caught     taken given seen known broken spoken stolen chosen frozen bitten hidden lost shaken spun stuck
    swung dug hung
    shot fed sewn mown swept woven torn beaten bound blown lit shown done used fried dried tied heard taught
    played worked""".split()
)


def is_participle(word: str) -> bool:
    """Whether a word is the form of a verb that says what is done to something: "eaten", "climbed"."""
    return word in _PARTICIPLES or (word.endswith("ed") and word != stem(word))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The form under which a word and its inflected forms are compared: "wheels" wheel, "biting" bite, "worn" wear.

    British spellings become American ones. A word that is no form of a common English one stays as it is.
    """
    word = _SPELLINGS.get(word, word)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _WHOLE or len(word) < 4:
        return word
    known = english()
    for form in _bases(word):
        form = _SPELLINGS.get(form, form)
        if form in known:
            return _IRREGULAR.get(form, form)
    return word


def _bases(word: str) -> list[str]:
    """What a word may be a form of, the likeliest first."""
    if word.endswith("ies") or word.endswith("ied"):
        return [word[:-3] + "y", word[:-1]]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return _without_plural(word)
    ending = next((ending for ending in ("ing", "ed") if word.endswith(ending)), "")
    root = word.removesuffix(ending)
    if not ending or len(root) < 2 or not _VOWEL.search(root) or root.endswith("e"):
        return []
    if root[-1] == root[-2]:
        return [root, root[:-1]] if root[-1] in "lsz" else [root[:-1], root]
    return [root + "e", root] if _SHORT.fullmatch(root) or root[-1] in "cvuz" else [root, root + "e"]
