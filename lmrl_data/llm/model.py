"""Language models by their spec, and the cache between them and who asks."""

import math
import re
import threading
from collections.abc import Sequence
from weakref import WeakValueDictionary

from lmrl_data.errors import LmrlError
from lmrl_data.llm.cache import ReplyCache, request_key
from lmrl_data.llm.chat import Backend, ChatMessage, ChatModel, Prices, Request
from lmrl_data.seeding import check_seed
from lmrl_data.text import storable

# A model's own name may hold an @, so the address is what follows the last one and looks like an address.
_ADDRESS = re.compile(r"(?P<model>.+)@(?P<address>[a-zA-Z][\w+.-]*://.*)", re.DOTALL)


def chat_model(
    spec: str,
    *,
    cache: bool = True,
    concurrency: int = 16,
    prices: Prices | None = None,
    timeout: float = 60.0,
    retries: int = 5,
) -> ChatModel:
    """A language model from its spec.

    - ``openai:MODEL@BASE_URL``: any server that speaks OpenAI's protocol. Without ``@BASE_URL``, the environment
      variable OPENAI_BASE_URL or else OpenAI itself. The key is read from OPENAI_API_KEY; a server on this machine
      needs none.
    - ``hf:PATH``: a causal or sequence-to-sequence model of transformers, in a folder or as OWNER/NAME on the Hub.

    Make it in the process that uses it: neither connections nor models survive a fork.

    Args:
        spec: see above.
        cache: whether replies are kept on disk (`lmrl_data.llm.cache.cache_folder`) and found there again.
        concurrency: requests in progress at once on a server, or rows of a batch of a local model.
        prices: for the cost in `Usage`.
        timeout: how long a server may take for a whole answer, in seconds.
        retries: how often a server that is down, slow or busy is asked again, after 1, 2, 4, … seconds.

    Raises:
        LmrlError: no such kind of model, no such model, an unusable address, a missing key or extra, a damaged cache.
    """
    kind, _, argument = spec.partition(":")
    if concurrency < 1 or retries < 0 or not timeout > 0:
        raise LmrlError(
            f"concurrency is {concurrency}, timeout {timeout} and retries {retries}; "
            "they must be at least 1, above 0 and at least 0"
        )
    backend: Backend
    if kind == "openai" and argument:
        from lmrl_data.llm.remote import RemoteModel

        found = _ADDRESS.fullmatch(argument)
        backend = RemoteModel(
            found["model"] if found else argument,
            found["address"] if found else None,
            concurrency=concurrency,
            prices=prices,
            timeout=timeout,
            retries=retries,
        )
    elif kind == "hf" and argument:
        from lmrl_data.llm.local import LocalModel

        backend = LocalModel(argument, concurrency=concurrency, prices=prices)
    else:
        raise LmrlError(f"unknown language model {kind[:40]!r}; give openai:MODEL@BASE_URL, openai:MODEL or hf:PATH")
    return LanguageModel(backend, ReplyCache() if cache else None)


class LanguageModel:
    """A backend and the cache before it, as a `ChatModel`."""

    def __init__(self, backend: Backend, cache: ReplyCache | None) -> None:
        self.name = backend.name
        self.concurrency = backend.concurrency
        self.usage = backend.usage
        self._backend = backend
        self._cache = cache
        self._guard = threading.Lock()
        self._asking: WeakValueDictionary[bytes, threading.Lock] = WeakValueDictionary()

    def reply(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> str:
        """See `ChatModel.reply`."""
        request = _check(messages, max_tokens, temperature, seed, stop)
        if self._cache is None:
            return self._backend.ask(request)
        key = request_key(self._backend.identity, request)
        with self._guard:
            # Threads that ask the same at once share a lock: one asks the model, the others find its reply.
            alone = self._asking.setdefault(key, threading.Lock())
        with alone:
            known = self._cache.get(key)
            if known is not None:
                self.usage.count_cached()
                return known
            return self._cache.put(key, self._backend.ask(request))

    def close(self) -> None:
        """See `ChatModel.close`."""
        self._backend.close()
        if self._cache is not None:
            self._cache.close()


def _check(
    messages: Sequence[ChatMessage], max_tokens: int, temperature: float, seed: int, stop: Sequence[str]
) -> Request:
    """A request with texts that UTF-8 can hold, and with seed 0 where the seed is of no effect."""
    if not messages:
        raise ValueError("there is no message to reply to")
    if max_tokens < 1:
        raise LmrlError(f"max_tokens is {max_tokens}; it must be at least 1")
    if not 0 <= temperature < math.inf:
        raise LmrlError(f"the temperature is {temperature}; it must be 0 (greedy) or more")
    if isinstance(stop, str) or not all(stop):
        raise ValueError("stop is a sequence of texts that are not empty")
    return Request(
        messages=[{"role": message["role"], "content": storable(message["content"])} for message in messages],
        max_tokens=max_tokens,
        temperature=float(temperature),
        seed=check_seed(seed) if temperature else 0,
        stop=tuple(map(storable, stop)),
    )
