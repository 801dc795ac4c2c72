"""Evaluation runs, metrics with intervals, result files, their check by replay, and the leaderboard of lmrl-gym.

`lmrl_evaluation.evaluate.evaluate` plays, `lmrl_evaluation.result` writes and reads, `lmrl_evaluation.verify` checks,
`lmrl_evaluation.comparison.compare` compares two and `lmrl_evaluation.leaderboard` ranks many.
"""
