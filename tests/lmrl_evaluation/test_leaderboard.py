"""Ranks, ties, and how a leaderboard is written."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lmrl_data.errors import LmrlError
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.findings import Finding
from lmrl_evaluation.leaderboard import as_json, as_markdown, find_results, leaderboard
from lmrl_evaluation.metrics import Estimate
from lmrl_evaluation.page import as_html
from lmrl_evaluation.published import published
from lmrl_evaluation.result import write_result
from lmrl_evaluation.verify import Check


@pytest.fixture(scope="module")
def measured():
    return evaluate("wordle", "random", episodes=400)  # every start once


def claim(result, policy, value, half_width):
    """A result of another name and mean return."""
    estimates = dict(result.estimates)
    estimates["mean_return"] = Estimate(value, (value - half_width, value + half_width), half_width / 2)
    return replace(result, policy=policy, estimates=estimates)


def ranks(results):
    (board,) = leaderboard(results)
    return [(entry.result.policy, entry.rank) for entry in board.entries]


def test_ranks_and_ties(measured):
    results = [
        claim(measured, policy, value, 0.2)
        for policy, value in [("worst", -5.0), ("best", -2.0), ("third", -2.5), ("second", -2.3), ("fourth", -2.9)]
    ]
    # The second overlaps the best; the third overlaps only the second; the fourth only the third.
    assert ranks(results) == [("best", 1), ("second", 1), ("third", 2), ("fourth", 3), ("worst", 5)]


def test_a_wide_interval_does_not_pull_others_up(measured):
    results = [claim(measured, "a", -2, 0.1), claim(measured, "b", -3, 0.1), claim(measured, "wide", -3.5, 2)]
    assert ranks(results) == [("a", 1), ("b", 2), ("wide", 1)]


def test_equal_results_share_a_rank_in_the_order_of_their_names(measured):
    assert ranks([claim(measured, name, -2, 0) for name in "cab"]) == [("a", 1), ("b", 1), ("c", 1)]


def test_each_config_has_a_board():
    results = [
        evaluate("wordle", "random", episodes=2),
        evaluate("maze", "random", config="partially_observed", episodes=2),
        evaluate("maze", "random", episodes=2),
    ]
    boards = [(board.task, board.config) for board in leaderboard(results)]
    assert boards == [("maze", "fully_observed"), ("maze", "partially_observed"), ("wordle", "default")]


def test_measured_order():
    results = [evaluate("wordle", policy, episodes=400) for policy in ("random", "optimal", "mixture", "consistent")]
    assert ranks(results) == [("optimal", 1), ("consistent", 2), ("mixture", 3), ("random", 4)]


def test_published_baselines_stand_apart(measured):
    (board,) = leaderboard([measured])
    assert [entry.result.policy for entry in board.entries] == ["random"]
    assert [row.method for row in board.published][:2] == ["ILQL", "online filtered BC"]
    text = as_markdown([board])
    assert text.index("Published (arXiv 2311.18232") > text.index("| 1 | random |")
    assert "| ILQL | 97.7 | -2.04 |" in text
    assert "cannot be ranked" in text


def test_published_baselines_have_scores_for_all_methods_and_returns_for_some():
    rows = {row.method: row for row in published("maze", "fully_observed")}
    assert len(rows) == 7
    assert (rows["ILQL"].normalized_score, rows["ILQL"].mean_return) == (99.9, -6.97)
    assert (rows["GPT-4"].normalized_score, rows["GPT-4"].mean_return) == (78.2, None)
    assert {row.mean_return for row in published("car-dealer", "default")} == {None}
    assert published("wordle", "full") == []


def test_names_are_escaped_in_markdown(measured):
    name = "a|b *c* <img src=x> `d` [e](f) g_h ~i~"
    (row,) = (line for line in as_markdown(leaderboard([replace(measured, policy=name)])).splitlines() if "img" in line)
    assert row.startswith(r"| 1 | a\|b \*c\* &lt;img src=x&gt; \`d\` \[e\](f) g\_h \~i\~ | scripted | ")


def test_json_has_whole_results(measured):
    (board,) = json.loads(as_json(leaderboard([measured])))["boards"]
    (entry,) = board["entries"]
    assert entry == {"rank": 1, **json.loads(measured.to_json())}
    assert board["published"]["source"].startswith("arXiv")


def test_results_are_found_once(measured, tmp_path):
    write_result(measured, tmp_path / "results" / "b")
    write_result(measured, tmp_path / "results" / "a")
    a, b = (tmp_path / "results" / name / "result.json" for name in "ab")
    assert find_results([tmp_path / "results"]) == [a, b]
    assert find_results([b, tmp_path / "results" / "a", tmp_path / "results"]) == [b, a]


def test_a_folder_without_results_is_named(tmp_path):
    with pytest.raises(LmrlError, match="holds no results"):
        find_results([tmp_path])


def test_an_evaluation_that_leaves_out_starts_has_no_rank_and_takes_none(measured):
    lucky = evaluate("wordle", "optimal", episodes=4)
    results = [claim(measured, "honest", -2, 0.1), claim(lucky, "lucky", -1, 0.0), claim(measured, "other", -3, 0.1)]
    assert ranks(results) == [("honest", 1), ("other", 2), ("lucky", None)]
    assert "| – | lucky |" in as_markdown(leaderboard(results))


def test_a_round_of_the_starts_that_is_cut_short_has_no_rank(measured):
    whole, cut, two = (evaluate("maze", "random", episodes=count) for count in (25, 49, 50))
    (board,) = leaderboard([replace(whole, policy="a"), replace(cut, policy="b"), replace(two, policy="c")])
    assert {entry.result.policy: entry.rank is None for entry in board.entries} == {"a": False, "b": True, "c": False}


def test_another_evaluation_set_has_no_rank(measured):
    other = evaluate("wordle", "random", episodes=400, seed=1)
    assert ranks([claim(measured, "published set", -5, 1), claim(other, "lucky set", -1, 0)]) == [
        ("published set", 1),
        ("lucky set", None),
    ]


def test_a_result_in_two_folders_counts_once(measured):
    assert ranks([measured, measured]) == [("random", 1)]


def test_refused_results_stand_apart_with_their_findings(measured):
    findings = (Finding("reward", "0 recorded, -1 replayed", 17, 3), Finding("starts", "5 recorded, 4 in the episodes"))
    refused = [Check(Path("results/b*d/result.json"), measured, findings, ())]
    text = as_markdown(leaderboard([measured]), refused)
    assert "## Refused" in text
    assert r"- results/b\*d/result.json: episode 17, turn 3: reward 0 recorded, -1 replayed" in text
    assert json.loads(as_json([], refused)) == {
        "boards": [],
        "refused": [{"file": "results/b*d/result.json", "findings": list(map(str, findings))}],
    }
    assert "Refused" not in as_markdown(leaderboard([measured]))


def test_what_was_taken_on_trust_has_no_rank_and_says_so(measured):
    note = "400 of 400 episodes: partner 'A*' recorded, 'B' here"
    trusted = replace(measured, policy="trusted", episodes_sha256="1" * 64)
    boards = leaderboard([measured, trusted], {"1" * 64: (note,)})
    assert {entry.result.policy: (entry.rank, entry.notes) for entry in boards[0].entries} == {
        "random": (1, ()),
        "trusted": (None, (note,)),
    }
    assert r"trusted: 400 of 400 episodes: partner 'A\*' recorded" in as_markdown(boards)
    assert [entry.get("notes") for entry in json.loads(as_json(boards))["boards"][0]["entries"]] == [None, [note]]
    assert "400 of 400 episodes: partner &#39;A*&#39; recorded" in as_html(boards)
