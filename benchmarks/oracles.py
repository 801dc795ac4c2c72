"""How often a language model answers as the table does: ``python -m benchmarks.oracles openai:MODEL@URL``.

Questions of Twenty Questions in many people's words (those of the tests' development set whose answer is yes or no) are
put to both oracles, each about its own object. Reported are the share that the model answers at all, and of these how
often it agrees with the table and with the right answer.
"""

import argparse
import csv
from pathlib import Path

from rich.progress import track

from lmrl_data.tasks.twenty_questions.oracle import ModelOracle
from lmrl_data.tasks.twenty_questions.table import knowledge_table
from lmrl_data.tasks.twenty_questions.understand import ANSWER_NO, ANSWER_YES, understand

CASES = Path(__file__).parents[1] / "tests" / "lmrl_data" / "cases" / "twenty_questions_free.csv"


def main() -> None:
    """Ask both and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", help="as --option oracle= takes it")
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    with CASES.open(encoding="utf-8", newline="") as file:
        cases = [case for case in csv.DictReader(file) if case["answer"] in ("yes", "no")][: given.questions]
    oracle = ModelOracle(given.model)
    columns = knowledge_table().columns
    answered = agreed = right = 0
    try:
        for case in track(cases, "asking"):
            column = columns[case["object"]]
            known = understand(case["question"]).row
            said = oracle.answer(column, case["question"])
            if said is None:
                continue
            answered += 1
            right += said == (case["answer"] == "yes")
            agreed += known is not None and known[column] == (ANSWER_YES if said else ANSWER_NO)
    finally:
        oracle.close()
    print(f"{oracle.name}: answered {answered} of {len(cases)}; of these it agrees with the table in {agreed} cases ")
    print(f"and with the right answer in {right}")


if __name__ == "__main__":
    main()
