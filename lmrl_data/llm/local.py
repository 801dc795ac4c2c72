"""A model of transformers on this machine: causal or sequence-to-sequence, with calls of many threads in one batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmrl_data.errors import LmrlError
from lmrl_data.llm.batching import Batcher
from lmrl_data.llm.chat import EmptyReply, Prices, Request, Usage
from lmrl_data.llm.extra import needs_extra

with needs_extra("train", "local language models"):
    import torch
    from transformers import GenerationConfig

    from lmrl_data.llm.decoding import Enough, Sampler
    from lmrl_data.llm.loading import load
    from lmrl_data.llm.prompts import Prompts


@dataclass(frozen=True)
class _Job:
    """A request and the tokens of its prompt."""

    prompt: list[int]
    request: Request
    stop: tuple[str, ...]


class LocalModel:
    """Generates replies with a local model, by itself greedily.

    Requests that wait are generated together, padded to one length. A reply does not depend on the others of its batch
    but for rounding: in single precision (always on a CPU) it has to come to two tokens that are all but equally likely
    for that to show, in half precision it happens now and then. `concurrency=1` rules it out.
    """

    def __init__(self, path: str, *, concurrency: int, prices: Prices | None) -> None:
        """Load a model.

        Args:
            path: a folder as `save_pretrained` writes it, with the tokenizer; or OWNER/NAME on the Hub.
            concurrency: rows of the largest batch.
            prices: of the tokens.

        Raises:
            LmrlError: there is no such model, or it cannot be loaded.
        """
        on_gpu = torch.cuda.is_available()
        # A GPU keeps the precision that the model was saved with; most CPUs are fast in single precision only.
        self._model, self._tokenizer, self.name, version = load(path, "auto" if on_gpu else torch.float32)
        self._model.to("cuda" if on_gpu else "cpu").eval()
        config = self._model.config
        self._is_seq2seq = bool(config.is_encoder_decoder)
        self._context: int | None = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._ends = _end_tokens(self._model.generation_config.eos_token_id) | _end_tokens(self._tokenizer.eos_token_id)
        pad = self._tokenizer.pad_token_id
        self._pad = pad if pad is not None else min(self._ends, default=0)
        # The model's own generation config may ask for sampling, beams or penalties: this one is all there is.
        self._model.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False,
            eos_token_id=sorted(self._ends) or None,
            pad_token_id=self._pad,
            decoder_start_token_id=getattr(config, "decoder_start_token_id", None),
        )
        self._prompts = Prompts(self._tokenizer)
        self.identity: Mapping[str, str] = {"backend": "hf", "version": version, "dtype": str(self._model.dtype)}
        self.concurrency = concurrency
        self.usage = Usage(prices)
        self._batcher = Batcher(self._generate, concurrency)

    def close(self) -> None:
        """Finish what has been asked."""
        self._batcher.close()

    def ask(self, request: Request) -> str:
        """The reply, generated with those of other threads that wait."""
        prompt = self._prompts.encode(request.messages)
        needed = max(len(prompt), request.max_tokens) if self._is_seq2seq else len(prompt) + request.max_tokens
        if self._context is not None and needed > self._context:
            raise LmrlError(
                f"{self.name}: a prompt of {len(prompt)} tokens and a reply of up to {request.max_tokens} do not fit "
                f"into the model's {self._context}; ask for shorter replies or take a model with a longer context"
            )
        reply = self._batcher.call(_Job(prompt, request, (*request.stop, *self._prompts.stop)))
        if not reply:
            raise EmptyReply(f"{self.name}: the model gives an empty reply; take another model or another prompt")
        return reply

    def _generate(self, jobs: Sequence[_Job]) -> list[str]:
        width = max(len(job.prompt) for job in jobs)
        ids = torch.full((len(jobs), width), self._pad)
        mask = torch.zeros_like(ids)
        for row, job in enumerate(jobs):
            # A causal model goes on from the right end; an encoder counts its places from the left.
            place = slice(0, len(job.prompt)) if self._is_seq2seq else slice(width - len(job.prompt), width)
            ids[row, place] = torch.tensor(job.prompt)
            mask[row, place] = 1
        start = 1 if self._is_seq2seq else width
        limits = [job.request.max_tokens for job in jobs]
        enough = Enough(self._tokenizer, limits, [job.stop for job in jobs], start)
        sampled = any(job.request.temperature for job in jobs)
        try:
            with torch.inference_mode():
                spoken = self._model.generate(
                    ids.to(self._model.device),
                    attention_mask=mask.to(self._model.device),
                    max_new_tokens=max(limits),
                    logits_processor=[self._sampler(jobs, start)] if sampled else [],
                    stopping_criteria=[enough],
                )
        except torch.OutOfMemoryError as error:
            raise LmrlError(f"{self.name}: the GPU's memory is full; lower the concurrency ({len(jobs)})") from error
        rows = zip(jobs, spoken[:, start:].tolist(), enough.limits.tolist(), strict=True)
        return [self._text(job, tokens[:limit]) for job, tokens, limit in rows]

    def _sampler(self, jobs: Sequence[_Job], start: int) -> Sampler:
        requests = [job.request for job in jobs]
        return Sampler(
            [request.temperature for request in requests],
            [request.seed for request in requests],
            [job.prompt for job in jobs],
            start,
        )

    def _text(self, job: _Job, tokens: list[int]) -> str:
        length = next((place for place, token in enumerate(tokens) if token in self._ends), len(tokens))
        self.usage.count_request((len(job.prompt), min(length + 1, len(tokens))))
        text = str(self._tokenizer.decode(tokens[:length], skip_special_tokens=True))
        for stop in job.stop:
            text = text.partition(stop)[0]
        return text.strip()


def _end_tokens(ids: int | list[int] | None) -> set[int]:
    return set() if ids is None else {ids} if isinstance(ids, int) else set(ids)
