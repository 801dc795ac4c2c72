"""How a conversation becomes tokens: pieces of a chat template around each message, the same in training and in play.

The template is rendered once, for a probe conversation, and cut into the pieces that stand between the messages. A
conversation is then the concatenation of these pieces and of the messages' own tokens: a message is tokenised once, its
length does not depend on its neighbours, and the agent's tokens are known without searching for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from transformers import PreTrainedTokenizerBase

from lmrl_data.errors import LmrlError
from lmrl_data.text import Message

USER, ASSISTANT, END = "<|user|>", "<|assistant|>", "<|end|>"

# TRL trains on what stands between the generation marks: the end of the turn must be inside, or it is never learnt.
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}"
    f"{ASSISTANT}{{% generation %}}{{{{ message['content'] }}}}{END}{{% endgeneration %}}"
    "{% else %}"
    f"{USER}{{{{ message['content'] }}}}{END}"
    "{% endif %}"
    "{% endfor %}"
    f"{{% if add_generation_prompt %}}{ASSISTANT}{{% endif %}}"
)

_PROBES = ("probe1", "probe2", "probe3")


@dataclass(frozen=True)
class ChatFormat:
    """The tokens that a chat template puts around messages.

    Attributes:
        begin: before the first message of the environment.
        reply: between a message of the environment and the agent's reply to it: the generation prompt.
        end: what ends the agent's turn, a special token at its end. The agent says it itself, so it is trained on.
        after: between the end of the agent's turn and the environment's next message.
    """

    begin: tuple[int, ...]
    reply: tuple[int, ...]
    end: tuple[int, ...]
    after: tuple[int, ...]


class ChatEncoder:
    """Encodes conversations with a tokenizer and its chat template.

    Raises:
        LmrlError: the tokenizer has no chat template, or one that is no plain sequence of messages.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self.format = _probe(tokenizer)
        self.encode = lru_cache(maxsize=2**16)(self._encode)

    def _encode(self, text: str) -> tuple[int, ...]:
        """The tokens of a message. A special token spelt out in it stays text: nobody ends a turn for somebody else."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a conversation in which the agent speaks next; it starts and ends with the environment."""
        tokens = [self.encode(message["content"]) for message in messages]
        return self.joined(tokens[::2], tokens[1::2])

    def joined(self, observations: Sequence[Sequence[int]], actions: Sequence[Sequence[int]]) -> list[int]:
        """The tokens of such a conversation from those of its messages; there is one action less than observations."""
        form = self.format
        ids = [*form.begin, *observations[0]]
        for said, heard in zip(actions, observations[1:], strict=True):
            ids += [*form.reply, *said, *form.end, *form.after, *heard]
        ids += form.reply
        return ids


def add_marked_template(tokenizer: PreTrainedTokenizerBase) -> None:
    """Give a pretrained tokenizer our chat template, its three special tokens, and ``<|end|>`` as the end of a turn."""
    tokenizer.add_special_tokens({"eos_token": END, "extra_special_tokens": [USER, ASSISTANT]})
    if tokenizer.pad_token is None:
        tokenizer.pad_token = END
    tokenizer.chat_template = CHAT_TEMPLATE


def _probe(tokenizer: PreTrainedTokenizerBase) -> ChatFormat:
    roles = ("user", "assistant", "user")
    messages = [{"role": role, "content": probe} for role, probe in zip(roles, _PROBES, strict=True)]
    try:
        text = str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
    except Exception as error:  # a template raises whatever its author chose
        raise LmrlError(
            f"the tokenizer has no chat template for user and assistant in turns ({type(error).__name__}); "
            "train the model first: `lmrl train bc --model PATH`"
        ) from error
    pieces = []
    for probe in _PROBES:
        piece, _, text = text.partition(probe)
        pieces.append(tuple(tokenizer.encode(piece, add_special_tokens=False)))
    begin, reply, between = pieces
    special = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    ends = [place for place, token in enumerate(between) if token in special]
    if not ends or tuple(tokenizer.encode(text, add_special_tokens=False)) != reply:
        raise LmrlError(
            "the tokenizer's chat template does not end turns with a special token, or writes earlier replies unlike "
            "the next one; set tokenizer.chat_template to lmrl_loaders.chat.CHAT_TEMPLATE and train the model"
        )
    return ChatFormat(begin, reply, between[: ends[0] + 1], between[ends[0] + 1 :])
