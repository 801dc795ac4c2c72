"""Pure functions from seeds to start states and random choices, for numbers and for arrays alike.

Everything random that is decided before an episode, or by a scripted policy, is a hash of the episode's seed and a
stream number. So it does not depend on the order, the batch or the process in which episodes are played, and a column
of seeds gives a column of choices. The hash is splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
"""

import operator
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError

U64 = NDArray[np.uint64]

_MASK = 0xFFFFFFFFFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15
_MULTIPLIER_1 = 0xBF58476D1CE4E5B9
_MULTIPLIER_2 = 0x94D049BB133111EB


def check_seed(seed: int) -> int:
    """A seed as a plain integer.

    Raises:
        LmrlError: it is negative or does not fit into the 63 bits of an episode record.
        TypeError: it is no integer.
    """
    seed = operator.index(seed)
    if not 0 <= seed < 2**63:
        raise LmrlError(f"seed {seed} is out of range; give a number from 0 to 2^63 - 1")
    return seed


def stream_of(name: str) -> int:
    """The stream number of a purpose, such as ``"wordle/start"``: choices from different streams are independent."""
    return zlib.crc32(name.encode("utf-8"))


def mix(seed: int, stream: int) -> int:
    """A 64-bit hash of a seed and a stream number."""
    x = (seed + (2 * stream + 1) * _GOLDEN) & _MASK
    x = ((x ^ (x >> 30)) * _MULTIPLIER_1) & _MASK
    x = ((x ^ (x >> 27)) * _MULTIPLIER_2) & _MASK
    return x ^ (x >> 31)


def mix_array(seeds: NDArray[Any], stream: int) -> U64:
    """`mix` for every element of an integer array."""
    x = seeds.astype(np.uint64) + np.uint64(((2 * stream + 1) * _GOLDEN) & _MASK)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_MULTIPLIER_1)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_MULTIPLIER_2)
    return x ^ (x >> np.uint64(31))


def below(hashes: U64, limits: NDArray[Any] | int) -> NDArray[np.int64]:
    """Integers in ``[0, limit)`` from hashes: the high 32 bits, scaled (bias under limit / 2^32)."""
    bounds = np.asarray(limits).astype(np.uint64)
    return (((hashes >> np.uint64(32)) * bounds) >> np.uint64(32)).astype(np.int64)


def uniform(hashes: U64) -> NDArray[np.float64]:
    """Numbers in ``[0, 1)`` from the high 53 bits of hashes."""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


def turn_hashes(seeds: NDArray[Any], turn: int, stream: int) -> U64:
    """A hash per episode for the choice of one turn: what scripted policies draw from."""
    return mix_array(mix_array(seeds, stream), turn)


def episode_seeds(plan_seed: int, stream: str, start: int, stop: int) -> NDArray[np.int64]:
    """The seeds of episodes ``start`` to ``stop`` of a plan: non-negative, and the same whatever the plan's size."""
    base = mix(plan_seed, stream_of(stream))
    index = np.arange(start, stop, dtype=np.uint64)
    return (mix_array(index ^ np.uint64(base), 0) >> np.uint64(1)).astype(np.int64)
