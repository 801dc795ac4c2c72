"""How often each value occurs: all that means, quantiles and histograms need, in little memory."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Distribution:
    """Counts of values. The figures of an empty distribution are NaN.

    Attributes:
        values: the different values, ascending, shape (K,).
        counts: how often each occurs, at least once, shape (K,).
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, values: ArrayLike) -> "Distribution":
        """The distribution of an array."""
        different, counts = np.unique(np.asarray(values, np.float64), return_counts=True)
        return cls(different, counts)

    @classmethod
    def of_sizes(cls, sizes: NDArray[np.integer]) -> "Distribution":
        """The distribution of small non-negative whole numbers, counted rather than sorted: many times faster."""
        counts = np.bincount(sizes)
        occurring = np.flatnonzero(counts)
        return cls(occurring.astype(np.float64), counts[occurring])

    @classmethod
    def merged(cls, parts: Iterable["Distribution"]) -> "Distribution":
        """The distribution of all parts together."""
        parts = [cls(np.zeros(0), np.zeros(0, np.int64)), *parts]
        values, index = np.unique(np.concatenate([part.values for part in parts]), return_inverse=True)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, index, np.concatenate([part.counts for part in parts]))
        return cls(values, counts)

    @property
    def count(self) -> int:
        """How many values there are."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.values @ self.counts) / self.count if self.count else math.nan

    @property
    def std(self) -> float:
        """The population standard deviation."""
        return math.sqrt(((self.values - self.mean) ** 2) @ self.counts / self.count) if self.count else math.nan

    @property
    def minimum(self) -> float:
        """The lowest value."""
        return float(self.values[0]) if self.count else math.nan

    @property
    def maximum(self) -> float:
        """The highest value."""
        return float(self.values[-1]) if self.count else math.nan

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return np.array_equal(self.values, np.round(self.values))

    def quantile(self, percent: int) -> float:
        """The lowest value that at least `percent` % of the values do not exceed: always one that occurs."""
        if not self.count:
            return math.nan
        rank = max(1, -(-percent * self.count // 100))
        return float(self.values[np.searchsorted(self.counts.cumsum(), rank)])
