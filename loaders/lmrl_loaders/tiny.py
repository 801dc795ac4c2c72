"""A small causal language model made from scratch, for laptops, tests and first tries."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerBase

LAYERS = 2
WIDTH = 64
HEADS = 2
INIT = 0.1
MLP=128
ACT="relu"

def tiny_model(tokenizer: PreTrainedTokenizerBase, *, context: int, seed: int) -> LlamaForCausalLM:
    """A Llama of some 100,000 weights and the tokenizer's words.

    Its positions are relative (rotary). With GPT-2's absolute ones such a small model learns where in the window a word
    must stand, and loses the thread as soon as a message has an unusual length.

    Args:
        tokenizer: as from `lmrl_loaders.tokenizer.build_tokenizer`.
        context: the longest sequence in tokens.
        seed: of the first weights; torch's global generator is neither read nor moved.
    """
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=context,
        hidden_size=WIDTH,
        intermediate_size=MLP,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        # The cheapest on a CPU, and at this size as good as any.
        hidden_act=ACT,
        # For weights this narrow the usual 0.02 starts far too close to zero, and learning takes three times as long.
        initializer_range=INIT,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)
