"""A word-level tokenizer for small models made from scratch, with single characters for everything else.

Tasks use few words, so a whole word with the blank before it is one token: an observation of the maze takes about 25.
Every printable ASCII character is a token of its own as well, and so any such text survives encoding and decoding.
Where a game has few messages, each of them can be one token.
"""

import string
from collections import Counter
from collections.abc import Mapping

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from lmrl_loaders.chat import ASSISTANT, CHAT_TEMPLATE, END, USER

PAD, UNKNOWN = "<|pad|>", "<|unknown|>"
SPECIAL_TOKENS = (PAD, UNKNOWN, USER, ASSISTANT, END)
MAX_WORDS = 2000

_BLANK = "▁"  # a visible blank, as in SentencePiece; a real U+2581 in a text reads as a blank
_LONGEST_WORD = 32
# A word, a number or a sign takes one blank before it along; what is not ASCII never does, because where it is
# unknown it must not swallow the blank.
_WORDS = (
    rf"{_BLANK}?[A-Za-z]{{1,{_LONGEST_WORD}}}|{_BLANK}?[0-9]{{1,3}}|{_BLANK}?[!-/:-@\[-`{{-~]"
    rf"|[^A-Za-z0-9{_BLANK}]|{_BLANK}"
)
_PRINTABLE = string.ascii_letters + string.digits + string.punctuation + "\n\t"


def build_tokenizer(
    texts: Mapping[str, int], *, max_words: int = MAX_WORDS, whole_messages: int = 0
) -> PreTrainedTokenizerFast:
    """A tokenizer whose vocabulary is counted from texts; the same counts give the same tokenizer, byte for byte.

    Args:
        texts: how often each text occurs.
        max_words: the vocabulary holds so many of the most frequent words (ties in alphabetical order), besides the
            special tokens, printable ASCII, and the further characters of the texts.
        whole_messages: so many of the most frequent texts are a token each.

    Returns:
        A tokenizer with our chat template, padding on the left, and ``<|end|>`` as the end of a turn.
    """
    normalizer = normalizers.Replace(" ", _BLANK)
    pre_tokenizer = pre_tokenizers.Split(Regex(_WORDS), behavior="isolated")
    counts: Counter[str] = Counter()
    for text, count in texts.items():
        for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text)):
            counts[word] += count
    further = sorted({char for text in texts for char in text} - {" "})
    words = sorted((word for word in counts if len(word) > 1), key=lambda word: (-counts[word], word))[:max_words]
    tokens = dict.fromkeys([*SPECIAL_TOKENS, _BLANK, *_PRINTABLE, *further, *words])
    # WordPiece without a mark for continued words splits an unknown word into the longest known pieces.
    tokenizer = Tokenizer(
        models.WordPiece(
            {token: number for number, token in enumerate(tokens)},
            unk_token=UNKNOWN,
            max_input_chars_per_word=_LONGEST_WORD + 1,
            continuing_subword_prefix="",
        )
    )
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Sequence([decoders.Replace(_BLANK, " "), decoders.Fuse()])
    messages = sorted((text for text in texts if len(text) > 1), key=lambda text: (-texts[text], text))
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in messages[:whole_messages]])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        pad_token=PAD,
        unk_token=UNKNOWN,
        eos_token=END,
        extra_special_tokens=[USER, ASSISTANT],
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template=CHAT_TEMPLATE,
    )


def word_tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    """The tokens of a text's words, also where the whole text is a token of its own."""
    parts = tokenizer.backend_tokenizer
    words = parts.pre_tokenizer.pre_tokenize_str(parts.normalizer.normalize_str(text))
    return [token.id for word, _ in words for token in parts.model.tokenize(word)]
