"""lmrl-gym: evaluation runs, metrics with intervals, result files, their check by replay, and the leaderboard."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmrl_evaluation.evaluate import evaluate
    from lmrl_evaluation.leaderboard import leaderboard
    from lmrl_evaluation.metrics import compare
    from lmrl_evaluation.result import Result, read_result, write_result
    from lmrl_evaluation.verify import verify_result

__all__ = ["Result", "compare", "evaluate", "leaderboard", "read_result", "verify_result", "write_result"]

# Imported on first use: `lmrl --help` imports this package, and must not wait for pyarrow.
_LAZY = {
    "Result": "result",
    "compare": "metrics",
    "evaluate": "evaluate",
    "leaderboard": "leaderboard",
    "read_result": "result",
    "verify_result": "verify",
    "write_result": "result",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(import_module(f"lmrl_evaluation.{_LAZY[name]}"), name)
        # Importing a submodule of the same name has put the module here; the function is what is meant.
        globals()[name] = value
        return value
    raise AttributeError(f"module 'lmrl_evaluation' has no attribute {name!r}")
