"""The losses of the trainers on episodes of three tokens, by hand, and beside formulations of their own in numpy."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lmrl_loaders.heads import GuidedHead, ValueHeads
from lmrl_loaders.ilql import ilql_losses
from lmrl_loaders.ppo import advantages, ppo_losses
from lmrl_loaders.sequences import IGNORED
from lmrl_loaders.value_batches import Steps, ValueCollator, next_values

NUMBERS = st.lists(st.floats(-5, 5, width=32), min_size=3, max_size=3)


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values)


def test_steps_are_the_positions_that_predict_the_agents_tokens() -> None:
    labels = torch.tensor([[IGNORED, 5, 6, IGNORED, 7], [IGNORED, IGNORED, 8, IGNORED, IGNORED]])
    steps = Steps.of(labels)
    assert steps.action.tolist() == [5, 6, 7, 8]
    assert list(zip(steps.row.tolist(), steps.place.tolist(), strict=True)) == [(0, 0), (0, 1), (0, 3), (1, 1)]
    rewards = torch.tensor([[0.0, 1, 2, 3, 4], [5, 6, 7, 8, 9]])
    assert steps.at(rewards).tolist() == [1, 2, 4, 7]


def test_the_value_that_follows_is_of_the_same_row_or_given_for_what_is_behind_it() -> None:
    values, row = tensor(1.0, 2.0, 3.0, 4.0), torch.tensor([0, 0, 0, 1])
    assert next_values(values, row, tensor(9.0, 0.0)).tolist() == [2, 3, 9, 0]


def test_turns_are_cut_at_their_ends() -> None:
    steps = Steps.of(torch.tensor([[IGNORED, 5, 6, 1, IGNORED, 1], [IGNORED, 7, 1, IGNORED, IGNORED, IGNORED]]))
    first, last, turn = steps.turns(end_token=1)
    assert first.tolist() == [0, 3, 4]
    assert last.tolist() == [2, 3, 5]
    assert turn.tolist() == [0, 0, 0, 1, 2, 2]


def test_ilql_by_hand() -> None:
    # Three tokens; the last ends a terminal turn with reward 1. γ = .5 a token, τ = .8.
    value = tensor(0.0, 1.0, 2.0)
    target = tensor(0.0, 0.0, 1.0) + 0.5 * tensor(1.0, 2.0, 0.0)
    q = torch.stack([tensor(1.0, 1.0, 1.0), tensor(0.5, 0.0, 3.0)])
    losses = ilql_losses(q=q, target=target, target_q=tensor(1.0, 0.0, 1.0), value=value, tau=0.8)
    # Q heads: errors (.5, 0, 0) and (0, -1, 2); half the mean squares.
    assert losses["q"].item() == pytest.approx(0.5 * (0.25 / 3 + 5 / 3))
    # V: differences (1, -1, -1), weights (.8, .2, .2).
    assert losses["v"].item() == pytest.approx((0.8 + 0.2 + 0.2) / 3)


@given(NUMBERS, NUMBERS, NUMBERS, st.floats(0.01, 0.99))
def test_the_value_loss_is_least_at_the_expectile(
    q: list[float], _: list[float], noise: list[float], tau: float
) -> None:
    """The expectile e of numbers is where tau times the excess above it equals (1 - tau) times the deficit below."""
    numbers = np.array(q, np.float64)
    low, high = numbers.min(), numbers.max()
    for _step in range(80):
        middle = (low + high) / 2
        above = tau * np.maximum(numbers - middle, 0).sum() - (1 - tau) * np.maximum(middle - numbers, 0).sum()
        low, high = (middle, high) if above > 0 else (low, middle)
    value = torch.full((3,), low, dtype=torch.float64, requires_grad=True)
    target_q = torch.tensor(numbers)
    loss = ilql_losses(q=target_q[None], target=target_q, target_q=target_q, value=value, tau=tau)["v"]
    loss.backward()  # type: ignore[no-untyped-call]
    assert value.grad is not None
    assert abs(float(value.grad.sum())) < 1e-6


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.floats(0.5, 1), st.floats(0.1, 0.9))
def test_ilql_is_that_of_numpy(
    q: list[float], target_q: list[float], value: list[float], reward: list[float], gamma: float, tau: float
) -> None:
    following = np.array([*value[1:], 0.0])
    bellman = np.array(reward) + gamma * following - np.array(q)
    advantage = np.array(target_q) - np.array(value)
    expected_v = np.mean(np.abs(tau - (advantage <= 0)) * advantage**2)
    losses = ilql_losses(
        q=torch.tensor([q]),
        target=torch.tensor(np.array(reward) + gamma * following),
        target_q=torch.tensor(target_q),
        value=torch.tensor(value),
        tau=tau,
    )
    assert losses["q"].item() == pytest.approx(np.mean(bellman**2) / 2, rel=1e-4, abs=1e-5)
    assert losses["v"].item() == pytest.approx(expected_v, rel=1e-4, abs=1e-5)


def test_ppo_by_hand() -> None:
    old = tensor(0.0, 0.0, 0.0)
    log_prob = torch.log(tensor(1.5, 0.5, 1.1))
    losses = ppo_losses(
        log_prob=log_prob,
        old_log_prob=old,
        advantage=tensor(1.0, -1.0, 2.0),
        value=tensor(1.0, 0.0, 0.1),
        old_value=tensor(0.0, 0.0, 0.0),
        target=tensor(1.0, 1.0, 1.0),
        clip=0.2,
        value_clip=0.2,
    )
    # 1.5 is clipped to 1.2 for the good token, .5 to .8 for the bad one; 1.1 stays.
    assert losses["policy"].item() == pytest.approx((-1.2 + 0.8 - 2.2) / 3)
    # The first value went beyond .2 and so counts as .2, the others as they are.
    assert losses["value"].item() == pytest.approx(0.5 * (0.8**2 + 1 + 0.9**2) / 3)


@given(
    st.lists(NUMBERS, min_size=1, max_size=3),
    st.floats(0, 1),
    st.floats(0, 1),
    st.lists(st.floats(-3, 3), min_size=3, max_size=3),
)
def test_advantages_are_the_sums_of_the_definition(
    rewards: list[list[float]], gamma: float, lam: float, after: list[float]
) -> None:
    values = [[0.5 * reward + 1 for reward in episode] for episode in rewards]
    expected = []
    for reward, value, last in zip(rewards, values, after, strict=False):
        following = [*value[1:], last]
        deltas = [r + gamma * n - v for r, v, n in zip(reward, value, following, strict=True)]
        expected += [sum((gamma * lam) ** (k - t) * deltas[k] for k in range(t, 3)) for t in range(3)]
    count = 3 * len(rewards)
    found = advantages(
        reward=np.array(rewards, np.float64).ravel(),
        value=np.array(values, np.float64).ravel(),
        after=np.array(after[: len(rewards)]),
        lengths=np.full(len(rewards), 3),
        discount=np.full(count, gamma),
        decay=np.full(count, lam),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_the_guided_head_tilts_behaviour_by_the_advantage() -> None:
    torch.manual_seed(0)
    heads = ValueHeads(4, 3, q_heads=2)
    for module in (*heads.q, *heads.target_q, heads.v):
        torch.nn.init.normal_(module[-1].weight)  # type: ignore[index]
    output, hidden = torch.nn.Linear(4, 3), torch.randn(5, 4)
    with torch.no_grad():
        guided = GuidedHead(output, heads, beta=2.0)(hidden).softmax(-1)
        least = torch.minimum(heads.target_q[0](hidden), heads.target_q[1](hidden))
        weighed = output(hidden).softmax(-1) * torch.exp(2.0 * least)
    torch.testing.assert_close(guided, weighed / weighed.sum(-1, keepdim=True))


def test_targets_follow_by_a_share_of_the_way() -> None:
    heads = ValueHeads(2, 2, q_heads=1)
    with torch.no_grad():
        for parameter in heads.q.parameters():
            parameter.fill_(1)
        for parameter in heads.target_q.parameters():
            parameter.fill_(0)
    heads.follow(0.25)
    assert all((parameter == 0.25).all() for parameter in heads.target_q.parameters())
    assert not any(parameter.requires_grad for parameter in heads.target_q.parameters())


def test_a_batch_names_the_rows_that_go_on() -> None:
    rows = [
        {"input_ids": [1, 2, 3], "labels": [-100, 2, 3], "rewards": [0, 0, 1], "successor_ids": []},
        {"input_ids": [4, 5], "labels": [-100, 5], "rewards": [0, 2], "successor_ids": [4, 5, 6, 7]},
    ]
    batch = ValueCollator(pad_token=0)(rows)
    assert batch["input_ids"].tolist() == [[1, 2, 3], [4, 5, 0]]
    assert batch["labels"].tolist() == [[-100, 2, 3], [-100, 5, -100]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert batch["rewards"].tolist() == [[0, 0, 1], [0, 2, 0]]
    assert batch["successor_row"].tolist() == [1]
    assert batch["successor_ids"].tolist() == [[4, 5, 6, 7]]
