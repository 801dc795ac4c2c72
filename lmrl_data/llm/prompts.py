"""How a conversation becomes the tokens that a local model goes on from."""

import re
import threading
from collections.abc import Mapping, Sequence

from transformers import PreTrainedTokenizerBase

from lmrl_data.errors import LmrlError

_SPEAKERS = {"user": "User: ", "assistant": "Assistant: ", "system": ""}
_PROBE = "Probe of the system message."


class Prompts:
    """Writes conversations with a tokenizer's chat template, or as a plain transcript where it has none.

    A special token that is spelt out in a message is taken out of it: who talks to a model cannot end their turn and go
    on in somebody else's. Where the template takes no system message, that stands at the head of the first message.

    Attributes:
        stop: texts that end a reply besides those of the request: a model that goes on with a transcript would speak
            for the user too.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        self._lock = threading.Lock()  # a tokenizer may change its settings while it encodes
        special = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
        self._special = re.compile("|".join(map(re.escape, special)) or "(?!)")
        self._has_template = tokenizer.chat_template is not None
        self._takes_system = self._has_template and self._probe()
        self.stop = () if self._has_template else ("\nUser:",)

    def encode(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The tokens of a conversation, up to where the assistant speaks.

        Raises:
            LmrlError: the chat template refuses the conversation.
        """
        clean = [{**message, "content": self._special.sub(" ", message["content"])} for message in messages]
        with self._lock:
            if self._has_template:
                return list(self._tokenizer.encode(self._render(clean), add_special_tokens=False))
            return list(self._tokenizer.encode(_transcript(clean)))

    def _render(self, messages: list[dict[str, str]]) -> str:
        if not self._takes_system and messages[0]["role"] == "system" and len(messages) > 1:
            told, first, *rest = messages
            messages = [{**first, "content": f"{told['content']}\n\n{first['content']}"}, *rest]
        try:
            return str(self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        except Exception as error:  # a template raises whatever its author chose
            roles = ", ".join(message["role"] for message in messages)
            raise LmrlError(
                f"the model's chat template refuses messages of {roles[:80]} ({type(error).__name__}); "
                "take another model"
            ) from error

    def _probe(self) -> bool:
        """Whether the template shows the model a system message: some refuse it, some leave it out."""
        messages = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "Hello."}]
        try:
            return _PROBE in str(self._tokenizer.apply_chat_template(messages, tokenize=False))
        except Exception:  # as above
            return False


def _transcript(messages: list[dict[str, str]]) -> str:
    lines = [_SPEAKERS[message["role"]] + message["content"] for message in messages]
    return "\n".join([*lines, "Assistant:"])
