"""What a cluster is given to do, and who writes; `test_ray` has the same on a real one."""

import pytest
from running import digests

import lmrl_generators.on_ray as module
from lmrl_data.errors import LmrlError
from lmrl_generators.folders import LocalFolder, RemoteFolder
from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans


class Watched:
    """Does the work in this process, the last item first, and notes whether it has written its file."""

    def __init__(self, folder):
        self.folder = folder
        self.written = []

    def run(self, work, items):
        for item in reversed(items):
            outcome = work(item)
            self.written.append(self.folder.hash(item.file) is not None)
            yield item, outcome


def plans():
    return make_plans("maze", config="fully_observed", episodes=20, validation=10, shard_size=10)


def test_the_machine_of_the_command_writes_into_a_folder_of_its_own(made, tmp_path):
    cluster = Watched(LocalFolder(tmp_path / "maze"))
    generate(plans(), tmp_path / "maze", cluster=cluster)
    assert cluster.written == [False] * 3
    assert digests(tmp_path / "maze") == digests(made)


def test_workers_write_into_an_object_store(made):
    folder = RemoteFolder("memory://bucket/maze")
    cluster = Watched(folder)
    generate(plans(), folder, cluster=cluster)
    assert cluster.written == [True] * 3
    assert {file: folder.hash(file) for file in digests(made)} == digests(made)


def test_a_machine_that_would_make_other_bytes_is_refused(tmp_path, monkeypatch):
    class Elsewhere(Watched):
        def run(self, work, items):
            module._ground_of.cache_clear()
            monkeypatch.setattr(module, "versions", lambda: {"lmrl-gym": "0.0.1", "pyarrow": "9"})
            return super().run(work, items)

    with pytest.raises(LmrlError, match=r"has lmrl-gym 0\.0\.1, but the run was started with"):
        generate(plans(), tmp_path / "maze", cluster=Elsewhere(LocalFolder(tmp_path / "maze")))
    module._ground_of.cache_clear()
    assert not list(tmp_path.rglob("*.parquet"))


def test_the_engine_is_part_of_what_a_machine_must_have_alike():
    (plan,) = make_plans("chess", episodes=1, validation=0)
    assert module._ground_of(plan)["partner"].startswith("Stockfish")
