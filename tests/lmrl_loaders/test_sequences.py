import pyarrow as pa
import pytest
from loader_data import CHATML, MARKED_CHATML, episodes_table, pretrained_tokenizer, talk
from transformers import PreTrainedTokenizerBase

from lmrl_data.episode import from_table
from lmrl_data.errors import LmrlError
from lmrl_loaders.chat import ChatEncoder, add_marked_template
from lmrl_loaders.sequences import IGNORED, read_utterances, sizes_of, training_sequences
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.windows import WindowRule

EPISODES = pa.concat_tables([episodes_table("maze", "region-0", 3), episodes_table("maze", "optimal", 5)])


def tokenizers() -> list[PreTrainedTokenizerBase]:
    ours = build_tokenizer(read_utterances(EPISODES).counts())
    given_marks = pretrained_tokenizer(CHATML)
    add_marked_template(given_marks)
    return [ours, given_marks, pretrained_tokenizer(MARKED_CHATML)]


def encoded(tokenizer: PreTrainedTokenizerBase, context: int, table: pa.Table = EPISODES) -> list[dict[str, list[int]]]:
    utterances = read_utterances(table)
    encoder = ChatEncoder(tokenizer)
    rule = WindowRule(context, sizes_of(utterances, encoder).reply)
    rows: list[dict[str, list[int]]] = training_sequences(utterances, encoder, rule).to_pylist()
    return rows


@pytest.mark.parametrize("tokenizer", tokenizers(), ids=["ours", "given-marks", "marked"])
@pytest.mark.parametrize("context", [200, 4000])
def test_labels_read_back_are_the_actions_and_their_ends(tokenizer: PreTrainedTokenizerBase, context: int) -> None:
    end = tokenizer.decode(ChatEncoder(tokenizer).format.end)
    trained = ""
    for row in encoded(tokenizer, context):
        assert len(row["input_ids"]) == len(row["labels"]) <= context
        kept = [label for label in row["labels"] if label != IGNORED]
        assert kept == [token for token, label in zip(row["input_ids"], row["labels"], strict=True) if label != IGNORED]
        trained += tokenizer.decode(kept)
    actions = [action for episode in from_table(EPISODES) for action in episode.actions]
    assert trained == "".join(action + end for action in actions)


@pytest.mark.parametrize("tokenizer", tokenizers(), ids=["ours", "given-marks", "marked"])
def test_whole_episodes_are_what_trl_makes_of_messages(tokenizer: PreTrainedTokenizerBase) -> None:
    rows = encoded(tokenizer, 10_000)
    for row, episode in zip(rows, from_table(EPISODES), strict=True):
        expected = tokenizer.apply_chat_template(episode.messages, return_dict=True, return_assistant_tokens_mask=True)
        # Ours ends with the last reply; what the environment says after it is not learnt from.
        length = len(row["input_ids"])
        assert row["input_ids"] == expected["input_ids"][:length]
        assert not any(expected["assistant_masks"][length:])
        assert [int(label != IGNORED) for label in row["labels"]] == expected["assistant_masks"][:length]


def test_each_trained_turn_has_the_tokens_before_it_that_play_gives() -> None:
    tokenizer = tokenizers()[0]
    encoder = ChatEncoder(tokenizer)
    rule = WindowRule(200, sizes_of(read_utterances(EPISODES), encoder).reply)
    seen = []
    for row in encoded(tokenizer, 200):
        labels = [IGNORED, *row["labels"]]
        begins = [i for i in range(len(labels) - 1) if labels[i + 1] != IGNORED and labels[i] == IGNORED]
        seen += [row["input_ids"][:begin] for begin in begins]
    played = []
    for episode in from_table(EPISODES):
        for turn in range(episode.num_turns):
            said = episode.messages[: 2 * turn + 1]
            lengths = [len(encoder.encode(message["content"])) for message in said]
            start = rule.starts(encoder, lengths[::2], lengths[1::2])[-1]
            played.append(encoder.prompt(said[2 * start :]))
    assert seen == played


def test_an_empty_dataset_is_refused() -> None:
    with pytest.raises(LmrlError, match="no episodes"):
        read_utterances(EPISODES.slice(0, 0))


@pytest.mark.parametrize("contents", [("one",), ("one", "two")])
def test_an_episode_that_is_not_whole_is_refused(contents: tuple[str, ...]) -> None:
    with pytest.raises(LmrlError, match="take turns"):
        read_utterances(talk(*contents))


def test_wrong_roles_are_refused() -> None:
    table = talk("one", "two", "three")
    messages = [[{**message, "role": "user"} for message in table["messages"][0].as_py()]]
    table = table.set_column(1, table.schema.field("messages"), pa.array(messages, table.schema.field("messages").type))
    with pytest.raises(LmrlError, match="take turns"):
        read_utterances(table)
