import pytest
from loader_data import CHATML, MARKED_CHATML, pretrained_tokenizer
from transformers import PreTrainedTokenizerBase
from trl.chat_template_utils import has_generation_markers

from lmrl_data.errors import LmrlError
from lmrl_data.text import Message
from lmrl_loaders.chat import ChatEncoder, add_marked_template
from lmrl_loaders.tokenizer import build_tokenizer

CONVERSATION: list[Message] = [
    {"role": "user", "content": "Walls: left."},
    {"role": "assistant", "content": "move up"},
    {"role": "user", "content": "Walls: none."},
]


def with_our_template() -> PreTrainedTokenizerBase:
    tokenizer = pretrained_tokenizer(CHATML)
    add_marked_template(tokenizer)
    return tokenizer


@pytest.mark.parametrize(
    "tokenizer",
    [
        build_tokenizer({"Walls: left.": 1}),
        pretrained_tokenizer(CHATML),
        pretrained_tokenizer(MARKED_CHATML),
        with_our_template(),
    ],
    ids=["ours", "chatml", "marked-chatml", "our-template"],
)
def test_prompt_is_what_the_chat_template_gives(tokenizer: PreTrainedTokenizerBase) -> None:
    expected = tokenizer.apply_chat_template(CONVERSATION, add_generation_prompt=True, return_dict=False)
    assert ChatEncoder(tokenizer).prompt(CONVERSATION) == expected


@pytest.mark.parametrize("tokenizer", [pretrained_tokenizer(CHATML), pretrained_tokenizer(MARKED_CHATML)])
def test_the_turn_ends_with_the_special_token(tokenizer: PreTrainedTokenizerBase) -> None:
    form = ChatEncoder(tokenizer).format
    assert tokenizer.decode(form.end) == "<|im_end|>"
    assert tokenizer.decode(form.after) == "\n<|im_start|>user\n"


def test_our_template_is_marked_and_ends_turns_with_its_own_token() -> None:
    tokenizer = with_our_template()
    assert has_generation_markers(tokenizer.chat_template)
    assert ChatEncoder(tokenizer).format.end == (tokenizer.eos_token_id,)
    assert tokenizer.eos_token == "<|end|>"


def test_a_tokenizer_without_template_is_refused() -> None:
    with pytest.raises(LmrlError, match=r"no chat template.*lmrl train bc"):
        ChatEncoder(pretrained_tokenizer(None))


@pytest.mark.parametrize(
    "template",
    [
        # The next reply would begin otherwise than the earlier ones.
        CHATML.replace("assistant\n{% endif %}", "assistant\nThink.{% endif %}"),
        # No special token ends a turn.
        "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
        "{% if add_generation_prompt %}assistant: {% endif %}",
    ],
    ids=["other-prompt", "no-end"],
)
def test_an_unusable_template_is_refused(template: str) -> None:
    with pytest.raises(LmrlError, match="CHAT_TEMPLATE"):
        ChatEncoder(pretrained_tokenizer(template))
