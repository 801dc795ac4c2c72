"""Lines that ask for nothing about the city."""

import re

from lmrl_data.tasks.guess_my_city.grammar import Kind
from lmrl_data.tasks.guess_my_city.quantities import quantities
from lmrl_data.tasks.guess_my_city.reading import Reading, frequent_stems
from lmrl_data.tasks.guess_my_city.topics import topic_phrases

# What people say to each other, whatever words for a city's matters may stand in it.
_TO_A_PERSON = re.compile(
    r"\b(?:how are you|how do you do|how is it going|have you (?:eaten|slept|had enough)|knock knock|who are you$|"
    r"(?<!say )thank you|(?<!say )thanks$|(?:good|nice) (?:morning|evening|afternoon|night|day)$|do you (?:love|"
    r"like) me|meaning of life|i love you|where (?:is|are) my|settle down|brb|lorem ipsum|plus two|2 2|two plus|"
    r"\d+ (?:times|plus|minus|divided by) \d+|square root|lol same|^same$|testing|^test$|say that again|"
    r"repeat (?:that|after)|pardon|never mind|roses are|(?:please |just )?hold (?:on|the line|please|my)\b|"
    r"please hold|wait a (?:moment|minute|second)|(?:a|one|another) (?:minute|second|moment)(?: to think)?$|"
    r"let me think|wrong (?:chat|number|window|tab|person|room)|subscribe|very funny|bless you|over and out|"
    r"set a timer|^(?:alexa|siri)|let us (?:talk|change|start|stop|play)|who let the|^been (?:busy|up)|"
    r"repeat after me|(?:on|in) my (?:calendar|inbox|diary)|blah|are you (?:a |an )?(?:robot|bot|human|ai|computer|"
    r"machine|real|person|man|woman|girl|boy|married|single|okay|tired|bored|sure|kidding|serious|hungry|happy|sad|"
    r"alive|there)$|do you have (?:a )?(?:children|kids|girlfriend|boyfriend|wife|husband|siblings|pets|dog|cat)\b|"
    r"^(?:pass|buy|settle|shut|sit|stop|leave|turn|shiver|put|roll) (?!by\b)|(?:can|could|would|"
    r"will) you (?:please )?(?:write|pass|open|close|bring|lend|play|sing|fix|do|make|order|book|hold|wait|stop|"
    r"marry|help me with)|^(?:write|compose|sing|draw|print|play|draft|solve|translate|bake|cook) (?:me )?(?:a|an|"
    r"this|the|my|some)\b|^select \w+ from\b|^(?:insert|drop|delete|import|def|sudo) (?:into|table|from|\w+$)|"
    r"\b(?:large )?language model\b|\b(?:did|do|have) you (?:sleep|slept) (?:well|badly)|\bhow (?:did|do) you sleep|"
    r"\bmy (?:hotel|room|order|parcel|homework|account|phone|password|keys|cat|dog|car|boss|train ticket)\b|"
    r"\bbank details\b|\bi like you\b|you are (?:so |very |really )?(?:funny|cute|sweet|smart|annoying|boring|rude)\b|"
    r"\b(?:gotta|got to|have to|must|need to|going to) (?:feed|walk|run|pee|sleep|go now|leave|eat|pick up)\b|"
    r"ignore (?:all|your|the|previous|every)\b|^why (?:did|does|is|are|do|was) (?!it|you|your|the city|people|this|so))"
)
# The same, where the line is not about the city besides.
_ASIDE = re.compile(r"\b(?:(?<!as a )joke|(?:attached|the|my|an|this) invoice|homework|password|fault|keyboard)\b")
# What programs say.
_OF_A_MACHINE = re.compile(r"^no such (?!thing|place)|^(?:error|warning|traceback)\b")
# So much of a statement must be about the city to be taken for a question.
_LEAST_COVERED = 0.5
_SHORT = 5
# A score that shows that a line is about the city, whatever is said besides.
_CLEAR = 5.0
# What the subject of a statement about the city may be.
_SUBJECTS = frozenset(
    """it its city town place there here you your they their this that these those people locals folk everybody
    everyone nobody somebody he she we our mayor country nation capital language food weather name one""".split()
)
_VERBS = frozenset("is are was were has have had will would can could does did do".split())


def is_small_talk(reading: Reading, asks: bool) -> bool:
    """Whether a text asks for nothing about the city.

    Args:
        reading: the text.
        asks: whether it has a question mark.
    """
    sentence = reading.sentence
    said = " ".join(reading.all_words)
    if sentence.about_me or _TO_A_PERSON.search(said) or _OF_A_MACHINE.search(said):
        return True
    if all(len(word) == 1 for word in reading.all_words):
        return True
    if sentence.kind is Kind.OPEN:
        return bool(_ASIDE.search(said)) and max(reading.scores.values(), default=0.0) < _CLEAR
    if not asks and _speaks_of_else(reading):
        return True
    if sentence.kind is not Kind.FRAGMENT or len(reading.all_words) < _SHORT:
        return bool(_ASIDE.search(said)) and max(reading.scores.values(), default=0.0) < _CLEAR
    return not _is_about_city(reading)


def _speaks_of_else(reading: Reading) -> bool:
    """Whether a line states something of anything but the city: "The moon is a lemon." """
    row = reading.main_words
    verb = next((place for place, word in enumerate(row) if word in _VERBS), 0)
    named = any(one.start < verb for one in reading.places[reading.sentence.main])
    return 0 < verb < len(row) - 1 and not _SUBJECTS & set(row[:verb]) and not named and row[0] in _DETERMINERS


_DETERMINERS = frozenset("a an the my some every".split())


def _is_about_city(reading: Reading) -> bool:
    """Whether enough of a longer line without a question's form is known from the tables."""
    if max(reading.scores.values(), default=0.0) >= _CLEAR:
        return True
    covered: set[tuple[int, int]] = set()
    for number, stems in enumerate(reading.stems):
        found = [(one.start, one.end) for one in reading.facts[number]]
        found += [(one.start, one.end) for one in reading.places[number]]
        found += [(one.start, one.end) for one in topic_phrases().find(stems)]
        found += [(one.start, one.end) for one in quantities(reading.sentence.clauses[number])]
        covered |= {(number, place) for start, end in found for place in range(start, end)}
    rare = {
        (number, place)
        for number, stems in enumerate(reading.stems)
        for place, word in enumerate(stems)
        if word not in frequent_stems()
    }
    return len(covered) >= _LEAST_COVERED * len(rare | covered)
