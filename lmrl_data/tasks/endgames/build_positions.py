"""Draw the test positions of this folder: ``python -m lmrl_data.tasks.endgames.build_positions``.

They are spread evenly over the four classes, and come from the harder half of each: the distance to mate is not below
the median of the class's positions with White to move. No two are the same position turned or mirrored. The file is
committed, and training never sees its positions; a new list would make scores incomparable.
"""

import csv
import io

import numpy as np

from lmrl_data.seeding import stream_of
from lmrl_data.tasks.endgames.positions import TEST_FILE, StartPosition, canonical, draw, fens_of
from lmrl_data.tasks.endgames.retrograde import NO_MATE
from lmrl_data.tasks.endgames.tablebase import MATERIALS, table, white_distances

TEST_POSITIONS = 645
# Ten times as many as are taken of a class: half of them are too easy, and hardly any come twice.
_DRAWN = 1600


def median_distance(material: str) -> float:
    """The median distance to mate over the positions of a class with White to move."""
    # The table's positions have White's king in one eighth of the board; all others are images of these.
    distances = table(material).white
    return float(np.median(distances[distances != NO_MATE]))


def hard_positions(material: str) -> list[StartPosition]:
    """Positions from the harder half of a class in the order in which they are drawn, no two alike."""
    stream = stream_of(f"endgames/test/{material}")
    squares = draw(material, np.arange(_DRAWN), stream, np.empty(0, np.int64))
    squares = squares[white_distances(material, squares) >= median_distance(material)]
    first = np.sort(np.unique(canonical(material, squares), return_index=True)[1])
    distances = white_distances(material, squares[first]).tolist()
    return [
        StartPosition(fen, material, distance)
        for fen, distance in zip(fens_of(material, squares[first]), distances, strict=True)
    ]


def build() -> str:
    """The text of the file: the classes take turns, so that any first part of it is as even as can be."""
    turns = zip(*map(hard_positions, MATERIALS), strict=False)
    rows = [position for turn in turns for position in turn][:TEST_POSITIONS]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(StartPosition._fields)
    writer.writerows(rows)
    return text.getvalue()


def main() -> None:
    """Write test_positions.csv beside this file."""
    TEST_FILE.write_text(build(), encoding="ascii")


if __name__ == "__main__":
    main()
