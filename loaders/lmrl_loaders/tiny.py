"""A small causal language model made from scratch, for laptops, tests and first tries."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerBase

LAYERS = 2
WIDTH = 64
HEADS = 2


def tiny_model(tokenizer: PreTrainedTokenizerBase, *, context: int, seed: int) -> LlamaForCausalLM:
    """A Llama of some 100,000 weights for the tokenizer's words.

    Its positions are relative (rotary). With GPT-2's absolute ones a model this small learns at which place of the
    window which word comes, and after one message of unusual length it says nothing usable any more.

    Args:
        tokenizer: as from `lmrl_loaders.tokenizer.build_tokenizer`.
        context: the longest sequence in tokens.
        seed: of the first weights; torch's global generator is neither read nor moved.
    """
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=context,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
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
        return LlamaForCausalLM(config)
