"""Any task in TRL's own `GRPOTrainer`: prompts that name start states, a rollout function, and the return as reward.

    trainer = GRPOTrainer(
        model="models/maze-bc",
        args=GRPOConfig(num_generations=8, …),
        train_dataset=grpo_prompts("maze", episodes=1000),
        rollout_func=GRPORollouts("maze"),
        reward_funcs=episode_return,
    )

Each prompt is the first message of an episode. The completion is the rest of it, with the agent's tokens marked (TRL's
``env_mask``), and its reward is the episode's return. GRPO trains on one sequence an episode: of an episode that is
longer than the model's context the turns up to there, while the return is that of all of it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from datasets import Dataset

from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task, make_vec
from lmrl_data.rollouts import rollout
from lmrl_data.seeding import episode_seeds, mix_array, stream_of
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.hf_policy import REPLY_TOKENS, ModelPolicy
from lmrl_loaders.model_folder import model_context
from lmrl_loaders.online import playing, said
from lmrl_loaders.sequences import IGNORED
from lmrl_loaders.windows import WindowRule, action_tokens


def grpo_prompts(task: str, *, config: str | None = None, episodes: int, seed: int = 0) -> Dataset:
    """Prompts for `GRPOTrainer`.

    Args:
        task: name of a task.
        config: of the task; None is its default.
        episodes: how many.
        seed: fixes their start states.

    Returns:
        A column ``prompt``: a conversation of one message, which beside ``role`` and ``content`` has the ``seed`` of
        the episode that it begins.
    """
    name, _ = get_task(task).config(config)
    seeds = episode_seeds(seed, f"{task}/{name}/grpo", 0, episodes).tolist()
    with make_vec(task, episodes, config=name) as env:
        first, _ = env.reset(seeds)
    prompts = [
        [{"role": "user", "content": text, "seed": number}] for text, number in zip(first.tolist(), seeds, strict=True)
    ]
    return Dataset.from_dict({"prompt": prompts})


def episode_return(completions: Sequence[Any], episode_return: Sequence[float], **_: Any) -> list[float]:
    """The reward function: the returns that `GRPORollouts` has put beside the completions."""
    return list(episode_return)


class GRPORollouts:
    """The ``rollout_func`` of a task: plays an episode per prompt, with the model as it is.

    Args:
        task: name of a task.
        config: of the task; None is its default.
    """

    def __init__(self, task: str, *, config: str | None = None) -> None:
        self.task = task
        self.config, _ = get_task(task).config(config)

    def __call__(self, prompts: Sequence[list[dict[str, Any]]], trainer: Any) -> dict[str, list[Any]]:
        """Play.

        Args:
            prompts: of `grpo_prompts`, each as often as there are generations of it.
            trainer: the `GRPOTrainer`.

        Returns:
            ``prompt_ids``, ``completion_ids``, ``logprobs`` (None: TRL works them out), ``env_mask``, and
            ``episode_return`` for the reward function; a value per prompt.

        Raises:
            LmrlError: a prompt does not say which episode it begins.
        """
        if any("seed" not in prompt[0] for prompt in prompts):
            raise LmrlError("a prompt has no seed of an episode; make the prompts with `grpo_prompts`")
        seeds = [int(prompt[0]["seed"]) for prompt in prompts]
        model = trainer.accelerator.unwrap_model(trainer.model)
        encoder = ChatEncoder(trainer.processing_class)
        rule = WindowRule(model_context(model), action_tokens(self.task, self.config, encoder) or REPLY_TOKENS)
        policy = _Sampling(model, encoder, rule, trainer.args, trainer.state.global_step)
        with playing(model), make_vec(self.task, len(prompts), config=self.config) as env:
            episodes = rollout(env, policy, seeds)
        played = said(episodes, policy.spoken, encoder, rule)
        # The first window of each episode, up to the last turn in it.
        windows = np.flatnonzero(played.cut.start == 0)
        rows = [slice(*played.tokens.offsets[window : window + 2]) for window in windows]
        ids = [played.tokens.input_ids[row].tolist() for row in rows]
        spoken = [(played.tokens.labels[row] != IGNORED).astype(int).tolist() for row in rows]
        prompt_sizes = [
            len(encoder.prompt([{"role": "user", "content": episode.messages[0]["content"]}])) for episode in episodes
        ]
        return {
            "prompt_ids": [row[:size] for row, size in zip(ids, prompt_sizes, strict=True)],
            "completion_ids": [row[size:] for row, size in zip(ids, prompt_sizes, strict=True)],
            "env_mask": [row[size:] for row, size in zip(spoken, prompt_sizes, strict=True)],
            "logprobs": None,  # type: ignore[dict-item]
            "episode_return": [episode.episode_return for episode in episodes],
        }


class _Sampling(ModelPolicy):
    """Plays the generations of one prompt differently, and another time otherwise again."""

    def __init__(self, model: Any, encoder: ChatEncoder, rule: WindowRule, args: Any, step: int) -> None:
        self.stream = stream_of(f"grpo/{args.seed}/{step}")
        super().__init__("grpo", model, encoder, rule, temperature=args.temperature)

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed; rows with the same seed draw different numbers."""
        rows = np.arange(len(seeds), dtype=np.uint64)
        mixed = mix_array(np.asarray(seeds, np.uint64) ^ mix_array(rows, self.stream), 0) >> np.uint64(1)
        super().reset(mixed.tolist())
