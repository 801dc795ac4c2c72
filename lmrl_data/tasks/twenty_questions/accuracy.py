"""How well free questions are understood: ``python -m lmrl_data.tasks.twenty_questions.accuracy FILE [-v]``.

The file is a CSV with the columns ``object,question,answer,kind``. An answer is ``yes``, ``no``, ``win`` (a guess that
names the object), ``none`` (no yes/no question about it: must be marked as not understood) or ``either`` (honest
people differ: anything but ``none``).

Five development sets lie in ``tests/lmrl_data/cases``; the reader and the lexicon were made with all of them in sight.
Of 700 questions in ``twenty_questions_free.csv`` 97.9 % are right, of 350 in ``..._2.csv`` 96.0 %, of 350 in
``..._3.csv`` 95.4 %, of 300 in ``..._4.csv`` 95.0 %, of 300 in ``..._5.csv`` 94.3 %, together 96.2 %.

These numbers flatter. When they were first asked, 84.6 and 86.6 % of the second and third set were right, and, after
much had been mended, 93.3 and 90.3 % of the fourth and fifth. Of three lists of 103 to 119 questions written since,
each before anything had been changed for it, 99 % were right on the first try (plain questions), 94 % and 88 % (slips,
negations, classes with conditions, stories). Most of the mistakes are a no where yes would have been true (what no
phrase of the lexicon says of an object is taken for false), and conditions of which one is not understood. Of 300
questions that the authors have never seen, in ``cases/held_out``, 94.3 % are right.
"""

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from lmrl_data.console import print_table
from lmrl_data.errors import LmrlError
from lmrl_data.tasks.twenty_questions.table import knowledge_table
from lmrl_data.tasks.twenty_questions.understand import understand

_ANSWERS = ("no", "yes", "win")
_COLUMNS = ("object", "question", "answer", "kind")


class Judged(NamedTuple):
    """A question with the answer that it should have, the one that it has, and how it was read."""

    object: str
    question: str
    kind: str
    expected: str
    given: str
    reading: str

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.given == self.expected or (self.expected == "either" and self.given != "none")


def read_cases(path: Path) -> list[dict[str, str]]:
    """The rows of a file of questions.

    Raises:
        LmrlError: there is no such file, it is no UTF-8, or a column is missing.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise LmrlError(
            f"cannot read {path}: {error}; give a CSV file with the columns {', '.join(_COLUMNS)}"
        ) from error
    if not rows or any(row.get(column) is None for row in rows for column in _COLUMNS):
        raise LmrlError(f"{path} is no list of questions; its columns must be {', '.join(_COLUMNS)}")
    return rows


def judge(cases: Iterable[Mapping[str, str]]) -> list[Judged]:
    """Answer questions and compare."""
    columns = knowledge_table().columns
    judged = []
    for case in cases:
        answers = understand(case["question"])
        given = "none" if answers.row is None else _ANSWERS[answers.row[columns[case["object"]]]]
        judged.append(Judged(case["object"], case["question"], case["kind"], case["answer"], given, answers.reading))
    return judged


def summary(judged: Iterable[Judged]) -> list[dict[str, object]]:
    """A row per kind: how many questions, how many are answered rightly, and how many are understood."""
    questions, right, understood = Counter[str](), Counter[str](), Counter[str]()
    for case in judged:
        for kind in (case.kind, "all"):
            questions[kind] += 1
            right[kind] += case.right
            understood[kind] += case.given != "none"
    kinds = sorted(questions, key=lambda kind: (kind == "all", kind))
    return [
        {
            "kind": kind,
            "questions": questions[kind],
            "right": f"{right[kind] / questions[kind]:.1%}",
            "understood": f"{understood[kind] / questions[kind]:.1%}",
        }
        for kind in kinds
    ]


def main() -> None:
    """Print the table for a file; with -v also what is answered wrongly."""
    arguments = [argument for argument in sys.argv[1:] if argument != "-v"]
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    try:
        judged = judge(read_cases(Path(arguments[0])))
    except LmrlError as error:
        raise SystemExit(str(error)) from None
    if "-v" in sys.argv:
        for case in judged:
            if not case.right:
                print(f"{case.object}: {case.question} ({case.expected}, not {case.given}; read as: {case.reading})")
    print_table("Free questions", summary(judged))


if __name__ == "__main__":
    main()
