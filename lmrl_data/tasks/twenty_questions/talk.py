"""Patterns for what is only talk around a question, and for lines that ask nothing about the thing."""

import re

from lmrl_data.language.words import any_of

# Words that open a clause and say nothing.
TALK = frozenset(
    """ok okay well so oh ooh ah aha hmm hm mm um uh er wait alright right now yo hey hi hello please wow gosh gee ouch
    aww dear darling love sweetheart sweetie honey mate sir madam dude bro bruh man lol haha ha thanks sorry goodness
    cool anyway seriously honestly basically actually then and but hello again aight sheesh omg damn lads friend buddy
    kiddo oi say kindly lowkey ngl yes""".split()
)
# Clauses that say nothing.
LEADS = re.compile(
    any_of(
        """let me think, let me see, let me guess, let me ask, let us see, so let us see, i wonder, i wonder if,
        i have to ask, just to narrow it down, just to narrow it down a bit, you know what, what is the word, i mean,
        i dunno, i do not know, out of curiosity, just curious, now i am curious, i am curious, tell me, just tell me,
        quick question, next question, my next question, question, okay wild thought, wild thought, i have it,
        i have got it, to be precise, to be exact, for the avoidance of doubt, if we are being honest, i suppose,
        i think, i guess, i bet, i am going out on a limb here, just a stab in the dark, this may sound weird,
        this might sound silly, do you reckon, hear me out, hot take, real quick, one more thing, last one,
        okay dessert time, trying to figure this out, let us try this, let us try something silly,
        let us try something else, strictly speaking, technically speaking, generally speaking, in your opinion,
        never mind, i am picturing, be honest, okay so, listen, look, think, fair enough, got it, good to know, noted,
        interesting, nice, great, sure, yes, no, just yes or no, answer yes or no, kindly tell, please tell me,
        quickfire, my turn, here goes, here we go, bear with me, correct me if i am wrong, silly question,
        dumb question, stupid question, weird question, random question, just checking, asking for a friend,
        you there, tell, first question, second question, final question, last question"""
    )
    + "|i hope .*|(?:can|could|may|might) i (?:just )?(?:check|ask|confirm|clarify|double check)"
    "|(?:thank you|thanks)\\b.*|that (?:is|was) (?:very |most |so |really )?(?:helpful|useful|kind|clear)\\b.*"
    "|(?:just )?let me (?:think|see|guess|ask)\\b.*"
    "|(?:forgive|excuse|pardon|sorry) .*|if (?:i may|you do not mind|it is not too much|i might).*"
    "|i (?:am|was) (?:so |really |very |quite |still |totally )*(?:bad|good|lost|confused|stuck|stumped|sure|unsure|"
    "terrible|running|not sure|clueless|thinking)\\b.*|for (?:one|two|ten|a) points?"
)
# What opens a clause before the question itself, and what that amounts to.
OPENINGS = (
    (
        re.compile(
            r"^(?:i am (?:picturing|imagining|thinking(?: of| about)?|looking for|guessing)|i (?:imagine|picture)"
            r"|i have in mind|(?:so )?(?:are )?we (?:are )?(?:talking|speaking|looking|dealing|discussing|considering)"
            r"(?: about| of| at| with)?|are you (?:thinking|talking|speaking) (?:of|about)|you (?:are )?"
            r"(?:thinking|talking|speaking) (?:of|about)|do you mean|do you have in mind) (?=\w)(?!of it$)"
        ),
        "is it ",
    ),
    (
        re.compile(
            r"^(is|are|was|were|does|do|did|can|could|would|will|has|have|should|might) the (?:animal|creature|vehicle"
            r"|fruit|vegetable|instrument|tool|garment|toy|device|machine|plant|gadget|utensil)s?\b(?! (?:of|for|in)\b)"
        ),
        r"\1 it",
    ),
    (
        re.compile(
            r"^(?:(?:can|could|would|will) you )?(?:please )?(?:confirm|verify|tell me|clarify|say|check|answer)"
            r"(?: for me)?(?: that| if| whether) (?=\w)"
        ),
        "",
    ),
    (re.compile(r"^(?:i (?:wonder|want to know|would like to know|need to know|am wondering) (?:if|whether) )"), ""),
    (
        re.compile(r"^(?:quickfire|question|next question|next|hypothesis|claim|query) (?=(?:is|does|can|it) )"),
        "",
    ),
)
# Ways to speak of the thing, all of them "it".
THE_THING = re.compile(
    r"\b(?:the|this|that|your|our|my|a|an|any|each) (?:(?:secret|mystery|hidden|unknown|said|chosen|typical|adult"
    r"|average|normal|ordinary|standard|usual|full grown|grown|mysterious|aforementioned) )*"
    r"(?:(?:object|item|article|party|subject|specimen|exhibit|entity|example|thingamajig|thingamabob|doohickey|doodad"
    r"|gizmo|contraption|whatsit)s?(?: in question| (?:that )?(?:you|i) (?:are|have|am) (?:thinking|looking|in mind)"
    r"(?: of| about| for)?)?|thing(?: in question| you (?:are thinking|have in mind)(?: of| about)?))\b(?! of\b)"
)
_VERBS = "(?:is|are|was|were|does|do|did|can|could|would|will|has|have|should|might)"
TAG = re.compile(
    f"(?:(?:or )?{_VERBS}(?: not)? (?:it|they|you|he|she|we|one|i|there|that|this|thou)(?: not)?|"
    + any_of(
        """right, correct, yes, no, true, false, okay, ok, agree, agreed, is that right, is that correct, is that true,
        is that it, is that so, is that the idea, is that about right, is that fair, am i right, am i correct,
        am i warm, am i close, am i wrong, am i hot, am i cold, am i on the right track, confirm, eh, huh, you know,
        would you say, i think, i guess, i suppose, i mean, or not, or what, or nah, please, yay or nay, yes or no,
        true or false, a real one i mean, i mean a real one, do you think, no cap, rite, innit, i take it, i presume,
        i assume, i gather, i trust"""
    )
    + ")"
)
TRAILING = re.compile(
    "(?: "
    + any_of(
        """right, correct, yes, no, then, though, lol, lmao, dear, please, ok, huh, eh, or nah, or no, or not, or what,
        am i right, is that right, haha, bro, fr, ngl, irl, you know, i guess, i think, do you think, would you say,
        do you reckon, by any chance, is it, is it not, is not it, does it, does not it, are they, at all, whatsoever,
        for sure, sir, mate, man, dude, just asking, i wonder, i suppose, ha ha, rite, i take it, i presume, so to say,
        pray tell, my friend, my dear"""
    )
    + rf"|{_VERBS}(?: not)? (?:it|they))+$"
)
# Questions that want more than yes or no.
_WH = "(?:what|which|why|where|who|whose|whom|how)"
OPEN = re.compile(
    r"^(?:what(?! if)|why|where|who|whose|which|how(?! about)|describe|tell|explain|give me|show me|name (?:it|the|one)"
    r"|as an? (?:\w+ )?(?:ai|assistant|language model|chatbot)"
    rf"|list|repeat|write|say (?:it|that|something)|(?:of|in|at|on|for|to|from|by|with|and|but) {_WH})\b"
    r"|^(?:the|its|their) (?:size|weight|price|colou?r|shape|length|height|age|material|purpose|name|cost|function)"
    r"(?: of (?:it|this|that|them))?$"
    rf"|\b(?:(?:it|they) (?:is|are|costs?|weighs?)|made (?:of|from|out of)|used for|looks? like) {_WH}"
    r"(?: much| many| big| heavy)?$"
)
# Questions that are asked of the answerer.
OF_ANSWERER = re.compile(
    r"^(?:(?:please )?(?:can|could|would|will|do|did|are|have|may|might|should) (?:you|i|we) )"
    r"(?:please |just |kindly |maybe |perhaps |also )*(?:"
    r"describe(?! (?:it|this|that|them) (?:as|like))|(?:give|show|help|send|teach|remind|lend|offer) (?:me|us)\b"
    r"|give (?:a|another|some|more|any)\b|write (?:down )?the answer|speak\b(?! (?:to|through|into))"
    r"|(?:have|get) (?:a|another|some) (?:hint|clue|guess|minute|break)|ask (?:you )?(?:a|another|something)|"
    + any_of(
        """tell me, tell us, tell more, tell about, state, explain, repeat, reveal, elaborate, spell, hear me, stop,
        sure about, kidding, ready, serious, a robot, a bot, a human, a computer, a machine, a person, a model,
        a language, a man, a woman, a real, an ai, an llm, an assistant, start over, try again, play again,
        take a break, skip"""
    )
    + ")"
)
# Sentences in which "it" or "this" is not the thing.
IDLE = re.compile(
    r"^(?:is|was|will|does|did|do) (?:it|this|that) (?:still |really |already |finally |even |be )*(?:"
    r"(?:late|early|matter)\b|(?:lunch|bed|dinner|tea|time)(?: time)?(?: yet| to\b| for\b| already)|"
    + any_of(
        """raining, snowing, sunny, over, over yet, over now, my turn, your turn, our turn, make sense, your first,
        my last, the last question, my first, fun, okay if, ok if, okay to ask, ok to ask, a trick question, just me,
        too late, worth it, weird that, a waste of time, a joke, a good question, monday, tuesday, wednesday,
        thursday, friday, saturday, sunday, christmas yet, weekend, my birthday"""
    )
    + r"(?: (?:now|today|yet|where|here|outside|i|you|to|again) ?.*)?$)"
    r"|\b(?:bad|good|stuck|new|terrible|hopeless) at (?:this|these|it)$"
    r"|\b(?:love|hate|like|enjoy|enjoying) this(?: game)?$|\bgive up\b|^knock knock\b"
    r"|\bi (?:will|shall|can|could|might|am going to) (?:win|lose|beat|get this|give)\b"
    r"|\b(?:is|am|are) (?:you|i|we) (?:enjoying|playing|winning|losing|having fun)"
)
UNIVERSAL = re.compile(
    r"\b"
    + any_of(
        """always, usually, typically, mostly, generally, normally, primarily, mainly, predominantly, principally,
        largely, ordinarily, customarily, in most cases, most often, as a rule, every time, most of the time,
        exclusively, solely, nearly all"""
    )
    + r"\b"
)
# What a thing is preferred to is not asked for.
PREFERRED = (
    (re.compile(r"\b(?:rather than|instead of|as opposed to|in place of|and not|but not as|more so than)\b.*"), ""),
    (re.compile(r"\bmore (?:likely|often|commonly|frequently|usually|probably)\b(.*?) than .*"), r"\1"),
    (re.compile(r"\bmore (?:of )?an? (.+?) than .*"), r"a \1"),
    (re.compile(r"\bmore (for|by|in|at|as|on|to|with|like) (.+?) than .*"), r"\1 \2"),
    (re.compile(r"\b(?:rather|sooner) (an? .+?|\w+) than .*"), r"\1"),
    (re.compile(r"\bmore (\w+) than (\w+)$"), r"\1"),
    (re.compile(r"\b(it|them|women|men|children|kids|girls|boys|\w+men) more than (?:(?:the|by|for) )?\w+$"), r"\1"),
)
