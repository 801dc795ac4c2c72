"""Measure how long it takes to begin: ``python -m benchmarks.start [FOLDER [CONFIG]]``.

With the folder of a dataset, such as lmrl-gym/wordle: `load_dataset` of one config into an empty cache, and the first
batch of 32 conversations as tokens. Always: the import of the package, and the sizes of the packages of the base
install that are over a megabyte.
"""

import argparse
import re
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import pin

BATCH = 32


def sizes() -> dict[str, float]:
    """Megabytes of each package that the base install brings, files of bytecode included where they are recorded."""
    found: dict[str, float] = {}
    waiting = ["lmrl-gym"]
    for name in waiting:
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:  # for another system or another Python
            continue
        files = [Path(str(file.locate())) for file in package.files or ()]
        found[name] = sum(file.stat().st_size for file in files if file.is_file()) / 1e6
        for line in package.requires or ():
            if "extra ==" not in line:
                waiting.append(re.split(r"[^\w.-]", line, maxsplit=1)[0].lower())
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def first_batch(folder: Path, config: str) -> None:
    """Print what `load_dataset` and a first batch take: by the clock, of processor time."""
    began = time.perf_counter(), time.process_time()

    def say(what: str) -> None:
        clock, processor = time.perf_counter() - began[0], time.process_time() - began[1]
        print(f"{what}: {clock:.1f} s by the clock, {processor:.1f} s of processor time", flush=True)

    from datasets import load_dataset

    with TemporaryDirectory(prefix="lmrl-benchmark-") as cache:
        rows = load_dataset(str(folder), config, split="train", cache_dir=cache)
        say(f"load_dataset of {len(rows):,} episodes")
        from lmrl_loaders.chat import ChatEncoder
        from lmrl_loaders.sequences import read_utterances
        from lmrl_loaders.tokenizer import build_tokenizer

        say("after the import of torch and transformers")
        batch = rows.select(range(BATCH)).with_format("arrow")[:]
        utterances = read_utterances(batch)
        tokens = utterances.encoded(ChatEncoder(build_tokenizer(utterances.counts())))
        say(f"first batch of {BATCH} conversations as tokens ({type(tokens).__name__})")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="of a dataset")
    parser.add_argument("config", nargs="?", default="full", help="of the dataset (full)")
    arguments = parser.parse_args()
    pin()
    from benchmarks.rows import import_seconds

    clock, processor = import_seconds("lmrl_data")
    print(f"import lmrl_data: {clock:.2f} s by the clock, {processor:.2f} s of processor time")
    found = sizes()
    large = ", ".join(f"{name} {size:.0f}" for name, size in found.items() if size >= 1)
    print(f"installed, MB: {sum(found.values()):.0f} in {len(found)} packages: {large}")
    if arguments.folder:
        first_batch(arguments.folder, arguments.config)


if __name__ == "__main__":
    main()
