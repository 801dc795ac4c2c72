"""Wordle's colours, letter by letter: slow and plain."""


def colours(guess: str, hidden: str) -> str:
    """The real game's colours, letter by letter."""
    marks = ["b"] * 5
    unmatched = []
    for place in range(5):
        if guess[place] == hidden[place]:
            marks[place] = "g"
        else:
            unmatched.append(hidden[place])
    for place in range(5):
        if marks[place] != "g" and guess[place] in unmatched:
            marks[place] = "y"
            unmatched.remove(guess[place])
    return "".join(marks)


def paper_colours(guess: str, hidden: str) -> str:
    """The published rule: yellow whenever the letter occurs anywhere."""
    return "".join("g" if a == b else "y" if a in hidden else "b" for a, b in zip(guess, hidden, strict=True))


REFERENCE = {"game": colours, "paper": paper_colours}
