"""Language models that answer: a server that speaks OpenAI's protocol, or a model of transformers on this machine.

Dialogue partners, oracles and policies ask through `chat_model`, and know nothing of what answers. Nothing here knows
of any task, and nothing here is imported before a language model is asked for.
"""

from lmrl_data.llm.chat import ChatMessage, ChatModel, EmptyReply, Prices, SystemMessage, Usage
from lmrl_data.llm.model import chat_model

__all__ = ["ChatMessage", "ChatModel", "EmptyReply", "Prices", "SystemMessage", "Usage", "chat_model"]
