"""The card's tables of figures: a label and a cell per config in each row."""

from collections.abc import Callable, Sequence

from lmrl_cards import markdown
from lmrl_cards.distribution import Distribution
from lmrl_cards.figures import SplitStatistics
from lmrl_cards.statistics import PROBED
from lmrl_data.registry import Bounds, Task

Row = tuple[str, list[str]]

_PERCENTILES = (5, 25, 50, 75, 95)


def difficulty_rows(trains: Sequence[SplitStatistics], bounds: Sequence[Bounds]) -> list[Row]:
    """How far the data are from the best known play, how little a reward tells, and how much is new."""
    number, percent = markdown.number, markdown.percent
    rows = [("mean return of the train episodes", [number(train.overall.returns.mean) for train in trains])]
    if all(len(train.policies) > 1 for train in trains):
        rows.append(("mean return of the best behaviour policy", [_best(train) for train in trains]))
    rows.append(("mean return of the best known policy", [f"{number(b.maximum)} (`{b.maximum_from}`)" for b in bounds]))
    reach = [_share_from(train.overall.returns, b.maximum) for train, b in zip(trains, bounds, strict=True)]
    rows.append(("train episodes that return as much, or more", [percent(share) for share in reach]))
    rows.append(("most frequent reward, and the share of turns that have it", [_commonest(t.rewards) for t in trains]))
    rows.append(("different messages of the agent", [markdown.count(train.agent_texts) for train in trains]))
    if any(train.unseen is not None for train in trains):
        rows.append(
            (
                f"observations of {PROBED} validation episodes that no train episode has",
                [percent(t.unseen) for t in trains],
            )
        )
    return rows


def statistics_rows(trains: Sequence[SplitStatistics]) -> list[Row]:
    """Lengths, returns, ends and texts of the train splits."""
    count, percent = markdown.count, markdown.percent
    groups = [train.overall for train in trains]
    rows = [
        ("episodes", [count(group.episodes) for group in groups]),
        ("agent turns", [count(group.turns) for group in groups]),
        ("success", [percent(group.success_rate) for group in groups]),
        ("return, mean ± standard deviation", [_spread(group.returns) for group in groups]),
        ("return, percentiles", [_percentiles(group.returns, markdown.short) for group in groups]),
        ("return, lowest … highest", [_span(group.returns) for group in groups]),
        ("length, mean ± standard deviation", [_spread(group.length) for group in groups]),
        ("length, percentiles", [_percentiles(group.length, count) for group in groups]),
        ("ended by the game", [percent(group.terminated_rate) for group in groups]),
        ("ended by a time limit", [percent(group.truncated_rate) for group in groups]),
        ("characters per agent message, mean (longest)", [_characters(train.agent_characters) for train in trains]),
        ("characters per observation, mean (longest)", [_characters(t.environment_characters) for t in trains]),
        ("different seeds", [count(train.seeds) for train in trains]),
    ]
    if any(train.starts for train in trains):
        rows.append(("different starts", [count(len(train.starts)) for train in trains]))
    if any(train.unusable_actions is not None for train in trains):
        rows.append(("unusable actions", [_unusable(train) for train in trains]))
    return rows


def paper_rows(task: Task, trains: Sequence[SplitStatistics]) -> list[tuple[str, str, list[str]]]:
    """The paper's figures (table 1), and ours with the difference from them; none where the paper has no such task."""
    if not task.paper:
        return []
    groups = [train.overall for train in trains]

    def row(key: str, label: str, values: list[float], show: Callable[[float], str]) -> tuple[str, str, list[str]]:
        published = task.paper[key]
        return label, show(published), [_compared(value, published, show) for value in values]

    return [
        row("episodes", "episodes", [group.episodes for group in groups], markdown.count),
        row("mean_length", "mean length", [group.length.mean for group in groups], markdown.number),
        row("std_length", "standard deviation of the length", [g.length.std for g in groups], markdown.number),
        row("success_rate", "success", [group.success_rate for group in groups], markdown.percent),
        row("mean_return", "mean return", [group.returns.mean for group in groups], markdown.number),
        row("std_return", "standard deviation of the return", [g.returns.std for g in groups], markdown.number),
    ]


def _compared(value: float, published: float, show: Callable[[float], str]) -> str:
    # A difference of two percentages is in percentage points.
    difference = show(value - published).replace("%", "points")
    return f"{show(value)} ({difference if difference.startswith('−') else f'+{difference}'})"


def _best(train: SplitStatistics) -> str:
    name, group = next(iter(train.ranked.items()))
    return f"{markdown.number(group.returns.mean)} ({markdown.cell(name)})"


def _share_from(returns: Distribution, least: float) -> float:
    # Returns are stored as float32.
    return float(returns.counts[returns.values >= least - 1e-6].sum()) / returns.count


def _commonest(rewards: Distribution) -> str:
    if not rewards.count:
        return "–"
    most = int(rewards.counts.argmax())
    share = float(rewards.counts[most]) / rewards.count
    return f"{markdown.short(float(rewards.values[most]))}: {markdown.percent(share)}"


def _spread(distribution: Distribution) -> str:
    return f"{markdown.number(distribution.mean)} ± {markdown.number(distribution.std)}"


def _percentiles(distribution: Distribution, show: Callable[[float], str]) -> str:
    return " · ".join(show(distribution.quantile(percent)) for percent in _PERCENTILES)


def _span(distribution: Distribution) -> str:
    return f"{markdown.short(distribution.minimum)} … {markdown.short(distribution.maximum)}"


def _characters(distribution: Distribution) -> str:
    return f"{markdown.number(distribution.mean, 1)} ({markdown.count(distribution.maximum)})"


def _unusable(train: SplitStatistics) -> str:
    if train.unusable_actions is None:
        return "–"
    return markdown.percent(train.unusable_actions / train.overall.turns if train.overall.turns else 0)
