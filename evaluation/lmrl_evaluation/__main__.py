"""``python -m lmrl_evaluation`` is ``lmrl evaluate``."""

import sys

from lmrl_data.cli import main

sys.argv[:1] = ["lmrl", "evaluate"]
main()
