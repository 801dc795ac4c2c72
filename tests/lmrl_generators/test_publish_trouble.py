"""Publishing where something goes wrong: rights, network, cut connections, other publishers."""

import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub.utils._http as hub_http
import pytest
from hub_server import Cut, regular
from huggingface_hub import HfApi, constants
from publishing import COMMIT, LIMIT, LMRL, REPO, SHARD, TAG, TOKEN, change_shard, local_files, send

from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash
from lmrl_generators.publish import check_dataset, check_login, publish

PUBLISH = ("publish", "--task", "maze", "--namespace", "lmrl-gym")


def test_no_rights_to_the_namespace(folder, hub, api):
    stranger = HfApi(endpoint=hub.url, token="hf_of_a_stranger")
    with pytest.raises(LmrlError, match="this token may not write to lmrl-gym/maze; give a --namespace of yours"):
        send(folder, stranger)
    assert not hub.repos
    send(folder, api)
    change_shard(folder)
    with pytest.raises(LmrlError, match="this token may not write to lmrl-gym/maze"):
        send(folder, stranger, revision="v99.0")
    assert len(hub.repos[REPO].titles) == 2


def test_a_token_that_is_wrong_or_missing(hub, monkeypatch, tmp_path):
    with pytest.raises(LmrlError, match="the Hub does not know this token; make one at https://"):
        check_login(HfApi(endpoint=hub.url, token="hf_wrong"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(LmrlError, match="no token for the Hub; log in with `hf auth login`"):
        check_login(HfApi(endpoint=hub.url))


def test_no_network(hub, monkeypatch):
    with pytest.raises(LmrlError, match=r"the connection to the Hub failed for http.*; when it is back, run the same"):
        check_login(HfApi(endpoint="http://127.0.0.1:9", token=TOKEN))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(LmrlError, match="HF_HUB_OFFLINE is set, so nothing can be published; unset it"):
        check_login(HfApi(endpoint=hub.url, token=TOKEN))


def test_a_connection_cut_before_the_commit(folder, hub, api):
    def cut_commits(*request):
        if request == COMMIT:
            raise Cut

    hub.on_request = cut_commits
    with pytest.raises(LmrlError, match=r"the connection to the Hub failed .* run the same command again"):
        send(folder, api)
    assert hub.repos[REPO].titles == ["initial commit"] and not hub.repos[REPO].tags
    sent = len(hub.stored())
    hub.on_request = lambda method, path: None
    send(folder, api)
    assert len(hub.stored()) == sent  # the content was there already
    assert hub.repos[REPO].hashes() == local_files(folder) and len(hub.repos[REPO].titles) == 2


def test_a_connection_cut_after_the_commit_leaves_the_tag_to_the_next_run(folder, hub, api):
    def cut_tags(method, path):
        if "/tag/" in path:
            raise Cut

    hub.on_request = cut_tags
    with pytest.raises(LmrlError, match="run the same command again"):
        send(folder, api)
    hub.on_request = lambda method, path: None
    done = send(folder, api)
    assert len(hub.repos[REPO].titles) == 2 and hub.repos[REPO].tags == {TAG: done.commit}


def test_a_file_that_does_not_get_through(folder, hub, api, monkeypatch):
    # The client waits between its attempts, half a minute in all.
    monkeypatch.setattr(hub_http, "time", SimpleNamespace(sleep=lambda seconds: None, time=hub_http.time.time))
    broken = file_hash(folder / SHARD)

    def cut_shard(method, path):
        if method == "PUT" and path.endswith(broken):
            raise Cut

    hub.on_request = cut_shard
    with pytest.raises(LmrlError, match=r"the connection to the Hub failed .* run the same command again"):
        send(folder, api)
    assert hub.repos[REPO].titles == ["initial commit"]
    hub.on_request = lambda method, path: None
    before = len(hub.stored())
    arrived = set(hub.store)
    send(folder, api)
    assert broken in hub.stored()[before:] and not arrived & set(hub.stored()[before:])
    assert hub.repos[REPO].hashes() == local_files(folder)


@pytest.mark.parametrize("moment", ["/commit/", "/tag/"])
def test_two_publishers_of_the_same_data_make_one_commit(folder, hub, api, moment):
    done = {}

    def let_other_pass(method, path):
        if moment in path:
            hub.on_request = lambda method, path: None
            done["other"] = send(folder, api)

    hub.on_request = let_other_pass
    mine = send(folder, api)
    assert len(hub.repos[REPO].titles) == 2
    assert mine.commit == done["other"].commit == hub.repos[REPO].tags[TAG]


def test_the_tag_is_of_the_commit_with_the_data(folder, hub, api):
    def commit_first(method, path):
        if "/tag/" in path:
            hub.repos[REPO].commit("by hand", {})

    hub.on_request = commit_first
    done = send(folder, api)
    assert hub.repos[REPO].tags == {TAG: done.commit} and done.commit != hub.repos[REPO].head


@pytest.mark.parametrize("same_version", [True, False])
def test_two_publishers_of_other_data(folder, tmp_path, hub, api, same_version):
    other = Path(shutil.copytree(folder, tmp_path / "other" / "maze"))
    change_shard(other)

    def let_other_pass(*request):
        if request == COMMIT:
            hub.on_request = lambda method, path: None
            send(other, api, revision=TAG if same_version else "v99.0")

    hub.on_request = let_other_pass
    if same_version:
        with pytest.raises(LmrlError, match=f"other data under the tag {TAG}"):
            send(folder, api)
        assert hub.repos[REPO].hashes() == local_files(other) and len(hub.repos[REPO].titles) == 2
    else:
        done = send(folder, api)
        assert hub.repos[REPO].hashes() == local_files(folder)
        assert hub.repos[REPO].tags[TAG] == done.commit != hub.repos[REPO].tags["v99.0"]


def test_two_publishers_side_by_side(folder, hub, api):
    dataset, done = check_dataset(folder, "maze"), []
    meeting = threading.Barrier(2, timeout=20)

    def meet(method, path):
        if path.endswith("/preupload/main") and len(hub.repos[REPO].titles) == 1 and not meeting.broken:
            meeting.wait()

    hub.on_request = meet
    threads = [threading.Thread(target=lambda: done.append(publish(dataset, REPO, api))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hub.repos[REPO].titles) == 2
    assert [one.commit for one in done] == [hub.repos[REPO].tags[TAG]] * 2


def test_a_repository_that_never_stands_still(folder, hub, api):
    send(folder, api)

    def commit_first(*request):
        if request == COMMIT:
            repo = hub.repos[REPO]
            repo.commit("by hand", {**repo.files, "NOTES.md": regular(str(len(repo.commits)).encode())})

    hub.on_request = commit_first
    change_shard(folder)
    with pytest.raises(LmrlError, match="others keep changing lmrl-gym/maze; run the same command again"):
        send(folder, api, revision="v99.0")


def test_the_command_says_in_one_line_what_is_wrong_and_no_token(folder, hub, shell, tmp_path):
    process = shell(*LMRL, *PUBLISH, cwd=tmp_path, HF_TOKEN="hf_wrong_token")
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out) == (2, "") and err.count("\n") == 1
    assert err.startswith("lmrl: the Hub does not know this token") and "hf_wrong_token" not in err


def test_a_killed_publisher_leaves_no_half_dataset(folder, hub, api, shell, tmp_path):
    go_on, stuck = threading.Event(), threading.Event()
    held = file_hash(folder / SHARD)

    def hold_shard(method, path):
        if method == "PUT" and path.endswith(held):
            stuck.set()
            go_on.wait(LIMIT)
            raise Cut

    hub.on_request = hold_shard
    process = shell(*LMRL, *PUBLISH, cwd=tmp_path)
    assert stuck.wait(LIMIT)
    process.kill()
    process.communicate()
    go_on.set()
    assert hub.repos[REPO].titles == ["initial commit"]
    hub.on_request = lambda method, path: None
    arrived, before = set(hub.store), len(hub.stored())
    send(folder, api)
    assert held in hub.stored()[before:] and not arrived & set(hub.stored()[before:])
    assert hub.repos[REPO].hashes() == local_files(folder)
