import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lmrl_cards import markdown
from lmrl_data.episode import Episode

TEXTS = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from("`|<>#*_~\n\r\t\\ "), max_size=60)


def episode(texts, rewards):
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    return Episode(messages, rewards, True, True, False, 1, "p", "lmrl/X-v0", {})


@given(st.lists(TEXTS, min_size=3, max_size=21).filter(lambda texts: len(texts) % 2 == 1))
def test_no_message_gets_out_of_the_code_block(texts):
    block = markdown.transcript(episode(texts, [-1.0] * (len(texts) // 2)))
    tokens = MarkdownIt("commonmark").parse(f"```text\n{block}\n```\n\nafter\n")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content == f"{block}\n"


@given(TEXTS)
def test_a_cell_stays_a_cell_and_shows_the_text(text):
    parsed = MarkdownIt("commonmark").enable("table").parse(f"| a | b |\n|---|---|\n| x{markdown.cell(text)} | y |\n")
    inline = [token for token in parsed if token.type == "inline"]
    assert len(inline) == 4 and inline[3].content == "y"
    children = inline[2].children
    assert {child.type for child in children} <= {"text", "text_special"}
    shown = "".join(child.content for child in children)
    assert (
        shown.split() == f"x{markdown.cell(text)}".replace("\\\\", "\0").replace("\\", "").replace("\0", "\\").split()
    )


def test_a_transcript_shows_turns_in_order_with_their_rewards():
    block = markdown.transcript(episode(["start", "go\nnow", "ok", "stop", "end"], [-1.0, 0.25]))
    assert block.splitlines() == [
        "environment: start",
        "agent:       go",
        "             now",
        "environment: ok  (reward −1)",
        "agent:       stop",
        "environment: end  (reward 0.25)",
    ]


def test_the_middle_of_a_long_episode_is_left_out_and_counted():
    texts = [f"text {i}" for i in range(41)]
    lines = markdown.transcript(episode(texts, [-1.0] * 20), shown=8).splitlines()
    assert "             … 12 turns left out …" in lines
    assert len(lines) == 1 + 2 * 8 + 1
    assert lines[8].startswith("environment: text 8 ") and lines[10] == "agent:       text 33"
    assert lines[-1].startswith("environment: text 40 ")


@given(st.lists(st.lists(st.text("ab", min_size=1, max_size=30), max_size=40), min_size=3, max_size=3))
def test_long_lines_are_wrapped_between_words(words):
    texts = [" ".join(said) for said in words]
    block = markdown.transcript(episode(texts, [0.5]))
    assert all(len(line) <= 96 for line in block.splitlines())
    assert block.split() == [
        "environment:",
        *words[0],
        "agent:",
        *words[1],
        "environment:",
        *words[2],
        "(reward",
        "0.50)",
    ]


def test_control_characters_are_not_printed():
    block = markdown.transcript(episode(["a\x1b[31mb\u202ec\x00", "d\te", "f"], [0.0]))
    assert "\x1b" not in block and "\u202e" not in block and "\x00" not in block and "d e" in block


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234567.0, "1,234,567.00"), (-4.125, "−4.12"), (-0.001, "0.00"), (None, "–"), (float("nan"), "–")],
)
def test_numbers(value, text):
    assert markdown.number(value) == text


def test_types_are_named_as_in_the_task_tables():
    kind = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
    assert markdown.type_name(kind) == "list<struct<role, content>>"
    assert markdown.type_name(pa.list_(pa.float32())) == "list<float32>"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        ("", "–"),
        ([], "–"),
        (True, "true"),
        (-1.0, "−1"),
        (7, "7"),
        ([0.5, None, "a|b"], "0.50, –, a\\|b"),
        (list(range(100)), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"),
        (["x" * 60], "…"),
        ("x" * 60, "x" * 31 + "…"),
        ("`a`\n<b>", "\\`a\\` \\<b\\>"),
    ],
)
def test_a_value_of_an_episode_in_a_cell(value, text):
    assert markdown.excerpt(value) == text


def test_one_thing_and_several():
    assert (markdown.plural(1, "turn"), markdown.plural(1200, "turn")) == ("1 turn", "1,200 turns")
