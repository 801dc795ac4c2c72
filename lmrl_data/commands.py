"""The commands of lmrl_data: ``lmrl tasks`` and ``lmrl play``."""

import contextlib
import json
from typing import Annotated

import typer

from lmrl_data.console import print_table
from lmrl_data.errors import LmrlError

app = typer.Typer()


@app.command()
def tasks(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the tasks with their configs, environments, score bounds and policies."""
    from lmrl_data.registry import tasks as registered

    if as_json:
        print(json.dumps([_describe(name) for name in registered()], indent=2))
        return
    rows = [
        {
            "task": name,
            "config": config_name,
            "environment": config.env_id,
            "min": config.bounds.minimum,
            "mean": config.bounds.mean,
            "max": config.bounds.maximum,
        }
        for name, task in registered().items()
        for config_name, config in task.configs.items()
    ]
    print_table("lmrl-gym", rows)
    for name, task in registered().items():
        print(f"Policies of {name}: {', '.join(task.policies)}")


def _describe(name: str) -> dict[str, object]:
    from lmrl_data.registry import get_task

    task = get_task(name)
    return {
        "task": name,
        "summary": task.summary,
        "policies": list(task.policies),
        "configs": {
            config_name: {
                "env_id": config.env_id,
                "bounds": vars(config.bounds),
                "evaluation_episodes": config.evaluation_episodes,
                "sizes": {size: {"train": train, "validation": rest} for size, (train, rest) in config.sizes.items()},
            }
            for config_name, config in task.configs.items()
        },
    }


@app.command()
def play(
    task: Annotated[str, typer.Argument(help="Name of a task.")],
    config: Annotated[str | None, typer.Option(help="Config of the task; its default if left out.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, help="Seed of the episode; drawn if left out.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE of an argument of the environment; repeatable.")
    ] = None,
) -> None:
    """Play an episode yourself: the environment speaks, you answer (Ctrl-D gives up)."""
    import random

    from lmrl_data.policy import HumanPolicy
    from lmrl_data.registry import get_task, make, read_options
    from lmrl_data.rollouts import rollout

    env = make(task, config=config, **read_options(option or []))
    print(f"{get_task(task).summary}\n")
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - gives `input` the arrow keys and a history, where there is one
    policy = HumanPolicy(show=print, ask=_ask)
    try:
        (episode,) = rollout(env, policy, [random.SystemRandom().randrange(2**31) if seed is None else seed])
    except EOFError:
        print("\nGiven up.")
        raise typer.Exit from None
    finally:
        env.close()
    print(episode.messages[-1]["content"])
    outcome = "Solved" if episode.success else "Not solved"
    facts = [f"return {episode.episode_return:g}", *(f"{key} {value}" for key, value in episode.info.items())]
    print(f"{outcome} in {episode.num_turns} turns ({', '.join(facts)}, seed {episode.seed}).")


def _ask() -> str:
    try:
        return input("> ")
    except RuntimeError as error:  # standard input is closed
        raise EOFError from error
    except UnicodeDecodeError as error:
        raise LmrlError("what you typed is not UTF-8; set your terminal to UTF-8") from error
