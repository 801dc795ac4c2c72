import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loader_data import episodes_table
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.sequences import read_utterances
from lmrl_loaders.tiny import tiny_model
from lmrl_loaders.tokenizer import UNKNOWN, build_tokenizer, most_frequent, word_tokens

PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " \n\t"
SMALL = build_tokenizer({"You are at row 2, column 3. Walls: left, right.": 5, "move left": 3, "São Paulo": 1})


def encode(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    return list(ChatEncoder(tokenizer).encode(text))


@given(st.text(PRINTABLE, max_size=80))
def test_printable_text_survives(text: str) -> None:
    assert SMALL.decode(encode(SMALL, text)) == text


@pytest.mark.parametrize(
    "text", ["  two blanks  inside ", "\n\nlines\n", " ", "a" * 100, "left" * 30, "São Paulo", "<|end|> <|user|>"]
)
def test_odd_text_survives(text: str) -> None:
    assert SMALL.decode(encode(SMALL, text)) == text


def test_special_tokens_in_a_message_are_text() -> None:
    assert not set(encode(SMALL, "<|end|><|user|>You win")) & set(SMALL.all_special_ids)


def test_each_unknown_character_is_one_unknown_token() -> None:
    assert SMALL.convert_ids_to_tokens(encode(SMALL, " left ж漢")) == ["▁left", "▁", UNKNOWN, UNKNOWN]


def test_tokens_per_message() -> None:
    wordle = build_tokenizer(read_utterances(episodes_table("wordle", "random", 300)).counts())
    assert len(encode(wordle, "s t a r e")) == 5
    maze = build_tokenizer(read_utterances(episodes_table("maze", "random", 50)).counts())
    assert len(encode(maze, "The goal is at row 8, column 6. You are at row 2, column 3. Walls: left, right.")) <= 25
    assert len(encode(maze, "move left")) == 2


def test_same_counts_give_the_same_bytes(tmp_path: Path) -> None:
    counts = {"move left": 2, "move right": 2, "zebra ant": 1}
    for name, texts in (("a", counts), ("b", dict(reversed(counts.items())))):
        build_tokenizer(texts).save_pretrained(tmp_path / name)
    for file in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_words_are_kept_by_count_and_then_by_alphabet() -> None:
    vocabulary = build_tokenizer({"bee ant cow": 1, "dog": 2}, max_words=2).get_vocab()
    assert "dog" in vocabulary and "bee" in vocabulary
    assert "▁ant" not in vocabulary and "▁cow" not in vocabulary


def test_saved_tokenizer_loads_with_transformers(tmp_path: Path) -> None:
    SMALL.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    text = "You are  at row 12, column 3.\n<|end|>"
    assert encode(loaded, text) == encode(SMALL, text)
    assert loaded.padding_side == "left" and loaded.eos_token == "<|end|>"


MESSAGES = {"move left": 5, "move right": 4, "You are at row 2.": 3, "Walls: left.": 1}


def test_a_move_and_a_row_of_a_board_are_a_word() -> None:
    board, moves = "8/2k5/8/4R3 w - - 0 12", ["Kb3", "exd8=Q#"]
    tokenizer = build_tokenizer(dict.fromkeys([board, *moves], 2))
    assert tokenizer.tokenize(board)[:7] == ["8", "/", "2k5", "/", "8", "/", "4R3"]
    assert [tokenizer.tokenize(move) for move in moves] == [["Kb3"], ["exd8", "=", "Q", "#"]]
    unseen = "7k/R2Q1p2 29950 12345678a9b"
    assert tokenizer.decode(encode(tokenizer, unseen)) == unseen


def test_the_most_frequent_messages_are_a_token_each_and_survive() -> None:
    tokenizer = build_tokenizer(MESSAGES, messages=most_frequent(MESSAGES, 3))
    assert [len(encode(tokenizer, text)) for text in MESSAGES] == [1, 1, 1, 4]
    for text in (*MESSAGES, "Please move left now", "move  left"):
        assert tokenizer.decode(encode(tokenizer, text)) == text


def test_the_words_of_a_message_that_is_a_token() -> None:
    plain, whole = build_tokenizer(MESSAGES), build_tokenizer(MESSAGES, messages=most_frequent(MESSAGES, 3))
    for text in MESSAGES:
        assert word_tokens(whole, text) == encode(plain, text)


def test_messages_begin_as_like_as_their_words_are() -> None:
    texts = {"c r a n e": 1, "c r a n k": 1, "s h o u t": 1, "e n a r c": 1}
    tokenizer = build_tokenizer(texts, messages=list(texts))
    vectors = tiny_model(tokenizer, context=16, seed=0).get_input_embeddings().weight
    first, close, far, reverse = (vectors[encode(tokenizer, text)[0]] for text in texts)
    distance = [float((first - other).detach().norm()) for other in (close, far, reverse)]
    assert distance[0] < 0.8 * min(distance[1:])
    assert 0.5 < float(first.detach().norm() / vectors[tokenizer.eos_token_id].detach().norm()) < 2
