"""Monte-Carlo returns: a Q head fitted to what followed in the data (paper, section 5; Snell et al. 2022, "MC").

With s the tokens so far, a the next token of the agent and R its discounted reward-to-go in the recorded episode:

    Q   is fitted to   R                                                   by least squares
    Q   is kept low on tokens not in the data: −α log softmax Q(s, ·)[a]   (Kumar et al. 2020, CQL)
    π   is the language model, fitted to the data: −log π(a|s)             (behaviour cloning)

In play the policy is π(a|s) exp(β Q(s, a)), one step of improvement on the policies that made the data. There is no
bootstrapping: the return of an episode that a time limit cut short counts up to there.
"""

from dataclasses import dataclass, field
from typing import Any, Unpack

from torch import Tensor
from torch.nn.functional import cross_entropy

from lmrl_loaders.heads import attach_heads
from lmrl_loaders.runs import Places, own_settings, training_run
from lmrl_loaders.transitions import Credit, mean_return, transitions
from lmrl_loaders.value_batches import Batch, Steps, ValueCollator, run_model
from lmrl_loaders.value_trainer import ValueArguments, ValueTrainer, freeze_model


@dataclass
class MCConfig(ValueArguments):
    """Settings of MC returns. The defaults of the method's own are the paper's for dialogues (table 3)."""

    gamma: float = field(default=0.99, metadata={"help": "Discount of a step."})
    credit: Credit = field(default="turn", metadata={"help": "What a step is: a turn or a token."})
    cql_weight: float = field(default=0.001, metadata={"help": "α, of the term that keeps unseen tokens low."})
    bc_weight: float = field(default=1.0, metadata={"help": "Of the loss of the language model."})
    heads_only: bool = field(
        default=False, metadata={"help": "Train the value heads only, and leave the language model as it is."}
    )
    reward_scale: float = field(default=1.0, metadata={"help": "Rewards are multiplied by it; so are values then."})
    beta: float = field(default=16.0, metadata={"help": "β that is stored with the model, for play."})


class MCTrainer(ValueTrainer):
    """transformers' `Trainer` with the loss of MC returns; the model must have a Q head."""

    args: MCConfig

    def losses(self, model: Any, heads: Any, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch and its parts."""
        steps = Steps.of(batch["labels"])
        states, logits = run_model(model, batch, steps)
        q = heads.q[0](states).float()
        chosen = q.gather(1, steps.action[:, None]).squeeze(1)
        returns = self.args.reward_scale * steps.at(batch["returns"])
        parts = {
            "q": 0.5 * ((chosen - returns) ** 2).mean(),
            "cql": cross_entropy(q, steps.action),
            "bc": cross_entropy(logits.float(), steps.action),
        }
        return parts["q"] + self.args.cql_weight * parts["cql"] + self.args.bc_weight * parts["bc"], parts


def train_mc(task: str, *, args: MCConfig | None = None, **places: Unpack[Places]) -> dict[str, Any]:
    """Train a value-guided policy by MC returns and save it.

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
    args = args or MCConfig()
    with training_run("mc", task, args, own_settings(args), places) as run:
        rows = run.rows(transitions, gamma=args.gamma, credit=args.credit)
        if args.heads_only:
            freeze_model(run)
        heads = attach_heads(run.network, q_heads=1)
        heads.v.requires_grad_(False)  # no loss has it
        heads.begin_at(args.reward_scale * mean_return(rows.table))
        run.train(
            MCTrainer(
                model=run.network,
                args=run.args,
                train_dataset=rows.dataset.remove_columns(["rewards", "successor_ids"]),
                data_collator=ValueCollator(run.encoder.tokenizer.pad_token_id),
            )
        )
        heads.follow(1.0)  # what plays are the target heads
    return run.result
