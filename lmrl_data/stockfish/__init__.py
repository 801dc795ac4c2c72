"""Stockfish so that a game follows from its seed: searches that are pure functions, levels that pick by hash."""
