"""Lines that ask for nothing about the city."""

import re

from lmrl_data.tasks.guess_my_city.grammar import Kind
from lmrl_data.tasks.guess_my_city.quantities import quantities
from lmrl_data.tasks.guess_my_city.reading import Reading, frequent_stems
from lmrl_data.tasks.guess_my_city.topics import topic_phrases

_SMALL_TALK = re.compile(
    r"\b(?:how are you|how do you do|how is it going|have you (?:eaten|slept|had enough)|thank you|thanks$|knock knock|"
    r"(?:good|nice) (?:morning|evening|afternoon|night|day)$|who are you|joke|meaning of life|do you (?:love|like) me|"
    r"i love you|where (?:is|are) my|settle down|brb|lorem ipsum|invoice|homework|password|plus two|2 2|two plus|"
    r"lol same|^same$|testing|^test$|repeat that|say that again|pardon|square root|never mind|roses are|"
    r"are you (?:a |an )?(?:robot|bot|human|ai|computer|machine|real|person|man|woman|girl|boy|married|single|okay|"
    r"tired|bored|sure|kidding|serious|hungry|happy|sad|alive)\b|do you have "
    r"(?:children|kids|a girlfriend|a boyfriend|a wife|a husband|siblings|pets|a dog|a cat)|"
    r"^(?:pass|buy|settle|shut|sit|stop|leave|turn) (?!by\b)|(?:can|could|would|will) you (?:please )?(?:write|pass|"
    r"open|close|bring|lend|play|sing|fix|do|make|order|book|hold|wait|stop|marry|help me with)|"
    r"^why (?:did|does|is|are|do|was) (?!it|you|your|the city|people|this|so))"
)
# So much of a statement must be about the city to be taken for a question.
_LEAST_COVERED = 0.5
_SHORT = 5


def is_small_talk(reading: Reading) -> bool:
    """Whether a text asks for nothing about the city."""
    sentence = reading.sentence
    if sentence.about_me or _SMALL_TALK.search(" ".join(reading.all_words)):
        return True
    if sentence.kind is not Kind.FRAGMENT or len(reading.all_words) < _SHORT:
        return False
    covered: set[tuple[int, int]] = set()
    for number, stems in enumerate(reading.stems):
        found = [(one.start, one.end) for one in reading.facts[number]]
        found += [(one.start, one.end) for one in reading.places[number]]
        found += [(one.start, one.end) for one in topic_phrases().find(stems)]
        found += [(one.start, one.end) for one in quantities(sentence.clauses[number])]
        covered |= {(number, place) for start, end in found for place in range(start, end)}
    rare = {
        (number, place)
        for number, stems in enumerate(reading.stems)
        for place, word in enumerate(stems)
        if word not in frequent_stems()
    }
    return len(covered) < _LEAST_COVERED * len(rare | covered)
