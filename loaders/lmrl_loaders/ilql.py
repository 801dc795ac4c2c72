"""Implicit language Q-learning (Snell et al. 2022, "Offline RL for Natural Language Generation with ILQL").

A language model with two Q heads and a V head on its last hidden layer. With s the tokens so far, a the next token of
the agent, r its reward, s' the state after it, and Q⁻ the target heads:

    V   is fitted to   min Q⁻(s, a)        by expectile regression        (equation 3, after Kostrikov et al. 2021)
    Q   is fitted to   r + γ V(s')         by least squares, both heads   (equation 4)
    Q   is kept low on tokens not in the data: −α log softmax Q(s, ·)[a]  (equation 5, after Kumar et al. 2020, CQL)
    π   is the language model, fitted to the data: −log π(a|s)            (behaviour cloning)

In play the policy is π(a|s) exp(β (min Q⁻ − V)) (equation 7), see `lmrl_loaders.value_policy`; β is chosen there,
without training again.

The credit says what a step is. With ``"token"``, as in the paper, each token is one: s' is what the agent sees before
its next token. With ``"turn"`` a whole turn is one: s and s' are what it sees at the beginning of its turns, V(s) is
fitted to Q⁻ of the turn's last token, and Q of every token of the turn to the turn's r + γ V(s'). Values then have far
fewer steps to travel; in exchange Q of a token within a turn is a mean over how the data go on with that turn.

Behind a terminal turn V is 0; behind an episode that a time limit cut off s' is the state that it was left in
(`lmrl_loaders.transitions`). Where rewards are rare, bootstrapping alone can take a small model very long, and until
then all values sink together: then fit Q to the recorded returns in the first steps, which is ours
(`ILQLConfig.returns_share`).
"""

from dataclasses import dataclass, field
from typing import Any, Unpack

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from lmrl_loaders.heads import TargetsFollow, attach_heads
from lmrl_loaders.runs import Places, own_settings, training_run
from lmrl_loaders.transitions import Credit, mean_return, transitions
from lmrl_loaders.value_batches import Batch, Steps, ValueCollator, next_values, run_model, successor_states
from lmrl_loaders.value_trainer import ValueArguments, ValueTrainer, freeze_model


@dataclass
class ILQLConfig(ValueArguments):
    """Settings of ILQL. The defaults of the method's own are those of the paper LMRL Gym for dialogues (table 3)."""

    gamma: float = field(default=0.99, metadata={"help": "Discount of a step."})
    credit: Credit = field(default="turn", metadata={"help": "What a step is: a turn or a token."})
    tau: float = field(
        default=0.7, metadata={"help": "Expectile of V: .5 is the mean over the data, 1 the best of it."}
    )
    cql_weight: float = field(default=0.001, metadata={"help": "α, of the term that keeps unseen tokens low."})
    bc_weight: float = field(default=1.0, metadata={"help": "Of the loss of the language model."})
    awac_weight: float = field(
        default=0.0, metadata={"help": "Where above 0, tokens are imitated by exp(weight × advantage), at most 20."}
    )
    target_rate: float = field(default=0.005, metadata={"help": "Share by which the target heads follow each step."})
    returns_share: float = field(
        default=0.0,
        metadata={"help": "Share of the steps, from the first, in which Q is fitted to the recorded returns instead."},
    )
    heads_only: bool = field(
        default=False, metadata={"help": "Train the value heads only, and leave the language model as it is."}
    )
    reward_scale: float = field(default=1.0, metadata={"help": "Rewards are multiplied by it; so are values then."})
    beta: float = field(default=4.0, metadata={"help": "β that is stored with the model, for play."})


class ILQLTrainer(ValueTrainer):
    """transformers' `Trainer` with the loss of ILQL; the model must have two Q heads."""

    args: ILQLConfig

    def __init__(self, *, end_token: int, **arguments: Any) -> None:
        """Make a trainer.

        Args:
            end_token: that ends a turn.
            **arguments: of `Trainer`.
        """
        super().__init__(**arguments)
        self.end_token = end_token
        self.add_callback(TargetsFollow(self.args.target_rate))

    def losses(self, model: Any, heads: Any, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch and its parts."""
        args = self.args
        steps = Steps.of(batch["labels"])
        states, logits = run_model(model, batch, steps)
        chosen = steps.action[:, None]
        qs = [q(states).float() for q in heads.q]
        if args.credit == "turn":
            first, last, turn = steps.turns(self.end_token)
        else:
            first = last = turn = torch.arange(len(chosen), device=states.device)
        with torch.no_grad():
            target_q = heads.least_target_q(states[last]).gather(1, chosen[last]).squeeze(1).float()
        value = heads.v(states[first]).squeeze(-1).float()
        if self.state.global_step < args.returns_share * self.state.max_steps:
            target = args.reward_scale * steps.at(batch["returns"])
        else:
            after = self._values_after(model, heads, batch)
            reward = args.reward_scale * steps.at(batch["rewards"])[last]
            following = next_values(value.detach(), steps.row[first], after)
            target = (reward + args.gamma * following)[turn]
        parts = ilql_losses(
            q=torch.stack([q.gather(1, chosen).squeeze(1) for q in qs]),
            target=target,
            target_q=target_q,
            value=value,
            tau=args.tau,
        )
        parts["cql"] = torch.stack([cross_entropy(q, steps.action) for q in qs]).sum()
        surprise = cross_entropy(logits.float(), steps.action, reduction="none")
        if args.awac_weight:
            advantage = (target_q - value.detach())[turn]
            surprise = surprise * (args.awac_weight * advantage).exp().clamp(max=20)
        parts["bc"] = surprise.mean()
        loss = parts["q"] + parts["v"] + args.cql_weight * parts["cql"] + args.bc_weight * parts["bc"]
        return loss, parts

    def _values_after(self, model: Any, heads: Any, batch: Batch) -> Tensor:
        """The value of the state behind each row, 0 behind a terminal one, shape (B,)."""
        after = torch.zeros(len(batch["labels"]), device=batch["labels"].device)
        if len(batch["successor_row"]):
            after[batch["successor_row"]] = heads.v(successor_states(model, batch)).detach().squeeze(-1).float()
        return after


def ilql_losses(*, q: Tensor, target: Tensor, target_q: Tensor, value: Tensor, tau: float) -> dict[str, Tensor]:
    """The losses of Q and V.

    Args:
        q: Q(s, a) of each head for N tokens, shape (heads, N).
        target: what Q is fitted to, without gradient, shape (N,).
        target_q: min Q⁻(s, a) of K steps, without gradient, shape (K,).
        value: V(s) of K steps, shape (K,).
        tau: expectile.

    Returns:
        ``q``, the sum over the heads of half the mean squared error, and ``v``, the mean expectile loss.
    """
    difference = target_q - value
    weight = torch.where(difference > 0, tau, 1 - tau)
    return {
        "q": 0.5 * ((q - target) ** 2).mean(1).sum(),
        "v": (weight * difference**2).mean(),
    }


def train_ilql(task: str, *, args: ILQLConfig | None = None, **places: Unpack[Places]) -> dict[str, Any]:
    """Train a value-guided policy by ILQL and save it.

    A model that has been trained by behaviour cloning is a good one to start from.

    Args:
        task: name of a task.
        args: settings of the training.
        **places: see `Places`.

    Returns:
        ``output``, ``task``, ``config``, ``episodes``, ``sequences``, ``steps``, ``train_loss``.

    Raises:
        LmrlError: see `training_run`.
    """
    args = args or ILQLConfig()
    with training_run("ilql", task, args, own_settings(args), places) as run:
        rows = run.rows(transitions, gamma=args.gamma, credit=args.credit)
        if args.heads_only:
            freeze_model(run)
        attach_heads(run.network, q_heads=2).begin_at(args.reward_scale * mean_return(rows.table))
        run.train(
            ILQLTrainer(
                model=run.network,
                args=run.args,
                train_dataset=rows.dataset,
                data_collator=ValueCollator(run.encoder.tokenizer.pad_token_id),
                end_token=run.encoder.format.end[-1],
            )
        )
    return run.result
