"""What the tests of publishing share."""

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq

from lmrl_data import __version__
from lmrl_data.files import file_hash
from lmrl_generators.publish import check_dataset, publish

REPO = "lmrl-gym/maze"
TAG = f"v{__version__}"  # where no revision is given
TOKEN = "hf_of_a_member"
SHARD = "data/fully_observed/train-00001-of-00002.parquet"
COMMIT = ("POST", f"/api/datasets/{REPO}/commit/main")
LMRL = (sys.executable, "-c", "from lmrl_data.cli import main; main()")
LIMIT = 300  # seconds for a process, on a machine that may be busy


def send(folder, api, **options):
    return publish(check_dataset(folder, "maze"), REPO, api, **options)


def local_files(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): file_hash(path) for path in paths}


def change_shard(folder: Path) -> None:
    """The same episodes in other bytes, with a manifest that agrees, so that the folder stays valid."""
    pq.write_table(pq.read_table(folder / SHARD), folder / SHARD, compression="gzip")
    manifest = json.loads((folder / "generation.json").read_text())
    shards = manifest["configs"]["fully_observed"]["splits"]["train"]["shards"]
    record = next(shard for shard in shards if shard["file"] == SHARD)
    record |= {"sha256": file_hash(folder / SHARD), "bytes": (folder / SHARD).stat().st_size}
    (folder / "generation.json").write_text(json.dumps(manifest))
