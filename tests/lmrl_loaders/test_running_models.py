"""Logits of the agent's tokens alone are those that the model gives with all others."""

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, CohereConfig, Gemma2Config, GPT2Config, GraniteConfig, LlamaConfig
from transformers.modeling_outputs import CausalLMOutputWithPast

from lmrl_loaders.sequences import IGNORED
from lmrl_loaders.value_batches import Steps, run_model

SIZE = {
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
}
MODELS = {
    "llama": LlamaConfig(**SIZE),
    "gpt2": GPT2Config(vocab_size=40, n_embd=16, n_layer=2, n_head=2, n_positions=16),
    "gemma2": Gemma2Config(**SIZE, head_dim=8, final_logit_softcapping=2.0),
    "granite": GraniteConfig(**SIZE, logits_scaling=7.0),
    "cohere": CohereConfig(**SIZE, logit_scale=0.3),
}


def batch() -> dict[str, Tensor]:
    labels = torch.full((2, 6), IGNORED)
    labels[0, 2:4], labels[1, 5] = torch.tensor([7, 8]), 9
    ids = torch.arange(12).reshape(2, 6) + 1
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}


def expected(model: nn.Module, given: dict[str, Tensor], steps: Steps) -> tuple[Tensor, Tensor]:
    inputs = {name: given[name] for name in ("input_ids", "attention_mask")}
    out = model(**inputs, output_hidden_states=True, use_cache=False)
    return steps.before(out.hidden_states[-1]), steps.before(out.logits)


@pytest.mark.parametrize("name", MODELS)
def test_states_and_logits_are_those_of_the_whole(name: str) -> None:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(MODELS[name]).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(8)  # so that what is capped differs from what is not
    given = batch()
    steps = Steps.of(given["labels"])
    with torch.no_grad():
        found, whole = run_model(model, given, steps), expected(model, given, steps)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, whole, strict=True))


def test_a_model_that_does_more_to_its_logits_and_does_not_say_so() -> None:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(MODELS["llama"]).eval()
    plain = model.forward

    def squared(**inputs: object) -> CausalLMOutputWithPast:
        out = plain(**inputs)
        out.logits = out.logits**2 + 3
        return out

    model.forward = squared
    given = batch()
    steps = Steps.of(given["labels"])
    with torch.no_grad():
        found, whole = run_model(model, given, steps), expected(model, given, steps)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, whole, strict=True))
