"""How a conversation becomes tokens: pieces of a chat template around each message, the same in training and play.

The template is rendered once, for a probe conversation, and cut into the pieces that stand between the messages. A
conversation is then the concatenation of those pieces and of the messages' own tokens, so each message is tokenised
once, its length does not depend on its neighbours, and the tokens of the agent are known without searching for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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

_ASKED, _ANSWERED, _LAST = "probe1", "probe2", "probe3"


@dataclass(frozen=True)
class ChatFormat:
    """The tokens that a chat template puts around messages.

    Attributes:
        begin: before the first message of the environment.
        reply: between a message of the environment and the agent's reply to it: the generation prompt.
        end: what ends the agent's turn; the agent says it itself, so it is trained on.
        after: between the end of the agent's turn and the environment's next message.
    """

    begin: tuple[int, ...]
    reply: tuple[int, ...]
    end: tuple[int, ...]
    after: tuple[int, ...]


class ChatEncoder:
    """Encodes messages with a tokenizer and its chat template.

    Raises:
        LmrlError: the tokenizer has no chat template, or one that does not join messages piece by piece.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self.format = _probe(tokenizer)
        self.encode = lru_cache(maxsize=2**16)(self._encode)

    def _encode(self, text: str) -> tuple[int, ...]:
        """The tokens of a message. A special token spelt out in it is text: nobody can end a turn for somebody else."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a conversation that the agent speaks in next; it starts and ends with the environment."""
        ids = [*self.format.begin, *self.encode(messages[0]["content"])]
        for said, heard in zip(messages[1::2], messages[2::2], strict=True):
            ids += self.format.reply + self.encode(said["content"]) + self.format.end
            ids += self.format.after + self.encode(heard["content"])
        ids += self.format.reply
        return ids


def has_generation_marks(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether the chat template marks what the agent says, as training needs."""
    template = tokenizer.chat_template
    return isinstance(template, str) and "generation %}" in template.replace("-%}", " %}")


def _render(tokenizer: PreTrainedTokenizerBase, messages: list[dict[str, str]]) -> str:
    try:
        return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
    except Exception as error:  # templates raise whatever their authors chose
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LmrlError(
            f"the tokenizer has no chat template that takes turns of user and assistant ({reason}); "
            "train the model first with `lmrl train bc --model PATH`"
        ) from error


def _probe(tokenizer: PreTrainedTokenizerBase) -> ChatFormat:
    asked, answered, last = (
        {"role": role, "content": text}
        for role, text in (("user", _ASKED), ("assistant", _ANSWERED), ("user", _LAST))
    )
    text = _render(tokenizer, [asked, answered, last])
    pieces: list[str] = []
    for probe in (_ASKED, _ANSWERED, _LAST):
        piece, found, text = text.partition(probe)
        if not found:
            raise LmrlError("the tokenizer's chat template leaves messages out; give the model another template")
        pieces.append(piece)
    begin, reply, between = pieces
    if text != reply:
        raise LmrlError(
            "the tokenizer's chat template writes earlier replies of the agent unlike the reply to come; "
            "train the model first with `lmrl train bc --model PATH`"
        )

    def encode(piece: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(piece, add_special_tokens=False))

    between_ids = encode(between)
    # The turn ends with the first special token behind it; a template without one ends it with all that stands there.
    special = next((i for i, token in enumerate(between_ids) if token in tokenizer.all_special_ids), None)
    cut = len(between_ids) if special is None else special + 1
    return ChatFormat(encode(begin), encode(reply), between_ids[:cut], between_ids[cut:])


def use_template_with_marks(tokenizer: PreTrainedTokenizerBase) -> int:
    """Give a tokenizer our chat template, and the tokens that it needs.

    Returns:
        How many tokens were added, for which the model needs embeddings.
    """
    missing = [token for token in (USER, ASSISTANT, END) if token not in tokenizer.get_vocab()]
    added = tokenizer.add_special_tokens(_special(tokenizer))
    tokenizer.chat_template = CHAT_TEMPLATE
    return added


def _special(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    return {}
