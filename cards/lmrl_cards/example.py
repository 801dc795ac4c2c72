"""Which episode a card shows: one that is solved, whole, and short enough to be read."""

from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lmrl_data.episode import Episode, from_table

READABLE = (4, 12)
"""Agent turns, at least and at most: long enough to tell something, short enough to be read."""

_Rank: TypeAlias = tuple[int, int]


class Example:
    """The first successful episode of a readable length; or else the shortest successful one, or else the shortest.

    Attributes:
        best: the episode, of those considered so far; None where there were none.
    """

    def __init__(self) -> None:
        self.best: Episode | None = None
        self._rank: _Rank = (4, 0)

    def consider(self, table: pa.Table) -> None:
        """Look at the next episodes of a split."""
        turns, success = table["num_turns"].to_numpy(), table["success"].to_numpy()
        readable = (turns >= READABLE[0]) & (turns <= READABLE[1])
        for kind, rows in enumerate((success & readable, success, ~success)):
            found = np.flatnonzero(rows)
            if len(found):
                # Of the readable ones the first, of the others the shortest.
                row = found[0] if kind == 0 else found[np.argmin(turns[found])]
                rank = (kind, 0 if kind == 0 else int(turns[row]))
                if rank < self._rank:
                    self._rank = rank
                    (self.best,) = from_table(table.slice(row, 1))
                return

    def merge(self, later: "Example") -> None:
        """Look at what was found among episodes behind these."""
        if later._rank < self._rank:
            self.best, self._rank = later.best, later._rank
