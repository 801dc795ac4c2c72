"""From a line of everyday English to plain words, clause by clause."""

import re
import unicodedata

# A word, a number with decimals, the 's of a possessive; or the punctuation that ends a clause.
_TOKENS = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+(?:'[^\W\d_]+)*|[.,!?;:()\[\]\"…–—/\n]|(?<=\s)-+(?=\s)")
# A text that needs no more than to be split.
_PLAIN = re.compile(r"[a-z]+(?: [a-z]+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_MONEY = re.compile(r"(us\$|[$€£¥])\s*(\d+(?:\.\d+)?)\s*(k\b)?")
_CURRENCIES = {"$": "dollars", "us$": "dollars", "€": "euros", "£": "quid", "¥": "yen"}
_FEET = re.compile(r"(\d)\s*(?:''|\")|(\d)\s*'(?![^\W\d_])")
_WITH_DIGITS = {"2gether": "together", "w/o": "without", "w/": "with ", " b4 ": " before ", "h2o": "water"}
_ABBREVIATIONS = frozenset("st mt ft dr mr mrs ms vs approx etc".split())
# Letters that Unicode does not take apart, and marks that people type for an apostrophe.
_FOLDED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
    | dict.fromkeys("’‘`´ʼ′", "'")
    | dict.fromkeys("“”„«»″", '"')
    | {"·": " ", "•": " ", "→": " ", "*": " ", "_": " ", "~": " ", "%": " percent ", "&": " and ", "\u00ad": ""}
)

_AUXILIARIES = (
    "is are was were do does did has have had can could will would should must might need ca wo ai sha".split()
)
_CONTRACTED = {"ca": "can", "wo": "will", "ai": "is", "sha": "shall"}
_ENDINGS = {"re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am"}
# Words after which 's is "is" (or "has"), and not a possessive.
_IS_AFTER = frozenset(
    """it that this there here what who where how when why which he she everybody everyone someone somebody something
    everything nothing thing one""".split()
)
# What is written without an apostrophe, shortened, or as it is spoken.
_INFORMAL = {
    "ain't": "is not",
    "cannot": "can not",
    "let's": "let us",
    "lets": "let us",
    "y'all": "you all",
    "ma'am": "madam",
    "o'clock": "clock",
    "im": "i am",
    "ive": "i have",
    "id": "i would",
    "youre": "you are",
    "youve": "you have",
    "theyre": "they are",
    "thats": "that is",
    "whats": "what is",
    "wheres": "where is",
    "whos": "who is",
    "hows": "how is",
    "theres": "there is",
    "innit": "is it not",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "got to",
    "hafta": "have to",
    "tryna": "trying to",
    "kinda": "kind of",
    "sorta": "sort of",
    "outta": "out of",
    "lemme": "let me",
    "gimme": "give me",
    "dunno": "do not know",
    "idk": "i do not know",
    "ur": "your",
    "ya": "you",
    "yer": "your",
    "teh": "the",
    "da": "the",
    "dat": "that",
    "dis": "this",
    "iz": "is",
    "duz": "does",
    "dus": "does",
    "doez": "does",
    "hav": "have",
    "haz": "has",
    "wat": "what",
    "wut": "what",
    "wot": "what",
    "wud": "would",
    "wld": "would",
    "cud": "could",
    "shud": "should",
    "wiv": "with",
    "tho": "though",
    "thru": "through",
    "cuz": "because",
    "coz": "because",
    "cos": "because",
    "bc": "because",
    "ppl": "people",
    "smth": "something",
    "sth": "something",
    "def": "definitely",
    "defo": "definitely",
    "prob": "probably",
    "probs": "probably",
    "prolly": "probably",
    "pls": "please",
    "plz": "please",
    "thx": "thanks",
    "yep": "yes",
    "yup": "yes",
    "yeah": "yes",
    "yea": "yes",
    "nah": "no",
    "nope": "no",
    "lil": "little",
    "smol": "small",
    "pic": "picture",
    "pics": "pictures",
    "foto": "photo",
    "fotos": "photos",
    "abt": "about",
    "rly": "really",
    "gud": "good",
    "sumthing": "something",
    "sthg": "something",
    "smthg": "something",
    "smthing": "something",
    "n": "and",
    "bcuz": "because",
    "govt": "government",
    "gov": "government",
    "tv's": "tv",
    "wen": "when",
    "wher": "where",
    "wich": "which",
    "aint": "is not",
    "realy": "really",
    "usualy": "usually",
    "alot": "a lot",
    "sumthin": "something",
    "somethin": "something",
    "anythin": "anything",
    "isit": "is it",
    "itis": "it is",
    "doesit": "does it",
    "canit": "can it",
    "canyou": "can you",
    "em": "them",
    "atall": "at all",
    "rite": "right",
    "thingy": "thing",
    "thingie": "thing",
}
for _word in _AUXILIARIES[:-3]:
    _INFORMAL[f"{_word}n't"] = _INFORMAL[f"{_word}nt"] = f"{_word} not"
_INFORMAL |= {"can't": "can not", "cant": "can not", "won't": "will not", "wont": "will not", "aint": "is not"}
# "its" is read as "it is" where one of these follows.
_AFTER_IT_IS = frozenset(
    """a an the not like made something used usually always definitely probably maybe just really very too so got never
    my your one basically actually also still only more mostly kind sort going in on""".split()
)
# "2" is read as "to" before one of these.
_AFTER_TO = frozenset("eat have use wear hold buy make be play drive touch carry lift drink find get see cook".split())
_LETTER_BEFORE = frozenset("letter letters a an the with by and or in is vowel".split())


def clauses(text: str) -> list[list[str]]:
    """The words of a text, clause by clause as punctuation divides it.

    Words are case-folded and without diacritics; contractions are written out ("isn't", "isnt": "is not"), also where
    they are written without an apostrophe or as they are spoken ("gonna"); numbers keep their decimals and lose their
    thousands separators; a possessive ending is a word of its own, "'s".
    """
    if _PLAIN.fullmatch(text):
        return [_settled([word for token in text.split() for word in _spelt_out(token)])]
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold()).translate(_FOLDED)
    folded = "".join(character for character in folded if not unicodedata.combining(character))
    folded = _INITIALS.sub(lambda found: found[0].replace(".", ""), _THOUSANDS.sub("", folded))
    folded = _MONEY.sub(lambda found: f" {found[2]}{'000' if found[3] else ''} {_CURRENCIES[found[1]]} ", folded)
    folded = _FEET.sub(lambda found: f"{found[1]} inches " if found[1] else f"{found[2]} feet ", folded)
    found: list[list[str]] = [[]]
    for written, spoken in _WITH_DIGITS.items():
        folded = folded.replace(written, spoken)
    for match in _TOKENS.finditer(folded):
        token = match[0]
        if token[0].isalnum():
            found[-1] += _spelt_out(token)
        elif token == "/" or (token == "." and found[-1] and found[-1][-1] in _ABBREVIATIONS):
            continue
        elif found[-1]:
            found.append([])
    return [_settled(clause) for clause in found if clause]


def any_of(phrases: str) -> str:
    """A pattern for any of some phrases, which are written with commas between them; the longest counts."""
    listed = [" ".join(phrase.split()) for phrase in phrases.split(",")]
    return f"(?:{'|'.join(sorted(listed, key=len, reverse=True))})"


def words(text: str) -> list[str]:
    """The words of a text (see `clauses`)."""
    return [word for clause in clauses(text) for word in clause]


def _spelt_out(token: str) -> list[str]:
    if token in _INFORMAL:
        return _INFORMAL[token].split()
    head, apostrophe, tail = token.partition("'")
    if not apostrophe:
        return [token]
    if tail in _ENDINGS:
        return [head, _ENDINGS[tail]]
    if tail == "s":
        return [head, "is" if head in _IS_AFTER else "'s"]
    if tail == "t" and head.endswith("n") and head[:-1] in _AUXILIARIES:
        return [_CONTRACTED.get(head[:-1], head[:-1]), "not"]
    return [head, *_spelt_out(tail)]


def _settled(clause: list[str]) -> list[str]:
    """A clause with what only its neighbours decide: "its", the letters "u" and "r", "dose"."""
    for place, word in enumerate(clause):
        before = clause[place - 1] if place else ""
        after = clause[place + 1] if place + 1 < len(clause) else ""
        if word == "u" and before not in _LETTER_BEFORE:
            clause[place] = "you"
        elif word == "r" and after in ("u", "you", "they", "there", "we", "these"):
            clause[place] = "are"
        elif word in ("dose", "dos") and after in ("it", "the", "this", "that", "its", "one"):
            clause[place] = "does"
        elif word == "v" and before not in _LETTER_BEFORE and after:
            clause[place] = "very"
        elif word == "2" and before and after in _AFTER_TO:
            clause[place] = "to"
        elif word == "4" and before in ("used", "good", "made", "meant", "great", "just"):
            clause[place] = "for"
        elif word == "is" and before == "'s":
            clause[place - 1] = "is"
        elif word == "'s" and after in ("a", "an", "the", "not", "always"):
            clause[place] = "is"
    settled: list[str] = []
    for place, word in enumerate(clause):
        if word == "its" and place + 1 < len(clause) and clause[place + 1] in _AFTER_IT_IS:
            settled += ["it", "is"]
        else:
            settled.append(word)
    return settled
