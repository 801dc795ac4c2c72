"""A language model as a policy: any causal model of transformers, batched."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.seeding import mix_array, stream_of, turn_hashes, uniform
from lmrl_data.text import Message
from lmrl_loaders.extra import train_extra

with train_extra():
    import torch
    from transformers import GenerationConfig, LogitsProcessor

    from lmrl_loaders.chat import ChatEncoder
    from lmrl_loaders.model_folder import load_model, model_context, read_info
    from lmrl_loaders.windows import WindowRule, action_tokens

# Room for a reply where neither training nor a list of actions says how long one can be: a question in a dialogue.
REPLY_TOKENS = 64

_BATCH_TOKENS = 2**14
_SAMPLE = stream_of("hf/sample")


class HFPolicy:
    """Plays with a causal language model.

    By default it samples, because a model that imitates has learnt a distribution over actions: for a collection of
    behaviour policies the likeliest action alone can be a bad one, such as walking into the same wall for ever. The
    random number behind a token is a hash of the episode's seed, the turn and the token's place in the reply, so an
    episode does not depend on which others are played beside it, but for rounding: hardly ever in single precision, now
    and then in half precision, which a model that was saved so keeps on a GPU.

    A model trained here plays with the windows that it was trained with (`lmrl_loaders.windows`).
    """

    def __init__(self, path: str, *, task: str, config: str, temperature: float = 1.0) -> None:
        """Load a model.

        Args:
            path: a folder as `save_pretrained` writes it, with the tokenizer; or OWNER/NAME on the Hub.
            task: what to play.
            config: of the task.
            temperature: 1 samples from the model as it is; 0 plays the likeliest token each time.

        Raises:
            LmrlError: no such model, one for another task, or a tokenizer without a usable chat template.
        """
        if temperature < 0:
            raise LmrlError(f"the temperature is {temperature}; it must be 0 (greedy) or more")
        path = path.rstrip("/") or path
        self.name = f"hf:{path}"
        self.temperature = temperature
        folder = Path(path)
        info = read_info(folder)
        if info is not None and info.task != task:
            raise LmrlError(f"the model {path} was trained on the task {info.task} and cannot play {task}")
        on_gpu = torch.cuda.is_available()
        # A GPU keeps the precision that the model was saved with; most CPUs are fast in single precision only.
        self.model, self.tokenizer = load_model(path, "auto" if on_gpu else torch.float32)
        self.model.to("cuda" if on_gpu else "cpu")  # type: ignore[arg-type]
        self.model.eval()  # type: ignore[no-untyped-call]
        self.encoder = ChatEncoder(self.tokenizer)
        if info is not None:
            self.rule = info.window
        else:
            reply_tokens = action_tokens(task, config, self.encoder) or REPLY_TOKENS
            self.rule = WindowRule(model_context(self.model), reply_tokens)
        end = self.encoder.format.end[-1]
        ends = {end, self.tokenizer.eos_token_id} - {None}
        # The model's own generation config may ask for other sampling, beams or penalties: this one is all there is.
        self.model.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False,
            max_new_tokens=self.rule.reply_tokens,
            eos_token_id=sorted(ends),
            pad_token_id=self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else end,
        )
        self._ends = ends
        self._seeds = np.zeros(0, np.int64)

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._seeds = np.asarray(seeds, np.int64)

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """Let the model speak in each conversation that goes on."""
        if len(conversations) != len(self._seeds):
            raise ValueError(f"{len(conversations)} conversations after reset with {len(self._seeds)} seeds")
        prompts = {row: self._prompt(messages) for row, messages in enumerate(conversations) if messages}
        draws = self._draws(conversations)
        replies = [""] * len(conversations)
        # Prompts of like length go together: fewer tokens of padding to compute.
        rows = sorted(prompts, key=lambda row: len(prompts[row]))
        while rows:
            size = max(1, _BATCH_TOKENS // (len(prompts[rows[-1]]) + self.rule.reply_tokens))
            rows, batch = rows[:-size], rows[-size:]
            for row, reply in zip(batch, self._generate([prompts[row] for row in batch], draws[batch]), strict=True):
                replies[row] = reply
        return replies

    def _prompt(self, messages: list[Message]) -> list[int]:
        lengths = [len(self.encoder.encode(message["content"])) for message in messages]
        start = self.rule.starts(self.encoder, lengths[::2], lengths[1::2])[-1]
        return self.encoder.prompt(messages[2 * start :])

    def _draws(self, conversations: Sequence[list[Message]]) -> NDArray[np.float64]:
        """A number in [0, 1) for each token of each reply, shape (N, reply_tokens)."""
        turns = np.array([len(messages) // 2 for messages in conversations])
        hashes = np.zeros(len(turns), np.uint64)
        for turn in np.unique(turns).tolist():
            hashes[turns == turn] = turn_hashes(self._seeds[turns == turn], turn, _SAMPLE)
        return np.stack([uniform(mix_array(hashes, place)) for place in range(self.rule.reply_tokens)], axis=1)

    def _generate(self, prompts: list[list[int]], draws: NDArray[np.float64]) -> list[str]:
        width = max(map(len, prompts))
        ids = torch.full((len(prompts), width), self.model.generation_config.pad_token_id)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, width - len(prompt) :] = torch.tensor(prompt)
            mask[row, width - len(prompt) :] = 1
        device = self.model.device
        sampler = [_Sampler(torch.from_numpy(draws).to(device), width, self.temperature)] if self.temperature else []
        with torch.inference_mode():
            spoken = self.model.generate(  # type: ignore[operator]
                ids.to(device), attention_mask=mask.to(device), logits_processor=sampler
            )
        return [self._text(row) for row in spoken[:, width:].tolist()]

    def _text(self, ids: list[int]) -> str:
        stop = next((place for place, token in enumerate(ids) if token in self._ends), len(ids))
        return str(self.tokenizer.decode(ids[:stop], skip_special_tokens=True))


class _Sampler(LogitsProcessor):
    """Draws the next token of each row with the row's own number, by the inverse of the cumulative distribution.

    `generate` is told to take the likeliest token, and this leaves it one.
    """

    def __init__(self, draws: torch.Tensor, prompt_tokens: int, temperature: float) -> None:
        self.draws = draws
        self.prompt_tokens = prompt_tokens
        self.temperature = temperature

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        place = input_ids.shape[1] - self.prompt_tokens
        cumulative = (scores.double() / self.temperature).softmax(dim=1).cumsum(dim=1)
        # Scaled by the sum, which rounding leaves a little off 1.
        targets = self.draws[:, place, None] * cumulative[:, -1:]
        chosen = torch.searchsorted(cumulative, targets, right=True).clamp(max=scores.shape[1] - 1)
        return cast(torch.FloatTensor, torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0))
