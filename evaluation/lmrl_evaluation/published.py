"""The baselines of the LMRL-Gym paper, to show beside a leaderboard.

Source: Abdulhai et al., "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models",
arXiv 2311.18232, Table 2 (normalised scores) and Table 4 (raw returns). The figures stand here as they are printed;
some printed scores do not follow from the printed returns and bounds.
"""

from dataclasses import dataclass

SOURCE = "arXiv 2311.18232, tables 2 and 4"
NOTE = (
    "As printed: single runs without intervals, on the paper's own word lists, environments and score bounds, so they "
    "cannot be ranked with the results."
)

_METHODS = ("BC", "filtered BC", "MC", "ILQL", "PPO", "online filtered BC", "GPT-4")

# Scores by method in the order above; returns of the first five, where the paper gives them.
_TABLE: dict[tuple[str, str], tuple[tuple[float, ...], tuple[float, ...]]] = {
    ("maze", "fully_observed"): ((58.2, 68.9, 75.0, 99.9, 79.7, 57.4, 78.2), (-72.1, -56.4, -48.1, -6.97, -37.7)),
    ("maze", "partially_observed"): ((53.1, 50.1, 52.4, 76.3, 42.4, 53.1, 60.4), (-79.5, -82.9, -80.3, -52.9, -91.7)),
    ("text-nav", "fully_observed"): ((53.7, 65.1, 71.9, 91.8, 87.1, 74.5, 67.5), (0.39, 0.54, 0.63, 0.88, 0.81)),
    ("text-nav", "partially_observed"): ((49.7, 60.5, 71.6, 83.7, 85.5, 68.4, 40.2), (0.25, 0.49, 0.58, 0.76, 0.80)),
    ("wordle", "default"): ((79.9, 79.1, 94.9, 97.7, 84.2, 95.2, 15.4), (-2.81, -2.85, -2.16, -2.04, -2.63)),
    ("chess", "default"): ((47.2, 42.9, 46.5, 47.3, 48.0, 47.2, 0.0), (-22.3, -56.5, -28.2, -21.4, -16.0)),
    ("endgames", "default"): ((35.1, 17.7, 50.2, 45.8, 77.5, 36.2, 0.0), (0.112, -0.439, 0.588, 0.452, 0.814)),
    ("twenty-questions", "default"): ((57.1, 77.1, 87.1, 82.9, 72.9, 55.2, 95.7), (-16.0, -14.6, -13.9, -14.2, -14.9)),
    ("guess-my-city", "default"): ((30.0, 48.0, 88.0, 75.0, 49.9, 31.6, 92.3), (-17.0, -15.2, -11.2, -12.5, -15.1)),
    ("car-dealer", "default"): ((44.5, 54.8, 57.2, 46.3, 50.5, 40.4, 53.5), ()),
}


@dataclass(frozen=True)
class Published:
    """A published baseline.

    Attributes:
        method: the paper's name of it.
        normalized_score: as printed.
        mean_return: as printed; None where the paper gives none.
    """

    method: str
    normalized_score: float
    mean_return: float | None


def published(task: str, config: str) -> list[Published]:
    """The published baselines of a task's config, best first; none where the paper has none."""
    scores, returns = _TABLE.get((task, config), ((), ()))
    padded = (*returns, *[None] * (len(_METHODS) - len(returns)))
    rows = [Published(*row) for row in zip(_METHODS, scores, padded, strict=False)]
    return sorted(rows, key=lambda row: -row.normalized_score)
