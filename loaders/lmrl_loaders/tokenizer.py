"""A word-level tokenizer for small models made from scratch, with single characters for everything else.

Tasks use few words, so a whole word with the blank before it is one token: an observation of the maze takes about 25.
Every printable ASCII character is a token of its own as well, and so any such text survives encoding and decoding.
Where a game has few messages, each of them can be one token.
"""

import string
from collections import Counter
from collections.abc import Mapping, Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from lmrl_loaders.chat import ASSISTANT, CHAT_TEMPLATE, END, USER

PAD, UNKNOWN = "<|pad|>", "<|unknown|>"
SPECIAL_TOKENS = (PAD, UNKNOWN, USER, ASSISTANT, END)
MAX_WORDS = 2000

_BLANK = "▁"  # a visible blank, as in SentencePiece; a real U+2581 in a text reads as a blank
_LONGEST_WORD = 32
# A word, a number or a sign takes one blank before it along; what is not ASCII never does, because where it is
# unknown it must not swallow the blank. Few letters and digits together are a word too: a move of chess, a row of a
# board in FEN. A board then takes 20 tokens instead of 26 (endgames), 32 instead of 42 (chess).
_WORDS = (
    rf"{_BLANK}?(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[A-Za-z0-9]{{2,8}}(?![A-Za-z0-9])"
    rf"|{_BLANK}?[A-Za-z]{{1,{_LONGEST_WORD}}}|{_BLANK}?[0-9]{{1,3}}|{_BLANK}?[!-/:-@\[-`{{-~]"
    rf"|[^A-Za-z0-9{_BLANK}]|{_BLANK}"
)
_PRINTABLE = string.ascii_letters + string.digits + string.punctuation + "\n\t"
_NORMALIZER = normalizers.Replace(" ", _BLANK)
_PRE_TOKENIZER = pre_tokenizers.Split(Regex(_WORDS), behavior="isolated")


def count_words(texts: Mapping[str, int]) -> Counter[str]:
    """How often each word occurs, given how often each text does. The words of a word are itself."""
    counts: Counter[str] = Counter()
    for text, count in texts.items():
        for word, _ in _PRE_TOKENIZER.pre_tokenize_str(_NORMALIZER.normalize_str(text)):
            counts[word] += count
    return counts


def most_frequent(counts: Mapping[str, int], most: int) -> list[str]:
    """The most frequent texts of more than a character, ties in alphabetical order."""
    return sorted((text for text in counts if len(text) > 1), key=lambda text: (-counts[text], text))[:most]


def build_tokenizer(
    texts: Mapping[str, int], *, max_words: int = MAX_WORDS, messages: Sequence[str] = ()
) -> PreTrainedTokenizerFast:
    """A tokenizer whose vocabulary is counted from texts; the same counts give the same tokenizer, byte for byte.

    Args:
        texts: how often each text occurs; or each word, as `count_words` says, which gives the same tokenizer.
        max_words: the vocabulary holds so many of the most frequent words (ties in alphabetical order), besides the
            special tokens, printable ASCII, and the further characters of the texts.
        messages: texts that are a token each.

    Returns:
        A tokenizer with our chat template, padding on the left, and ``<|end|>`` as the end of a turn.
    """
    counts = count_words(texts)
    further = sorted({char for text in texts for char in text} - {" "})
    words = most_frequent(counts, max_words)
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
    tokenizer.normalizer = _NORMALIZER
    tokenizer.pre_tokenizer = _PRE_TOKENIZER
    tokenizer.decoder = decoders.Sequence([decoders.Replace(_BLANK, " "), decoders.Fuse()])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in messages])
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
