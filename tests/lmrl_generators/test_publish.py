"""Publishing through the real client of the Hub, to a Hub on loopback."""

import json
import re
import shlex
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_server import regular
from publishing import LIMIT, LMRL, REPO, SHARD, TAG, change_shard, local_files, send

from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash
from lmrl_generators.publish import check_dataset, publish

GUIDE = (Path(__file__).parents[2] / "docs" / "publishing.md").read_text(encoding="utf-8")
LOAD = """
import json
streamed = load_dataset("my-lab/maze", "fully_observed", split="train", streaming=True)
print(json.dumps({
    "named": {split: list(rows["episode_id"]) for split, rows in load_dataset("my-lab/maze").items()},
    "streamed": [row["messages"] for row in streamed],
    "old": list(load_dataset("my-lab/maze", split="train", revision="v1.0")["messages"]),
    "tests": len(load_dataset("my-lab/maze", "evaluation", split="test")),
}))
"""


def test_a_new_repository_gets_all_files_in_one_commit_with_a_tag(folder, hub, api):
    done = send(folder, api)
    repo = hub.repos[REPO]
    assert hub.repos[REPO].hashes() == local_files(folder)
    assert hub.repos[REPO].titles == ["initial commit", f"Publish maze {TAG}"]
    assert repo.tags == {TAG: repo.head} and done.commit == repo.head
    assert done.is_new and done.changes.added == sorted(local_files(folder)) and not repo.private


def test_the_card_names_the_repository_that_it_is_in(folder, hub, api):
    dataset, before = check_dataset(folder, "maze"), local_files(folder)
    assert publish(dataset, "my-lab/maze", api).is_new
    card = hub.repos["my-lab/maze"].files["README.md"].content.decode()
    assert 'load_dataset("my-lab/maze")' in card and "hf://datasets/my-lab/maze" in card and "lmrl-gym/maze" not in card
    assert card == (folder / "README.md").read_text("utf-8").replace("lmrl-gym/maze", "my-lab/maze")
    assert publish(dataset, "my-lab/maze", api).changes.unchanged == len(before)
    assert local_files(folder) == before


def test_nothing_is_sent_where_nothing_changed(folder, hub, api):
    first = send(folder, api)
    before = len(hub.requests)
    again = send(folder, api)
    assert {method for method, _ in hub.requests[before:]} == {"GET"}
    assert len(hub.repos[REPO].titles) == 2 and again.commit == first.commit
    assert (again.is_new, again.changes.unchanged) == (False, len(local_files(folder)))


def test_only_a_changed_shard_is_sent_and_gets_a_tag_of_its_own(folder, hub, api):
    first = send(folder, api)
    change_shard(folder)
    before = len(hub.stored())
    done = send(folder, api, revision="v99.0")
    assert hub.stored()[before:] == [file_hash(folder / SHARD)]
    assert done.changes.changed == [SHARD, "generation.json"] and not done.changes.added
    assert hub.repos[REPO].tags == {TAG: first.commit, "v99.0": done.commit}
    assert hub.repos[REPO].hashes() == local_files(folder)


def test_a_tag_stays_with_its_data(folder, hub, api):
    send(folder, api)
    change_shard(folder)
    with pytest.raises(LmrlError, match=f"other data under the tag {TAG}, which never moves; give the next --rev"):
        send(folder, api)
    assert len(hub.repos[REPO].titles) == 2


def test_a_new_card_of_the_same_data_needs_no_new_tag(folder, hub, api):
    first = send(folder, api)
    (folder / "README.md").write_text((folder / "README.md").read_text() + "\nA remark.\n")
    done = send(folder, api)
    assert done.changes.changed == ["README.md"] and len(hub.repos[REPO].titles) == 3
    assert hub.repos[REPO].tags == {TAG: first.commit}


def test_shards_of_an_earlier_version_go_and_files_of_others_stay(folder, hub, api):
    send(folder, api)
    repo = hub.repos[REPO]
    old = "data/fully_observed/train-00002-of-00003.parquet"
    repo.commit("by hand", {**repo.files, "NOTES.md": regular(b"notes"), old: repo.files[SHARD]})
    done = send(folder, api, revision="v99.0")
    assert done.changes.removed == [old]
    assert hub.repos[REPO].hashes().keys() == {*local_files(folder), "NOTES.md"}


def test_files_that_are_not_of_the_dataset_are_not_published(folder, hub, api):
    (folder / "token.txt").write_text("secret")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "README.md").write_text("secret")
    send(folder, api)
    assert hub.repos[REPO].hashes().keys() == local_files(folder).keys() - {"token.txt", ".cache/README.md"}


def test_a_dry_run_only_reads(folder, hub, api):
    new = send(folder, api, dry_run=True)
    assert new.is_new and new.changes.added == sorted(local_files(folder)) and not hub.repos
    send(folder, api)
    change_shard(folder)
    before = len(hub.requests)
    changed = send(folder, api, dry_run=True, revision="v99.0")
    assert changed.changes.changed == [SHARD, "generation.json"] and not changed.changes.tagged
    assert {method for method, _ in hub.requests[before:]} == {"GET"}


def test_private_is_for_new_repositories(folder, hub, api):
    send(folder, api, private=True)
    assert hub.repos[REPO].private
    hub.repos[REPO].private = False
    with pytest.raises(LmrlError, match="is public; make it private in its settings"):
        send(folder, api, private=True)


@pytest.mark.parametrize("revision", ["main", "1.0", "v", "v1/2", "v1 0"])
def test_a_revision_is_a_version(folder, hub, api, revision):
    with pytest.raises(LmrlError, match=r"is no version; give a --revision such as v1\.0"):
        send(folder, api, revision=revision)
    assert not hub.requests


def test_a_namespace_that_the_hub_does_not_allow(folder, hub, api):
    with pytest.raises(LmrlError, match="my lab/maze cannot be published: Repo id must"):
        publish(check_dataset(folder, "maze"), "my lab/maze", api)


def test_what_validate_does_not_pass_is_refused(folder):
    (folder / SHARD).write_bytes((folder / SHARD).read_bytes()[:-1])
    with pytest.raises(LmrlError, match=rf"not valid: {SHARD}: .* \(and \d+ more: `lmrl validate .*` names them\)"):
        check_dataset(folder, "maze")


def test_data_of_another_task_are_refused(folder):
    with pytest.raises(LmrlError, match="holds the task maze; give another --folder for wordle"):
        check_dataset(folder, "wordle")


@pytest.mark.parametrize("card", [None, "", "# Maze\n", "old"])
def test_a_card_that_is_not_of_the_data_is_refused(folder, card):
    readme = folder / "README.md"
    old = readme.read_text().replace("num_examples: 20", "num_examples: 19")
    readme.unlink() if card is None else readme.write_text(old if card == "old" else card)
    with pytest.raises(LmrlError, match="not the card of these data; write it with `lmrl card"):
        check_dataset(folder, "maze")


def test_the_guide_publishes_what_the_libraries_load_by_name(folder, hub, shell, tmp_path):
    dry_run, real = (shlex.split(line)[1:] for line in re.findall(r"^lmrl publish .*", GUIDE, flags=re.MULTILINE))
    [block] = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    process = shell(*LMRL, *dry_run, cwd=tmp_path)
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (0, "")
    assert f"+ my-lab/maze/{SHARD}\n" in out and "nothing is sent" in out and not hub.repos

    process = shell(*LMRL, *real, "--json", cwd=tmp_path)
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (0, "")
    [row] = json.loads(out)["repositories"]
    repo = hub.repos["my-lab/maze"]
    assert row["repository"] == "my-lab/maze" and row["commit"] == repo.head and repo.tags == {"v1.0": repo.head}
    assert row["added"] == sorted(local_files(folder)) and repo.private
    assert row["bytes"] == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    loading = shell(sys.executable, "-c", block + LOAD)
    download = shell("hf", "download", "my-lab/maze", "--repo-type", "dataset", "--local-dir", "copy")
    out, err = loading.communicate(timeout=LIMIT)
    assert loading.returncode == 0, err
    train = pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("data/fully_observed/train-*"))])
    found = json.loads(out.splitlines()[-1])
    assert found["named"]["train"] == train["episode_id"].to_pylist() and len(found["named"]["validation"]) == 10
    assert found["streamed"] == found["old"] == train["messages"].to_pylist()
    assert found["tests"] == pq.read_metadata(folder / "data/evaluation/test-00000-of-00001.parquet").num_rows
    _, err = download.communicate(timeout=LIMIT)
    assert download.returncode == 0, err
    ours, copy = local_files(folder), local_files(tmp_path / "elsewhere" / "copy")
    del ours["README.md"]  # names the repository
    assert {path: copy.get(path) for path in ours} == ours
