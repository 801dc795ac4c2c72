"""The page of a task: its environment's docstring, with an episode and what the registry knows."""

import inspect
from functools import cache

from lmrl_cards import markdown
from lmrl_cards.columns import Column, episode_columns, evaluation_columns
from lmrl_cards.example import READABLE, Example
from lmrl_data.episode import Episode, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.registry import Config, Task, get_task, locate, make_policy, make_vec
from lmrl_data.rollouts import rollout

FOLDER = "tasks"

_GITHUB = "https://github.com/lmrl-gym/lmrl-gym/blob/main/"
# Episodes among which the page's example is looked for; few where each move needs an engine.
_TRIED = 64
_TRIED_WITH_ENGINE = 3


def task_page(name: str) -> str:
    """The Markdown of a task's page."""
    task = get_task(name)
    documented = locate(task.env)
    source = f"{documented.__module__.replace('.', '/')}.py"
    parts = [
        f"# {task.title}",
        f"{task.summary} {task.challenge}",
        _in_python(name, task),
        "## Configs",
        _configs(task),
        inspect.cleandoc(documented.__doc__ or "").partition("\n\n")[2],
        "## An episode" if len(task.configs) == 1 else "## Episodes",
        *(_episode(name, config) for config in task.configs),
        "## Policies",
        _policies(task),
        "## The fields of `info`",
        "Of each row of the data (what all tasks have is in the page about [the data](../data.md)):",
        _fields([column for column in episode_columns(task, None) if column.name.startswith("info.")]),
        "## The fields of `options`",
        "What `reset(options=…)` takes, and the evaluation episodes store:",
        _fields([column for column in evaluation_columns(task) if column.name.startswith("options.")]),
        "## What a language model is told",
        f"`openai:MODEL@URL` plays by these instructions:\n\n```text\n{task.instructions}\n```",
        f"Source: [{source}]({_GITHUB}{source})",
    ]
    return "\n\n".join(parts) + "\n"


def _in_python(name: str, task: Task) -> str:
    lines = ["import lmrl_data", "", f'env = lmrl_data.make("{name}")']
    lines += ["observation, info = env.reset(seed=7)", "print(observation)"]
    lines += [f'policy = lmrl_data.make_policy("random", "{name}")']
    lines += ["(episode,) = lmrl_data.rollout(env, policy, seeds=[7])", "print(episode.episode_return, episode.info)"]
    return "```python\n" + "\n".join(lines) + "\n```"


def _configs(task: Task) -> str:
    configs, short = list(task.configs.values()), markdown.short
    rows = {
        "environment": [f"`{config.env_id}`" for config in configs],
        "arguments": [
            ", ".join(f"`{key}={value}`" for key, value in config.kwargs.items()) or "–" for config in configs
        ],
        "return of score 0": [short(config.bounds.minimum) for config in configs],
        "return of score 50, the mean of the data": [short(config.bounds.mean) for config in configs],
        "return of score 100": [short(config.bounds.maximum) for config in configs],
        "attained by": [_best(config) for config in configs],
        "evaluation episodes": [markdown.count(config.evaluation_episodes) for config in configs],
        **{
            f"size `{size}`, train + validation": [" + ".join(map(markdown.count, c.sizes[size])) for c in configs]
            for size in configs[0].sizes
        },
    }
    head = "".join(f" `{name}` |" for name in task.configs)
    lines = [f"| {label} | {' | '.join(cells)} |" for label, cells in rows.items()]
    return "\n".join([f"| |{head}", "|---|" + "---|" * len(configs), *lines])


def _best(config: Config) -> str:
    return f"`{config.bounds.maximum_from}`, {'the exact optimum' if config.bounds.exact else 'the best known'}"


def _policies(task: Task) -> str:
    """The scripted policies, with their shares in the published data."""
    rows = []
    for policy in task.policies:
        shares = [config.collection.get(policy) for config in task.configs.values()]
        rows.append(
            f"| `{policy}` | {' | '.join('–' if share is None else markdown.percent(share) for share in shares)} |"
        )
    head = "".join(f" in the data, `{name}` |" for name in task.configs)
    return "\n".join([f"| policy |{head}", "|---|" + "--:|" * len(task.configs), *rows, "", task.provenance])


def _fields(columns: list[Column]) -> str:
    rows = [f"| `{column.name.partition('.')[2]}` | `{column.kind}` | {column.meaning} |" for column in columns]
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *rows])


def _episode(name: str, config: str) -> str:
    try:
        episode, how = example(name, config)
    except LmrlError as error:
        return f"No episode of `{config}` is shown, because the machine that built this page lacks something: {error}."
    said = f"Config `{config}`, policy `{episode.policy}`, seed {episode.seed} ({how}):"
    return f"{said}\n\n```text\n{markdown.transcript(episode)}\n```"


@cache
def example(name: str, config: str) -> tuple[Episode, str]:
    """An episode of the policy that made most of the data, and how it was found.

    Raises:
        LmrlError: the environment lacks something, such as an engine.
    """
    task = get_task(name)
    collection = task.configs[config].collection
    policy = max(collection, key=collection.__getitem__)
    tried = _TRIED_WITH_ENGINE if task.partner == "engine" else _TRIED
    env = make_vec(name, tried, config=config)
    try:
        played = rollout(env, make_policy(policy, name, config=config), range(tried))
    finally:
        env.close()
    chosen = Example()
    chosen.consider(to_table(played, task))
    assert chosen.best is not None
    low, high = READABLE
    readable = chosen.best.success and low <= chosen.best.num_turns <= high
    how = f"the first success in {low} to {high} turns" if readable else "the shortest one"
    return chosen.best, f"{how} of the seeds from 0 to {tried - 1}"
