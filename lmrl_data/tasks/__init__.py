"""The tasks. A new one is a folder here and its name in this line."""

TASK_NAMES = ("maze", "text-nav", "wordle")
