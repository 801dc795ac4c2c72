"""Proximal policy optimisation for many turns (Schulman et al. 2017; generalised advantages, Schulman et al. 2016).

Each round the model plays episodes in the simulator. A step is a token of the agent; with r its reward (the turn's
reward at the turn's last token, less the KL penalty), V the value head before the round's updates, s' the state before
the agent's next token, and λ, γ:

    δ = r + γ V(s') − V(s),    A = δ + γ λ A'                                          (GAE, equations 11 and 16)
    policy:   max(−A ρ, −A clip(ρ, 1 − ε, 1 + ε)),   ρ = π(a|s) / π_old(a|s)           (PPO, equation 7)
    value:    max((V − R)², (clip(V, V_old − ε_v, V_old + ε_v) − R)²) / 2,   R = A + V_old
    penalty:  r loses κ (log π_old(a|s) − log π_ref(a|s)), π_ref being the model that training began with

Behind a terminal turn V is 0; behind an episode that a time limit cut off it is that of the state it was left in. What
a step's discount is depends on the credit, as for the other methods (`lmrl_loaders.transitions`): with ``"turn"`` γ and
λ fall at the ends of turns only. A loss of imitation of the data may be added, as the paper does for Wordle.
"""

import copy
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from lmrl_loaders.bc import imitation
from lmrl_loaders.heads import attach_heads
from lmrl_loaders.online import Played, Player, Rounds, Row, playing, rows_of, summary
from lmrl_loaders.runs import Places, Run, own_settings, training_run
from lmrl_loaders.transitions import Credit, Floats, discounted_sums, last_of_turn
from lmrl_loaders.value_batches import Batch, Steps, ValueCollator, padded, run_model
from lmrl_loaders.value_trainer import ValueArguments, ValueTrainer


@dataclass
class PPOConfig(ValueArguments):
    """Settings of PPO. ``max_steps`` counts optimiser steps: rounds times ``steps_per_round``."""

    max_steps: int = field(default=800, metadata={"help": "Optimiser steps, of all rounds together."})
    episodes_per_round: int = field(default=128, metadata={"help": "Episodes that are played in a round."})
    steps_per_round: int = field(default=16, metadata={"help": "Optimiser steps on the episodes of a round."})
    gamma: float = field(default=0.99, metadata={"help": "Discount of a step."})
    lam: float = field(default=0.95, metadata={"help": "λ of the generalised advantages."})
    credit: Credit = field(default="turn", metadata={"help": "What a step is: a turn or a token."})
    clip: float = field(default=0.2, metadata={"help": "ε of the policy."})
    value_clip: float = field(default=0.2, metadata={"help": "ε of the value."})
    value_weight: float = field(default=1.0, metadata={"help": "Of the value's loss."})
    kl_weight: float = field(default=0.01, metadata={"help": "κ, of the penalty for leaving the first model."})
    bc_weight: float = field(default=0.0, metadata={"help": "Of a loss of imitation of the data."})
    reward_scale: float = field(default=1.0, metadata={"help": "Rewards are multiplied by it; so are values then."})
    lr_scheduler_type: str = field(default="constant", metadata={"help": "Course of the learning rate."})
    ignore_data_skip: bool = field(default=True, metadata={"help": "A resumed run plays on; it plays nothing again."})


class PPOTrainer(ValueTrainer):
    """transformers' `Trainer` with the loss of PPO; the model must have a V head."""

    args: PPOConfig

    def __init__(self, *, imitated: "Imitated | None" = None, **arguments: Any) -> None:
        """Make a trainer.

        Args:
            imitated: batches of the data, for the loss of imitation.
            **arguments: of `Trainer`.
        """
        super().__init__(**arguments)
        self.imitated = imitated

    def losses(self, model: Any, heads: Any, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch and its parts."""
        steps = Steps.of(batch["labels"])
        states, logits = run_model(model, batch, steps)
        parts = ppo_losses(
            log_prob=-cross_entropy(logits.float(), steps.action, reduction="none"),
            old_log_prob=steps.at(batch["log_probs"]),
            advantage=steps.at(batch["advantages"]),
            value=heads.v(states).squeeze(-1).float(),
            old_value=steps.at(batch["values"]),
            target=steps.at(batch["returns"]),
            clip=self.args.clip,
            value_clip=self.args.value_clip,
        )
        loss = parts["policy"] + self.args.value_weight * parts["value"]
        if self.imitated is not None:
            data = {name: values.to(states.device) for name, values in self.imitated.batch().items()}
            said = Steps.of(data["labels"])
            parts["bc"] = cross_entropy(run_model(model, data, said)[1].float(), said.action)
            loss = loss + self.args.bc_weight * parts["bc"]
        return loss, parts


def ppo_losses(
    *,
    log_prob: Tensor,
    old_log_prob: Tensor,
    advantage: Tensor,
    value: Tensor,
    old_value: Tensor,
    target: Tensor,
    clip: float,
    value_clip: float,
) -> dict[str, Tensor]:
    """The losses of policy and value, means over N steps; all tensors of shape (N,)."""
    ratio = (log_prob - old_log_prob).exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    near = old_value + (value - old_value).clamp(-value_clip, value_clip)
    return {
        "policy": torch.maximum(-advantage * ratio, -advantage * clipped).mean(),
        "value": 0.5 * torch.maximum((value - target) ** 2, (near - target) ** 2).mean(),
    }


def advantages(
    *, reward: Floats, value: Floats, after: Floats, lengths: NDArray[np.int64], discount: Floats, decay: Floats
) -> Floats:
    """Generalised advantages of the steps of N episodes that stand one after another.

    Args:
        reward: of each step, shape (K,).
        value: V(s) of each step, shape (K,).
        after: value of the state behind each episode, 0 where it is terminal, shape (N,).
        lengths: steps of each episode, none of them 0, shape (N,).
        discount: of each step, shape (K,).
        decay: λ of each step, shape (K,).
    """
    following = np.append(value[1:], 0.0)
    following[lengths.cumsum() - 1] = after
    return discounted_sums(reward + discount * following - value, lengths, discount * decay)


class Imitated:
    """Batches of the data in an order that the seed fixes, for as long as they are asked for."""

    def __init__(self, run: Run) -> None:
        self.rows = run.rows(imitation).dataset
        self.size = min(run.args.per_device_train_batch_size, len(self.rows))
        self.collate = ValueCollator(run.encoder.tokenizer.pad_token_id)
        self.order = np.random.Generator(np.random.PCG64(run.args.seed))

    def batch(self) -> Batch:
        """The next one."""
        chosen = self.order.choice(len(self.rows), self.size, replace=False)
        return self.collate([self.rows[place] for place in chosen.tolist()])


class _Rollouts:
    """Plays the rounds and works out what the losses need of them."""

    def __init__(self, run: Run, player: Player) -> None:
        self.run = run
        self.player = player
        self.reference = copy.deepcopy(run.network).requires_grad_(False) if run.args.kl_weight else None
        self.history: list[dict[str, float]] = []

    def play(self, number: int) -> list[Row]:
        """The rows of a round: windows with log probabilities, values, advantages and returns of the agent's tokens."""
        args, network = self.run.args, self.run.network
        played = self.player.play(number)
        tokens = played.tokens
        spoken = tokens.turn >= 0
        with playing(network):
            log_prob, value = self._read(network, tokens)
            after = self._after(played)
        last = last_of_turn(tokens)
        rewards = np.array([reward for episode in played.episodes for reward in episode.rewards])
        reward = np.where(last, args.reward_scale * rewards[tokens.turn], 0.0)
        kl = np.zeros(len(reward))
        if self.reference is not None:
            with playing(self.reference):
                kl = log_prob - self._read(self.reference, tokens)[0]
            reward -= args.kl_weight * kl
        ends = last | (args.credit == "token")
        turns = played.cut.spoken.turns()
        episode = np.repeat(np.arange(len(turns)), turns)[tokens.turn[spoken]]
        advantage, target = np.zeros(len(reward)), np.zeros(len(reward))
        advantage[spoken] = advantages(
            reward=reward[spoken],
            value=value[spoken],
            after=after,
            lengths=np.bincount(episode, minlength=len(turns)),
            discount=np.where(ends, args.gamma, 1.0)[spoken],
            decay=np.where(ends, args.lam, 1.0)[spoken],
        )
        target[spoken] = advantage[spoken] + value[spoken]
        advantage[spoken] = (advantage[spoken] - advantage[spoken].mean()) / (advantage[spoken].std() + 1e-8)
        self.history.append({"round": number, **summary(played.episodes), "kl": float(kl[spoken].mean())})
        named = {"log_probs": log_prob, "values": value, "advantages": advantage, "returns": target}
        return [row for row in rows_of(tokens, **named) if (row["labels"] >= 0).any()]

    @torch.no_grad()
    def _read(self, network: Any, tokens: Any) -> tuple[Floats, Floats]:
        """Log probability and value at each token of the agent, 0 elsewhere, shape (T,) each."""
        rows = rows_of(tokens, place=np.arange(len(tokens.input_ids)))
        found = np.zeros((2, len(tokens.input_ids)))
        collate = ValueCollator(self.run.encoder.tokenizer.pad_token_id)
        size = self.run.args.per_device_train_batch_size
        for first in range(0, len(rows), size):
            group = rows[first : first + size]
            batch = {name: values.to(network.device) for name, values in collate(group).items()}
            steps = Steps.of(batch["labels"])
            states, logits = run_model(network, batch, steps)
            place = steps.at(padded([row["place"] for row in group], -1, np.int64).to(network.device)).cpu().numpy()
            surprise = cross_entropy(logits.float(), steps.action, reduction="none")
            found[0, place] = -surprise.cpu().numpy()
            if hasattr(network, "value_heads"):
                found[1, place] = network.value_heads.v(states).squeeze(-1).float().cpu().numpy()
        return found[0], found[1]

    @torch.no_grad()
    def _after(self, played: Played) -> Floats:
        """The value of the state behind each episode, shape (N,)."""
        network: Any = self.run.network
        cut = played.cut
        truncated = np.array([not episode.terminated for episode in played.episodes])
        final = cut.stop == cut.spoken.turns()[cut.episode]
        wanted = final & truncated[cut.episode]
        ids, offsets = cut.successors(wanted)
        found = np.zeros(len(played.episodes))
        for window in np.flatnonzero(wanted).tolist():
            prompt = torch.from_numpy(ids[offsets[window] : offsets[window + 1]].astype(np.int64))[None]
            states = network(input_ids=prompt.to(network.device), output_hidden_states=True, use_cache=False)
            found[cut.episode[window]] = float(network.value_heads.v(states.hidden_states[-1][0, -1]))
        return found


def train_ppo(task: str, *, args: PPOConfig | None = None, **places: Unpack[Places]) -> dict[str, Any]:
    """Train a policy by PPO in the simulator and save it.

    Args:
        task: name of a task.
        args: settings of the training.
        **places: see `Places`. The model to begin with must know what the task's actions look like: if left out, it is
            that of behaviour cloning.

    Returns:
        ``output``, ``task``, ``config``, ``episodes`` (of the data), ``played``, ``steps``, ``train_loss``. The model's
        log has mean return, success, length and KL divergence of each round.

    Raises:
        LmrlError: see `training_run`; also where there is no model to begin with.
    """
    args = args or PPOConfig()
    places.setdefault("model", "bc")
    with training_run("ppo", task, args, own_settings(args), places) as run:
        player = Player(run, "ppo", args.episodes_per_round)
        try:
            rollouts = _Rollouts(run, player)
            attach_heads(run.network, q_heads=0)
            trainer = PPOTrainer(
                model=run.network,
                args=run.args,
                train_dataset=Rounds(
                    rollouts.play,
                    rows=args.steps_per_round * args.per_device_train_batch_size,
                    first=lambda: trainer.state.global_step // args.steps_per_round,
                    seed=args.seed,
                ),
                data_collator=ValueCollator(run.encoder.tokenizer.pad_token_id),
                imitated=Imitated(run) if args.bc_weight else None,
            )
            run.train(trainer)
        finally:
            player.close()
        run.result["played"] = len(rollouts.history) * args.episodes_per_round
        run.log += rollouts.history
    return run.result
