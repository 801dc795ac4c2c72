"""What a training begins with: the model, made or loaded, its encoder, and the rule that cuts episodes for it."""

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from trl.chat_template_utils import has_generation_markers

from lmrl_data.errors import LmrlError
from lmrl_loaders.chat import ChatEncoder, add_marked_template
from lmrl_loaders.episodes import Source
from lmrl_loaders.model_folder import load_model, model_context
from lmrl_loaders.sequences import Sizes
from lmrl_loaders.tiny import SIZES, tiny_model
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.windows import WindowRule, action_tokens

# A model from scratch sees whole episodes where they are short, else so many tokens, or three turns if that is more.
SCRATCH_CONTEXT = 128


def prepare(
    model: str, task: str, config: str, episodes: Source, *, max_length: int | None, whole_messages: int, seed: int
) -> tuple[PreTrainedModel, ChatEncoder, WindowRule]:
    """The model to train, its encoder and the window rule.

    A pretrained tokenizer whose chat template does not mark the agent's turns gets our template and its tokens.

    Args:
        model: one of `SIZES`, a folder, or a name on the Hub.
        task: name of the task.
        config: of the task.
        episodes: that it will be trained on.
        max_length: context in tokens; None takes what suits the data or the pretrained model.
        whole_messages: so many of the most frequent messages are a token each of a model from scratch.
        seed: of the weights of a model from scratch.

    Raises:
        LmrlError: no such model, a context that it does not have, or a number of messages that cannot be.
    """
    if whole_messages < 0:
        raise LmrlError(f"whole_messages is {whole_messages}; it must be 0 or more")
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    if model in SIZES:
        messages = episodes.frequent_messages(whole_messages) if whole_messages else []
        tokenizer = build_tokenizer(episodes.words(), messages=messages)
    else:
        network, tokenizer = load_model(model, torch.float32)
        if not has_generation_markers(tokenizer.chat_template or ""):
            add_marked_template(tokenizer)
            # A model may have more embeddings than tokens, rounded up for speed; none are taken away.
            network.resize_token_embeddings(max(len(tokenizer), network.config.get_text_config().vocab_size))
            network.config.eos_token_id = tokenizer.eos_token_id
            network.generation_config.eos_token_id = tokenizer.eos_token_id
    encoder = ChatEncoder(tokenizer)
    sizes = episodes.sizes(encoder)
    reply_tokens = max(sizes.reply, action_tokens(task, config, encoder))
    if model in SIZES:
        context = max_length or _scratch_context(sizes, reply_tokens)
        network = tiny_model(tokenizer, context=context, seed=seed, size=model)
    else:
        context = max_length or model_context(network)
        longest = getattr(network.config, "max_position_embeddings", context)
        if context > longest:
            raise LmrlError(f"max_length is {context}, but the model {model} has {longest} positions; give it less")
    return network, encoder, WindowRule(context, reply_tokens)


def _scratch_context(sizes: Sizes, reply_tokens: int) -> int:
    longest_turn = sizes.message + reply_tokens
    return 1 << (min(sizes.episode, max(SCRATCH_CONTEXT, 3 * longest_turn)) - 1).bit_length()
