"""Logits for many conversations at once, of a model that remembers what it has read of each from turn to turn.

A conversation grows: at its next turn all but the newest messages have been through the model already. `Reader` keeps
the keys and values of each row in one cache, gives the model only the tokens that are new, and masks out what is no
longer part of the prompt (a window that moved on). The logits are those of reading the whole prompt, but for rounding.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

# Memory for keys and values; more conversations than fit are read anew at each turn, in groups.
CACHE_BYTES = 2**31
# A cache with so many times as many places as its longest row has tokens is built anew: the holes cost time.
_SPARSE = 2


class Reader:
    """Reads prompts with a causal language model.

    Args:
        model: of transformers; in the mode (training or evaluation) that it is to be used in.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        config = model.config.get_text_config()
        # What is masked out must leave no trace, which neither recurrent states nor sliding windows grant.
        self.remembers = not getattr(model, "_is_stateful", False) and not getattr(config, "sliding_window", None)
        size = 2 * config.num_hidden_layers * config.hidden_size * model.dtype.itemsize
        self.tokens_kept = CACHE_BYTES // (_SPARSE * size)
        self.forget()

    def forget(self) -> None:
        """Begin with other conversations."""
        self._cache = DynamicCache()
        self._rows: list[int] = []
        self._read: list[list[int]] = []
        self._places: list[list[int]] = []
        self._mask = torch.zeros((0, 0), dtype=torch.int64, device=self.model.device)

    def follow(self, rows: Sequence[int]) -> None:
        """Say which conversations are still of interest; the others' memory is given free.

        Args:
            rows: numbers of conversations; those not followed before begin with nothing read.
        """
        kept = [place for place, row in enumerate(self._rows) if row in rows]
        if len(kept) < len(rows):
            # A cache has one length for all: where rows come in later, all of them begin anew.
            self.forget()
            self._begin(rows)
        elif len(kept) < len(self._rows):
            self._cache.batch_select_indices(torch.tensor(kept, device=self._mask.device))
            self._rows = [self._rows[place] for place in kept]
            self._read = [self._read[place] for place in kept]
            self._places = [self._places[place] for place in kept]
            self._mask = self._mask[kept]

    @torch.inference_mode()
    def logits(self, prompts: Mapping[int, Sequence[int]]) -> Tensor:
        """The logits of the token after each prompt.

        Args:
            prompts: by row, of those that are followed. None is empty.

        Returns:
            Shape (prompts, vocabulary), in the order of the prompts.
        """
        longest = max(map(len, prompts.values()))
        if not self.remembers or longest * len(self._rows) > self.tokens_kept:
            return self._afresh(list(prompts.values()))
        if self._mask.shape[1] > _SPARSE * max(longest, *map(len, self._read)):
            rows = self._rows
            self.forget()
            self._begin(rows)
        found = self._extend(self._new_tokens(prompts))
        order = {row: place for place, row in enumerate(self._rows)}
        return found[[order[row] for row in prompts]]

    def _begin(self, rows: Sequence[int]) -> None:
        self._rows = list(rows)
        self._read = [[] for _ in rows]
        self._places = [[] for _ in rows]
        self._mask = self._mask.new_zeros((len(rows), 0))

    def _new_tokens(self, prompts: Mapping[int, Sequence[int]]) -> list[list[int]]:
        """What each row has not read yet; what it has read besides the prompt is masked out."""
        new: list[list[int]] = []
        for place, row in enumerate(self._rows):
            if row not in prompts:
                new.append([])
                continue
            prompt, read = list(prompts[row]), self._read[place]
            common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(prompt, read, strict=False)))
            common = min(common, len(prompt) - 1)  # the last token is read in any case: its logits are asked for
            if common < len(read):
                self._mask[place, self._places[place][common:]] = 0
                del read[common:], self._places[place][common:]
            new.append(prompt[common:])
        return new

    def _extend(self, new: list[list[int]]) -> Tensor:
        """Read on; new tokens are aligned on the right, and those to the left of them are masked out."""
        width, past = max(map(len, new)), self._mask.shape[1]
        ids = torch.zeros((len(new), width), dtype=torch.int64)
        fresh = torch.zeros_like(ids)
        positions = torch.zeros_like(ids)
        for place, tokens in enumerate(new):
            begin = width - len(tokens)
            ids[place, begin:] = torch.tensor(tokens, dtype=torch.int64)
            fresh[place, begin:] = 1
            known = len(self._read[place])
            positions[place, begin:] = torch.arange(known, known + len(tokens))
            self._read[place] += tokens
            self._places[place] += range(past + begin, past + width)
        device = self._mask.device
        self._mask = torch.cat([self._mask, fresh.to(device)], dim=1)
        out = self.model(
            input_ids=ids.to(device),
            attention_mask=self._mask,
            position_ids=positions.to(device),
            cache=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        found: Tensor = out.logits[:, -1]
        return found

    def _afresh(self, prompts: list[Sequence[int]]) -> Tensor:
        """Read whole prompts, in groups of like length that the memory holds, without keeping anything."""
        found: list[Tensor | None] = [None] * len(prompts)
        order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
        while order:
            size = max(1, self.tokens_kept // len(prompts[order[-1]]))
            order, group = order[:-size], order[-size:]
            width = len(prompts[group[-1]])
            ids = torch.zeros((len(group), width), dtype=torch.int64)
            mask = torch.zeros_like(ids)
            for row, place in enumerate(group):
                ids[row, width - len(prompts[place]) :] = torch.tensor(list(prompts[place]))
                mask[row, width - len(prompts[place]) :] = 1
            device = self.model.device
            positions = (mask.cumsum(1) - 1).clamp(min=0)
            out = self.model(
                input_ids=ids.to(device),
                attention_mask=mask.to(device),
                position_ids=positions.to(device),
                use_cache=False,
                logits_to_keep=1,
            )
            for row, place in enumerate(group):
                found[place] = out.logits[row, -1]
        return torch.stack([logits for logits in found if logits is not None])
