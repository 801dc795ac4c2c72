"""Which episode a card shows."""

import pytest

from lmrl_cards.example import Example
from lmrl_data.episode import Episode, to_table
from lmrl_data.registry import get_task


def table(*episodes):
    """Episodes of a number of turns, solved where it is positive."""
    played = []
    for number, turns in enumerate(episodes):
        said = [{"role": ("user", "assistant")[i % 2], "content": "x"} for i in range(2 * abs(turns) + 1)]
        info = {"word": "stare"}
        played.append(Episode(said, [0.0] * abs(turns), turns > 0, True, False, number, "p", "e", info, str(number)))
    return to_table(played, get_task("wordle"))


@pytest.mark.parametrize(
    ("turns", "shown"),
    [
        ((20, -5, 7, 5), 7),  # the first that is solved and readable
        ((20, 3, 2, 30, -5), 2),  # none is readable: the shortest that is solved
        ((-9, -5, -40), 5),  # none is solved: the shortest
        ((13, 12), 12),
        ((3, 4), 4),
    ],
)
@pytest.mark.parametrize("batch", [1, 2, 9])
def test_the_first_readable_success_or_else_the_shortest(turns, shown, batch):
    example = Example()
    for start in range(0, len(turns), batch):
        example.consider(table(*turns[start : start + batch]))
    assert example.best.num_turns == shown


def test_no_episodes_no_example():
    example = Example()
    example.consider(table().slice(0, 0))
    assert example.best is None


def test_of_two_files_the_first_counts():
    first, second, third = Example(), Example(), Example()
    first.consider(table(20, 9))
    second.consider(table(5, 6))
    third.consider(table(4))
    first.merge(second)
    first.merge(third)
    assert first.best.num_turns == 9
    late = Example()
    late.consider(table(30, -5))
    late.merge(second)
    assert late.best.num_turns == 5
