"""What the site says of the code, taken from the code: the pages of tasks and commands, and parts of other pages."""

import json
from collections.abc import Callable, Iterator
from functools import cache

from docs import commands
from docs.tasks import FOLDER, example, task_page
from lmrl_cards import markdown
from lmrl_cards.columns import Column, episode_columns, evaluation_columns
from lmrl_data.episode import Episode, to_table
from lmrl_data.registry import get_task, list_tasks, locate

# Whose row and columns the page about the data shows.
_SHOWN = "wordle"

CONTENTS = {
    "Guide": ["guide", "data", "training", "leaderboard", "publishing", "importing", "cluster", "faq"],
    "Reference": ["commands", "api", "reproducing", "speed", "differences"],
    "Project": ["contributing", "changelog"],
}
"""The pages under their captions; the tasks come by themselves."""


def written() -> Iterator[tuple[str, str]]:
    """Name and text of each page that is wholly generated."""
    for name in list_tasks():
        yield f"{FOLDER}/{name}.md", task_page(name)
    yield "commands.md", commands.page()


def task_table() -> str:
    """The tasks with their configs and what the agent does."""
    rows = []
    for name in list_tasks():
        task = get_task(name)
        configs = ", ".join(f"`{config}`" for config in task.configs)
        rows.append(f"| [{task.title}]({FOLDER}/{name}.md) | {configs} | {task.summary} |")
    return "\n".join(["| task | configs | what it is |", "|---|---|---|", *rows])


def contents() -> str:
    """The site's contents, which Sphinx shows at the side."""
    parts = {**CONTENTS, "Tasks": [f"{FOLDER}/{name}" for name in list_tasks()]}
    return "\n\n".join(
        "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *parts[caption], "```"])
        for caption in ("Guide", "Tasks", "Reference", "Project")
    )


def columns() -> str:
    """Each column of an episode, with its value in an episode of Wordle."""
    task = get_task(_SHOWN)
    found = [column for column in episode_columns(task, _shown()) if not column.name.startswith("info.")]
    found.append(
        Column("info", "struct", "what the task tells of the episode; its fields are in the page of each task")
    )
    rows = [f"| `{column.name}` | `{column.kind}` | {column.meaning} | {column.value} |" for column in found]
    return "\n".join(["| column | type | meaning | below |", "|---|---|---|---|", *rows])


def evaluation_table() -> str:
    """Each column of the evaluation episodes that all tasks have."""
    found = [column for column in evaluation_columns(get_task(_SHOWN)) if not column.name.startswith("options.")]
    found.append(Column("options", "struct", "what to reset it with, by name; it follows from the seed"))
    rows = [f"| `{column.name}` | `{column.kind}` | {column.meaning} |" for column in found]
    return "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])


def row() -> str:
    """A row of the data as it is stored."""
    (stored,) = to_table([_shown()], get_task(_SHOWN)).to_pylist()
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in stored.items()]
    return "```json\n{\n" + ",\n".join(lines).replace("}, {", "},\n               {") + "\n}\n```"


def info_fields() -> str:
    """The fields of ``info`` of all tasks."""
    rows = [
        f"| [{task.title}]({FOLDER}/{name}.md#the-fields-of-info) | {', '.join(f'`{field}`' for field in task.info)} |"
        for name, task in ((name, get_task(name)) for name in list_tasks())
    ]
    return "\n".join(["| task | fields of `info` |", "|---|---|", *rows])


def sizes() -> str:
    """How many episodes the data have, the paper's and ours."""
    rows = []
    for name in list_tasks():
        task = get_task(name)
        for config, facts in task.configs.items():
            small, full = (f"{train:,} + {rest:,}" for train, rest in (facts.sizes["small"], facts.sizes["full"]))
            paper = f"{task.paper['episodes']:,.0f}"
            rows.append(f"| {name} | `{config}` | {small} | {full} | {paper} | {facts.evaluation_episodes:,} |")
    head = ["| task | config | small: train + validation | full | paper | evaluation |", "|---|---|--:|--:|--:|--:|"]
    return "\n".join([*head, *rows])


def bounds() -> str:
    """The returns that scores are normalised with."""
    rows = []
    for name in list_tasks():
        for config, facts in get_task(name).configs.items():
            found = facts.bounds
            values = " | ".join(markdown.short(value) for value in (found.minimum, found.mean, found.maximum))
            proof = "exact" if found.exact else "best known"
            rows.append(f"| {name} | `{config}` | {values} | `{found.maximum_from}`, {proof} |")
    head = ["| task | config | score 0 | score 50 | score 100 | attained by |", "|---|---|--:|--:|--:|---|"]
    return "\n".join([*head, *rows])


def differences() -> str:
    """What each task does otherwise than the paper, as its environment says."""
    parts = []
    for name in list_tasks():
        task = get_task(name)
        text = markdown.docstring_sections(locate(task.env))["Differences from the paper"]
        parts.append(f"### {task.title}\n\n{text}\n")
    return "\n".join(parts)


@cache
def _shown() -> Episode:
    return example(_SHOWN, get_task(_SHOWN).config()[0])[0]


PARTS: dict[str, Callable[[], str]] = {
    "tasks": task_table,
    "contents": contents,
    "columns": columns,
    "evaluation-columns": evaluation_table,
    "row": row,
    "info-fields": info_fields,
    "sizes": sizes,
    "bounds": bounds,
    "differences": differences,
}
"""What a page asks for with ``<!-- generated: NAME -->``."""
