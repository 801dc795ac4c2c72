"""The commands in a card make the same files again."""

import json
import re
import shutil

from lmrl_cards import write_card
from lmrl_data.registry import get_task


def commands_of(folder, manifest):
    (folder / "generation.json").write_text(json.dumps(manifest), encoding="utf-8")
    (block,) = re.findall(r"```bash\n(lmrl generate.*?)\n```", write_card(folder, "maze").read_text("utf-8"), re.DOTALL)
    return block.splitlines()


def test_the_commands_name_everything_that_the_bytes_depend_on(fresh):
    folder = fresh("maze")
    manifest = json.loads((folder / "generation.json").read_text(encoding="utf-8"))
    assert commands_of(folder, manifest) == [
        "lmrl generate --task maze --episodes 150 --validation 30 --seed 3 --shard-size 80"
    ]
    one, other = (manifest["configs"][config] for config in ("fully_observed", "partially_observed"))
    one["policies"] = {"random": 0.25, "hf:my model": 0.75}
    one["env_id"] = "lmrl/Maze-v0?reward=illegal_penalty"
    (train, validation) = get_task("maze").configs["partially_observed"].sizes["small"]
    other["splits"]["train"]["episodes"], other["splits"]["validation"]["episodes"] = train, validation
    assert commands_of(folder, manifest) == [
        "lmrl generate --task maze --config fully_observed --episodes 150 --validation 30 --policy random=0.25 "
        "--policy 'hf:my model=0.75' --option reward=illegal_penalty --seed 3 --shard-size 80",
        "lmrl generate --task maze --config partially_observed --size small --seed 3 --shard-size 80",
    ]


def test_shares_are_written_as_one_would_write_them(fresh):
    folder = fresh("maze")
    manifest = json.loads((folder / "generation.json").read_text(encoding="utf-8"))
    shares = {"random": 0.7, "region-0": 0.2, "region-1": 0.1}
    total = sum(shares.values())
    manifest["configs"] = {"fully_observed": manifest["configs"]["fully_observed"]}
    manifest["configs"]["fully_observed"]["policies"] = {name: share / total for name, share in shares.items()}
    shutil.rmtree(folder / "data/partially_observed")
    (command,) = commands_of(folder, manifest)
    assert "--policy random=0.7 --policy region-0=0.2 --policy region-1=0.1 " in command
    manifest["configs"]["fully_observed"]["policies"] = {"random": 1 / 3, "region-0": 2 / 3}
    (command,) = commands_of(folder, manifest)
    assert f"--policy random={1 / 3} --policy region-0={2 / 3} " in command
