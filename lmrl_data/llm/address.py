"""Addresses of servers: what may be used, and what of it may be said."""

import ipaddress
import re
from urllib.parse import urlsplit

from lmrl_data.errors import LmrlError

# OpenAI's own servers refuse the older name of the limit for their newer models; many others know no other.
_OPENAI_HOSTS = ("openai.com", "openai.azure.com")


def check_server(model: str, address: str) -> None:
    """Make sure that a model's name and a server's address can be used, and that they hold no secret.

    Raises:
        LmrlError: the name holds an address or what cannot be sent; the address is none of http or https, or holds a
            name, a password, a query or the like. The message does not repeat it.
    """
    if not model.isprintable():
        raise LmrlError("the model's name holds characters that cannot be sent; give it as its server lists it")
    if re.search(r"://|@(localhost|[\w.-]+:\d+)(/|$)", model):
        raise LmrlError(
            "the address of a server must begin with http:// or https://, as in openai:MODEL@http://HOST/v1"
        )
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not (address.isascii() and address.isprintable()) or " " in address:
        raise LmrlError("the server's address cannot be used; give one such as http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise LmrlError(
            f"the address of {server_of(address)} must hold no name, password, ? or #; the key goes into OPENAI_API_KEY"
        )


def is_loopback(address: str) -> bool:
    """Whether the server is on this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def server_of(address: str) -> str:
    """The server as messages name it: scheme, host and port, for a path may hold a secret."""
    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}"


def tokens_field(address: str) -> str:
    """The name of the limit of tokens in requests to a server."""
    host = urlsplit(address).hostname or ""
    ours = any(host == known or host.endswith(f".{known}") for known in _OPENAI_HOSTS)
    return "max_completion_tokens" if ours else "max_tokens"


def public_name(model: str) -> str:
    """A model's name for records; servers that were started with a path name the model by it."""
    is_path = re.match(r"[/~.\\]|[a-zA-Z]:[/\\]", model)
    return re.split(r"[/\\]", model.rstrip("/\\"))[-1] if is_path else model
