"""A small causal language model made from scratch, for laptops, tests and first tries."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerBase

LAYERS = 2
WIDTH = 64
HEADS = 2
INIT = 0.02


def tiny_model(tokenizer: PreTrainedTokenizerBase, *, context: int, seed: int) -> GPT2LMHeadModel:
    """A GPT-2 of some 250,000 weights and the tokenizer's words.

    Args:
        tokenizer: as from `lmrl_loaders.tokenizer.build_tokenizer`.
        context: the longest sequence in tokens.
        seed: of the first weights; torch's global generator is neither read nor moved.
    """
    end = tokenizer.eos_token_id
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=context,
        n_embd=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        initializer_range=INIT,
        activation_function='relu',
        # Nothing is left out at random: the model is far too small to learn a dataset by heart.
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return GPT2LMHeadModel(config)
