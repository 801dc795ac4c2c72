"""What a language model is to the rest of the package: a conversation goes in, a reply comes out, and it is counted."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypedDict

from lmrl_data.errors import LmrlError
from lmrl_data.text import Message


class SystemMessage(TypedDict):
    """What the model is told before the conversation: who it is, what it knows, how it answers."""

    role: Literal["system"]
    content: str


# `user` is who talks to the model and `assistant` the model itself, whichever side of a task it plays.
ChatMessage = Message | SystemMessage


class EmptyReply(LmrlError):
    """The model said nothing. An oracle cannot go on; a policy may take it for an action that is not usable."""


class Prices(NamedTuple):
    """What a server charges, in dollars per million tokens."""

    prompt: float
    completion: float


class Usage:
    """What a model has been asked so far; threads may count at the same time.

    Attributes:
        requests: answers that the model gave, also those that were of no use and were asked for again.
        cached: replies that came from the cache, and cost nothing.
        prompt_tokens: tokens read in these requests.
        completion_tokens: tokens written.
        uncounted: requests whose server did not say how many tokens they took.
    """

    def __init__(self, prices: Prices | None = None) -> None:
        self.prices = prices
        self.requests = self.cached = self.prompt_tokens = self.completion_tokens = self.uncounted = 0
        self._lock = threading.Lock()

    @property
    def cost(self) -> float | None:
        """Dollars spent; None without prices, or where a server did not count all tokens."""
        if self.prices is None or self.uncounted:
            return None
        return (self.prompt_tokens * self.prices.prompt + self.completion_tokens * self.prices.completion) / 1e6

    def count_request(self, tokens: tuple[int, int] | None) -> None:
        """Count an answer of the model and its (prompt, completion) tokens; None where the server does not say."""
        with self._lock:
            self.requests += 1
            if tokens is None:
                self.uncounted += 1
            else:
                self.prompt_tokens += tokens[0]
                self.completion_tokens += tokens[1]

    def count_cached(self) -> None:
        """Count a reply from the cache."""
        with self._lock:
            self.cached += 1


class ChatModel(Protocol):
    """A language model that answers conversations; several threads may ask at the same time.

    Attributes:
        name: what a row of a dataset may say of it: ``"openai:MODEL"``, ``"hf:OWNER/NAME@COMMIT"``,
            ``"hf:FOLDER@HASH"``. No key, no address, no path.
        concurrency: how many threads may usefully ask at once.
        usage: what it has been asked.
    """

    name: str
    concurrency: int
    usage: Usage

    def reply(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> str:
        """What the model says next, trimmed. The same arguments give the same reply as long as it is in the cache.

        Args:
            messages: a system message or none, then user and assistant in turns; the last is the user's.
            max_tokens: where the reply is cut off.
            temperature: 0 takes the likeliest token each time, 1 samples from the model as it is.
            seed: of the sampling; of no effect at temperature 0. Give each episode its own: two that share a
                conversation, a temperature and a seed get one and the same reply.
            stop: texts before which the reply ends.

        Raises:
            EmptyReply: the model said nothing.
            LmrlError: it cannot be asked, or not so; the message names the remedy.
        """
        ...

    def close(self) -> None:
        """Let go of connections and threads."""
        ...


@dataclass(frozen=True)
class Request:
    """The arguments of `ChatModel.reply`, checked."""

    messages: Sequence[Mapping[str, str]]
    max_tokens: int
    temperature: float
    seed: int
    stop: tuple[str, ...]


class Backend(Protocol):
    """What answers requests, without a cache.

    Attributes:
        name: as in `ChatModel`.
        concurrency: as in `ChatModel`.
        usage: as in `ChatModel`; the backend counts its requests.
        identity: all that a reply depends on besides the request; no secrets.
    """

    name: str
    concurrency: int
    usage: Usage
    identity: Mapping[str, str]

    def ask(self, request: Request) -> str:
        """The reply, trimmed and never empty; may be called from several threads."""
        ...

    def close(self) -> None:
        """Let go of connections and threads."""
        ...
