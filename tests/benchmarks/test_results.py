"""The results table: how a model is to play is chosen on other episodes, and several seeds make one entry."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import results

MODEL = Path("models/m")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What is evaluated; the policy with β = 4, and there the one at temperature 0.5, returns most."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def evaluate(task: str, spec: str, **settings: Any) -> Any:
        calls.append((spec, settings))
        value = ("beta=4" in spec) + 0.5 * ("temperature=0.5" in spec)
        return SimpleNamespace(estimates={"mean_return": SimpleNamespace(value=value)})

    monkeypatch.setattr(results, "evaluate", evaluate)
    return calls


@pytest.mark.parametrize(
    ("method", "task", "options", "spec"),
    [
        ("mc", "endgames", {"beta": 4, "temperature": 0.5}, "ilql:models/m?beta=4&temperature=0.5"),
        ("ilql", "maze", {"beta": 4}, "ilql:models/m?beta=4"),
        ("ppo", "chess", {"temperature": 0.5}, "hf:models/m?temperature=0.5"),
    ],
)
def test_what_plays_best_is_chosen_on_other_episodes(
    asked: list[tuple[str, dict[str, Any]]], method: str, task: str, options: dict[str, float], spec: str
) -> None:
    chosen = results._chosen(method, task, "default", MODEL)
    assert chosen == options and results._spec(method, MODEL, chosen) == spec
    assert spec in [policy for policy, _ in asked]
    published = 0  # the seed of `lmrl evaluate`
    assert all(settings["seed"] != published and settings["episodes"] <= 200 for _, settings in asked)


def test_where_there_is_nothing_to_choose_nothing_is_played(asked: list[tuple[str, dict[str, Any]]]) -> None:
    assert results._chosen("bc", "maze", "fully_observed", MODEL) == {}
    assert results._spec("bc", MODEL, {}) == "hf:models/m"
    assert not asked


def test_an_entry_is_the_mean_of_its_seeds_with_their_spread() -> None:
    cells = [
        {"task": "chess", "config": "default", "method": "bc", "seed": seed, "score": score, "interval": [low, low + 6]}
        for seed, score, low in ((0, 10.0, 7), (1, 20.0, 17))
    ]
    # Between the seeds 1.96 × 7.071 / √2 = 9.8, within them 3 / √2 = 2.12; the root of the squares' sum is 10.03.
    assert "| chess | – | 15.0 ± 10.0 (47.2) |" in results.table(cells)
    assert "10.0 ± 3.0 (47.2)" in results.table(cells[:1])


def test_a_cell_that_is_there_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(results, "CELLS", tmp_path / "results" / "cells.jsonl")
    monkeypatch.setattr(sys, "argv", ["results", "maze", "--methods", "random"])
    results.main()
    before = results.CELLS.read_bytes()
    (cell,) = results.cells()
    assert (cell["method"], cell["policy"], cell["episodes"]) == ("random", "random", 800)
    assert json.loads(before) == cell and 20 < cell["score"] < 40
    results.main()
    assert results.CELLS.read_bytes() == before
