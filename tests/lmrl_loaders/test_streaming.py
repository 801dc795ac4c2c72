"""Training on a stream: the rows of a pass are those of the stored way, in an order that the seed gives."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hub_server import hub_server
from loader_data import episodes_table, weights, write_published

from lmrl_data.errors import LmrlError
from lmrl_loaders import streaming
from lmrl_loaders.bc import BCConfig, imitation, train_bc
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.episodes import StoredEpisodes
from lmrl_loaders.ilql import ILQLConfig, ILQLTrainer, train_ilql
from lmrl_loaders.mc import MCConfig, train_mc
from lmrl_loaders.online_bc import OnlineBCConfig, train_online_bc
from lmrl_loaders.streaming import StreamedEpisodes, mixed
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.transitions import transitions
from lmrl_loaders.windows import WindowRule

CONFIG = "fully_observed"
RULE = WindowRule(100, 8)
VALUES = {"gamma": 0.9, "credit": "turn"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = pa.concat_tables([episodes_table("maze", "optimal", 33), episodes_table("maze", "random", 3)])
    return write_published(tmp_path_factory.mktemp("lmrl-gym") / "maze", table, CONFIG, files=3)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "PART", 5)
    monkeypatch.setattr(streaming, "BUFFER", 20)


def stored_rows(data: Path, make: Any, **settings: Any) -> tuple[ChatEncoder, list[dict[str, Any]]]:
    episodes = StoredEpisodes(data, "maze", CONFIG)
    encoder = ChatEncoder(build_tokenizer(episodes.words()))
    rows = episodes.rows(make, encoder, RULE, None, **settings).table.drop_columns(["length"]).to_pylist()
    return encoder, rows


def streamed_rows(data: Path, make: Any, encoder: ChatEncoder, seed: int, **settings: Any) -> Iterator[dict[str, Any]]:
    dataset = StreamedEpisodes(str(data), "maze", CONFIG, seed).rows(make, encoder, RULE, None, **settings).dataset
    return ({name: values.tolist() for name, values in row.items()} for row in dataset)


def counted(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.parametrize(("make", "settings"), [(transitions, VALUES), (imitation, {})])
def test_each_pass_has_the_rows_of_the_stored_way(make: Any, settings: dict[str, Any], data: Path) -> None:
    encoder, stored = stored_rows(data, make, **settings)
    assert len(stored) > 60
    streamed = list(islice(streamed_rows(data, make, encoder, 0, **settings), 3 * len(stored)))
    passes = [streamed[first : first + len(stored)] for first in range(0, len(streamed), len(stored))]
    assert [counted(rows) for rows in passes] == 3 * [counted(stored)]
    assert passes[0] != passes[1] != passes[2]


def test_the_seed_gives_the_order(data: Path) -> None:
    encoder, _ = stored_rows(data, imitation)
    first, again, other = (list(islice(streamed_rows(data, imitation, encoder, seed), 40)) for seed in (0, 0, 1))
    assert first == again != other


def test_rows_are_mixed_beyond_their_part() -> None:
    rows = [{"row": np.array([number])} for number in range(200)]
    order = [int(row["row"][0]) for row in mixed(iter(rows), 50, np.random.Generator(np.random.PCG64(0)))]
    assert sorted(order) == list(range(200))
    # Nothing comes before it has been read, and what is read early may come late.
    assert all(number <= place + 50 for place, number in enumerate(order))
    assert max(place - number for place, number in enumerate(order)) > 60


def test_what_a_run_needs_to_know_is_that_of_the_first_episodes(data: Path) -> None:
    streamed, stored = StreamedEpisodes(str(data), "maze", CONFIG, 0), StoredEpisodes(data, "maze", CONFIG)
    assert streamed.words() == stored.words()
    encoder = ChatEncoder(build_tokenizer(stored.words()))
    assert streamed.sizes(encoder) == stored.sizes(encoder)
    assert streamed.hashes == stored.hashes


def test_a_row_longer_than_the_context_is_left_out(data: Path) -> None:
    encoder, _ = stored_rows(data, imitation)
    rule = WindowRule(60, 1)  # longer replies than this rule knows of
    rows = StreamedEpisodes(str(data), "maze", CONFIG, 0)
    with pytest.warns(UserWarning, match="longer than the context is left out"):
        lengths = [len(row["input_ids"]) for row in rows.rows(imitation, encoder, rule, None).table.to_pylist()]
    assert lengths and max(lengths) <= 60


TRAINERS: dict[str, Any] = {"bc": (train_bc, BCConfig), "mc": (train_mc, MCConfig), "ilql": (train_ilql, ILQLConfig)}


def train(method: str, data: Path, output: Path, **settings: Any) -> dict[str, Any]:
    train_it, config = TRAINERS[method]
    args = config(**{"max_steps": 4, "per_device_train_batch_size": 4, **settings})
    result: dict[str, Any] = train_it("maze", data=data, output=output, args=args, stream=True)
    return result


@pytest.mark.parametrize("method", TRAINERS)
def test_a_model_is_trained(method: str, data: Path, tmp_path: Path) -> None:
    result = train(method, data, tmp_path / "model", logging_steps=1)
    assert result["steps"] == 4 and result["sequences"] is None and result["episodes"] is None
    lines = (tmp_path / "model" / "training_log.jsonl").read_text(encoding="utf-8").splitlines()
    losses = [json.loads(line).get("loss_bc", json.loads(line)["loss"]) for line in lines[:4]]
    assert losses[3] < losses[0]


def test_a_run_resumes_with_the_rows_that_would_have_come(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train("ilql", data, tmp_path / "whole")
    step = ILQLTrainer.training_step

    def interrupt(trainer: Any, *arguments: Any, **more: Any) -> Any:
        if trainer.state.global_step == 3:
            raise KeyboardInterrupt
        return step(trainer, *arguments, **more)

    settings = {"save_strategy": "steps", "save_steps": 2}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ILQLTrainer, "training_step", interrupt)
        train("ilql", data, tmp_path / "model", **settings)
    train("ilql", data, tmp_path / "model", resume_from_checkpoint=True, **settings)
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "model")
    assert all(np.array_equal(resumed[name], whole[name]) for name in whole)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"keep": 0.5}, "leave --stream out"), ({"keep": "success"}, "leave --stream out"), ({"max_steps": -1}, "no end")],
)
def test_what_a_stream_cannot_do_is_refused(settings: dict[str, Any], message: str, data: Path, tmp_path: Path) -> None:
    with pytest.raises(LmrlError, match=message):
        train("bc", data, tmp_path / "model", **settings)
    assert not list(tmp_path.iterdir())


def test_play_does_not_stream(data: Path, tmp_path: Path) -> None:
    train("bc", data, tmp_path / "bc", max_steps=1)
    with pytest.raises(LmrlError, match="leave --stream out"):
        train_online_bc("maze", data=data, model=str(tmp_path / "bc"), stream=True, args=OnlineBCConfig(max_steps=1))


def test_a_dataset_that_cannot_be_reached_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LmrlError, match=r"cannot stream nobody/nothing \(.*without --stream reads a folder"):
        train("bc", Path("nobody/nothing"), tmp_path / "model")


def test_a_stream_of_something_else_is_refused(tmp_path: Path) -> None:
    table = pa.table({"text": ["a", "b"]})
    folder = write_published(tmp_path / "other", table, CONFIG, files=1)
    with pytest.raises(LmrlError, match="no column 'episode_id'"):
        train("bc", folder, tmp_path / "model")


def test_the_command_streams_from_the_hub(data: Path, tmp_path: Path) -> None:
    with hub_server() as hub:
        hub.tokens["hf_test"] = ("lmrl-gym",)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "OMP_NUM_THREADS": "1",
        }
        upload = (
            "import sys; from huggingface_hub import HfApi; api = HfApi(token='hf_test');"
            "api.create_repo('lmrl-gym/maze', repo_type='dataset');"
            "api.upload_folder(repo_id='lmrl-gym/maze', repo_type='dataset', folder_path=sys.argv[1])"
        )
        subprocess.run([sys.executable, "-c", upload, str(data)], env=environment, check=True, capture_output=True)
        arguments = ["ilql", "--task", "maze", "--stream", "--data", "lmrl-gym/maze", "--max-steps", "2"]
        command = [
            sys.executable,
            "-c",
            "from lmrl_data.cli import main; main()",
            "train",
            *arguments,
            "--set",
            "per_device_train_batch_size=4",
        ]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "2 steps on a stream" in done.stdout
        info = json.loads((tmp_path / "models" / "maze-ilql" / "lmrl.json").read_text("utf-8"))
        assert info["data"] == {"lmrl-gym/maze": hub.repos["lmrl-gym/maze"].head}
        # The files were asked for in parts, and none was kept.
        assert not list((tmp_path / "home").rglob("*.parquet"))
