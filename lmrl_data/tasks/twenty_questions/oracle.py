"""A language model as the oracle: it says yes or no, and nothing that it says otherwise reaches the agent."""

import re

from lmrl_data.llm import ChatMessage, EmptyReply, chat_model
from lmrl_data.tasks.twenty_questions.table import knowledge_table

_INSTRUCTIONS = (
    "You answer the questions in a game of Twenty Questions. The secret object is: {name}. It is an ordinary one of "
    "its kind ({category}). The player does not know what it is and asks yes/no questions about it. Answer truthfully, "
    "as most people would, with a single word: Yes or No. Never name or describe the object, and explain nothing. If "
    "the player's line is no yes/no question about the object, answer with the single word Unclear."
)
_REMINDER = "Answer with one word only: Yes, No or Unclear."
_UNCLEAR = re.compile(r"\W*unclear\W*", re.IGNORECASE)
# A yes or no and whatever explains it, of which the agent hears nothing; but not "yes and no" or "no idea".
_ANSWER = re.compile(r"\W*(yes|no)(?:\s*[.,!;:*]|\s*$|\s+(?:it|the|a|an|this|you)\b)", re.IGNORECASE)
_MAX_TOKENS = 8


class ModelOracle:
    """Asks a model about the secret object, and takes a yes or no for an answer and nothing else."""

    def __init__(self, spec: str) -> None:
        self._model = chat_model(spec)
        self.name = self._model.name
        self.concurrency = self._model.concurrency

    def close(self) -> None:
        """Let go of the model."""
        self._model.close()

    def answer(self, column: int, question: str) -> bool | None:
        """The model's answer about an object.

        Returns:
            Whether it says yes; None where it finds no question, or twice begins with neither.

        Raises:
            LmrlError: the model cannot be asked.
        """
        table = knowledge_table()
        instructions = _INSTRUCTIONS.format(name=table.names[column].lower(), category=table.categories[column].lower())
        for attempt in (question, f"{question}\n({_REMINDER})"):
            messages: list[ChatMessage] = [
                {"role": "system", "content": instructions},
                {"role": "user", "content": attempt},
            ]
            try:
                word = read_reply(self._model.reply(messages, max_tokens=_MAX_TOKENS, stop=("\n",)))
            except EmptyReply:
                continue
            if word is not None:
                return None if word == "unclear" else word == "yes"
        return None


def read_reply(reply: str) -> str | None:
    """The word of a model's reply: ``"yes"``, ``"no"``, ``"unclear"``; None where it begins with neither."""
    found = _ANSWER.match(reply)
    if found:
        return found[1].lower()
    return "unclear" if _UNCLEAR.fullmatch(reply) else None
