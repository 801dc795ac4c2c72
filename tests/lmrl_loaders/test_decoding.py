import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, MambaConfig, MambaForCausalLM

from lmrl_loaders import decoding
from lmrl_loaders.decoding import Reader
from lmrl_loaders.tiny import tiny_model
from lmrl_loaders.tokenizer import build_tokenizer


def llama() -> torch.nn.Module:
    return tiny_model(build_tokenizer({}), context=128, seed=0).eval()


def gpt2() -> torch.nn.Module:
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=90, n_positions=256, n_embd=16, n_layer=2, n_head=2)).eval()


def mamba() -> torch.nn.Module:
    torch.manual_seed(0)
    return MambaForCausalLM(MambaConfig(vocab_size=90, hidden_size=16, num_hidden_layers=1, state_size=4)).eval()


def talk(model: torch.nn.Module, reader: Reader, *, turns: int) -> list[float]:
    """How far the reader's logits are from those of reading each prompt alone, in conversations of all kinds."""
    draw = np.random.Generator(np.random.PCG64(0))
    rows = {row: draw.integers(5, 90, draw.integers(1, 20)).tolist() for row in range(5)}
    reader.follow(list(rows))
    errors = []
    for turn in range(turns):
        if turn == turns // 2:
            del rows[2]  # an episode has ended
            reader.follow(list(rows))
        speaking = {row: prompt for row, prompt in rows.items() if draw.random() < 0.7} or dict(rows)
        with torch.inference_mode():
            for prompt, logits in zip(speaking.values(), reader.logits(speaking), strict=True):
                alone = model(torch.tensor([prompt])).logits[0, -1]
                errors.append(float((alone - logits).abs().max()))
        for row, prompt in rows.items():
            kept = prompt[len(prompt) // 2 :] if draw.random() < 0.15 or len(prompt) > 90 else prompt
            rows[row] = kept + draw.integers(5, 90, draw.integers(0, 4)).tolist()
    return errors


@pytest.mark.parametrize("make", [llama, gpt2, mamba])
def test_logits_are_those_of_reading_everything(make: object) -> None:
    model = make()  # type: ignore[operator]
    assert max(talk(model, Reader(model), turns=60)) < 1e-4


def test_conversations_beyond_the_memory_are_read_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "CACHE_BYTES", 150_000)
    model = llama()
    reader = Reader(model)
    assert 0 < reader.tokens_kept < 100
    assert max(talk(model, reader, turns=30)) < 1e-4


def test_what_has_been_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = llama()
    reader = Reader(model)
    widths: list[int] = []
    forward = model.forward

    def spy(**arguments: torch.Tensor) -> object:
        widths.append(arguments["input_ids"].shape[1])
        return forward(**arguments)

    monkeypatch.setattr(model, "forward", spy)
    reader.follow([0, 1])
    prompt = list(range(5, 35))
    reader.logits({0: prompt, 1: prompt[:20]})
    reader.logits({0: [*prompt, 40], 1: prompt[:22]})
    reader.logits({1: [*prompt[:22], 50, 51, 52]})
    assert widths == [30, 2, 3]


def test_recurrent_models_are_not_cached() -> None:
    assert not Reader(mamba()).remembers
    assert Reader(llama()).remembers
