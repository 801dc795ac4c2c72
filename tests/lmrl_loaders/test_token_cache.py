"""Rows of tokens are made once, mapped into memory after that, and made again when what they depend on changes."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from datasets.table import MemoryMappedTable
from hypothesis import given
from hypothesis import strategies as st
from loader_data import episodes_table, weights, write_dataset

from lmrl_data.errors import LmrlError
from lmrl_loaders import episodes, token_cache
from lmrl_loaders.bc import BCConfig, imitation, train_bc
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.episodes import StoredEpisodes
from lmrl_loaders.ilql import ILQLConfig, train_ilql
from lmrl_loaders.sequences import Utterances, read_utterances, training_sequences
from lmrl_loaders.token_cache import mapped
from lmrl_loaders.tokenizer import build_tokenizer, count_words
from lmrl_loaders.transitions import mean_return, transitions
from lmrl_loaders.windows import WindowRule

CONFIG = "fully_observed"
RULE = WindowRule(100, 8)
TABLE = pa.concat_tables([episodes_table("maze", "optimal", 20), episodes_table("maze", "random", 2)])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMRL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tokens"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "lmrl-gym" / "maze", TABLE, CONFIG)


def rows_of(data: Path, chosen: Any = None, *, rule: WindowRule = RULE, **settings: Any) -> episodes.Rows:
    stored = StoredEpisodes(data, "maze", CONFIG)
    encoder = ChatEncoder(build_tokenizer(stored.words()))
    make = transitions if settings else imitation
    return stored.rows(make, encoder, rule, chosen, **settings)


def test_rows_made_in_parts_are_those_of_the_whole(cache: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "PART", 3)
    utterances = read_utterances(TABLE)
    encoder = ChatEncoder(build_tokenizer(utterances.counts()))
    whole = transitions(TABLE, utterances, encoder, RULE, gamma=0.9, credit="token")
    rows = rows_of(data, gamma=0.9, credit="token")
    assert rows.table.drop_columns(["length"]).to_pylist() == whole.to_pylist()
    assert rows.table["length"].to_pylist() == [len(ids) for ids in whole["input_ids"].to_pylist()]
    assert mean_return(rows.table) == mean_return(whole)
    assert isinstance(rows.dataset.data, MemoryMappedTable)


def test_chosen_episodes_are_those_of_their_table(cache: Path, data: Path) -> None:
    chosen = np.array([1, 4, 5, 21])
    utterances = read_utterances(TABLE)
    encoder = ChatEncoder(build_tokenizer(utterances.counts()))
    expected = training_sequences(read_utterances(TABLE.take(chosen)), encoder, RULE)
    assert rows_of(data, chosen).table.drop_columns(["length"]).to_pylist() == expected.to_pylist()
    assert len(rows_of(data).table) > len(expected)


def test_the_tokenizer_of_words_is_that_of_texts() -> None:
    texts = {"It's a  test,\n\tof 12345 things": 3, "naïve ▁ ünicode " + "x" * 70: 2, " ": 1, "": 4}
    whole, counted = build_tokenizer(texts), build_tokenizer(dict(count_words(texts)))
    assert whole.backend_tokenizer.to_str() == counted.backend_tokenizer.to_str()


def test_a_second_training_reads_no_episodes(
    cache: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(output: str, **settings: Any) -> dict[str, np.ndarray]:
        train_ilql("maze", data=data, output=tmp_path / output, args=ILQLConfig(max_steps=2, **settings))
        return weights(tmp_path / output)

    first = train("first")

    def read(*_: object) -> None:
        raise AssertionError("episodes are read")

    monkeypatch.setattr(episodes, "read_batches", read)
    second = train("second")
    assert all(np.array_equal(first[name], second[name]) for name in first)
    with pytest.raises(AssertionError, match="episodes are read"):
        train("third", gamma=0.5)


@pytest.mark.parametrize("change", ["data", "rule", "settings", "code"])
def test_what_depends_on_a_change_is_made_again(
    change: str, cache: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows_of(data, gamma=0.9, credit="turn")
    rows_of(data, gamma=0.9, credit="turn")
    assert len(list(cache.glob("rows-*"))) == 1
    if change == "data":
        data = write_dataset(tmp_path / "other", TABLE.slice(0, 15), CONFIG)
    elif change == "code":
        monkeypatch.setattr(token_cache, "_code", lambda: "changed")
    rule = WindowRule(99, 8) if change == "rule" else RULE
    rows_of(data, rule=rule, gamma=0.8 if change == "settings" else 0.9, credit="turn")
    assert len(list(cache.glob("rows-*"))) == 2


def test_a_cache_that_cannot_be_written_is_one_line(cache: Path, data: Path, tmp_path: Path) -> None:
    cache.parent.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(LmrlError, match="set LMRL_CACHE to a folder that can be written"):
        train_bc("maze", data=data, output=tmp_path / "model", args=BCConfig(max_steps=1))
    assert not (tmp_path / "model").exists()


def test_rows_that_fail_half_way_leave_nothing(cache: Path) -> None:
    def parts() -> Iterator[pa.Table]:
        yield pa.table({"a": [1]})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mapped({"some": "key"}, parts)
    assert not list(cache.iterdir())
    assert mapped({"some": "key"}, lambda: [pa.table({"a": [1, 2]})])["a"][:] == [1, 2]


def test_damaged_files(cache: Path, data: Path) -> None:
    rows_of(data)
    for path in cache.glob("*.json"):
        path.write_text("{", encoding="utf-8")  # small ones are made again
    (file,) = cache.glob("rows-*")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(LmrlError, match=f"{file.name} is damaged; remove it"):
        rows_of(data)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=1, max_size=6), st.data())
def test_messages_are_taken_and_joined(said: list[list[str]], draw: st.DataObject) -> None:
    def read(part: list[list[str]]) -> Utterances:
        texts = sorted({text for episode in part for text in episode})
        index = np.array([texts.index(text) for episode in part for text in episode], np.int32)
        return Utterances(texts, index, np.arange(len(part) + 1) * 3)

    def spoken(utterances: Utterances) -> list[list[str]]:
        bounds = zip(utterances.offsets[:-1], utterances.offsets[1:], strict=True)
        return [[utterances.texts[text] for text in utterances.index[begin:end]] for begin, end in bounds]

    cut = draw.draw(st.integers(1, len(said)))
    joined = Utterances.joined([read(part) for part in (said[:cut], said[cut:]) if part])
    assert spoken(joined) == said
    chosen = draw.draw(st.lists(st.integers(0, len(said) - 1), min_size=1))
    taken = joined.take(np.array(chosen))
    assert spoken(taken) == [said[episode] for episode in chosen]
    assert set(taken.texts) == {text for episode in chosen for text in said[episode]}


def test_what_was_used_longest_ago_makes_room(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def use(name: str) -> None:
        def make() -> Iterator[pa.Table]:
            made.append(name)
            yield pa.table({"input_ids": [[1] * 1000]})

        rows = mapped({"name": name}, make)
        assert rows[0]["input_ids"] == [1] * 1000
        for path in cache.glob("rows-*.arrow"):  # a file system may keep times by the second
            os.utime(path, ns=(path.stat().st_mtime_ns - 10**10,) * 2)

    use("first")
    size = next(cache.glob("rows-*.arrow")).stat().st_size
    monkeypatch.setattr(token_cache, "MOST_BYTES", int(2.5 * size))
    for name in ("second", "first", "third", "first", "second"):
        use(name)
    assert made == ["first", "second", "third", "second"]  # the second made room for the third, and was made again
    monkeypatch.setattr(token_cache, "MOST_BYTES", 0)
    use("fourth")
    assert len([*cache.glob("rows-*.arrow")]) == 1
