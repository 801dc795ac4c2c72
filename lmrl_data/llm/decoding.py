"""What each row of a batch does for itself while it is generated: draw its tokens, and end."""

import zlib
from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from transformers import LogitsProcessor, PreTrainedTokenizerBase, StoppingCriteria

from lmrl_data.seeding import mix, mix_array, stream_of, uniform

_SAMPLE = stream_of("llm/sample")


class Sampler(LogitsProcessor):
    """Draws the next token of each row with the row's own number, by the inverse of the cumulative distribution.

    `generate` is told to take the likeliest token, and this leaves it one. The number is a hash of the row's seed, its
    prompt and the token's place, so a row does not depend on its neighbours. Rows of temperature 0 stay as they are.
    """

    def __init__(
        self, temperatures: Sequence[float], seeds: Sequence[int], prompts: Sequence[list[int]], start: int
    ) -> None:
        """Prepare for one batch.

        Args:
            temperatures: of each row.
            seeds: of each row.
            prompts: the tokens of each row.
            start: tokens before the first generated one.
        """
        self._temperatures = torch.tensor(temperatures, dtype=torch.float64)
        texts = [np.asarray(prompt, np.int64).tobytes() for prompt in prompts]
        streams = [mix(zlib.crc32(text), _SAMPLE) for text in texts]
        self._streams = np.array(
            [mix(seed ^ stream, 0) for seed, stream in zip(seeds, streams, strict=True)], np.uint64
        )
        self._start = start

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Scores (N, vocabulary) with one finite one in each row that is drawn."""
        temperatures = self._temperatures.to(scores.device)[:, None]
        draws = torch.from_numpy(uniform(mix_array(self._streams, input_ids.shape[1] - self._start))).to(scores.device)
        is_drawn = temperatures > 0
        cumulative = (scores.double() / temperatures.where(is_drawn, 1.0)).softmax(dim=1).cumsum(dim=1)
        # Scaled by the sum, which rounding leaves a little off 1.
        targets = draws[:, None] * cumulative[:, -1:]
        chosen = torch.searchsorted(cumulative, targets, right=True).clamp(max=scores.shape[1] - 1)
        drawn = torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)
        return cast(torch.FloatTensor, torch.where(is_drawn, drawn, scores))


class Enough(StoppingCriteria):
    """Ends each row at its own number of tokens, or when one of its stop texts appears.

    Attributes:
        limits: where each row ends, in tokens, shape (N,); less than asked for where a stop text came first.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, limits: Sequence[int], stops: Sequence[Sequence[str]], start: int
    ) -> None:
        """Prepare for one batch.

        Args:
            tokenizer: of the model.
            limits: tokens of each row.
            stops: texts of each row.
            start: tokens before the first generated one.
        """
        self._tokenizer = tokenizer
        self.limits = torch.tensor(limits)
        self._open = {row: stop for row, stop in enumerate(stops) if stop}
        self._start = start

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **kwargs: object) -> torch.BoolTensor:
        """Which rows are done, shape (N,)."""
        length = input_ids.shape[1] - self._start
        for row, stops in list(self._open.items()):
            text = self._tokenizer.decode(input_ids[row, self._start :], skip_special_tokens=True)
            if any(stop in text for stop in stops):
                self.limits[row] = min(length, int(self.limits[row]))
                del self._open[row]
        return cast(torch.BoolTensor, (length >= self.limits).to(input_ids.device))
