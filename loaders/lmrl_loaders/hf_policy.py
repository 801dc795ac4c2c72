"""A language model as a policy: any causal model of transformers, batched."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.llm import Usage
from lmrl_data.policy_options import Readers, split_options, with_options
from lmrl_data.seeding import mix_array, stream_of, turn_hashes, uniform
from lmrl_data.text import Message
from lmrl_loaders.extra import train_extra

with train_extra():
    import torch
    from transformers import PreTrainedModel

    from lmrl_loaders.chat import ChatEncoder
    from lmrl_loaders.decoding import Reader
    from lmrl_loaders.model_folder import load_model, model_context, read_info
    from lmrl_loaders.windows import WindowRule, action_tokens

# Room for a reply where neither training nor a list of actions says how long one can be: a question in a dialogue.
REPLY_TOKENS = 64

_SAMPLE = stream_of("hf/sample")


class ModelPolicy:
    """Plays with a causal language model that is in memory.

    By default it samples, because a model that imitates has learnt a distribution over actions: for a collection of
    behaviour policies the likeliest action alone can be a bad one, such as walking into the same wall for ever. The
    random number behind a token is a hash of the episode's seed, the turn and the token's place in the reply, so an
    episode does not depend on which others are played beside it, but for rounding: hardly ever in single precision, now
    and then in half precision, which a model that was saved so keeps on a GPU.

    Attributes:
        spoken: the tokens of each turn of each row since the last `reset`, with the end of the turn where it was said.
        usage: replies so far, and their tokens; those of a prompt count at every turn, remembered or not.
    """

    def __init__(
        self, name: str, model: PreTrainedModel, encoder: ChatEncoder, rule: WindowRule, *, temperature: float = 1.0
    ) -> None:
        """Make a policy.

        Args:
            name: of the policy.
            model: that plays; it is left in its mode, so let it be that of evaluation.
            encoder: of the model.
            rule: the windows that it was trained with.
            temperature: 1 samples from the model as it is; 0 plays the likeliest token each time.

        Raises:
            LmrlError: a negative temperature.
        """
        if not 0 <= temperature < inf:
            raise LmrlError(f"the temperature is {temperature}; it must be a number from 0 (greedy) up")
        self.name = name
        self.model = model
        self.encoder = encoder
        self.tokenizer = encoder.tokenizer
        self.rule = rule
        self.temperature = temperature
        self.usage = Usage()
        self._ends = {encoder.format.end[-1], self.tokenizer.eos_token_id} - {None}
        self._reader = Reader(model)
        self.reset([])

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._seeds = np.asarray(seeds, np.int64)
        self._reader.forget()
        self.spoken: list[list[list[int]]] = [[] for _ in seeds]
        self._texts: list[list[str]] = [[] for _ in seeds]

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """Let the model speak in each conversation that goes on."""
        if len(conversations) != len(self._seeds):
            raise ValueError(f"{len(conversations)} conversations after reset with {len(self._seeds)} seeds")
        prompts = {row: self._prompt(row, messages) for row, messages in enumerate(conversations) if messages}
        said: dict[int, list[int]] = {row: [] for row in prompts}
        draws = self._draws(conversations)
        speaking = dict(prompts)
        self._reader.follow(list(prompts))
        for place in range(self.rule.reply_tokens):
            if not speaking:
                break
            rows = list(speaking)
            chosen = self._choose(self._reader.logits(speaking), draws[rows, place])
            for row, token in zip(rows, chosen, strict=True):
                said[row].append(token)
                if token in self._ends:
                    del speaking[row]
                else:
                    speaking[row] = prompts[row] + said[row]
        replies = [""] * len(conversations)
        for row, tokens in said.items():
            self.spoken[row].append(tokens)
            self.usage.count_request((len(prompts[row]), len(tokens)))
            replies[row] = self._text(tokens)
            self._texts[row].append(replies[row])
        return replies

    def _prompt(self, row: int, messages: list[Message]) -> list[int]:
        """What the model reads: its own turns in the very tokens that it said, whatever else they might be spelt in."""
        said = [message["content"] for message in messages[1::2]]
        spoken, texts = self.spoken[row], self._texts[row]
        # Turns that were another's, in a conversation that it is to go on with.
        for turn, text in enumerate(said):
            if turn >= len(texts) or texts[turn] != text:
                texts[turn:], spoken[turn:] = [text], [list(self.encoder.encode(text))]
        del texts[len(said) :], spoken[len(said) :]
        observations = [self.encoder.encode(message["content"]) for message in messages[::2]]
        actions = [self._without_end(tokens) for tokens in spoken]
        start = self.rule.starts(self.encoder, [*map(len, observations)], [*map(len, actions)])[-1]
        return self.encoder.joined(observations[start:], actions[start:])

    def _without_end(self, tokens: list[int]) -> list[int]:
        return tokens[:-1] if tokens and tokens[-1] in self._ends else tokens

    def _draws(self, conversations: Sequence[list[Message]]) -> NDArray[np.float64]:
        """A number in [0, 1) for each token of each reply, shape (N, reply_tokens)."""
        turns = np.array([len(messages) // 2 for messages in conversations])
        hashes = np.zeros(len(turns), np.uint64)
        for turn in np.unique(turns).tolist():
            hashes[turns == turn] = turn_hashes(self._seeds[turns == turn], turn, _SAMPLE)
        return np.stack([uniform(mix_array(hashes, place)) for place in range(self.rule.reply_tokens)], axis=1)

    def _choose(self, logits: torch.Tensor, draws: NDArray[np.float64]) -> list[int]:
        """The token of each row: by the inverse of the cumulative distribution, at the row's own random number."""
        if not self.temperature:
            return logits.argmax(1).tolist()
        # Less the greatest first: divided by a very low temperature it would be infinite.
        behind = logits.double() - logits.double().amax(dim=1, keepdim=True)
        cumulative = (behind / self.temperature).softmax(dim=1).cumsum(dim=1)
        # Scaled by the sum, which rounding leaves a little off 1.
        targets = torch.from_numpy(draws).to(logits.device)[:, None] * cumulative[:, -1:]
        chosen = torch.searchsorted(cumulative, targets, right=True).clamp(max=logits.shape[1] - 1)
        return chosen.squeeze(1).tolist()

    def _text(self, tokens: list[int]) -> str:
        return str(self.tokenizer.decode(self._without_end(tokens), skip_special_tokens=True))


class HFPolicy(ModelPolicy):
    """Plays with a causal language model of a folder or of the Hub.

    A model trained here plays with the windows that it was trained with (`lmrl_loaders.windows`).
    """

    kind = "hf"
    takes: ClassVar[Readers] = {"temperature": float}

    def __init__(self, spec: str, *, task: str, config: str) -> None:
        """Load a model.

        Args:
            spec: a folder as `save_pretrained` writes it, with the tokenizer; or OWNER/NAME on the Hub. With
                ``?temperature=T`` behind it the temperature is T (see `ModelPolicy`) and not 1.
            task: what to play.
            config: of the task.

        Raises:
            LmrlError: no such model, one for another task, a tokenizer without a usable chat template, or an option
                that cannot be.
        """
        path, self.options = split_options(self.kind, spec, self.takes)
        path = path.rstrip("/") or path
        folder = Path(path)
        info = read_info(folder)
        if info is not None and info.task != task:
            raise LmrlError(f"the model {path} was trained on the task {info.task} and cannot play {task}")
        self.training = info.training if info else {}
        on_gpu = torch.cuda.is_available()
        # A GPU keeps the precision that the model was saved with; most CPUs are fast in single precision only.
        model, tokenizer = load_model(path, "auto" if on_gpu else torch.float32)
        model.to("cuda" if on_gpu else "cpu")  # type: ignore[arg-type]
        model.eval()  # type: ignore[no-untyped-call]
        encoder = ChatEncoder(tokenizer)
        rule = (
            info.window
            if info
            else WindowRule(model_context(model), action_tokens(task, config, encoder) or REPLY_TOKENS)
        )
        # Results name the model and not where it lies on somebody's disk.
        self.folder = folder
        name = folder.resolve().name if folder.is_dir() else path
        super().__init__(
            with_options(f"{self.kind}:{name}", self.options),
            model,
            encoder,
            rule,
            temperature=self.options.get("temperature", 1.0),
        )
