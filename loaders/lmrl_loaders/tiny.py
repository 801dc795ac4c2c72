"""A small causal language model made from scratch, for laptops, tests and first tries."""

from typing import NamedTuple

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerBase

from lmrl_loaders.tokenizer import word_tokens

TINY = "tiny"


class Size(NamedTuple):
    """How large a model is."""

    layers: int
    width: int
    heads: int


# Some 100,000 and 900,000 weights, besides those of the tokenizer's words.
SIZES = {TINY: Size(layers=2, width=64, heads=2), "small": Size(layers=4, width=128, heads=4)}


def tiny_model(tokenizer: PreTrainedTokenizerBase, *, context: int, seed: int, size: str = TINY) -> LlamaForCausalLM:
    """A small Llama for the tokenizer's words.

    Its positions are relative (rotary). With GPT-2's absolute ones a model this small learns at which place of the
    window which word comes, and after one message of unusual length it says nothing usable any more.

    Args:
        tokenizer: as from `lmrl_loaders.tokenizer.build_tokenizer`.
        context: the longest sequence in tokens.
        seed: of the first weights; torch's global generator is neither read nor moved.
        size: one of `SIZES`.
    """
    layers, width, heads = SIZES[size]
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=context,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        # On a CPU the smooth functions cost as much as the matrices of so small a model.
        hidden_act="relu",
        # The usual 0.02 is meant for wide models; with it this one takes several times as long to learn.
        initializer_range=0.1,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config)
    _compose_messages(model, tokenizer)
    return model


@torch.no_grad()
def _compose_messages(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase) -> None:
    """Let the vector of a token that is a whole message begin as the sum of its words', each rolled by its place.

    Messages with the same words at the same places are then alike from the first step: without that a model sees
    nothing of how a guess of Wordle is spelt.
    """
    vectors: torch.Tensor = model.model.embed_tokens.weight
    for text, token in tokenizer.get_added_vocab().items():
        parts = word_tokens(tokenizer, text)
        if token not in tokenizer.all_special_ids and len(parts) > 1:
            rolled = [vectors[part].roll(place) for place, part in enumerate(parts)]
            vectors[token] = torch.stack(rolled).sum(0) / len(parts) ** 0.5
