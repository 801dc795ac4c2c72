"""The tasks. A task is a folder here with a ``TASK``, and its name in this list; ``-`` is ``_`` in the folder."""

TASK_NAMES = ("maze", "text-nav", "wordle", "chess", "endgames", "twenty-questions", "guess-my-city", "car-dealer")
