"""A model behind a server that speaks OpenAI's protocol: OpenAI itself, vLLM, llama.cpp, Ollama, TGI and others."""

import json
import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import Any

from lmrl_data.errors import LmrlError
from lmrl_data.llm.address import check_server, is_loopback, public_name, server_of, tokens_field
from lmrl_data.llm.chat import EmptyReply, Prices, Request, Usage
from lmrl_data.llm.extra import needs_extra
from lmrl_data.text import storable

with needs_extra("llm", "models on a server"):
    import openai

# openai 2 speaks through httpx, openai 3 through httpx2; neither wraps what goes wrong while an answer is being read.
_http: Any = import_module(openai.DefaultHttpxClient.__mro__[1].__module__)

# A server that asks for a longer pause, in seconds, ends the run: it can be taken up later.
LONGEST_PAUSE = 120.0
# No chat answer is longer, in bytes.
_LONGEST_BODY = 2**24
# A pause that is shown to the user, in seconds.
_LONG_PAUSE = 2.0

_LATER = "run the same command later to go on"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Failure:
    """Why a request brought no reply.

    Attributes:
        reason: what the server did.
        remedy: what the user can do.
        again: whether the same request may succeed when it is sent again.
        pause: how long the server asks to wait before that, in seconds.
        kind: the class of the error.
    """

    reason: str
    remedy: str
    again: bool = True
    pause: float = 0.0
    kind: type[LmrlError] = LmrlError


class RemoteModel:
    """Asks a server, and asks again where that may help."""

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        concurrency: int,
        prices: Prices | None,
        timeout: float,
        retries: int,
        first_pause: float = 1.0,
    ) -> None:
        """Prepare to ask; nothing is sent yet.

        Args:
            model: its name on the server.
            base_url: of the server; None is the environment variable OPENAI_BASE_URL, or else OpenAI itself.
            concurrency: requests in progress at once; more threads wait.
            prices: of the tokens.
            timeout: how long a whole answer may take, in seconds.
            retries: how often a request that failed is sent again.
            first_pause: before the first of these, in seconds; each further one is twice as long.

        Raises:
            LmrlError: the address cannot be used, or there is no key.
        """
        address = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        check_server(model, address)
        self._key = _read_key(address)
        # Settings of a proxy are meant for other machines than this one.
        http_client = openai.DefaultHttpxClient(trust_env=False) if is_loopback(address) else None
        self._client = openai.OpenAI(
            api_key=self._key,
            base_url=address,
            timeout=openai.Timeout(timeout, connect=min(timeout, 10.0)),
            max_retries=0,
            http_client=http_client,
        )
        self.name = f"openai:{public_name(model)}"
        self.concurrency = concurrency
        self.usage = Usage(prices)
        self.identity: Mapping[str, str] = {"backend": "openai", "model": model, "url": str(self._client.base_url)}
        self._model = model
        self._server = server_of(address)
        self._tokens_field = tokens_field(address)
        self._timeout = timeout
        self._retries = retries
        self._first_pause = first_pause
        self._slots = threading.BoundedSemaphore(concurrency)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, request: Request) -> str:
        """The reply, from as many tries as it takes and `retries` allows."""
        body = {
            "model": self._model,
            "messages": request.messages,
            "temperature": request.temperature,
            self._tokens_field: request.max_tokens,
            # Many servers keep 31 bits.
            "seed": request.seed & 0x7FFFFFFF,
            **({"stop": list(request.stop)} if request.stop else {}),
        }
        tries = 0
        with self._slots:
            while True:
                outcome = self._try(body)
                if isinstance(outcome, str):
                    return outcome
                tries += 1
                if not outcome.again or tries > self._retries or outcome.pause > LONGEST_PAUSE:
                    break
                pause = max(outcome.pause, min(LONGEST_PAUSE, self._first_pause * 2 ** (tries - 1)))
                if outcome.kind is EmptyReply:  # the server is well
                    pause = 0.0
                level = logging.WARNING if pause >= _LONG_PAUSE else logging.INFO
                _log.log(level, "%s %s; try %d in %g s", self._server, outcome.reason, tries + 1, pause)
                time.sleep(pause)
        often = f" (tried {tries} times)" if tries > 1 else ""
        asks = f" and asks for a pause of {outcome.pause:.0f} s" if outcome.pause > LONGEST_PAUSE else ""
        raise outcome.kind(f"{self.name}: {self._server} {outcome.reason}{asks}{often}; {outcome.remedy}")

    def _try(self, body: dict[str, Any]) -> str | _Failure:
        """Send a request once. No error leaves with what the server sent: it could repeat the key."""
        try:
            answer = self._send(body)
        except (openai.APITimeoutError, _http.TimeoutException):
            return _Failure(
                f"gave no whole answer within {self._timeout:g} s", f"allow it more time, or less load, or {_LATER}"
            )
        except openai.APIStatusError as error:
            return self._refusal(error)
        except (openai.APIConnectionError, _http.HTTPError) as error:
            cause = type(error.__cause__ or error).__name__
            return _Failure(
                f"cannot be reached, or cuts the connection ({cause})", "start the server or mend its address"
            )
        return self._read(answer)

    def _send(self, body: dict[str, Any]) -> bytes:
        """The body of the answer. The client's own limit is for a silence, this one is for the whole."""
        deadline = time.monotonic() + self._timeout
        received = bytearray()
        with self._client.chat.completions.with_streaming_response.create(**body) as response:
            for chunk in response.iter_bytes():
                received += chunk
                if time.monotonic() > deadline:
                    raise _http.ReadTimeout("")
                if len(received) > _LONGEST_BODY:
                    break
        return bytes(received)

    def _read(self, body: bytes) -> str | _Failure:
        """The reply in the body of an answer."""
        if body.lstrip()[:1] == b"<":
            return _Failure(
                "answers with a web page", "mend the address: most servers want /v1 at its end", again=False
            )
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            return _Failure("answers with broken JSON", "look into the server's log")
        if not isinstance(answer, dict):
            answer = {}
        self.usage.count_request(_tokens(answer.get("usage")))
        try:
            choice = answer["choices"][0]
            content = choice["message"]["content"] or ""
            reply = content.strip()
        except (KeyError, IndexError, TypeError, AttributeError):
            return _Failure(f"answers without a message{self._own_words(answer.get('error'))}", "look into its log")
        if not reply:
            why = str(choice.get("finish_reason"))[:20]
            remedy = "allow more max_tokens if the model thinks before it speaks, or take another model"
            return _Failure(f"gives an empty reply (finish_reason {why})", remedy, kind=EmptyReply)
        return storable(reply)

    def _refusal(self, error: openai.APIStatusError) -> _Failure:
        """What an error status means."""
        status = error.status_code
        if status in (401, 403):
            return _Failure(f"refuses the key (status {status})", "set OPENAI_API_KEY to a valid one", again=False)
        said = self._own_words(error.body)
        if status == 404:
            remedy = "mend the model's name, or the address: most servers want /v1 at its end"
            return _Failure(f"knows no such model or page (status 404){said}", remedy, again=False)
        if status == 429:
            no_money = error.code == "insufficient_quota"
            reason = "says that the account is used up" if no_money else "gets too many requests"
            remedy = "top up the account" if no_money else f"lower the concurrency, or {_LATER}"
            return _Failure(f"{reason} (status 429){said}", remedy, again=not no_money, pause=_pause(error))
        if status in (408, 409) or status >= 500:
            return _Failure(f"fails (status {status}){said}", f"look into its log, or {_LATER}", pause=_pause(error))
        return _Failure(f"refuses the request (status {status}){said}", "mend what it names", again=False)

    def _own_words(self, body: object) -> str:
        """The server's message about an error, short and without the key."""
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            body = body["error"]
        message = body.get("message") if isinstance(body, dict) else None
        if not isinstance(message, str) or not message.strip():
            return ""
        return f": {' '.join(message.replace(self._key, '…').split())[:200]!r}"


def _read_key(address: str) -> str:
    """The key from the environment; a dummy for a server on this machine.

    Raises:
        LmrlError: there is none, or it cannot be sent.
    """
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and is_loopback(address):
        return "no-key"
    if not key:
        raise LmrlError(
            f"{server_of(address)} needs a key: set OPENAI_API_KEY (to any word if the server asks for none)"
        )
    if not (key.isascii() and key.isprintable()):
        raise LmrlError("OPENAI_API_KEY holds characters that no key has; set it again")
    return key


def _tokens(usage: object) -> tuple[int, int] | None:
    """The (prompt, completion) tokens that an answer names."""
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (prompt, completion) if isinstance(prompt, int) and isinstance(completion, int) else None


def _pause(error: openai.APIStatusError) -> float:
    """The seconds that an answer asks to wait (Retry-After: RFC 9110, sec. 10.2.3)."""
    value = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
