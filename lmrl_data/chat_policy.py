"""A chat model behind a server as a policy: told the rules in words, perhaps shown a few games, and read with care."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread

from lmrl_data.errors import LmrlError
from lmrl_data.llm.chat import ChatMessage, EmptyReply, SystemMessage, Usage
from lmrl_data.llm.model import chat_model
from lmrl_data.llm.replies import MARKER, read_action
from lmrl_data.policy_options import Readers, split_options, with_options
from lmrl_data.registry import Task, get_task, locate, make, make_policy
from lmrl_data.rollouts import rollout
from lmrl_data.seeding import episode_seeds, mix, stream_of
from lmrl_data.text import Message

_FORMAT = (
    f"Think as long as you need to. Then end your reply with one line that begins with `{MARKER}` and holds your next "
    "action, all of it and nothing else."
)
_NEXT_GAME = "\n\nA new game begins.\n\n"
_SAMPLE = stream_of("chat/sample")
_OPTIONS: Readers = {
    "shots": int,
    "temperature": float,
    "max_tokens": int,
    "concurrency": int,
    "timeout": float,
}


class ChatPolicy:
    """Plays with a model that speaks OpenAI's protocol (see `lmrl_data.llm.chat_model`).

    The model is told the task's instructions and, with ``shots``, shown whole episodes of the task's best scripted
    policy; they are no evaluation episodes. It may think before it acts: the conversation that it is shown afterwards
    holds its actions alone. A reply without an action in it goes to the environment as it is.

    At temperature 0 the model is asked for its likeliest tokens. Above, each episode samples with its own seed.
    Replies are kept on disk (`lmrl_data.llm.cache`): the same question is not asked, or paid, twice.

    Attributes:
        usage: what the model has been asked so far.
    """

    def __init__(self, argument: str, *, task: str, config: str) -> None:
        """Prepare to ask; nothing is sent yet.

        Args:
            argument: ``MODEL`` or ``MODEL@URL``, and ``?NAME=VALUE&…`` with options: ``shots`` (0), ``temperature``
                (0), ``max_tokens`` of a reply (1024), ``concurrency`` of requests (16), ``timeout`` in seconds (60).
            task: what to play.
            config: of the task.

        Raises:
            LmrlError: an option or address that cannot be, or a missing key or extra.
        """
        spec, options = split_options("openai", argument, _OPTIONS)
        self._shots = int(options.pop("shots", 0))
        self._temperature = options.pop("temperature", 0.0)
        self._max_tokens = int(options.pop("max_tokens", 1024))
        if self._shots < 0 or not 0 <= self._temperature < 100 or self._max_tokens < 1:
            raise LmrlError("shots and temperature must be at least 0 (and below 100), max_tokens at least 1")
        self._model = chat_model(
            f"openai:{spec}",
            concurrency=int(options.get("concurrency", 16)),
            timeout=options.get("timeout", 60.0),
        )
        found = get_task(task)
        self._reader = locate(found.reading) if found.reading else None
        played = {"shots": self._shots, "temperature": self._temperature}
        self.name = with_options(self._model.name, {name: value for name, value in played.items() if value})
        self._told: SystemMessage = {"role": "system", "content": f"{found.instructions}\n\n{_FORMAT}"}
        self._examples = _examples(found, config, self._shots)
        self._seeds: Sequence[int] = []

    @property
    def usage(self) -> Usage:
        """What the model has been asked so far."""
        return self._model.usage

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._seeds = [mix(seed, _SAMPLE) >> 1 for seed in seeds]

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """Ask the model in each conversation that goes on, in threads.

        Raises:
            LmrlError: the model cannot be asked.
        """
        replies = [""] * len(conversations)

        def ask(row: int) -> None:
            replies[row] = self._reply(conversations[row], self._seeds[row])

        rows = [row for row, conversation in enumerate(conversations) if conversation]
        _in_threads(ask, rows, self._model.concurrency)
        return replies

    def _reply(self, conversation: list[Message], seed: int) -> str:
        try:
            said = self._model.reply(
                self._prompt(conversation), max_tokens=self._max_tokens, temperature=self._temperature, seed=seed
            )
        except EmptyReply:
            return ""
        return read_action(said, self._reader, conversation)

    def _prompt(self, conversation: list[Message]) -> list[ChatMessage]:
        first, *rest = [*map(_marked, conversation)]
        if not self._examples:
            return [self._told, first, *rest]
        *examples, end = self._examples
        joined: Message = {"role": "user", "content": end["content"] + _NEXT_GAME + first["content"]}
        return [self._told, *examples, joined, *rest]


def _in_threads(work: Callable[[int], None], items: Sequence[int], count: int) -> None:
    """Do the work for each item in so many threads; the first error ends it.

    The threads are daemons, which those of `concurrent.futures` are not: a program that is interrupted, or stops at an
    error, does not wait for what a server still has to say.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    finished: SimpleQueue[BaseException | None] = SimpleQueue()
    for item in items:
        waiting.put(item)

    def run() -> None:
        error: BaseException | None = None
        try:
            while True:
                work(waiting.get_nowait())
        except Empty:
            pass
        except BaseException as failure:
            error = failure
        finished.put(error)

    threads = min(count, len(items))
    try:
        for _ in range(threads):
            Thread(target=run, name="lmrl-chat", daemon=True).start()
        for _ in range(threads):
            if (error := finished.get()) is not None:
                raise error
    finally:
        with suppress(Empty):
            while True:
                waiting.get_nowait()


def _examples(task: Task, config: str, count: int) -> list[Message]:
    """Episodes of the task's best scripted policy as one conversation, from the environment to the environment."""
    if not count:
        return []
    env = make(task.name, config=config)
    try:
        seeds = episode_seeds(0, f"{task.name}/shots", 0, count).tolist()
        episodes = rollout(env, make_policy("best", task.name, config=config), seeds)
    finally:
        env.close()
    shown: list[Message] = []
    for episode in episodes:
        first, *rest = map(_marked, episode.messages)
        if shown:
            first = {"role": "user", "content": shown.pop()["content"] + _NEXT_GAME + first["content"]}
        shown += [first, *rest]
    return shown


def _marked(message: Message) -> Message:
    """A message as the model is shown it: its own actions as it was told to write them."""
    if message["role"] == "user":
        return message
    return {"role": "assistant", "content": f"{MARKER} {message['content']}"}
