"""Tiny random models with a tokenizer of whole words, saved as folders: a causal one and a sequence-to-sequence one."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

WORDS = "is it a cat dog car yes no you are the oracle answer briefly User Assistant : ? .".split()
SPECIAL = ["<pad>", "<end>", "<system>", "<user>", "<assistant>"]
TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}> {{ message.content }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
WITHOUT_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}" + TEMPLATE
HIDING_SYSTEM = TEMPLATE.replace("messages %}", "messages if message.role != 'system' %}", 1)


def tokenizer(template: str | None, end: bool = False) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words; with `end`, prompts end with the end token as those of T5 do."""
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, "<unk>", *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    words.decoder = decoders.WordPiece(prefix="##")  # type: ignore[assignment]
    if end:
        words.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
            single="$A <end>", special_tokens=[("<end>", vocabulary["<end>"])]
        )
    made = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<end>", additional_special_tokens=SPECIAL[2:]
    )
    made.chat_template = template
    return made


def save_llama(folder: Path, template: str | None = TEMPLATE, context: int = 256, seed: int = 0) -> Path:
    words = tokenizer(template)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=context,
        initializer_range=0.4,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        LlamaForCausalLM(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def save_t5(folder: Path) -> Path:
    words = tokenizer(None, end=True)
    config = T5Config(
        vocab_size=len(words),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        eos_token_id=1,
        pad_token_id=0,
        initializer_factor=4.0,
        tie_word_embeddings=False,
    )
    with torch.random.fork_rng():
        torch.manual_seed(2)
        T5ForConditionalGeneration(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
