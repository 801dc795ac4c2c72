"""lmrl-gym."""
