"""Build the word lists of this folder: ``python -m lmrl_data.tasks.wordle.build_words``.

Sources: the five-letter lower-case words of SCOWL as packaged by Debian (``wamerican`` 2020.12.07 for the answers,
``wamerican-large`` for the guesses; permissive licence, see NOTICE), ranked by frequency in English with ``wordfreq``.
The lists are committed, so only somebody who wants other lists needs the two packages.
"""

import re
from pathlib import Path

ANSWERS_SOURCE = Path("/usr/share/dict/american-english")
GUESSES_SOURCE = Path("/usr/share/dict/american-english-large")
DEFAULT_ANSWERS, FULL_ANSWERS = 400, 2300

# Never an answer: slurs, sexual words and insults; clipped forms; words that are known first of all as names.
EXCLUDED = frozenset(
    """
    bitch whore pussy penis negro nigga porno porns semen rapes raped raper slave sperm dildo boobs booby titty
    bimbo bosom busty horny kinky pansy pervs skank slutt sluts sissy tramp vulva lesbo dykes dwarf gypsy gooks
    homos spick dagos chink crack crips nazis nancy jewed gippo faggy fagot queer pubic pubes urine turds tarty
    trump gonna wanna kinda gotta lotta yahoo peter harry smith frank jimmy billy tommy bobby teddy willy roman
    """.split()
)


def five_letter_words(path: Path) -> list[str]:
    """The lower-case ASCII words of five letters in a file with a word a line."""
    return re.findall(r"^[a-z]{5}$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def is_inflected(word: str, known: set[str]) -> bool:
    """Whether the word is a plain plural, third person or past tense of another one (such words are only guesses)."""
    plural = word.endswith("s") and not word.endswith("ss") and (word[:-1] in known or word[:-2] in known)
    past = word.endswith("ed") and (word[:-1] in known or word[:-2] in known)
    return plural or past


def main() -> None:
    """Write answers.txt, answers_full.txt and guesses.txt beside this file."""
    from wordfreq import zipf_frequency

    known = set(ANSWERS_SOURCE.read_text(encoding="utf-8").split())
    answers = [w for w in five_letter_words(ANSWERS_SOURCE) if w not in EXCLUDED and not is_inflected(w, known)]
    answers.sort(key=lambda word: (-zipf_frequency(word, "en"), word))
    guesses = set(five_letter_words(GUESSES_SOURCE)) | set(answers)
    folder = Path(__file__).parent / "words"
    for name, words in (
        ("answers", answers[:DEFAULT_ANSWERS]),
        ("answers_full", answers[:FULL_ANSWERS]),
        ("guesses", guesses),
    ):
        (folder / f"{name}.txt").write_text("\n".join(sorted(words)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
