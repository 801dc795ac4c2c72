"""Build english.txt, the list of common words: ``python -m lmrl_data.language.build_english``.

Source: the lower-case words of SCOWL as packaged by Debian (``wamerican`` 2020.12.07; permissive licence, see NOTICE),
the most frequent ones by ``wordfreq``, the commonest first. The list is committed, so only somebody who wants another
one needs the two packages.
"""

import re
from pathlib import Path

SOURCE = Path("/usr/share/dict/american-english")
SIZE = 30_000


def main() -> None:
    """Write english.txt beside this file."""
    from wordfreq import zipf_frequency

    words = re.findall(r"^[a-z]{2,}$", SOURCE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    words.sort(key=lambda word: (-zipf_frequency(word, "en"), word))
    (Path(__file__).parent / "english.txt").write_text("\n".join(words[:SIZE]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
