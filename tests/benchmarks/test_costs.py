"""What a command costs is measured with all of its children, and a command that fails is not measured."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.commands import cost_of

# A child of a child: needs 200 MB, and then counts for half a second of processor time.
GRANDCHILD = """
import time
kept = b"x" * 200_000_000
while time.process_time() < 0.5:
    pass
"""
CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '''{GRANDCHILD}'''], check=True)"


# A child counts the memory of the process that it was forked from, and this one may be large by now.
MEASURED = f"""
import sys
from dataclasses import astuple

from benchmarks.commands import cost_of

print(*astuple(cost_of([sys.executable, "-c", {CHILD!r}])))
"""


def test_a_grandchild_counts():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", MEASURED], cwd=root, capture_output=True, text=True, check=True)
    wall, cpu, peak = map(float, done.stdout.split())
    assert cpu >= 0.5
    assert wall >= 0.5
    assert 200_000_000 < peak < 500_000_000


def test_waiting_is_no_processor_time():
    cost = cost_of([sys.executable, "-c", "import time; time.sleep(1)"])
    assert cost.wall >= 1
    assert cost.cpu < 0.8


def test_a_command_that_fails_is_an_error():
    with pytest.raises(RuntimeError, match="out of luck"):
        cost_of([sys.executable, "-c", "import sys; sys.exit('out of luck')"])
