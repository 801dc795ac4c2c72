"""What reinforcement learning needs of each agent token: its reward, its return, and the state that follows.

The token is the step. A reward of the environment is that of the last token of the turn that earned it, all other
tokens have none. What a step's discount is depends on the credit:

- ``"turn"``: a turn is one step of time. Its tokens but the last are not discounted, and the last one by gamma.
- ``"token"``: each token is a step of time, as in the paper, whose discount long turns then feel more.

Truncated is not terminated. Behind the last turn of a window stands the prompt of the next turn, as the agent sees it
(`successor_ids`): the rest of the episode, or, where a time limit cut the episode off, the state that it was left in.
Behind a terminal turn there is nothing, and the value is 0.
"""

from typing import Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.sequences import IGNORED, Cut, Ints, Sequences, Utterances, ragged
from lmrl_loaders.windows import WindowRule

Floats = NDArray[np.float64]
Credit = Literal["turn", "token"]


def transitions(
    table: pa.Table, utterances: Utterances, encoder: ChatEncoder, rule: WindowRule, *, gamma: float, credit: Credit
) -> pa.Table:
    """Episodes cut into windows, with what value functions are learnt from.

    Args:
        table: the episodes.
        utterances: their messages, from `read_utterances`.
        encoder: of the model.
        rule: that cuts the episodes.
        gamma: discount of a step, from 0 to 1.
        credit: what a step is, see above.

    Returns:
        A row per window, lists of equal length: ``input_ids`` and ``labels`` as of `training_sequences`; ``rewards``,
        of the last token of a turn; ``returns``, the discounted reward-to-go of each agent token, to the end of the
        recorded episode (float32, both 0 elsewhere). And ``successor_ids``, another list: the prompt that follows,
        empty after a terminal turn.

    Raises:
        LmrlError: gamma or credit are none, rewards do not go with the turns, or the last message of a truncated
            episode is longer than the context.
    """
    if not 0 <= gamma <= 1:
        raise LmrlError(f"gamma is {gamma}; a discount is a number from 0 to 1")
    if credit not in get_args(Credit):
        raise LmrlError(f"credit is {credit!r}; it must be one of: {', '.join(get_args(Credit))}")
    rewards = table["rewards"].combine_chunks().flatten().to_numpy().astype(np.float64)
    spoken = utterances.encoded(encoder)
    if len(rewards) != spoken.turns().sum():
        raise LmrlError("the dataset has episodes with more or fewer rewards than turns; see `lmrl validate`")
    cut = Cut.of(spoken, encoder, rule)
    tokens = cut.sequences()
    last = last_of_turn(tokens)
    columns = {name: ragged(getattr(tokens, name), tokens.offsets) for name in ("input_ids", "labels")}
    given = np.where(last, rewards[tokens.turn], 0).astype(np.float32)
    columns["rewards"] = ragged(given, tokens.offsets)
    to_go = _token_returns(rewards, spoken.turns(), tokens, gamma, credit)
    columns["returns"] = ragged(to_go.astype(np.float32), tokens.offsets)
    terminated = table["terminated"].to_numpy()[cut.episode]
    goes_on = ~terminated | (cut.stop < spoken.turns()[cut.episode])
    ids, offsets = cut.successors(goes_on)
    if np.diff(offsets).max(initial=0) > rule.context:
        raise LmrlError(
            f"the last message of a truncated episode does not fit into a context of {rule.context}; use a model or a "
            "max_length with more context"
        )
    columns["successor_ids"] = ragged(ids, offsets)
    return pa.table(columns)


def mean_return(rows: pa.Table) -> float:
    """The mean of the returns of all agent tokens in rows of `transitions`."""
    found = []
    for part in rows.select(["labels", "returns"]).to_batches():
        labels, returns = (part[name].flatten().to_numpy() for name in ("labels", "returns"))
        found.append(returns[labels != IGNORED])
    return float(np.concatenate(found).mean())


def last_of_turn(tokens: Sequences) -> NDArray[np.bool_]:
    """Which tokens end a turn that is trained on, shape (T,)."""
    last: NDArray[np.bool_] = (tokens.turn >= 0) & (np.append(tokens.turn[1:], -1) != tokens.turn)
    return last


def discounted_sums(values: Floats, lengths: Ints, discounts: Floats) -> Floats:
    """Sums of what follows, discounted, within each of N sequences that stand one after another.

    Args:
        values: of each step, shape (K,).
        lengths: of each sequence, shape (N,).
        discounts: from each step to the one after it, shape (K,); what that of a last step is makes no difference.

    Returns:
        Shape (K,): S_k = value_k + discount_k S_{k+1}, with S = 0 behind a sequence.
    """
    found = values.copy()
    last = lengths.cumsum() - 1
    # All sequences at once, from their ends.
    for back in range(1, int(lengths.max(initial=0))):
        step = last[lengths > back] - back
        found[step] += discounts[step] * found[step + 1]
    return found


def _token_returns(rewards: Floats, turns: Ints, tokens: Sequences, gamma: float, credit: Credit) -> Floats:
    spoken = tokens.turn >= 0
    if credit == "turn":
        found = discounted_sums(rewards, turns, np.full(len(rewards), gamma))
        return np.where(spoken, found[tokens.turn], 0)
    sizes = np.bincount(tokens.turn[spoken], minlength=len(rewards))
    found = discounted_sums(rewards, turns, gamma ** np.append(sizes[1:], 0).astype(np.float64))
    left = np.zeros(len(tokens.turn), np.int64)
    # A turn's tokens stand together and in order: those left are counted from the turn's first.
    place = np.flatnonzero(spoken)
    first = np.flatnonzero(np.diff(tokens.turn[place], prepend=-1))
    rank = np.arange(len(place)) - np.repeat(first, np.diff(np.append(first, len(place))))
    left[place] = sizes[tokens.turn[place]] - 1 - rank
    return np.where(spoken, gamma**left * found[tokens.turn], 0)
