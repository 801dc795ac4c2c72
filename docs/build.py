"""Build the documentation site: ``python -m docs.build [--out site]``.

The pages of this folder and the README-like ones of the repository are copied to a temporary folder, where their
``<!-- generated: NAME -->`` marks are filled in, links to other files of the repository become links to its page on
GitHub, and the pages of `docs.pages` are added. Sphinx makes HTML of them and stops at the first warning. The site
needs no network, and its search works from ``file://``.
"""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from docs import pages
from docs.tasks import FOLDER
from lmrl_data.errors import LmrlError

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GITHUB = "https://github.com/lmrl-gym/lmrl-gym/blob/main/"

# Pages that stand elsewhere in the repository, and their names on the site.
ELSEWHERE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "benchmarks/README.md": "speed.md"}

_LINK = re.compile(r"(?<=\]\()(?!https?://|#)([^)#\s]+)(?=[)#])")
_PICTURES = {".png", ".svg"}
_MARK = re.compile(r"<!-- generated: ([\w-]+) -->")


def main() -> int:
    """Build the site: 0 if all is well, else 1."""
    parser = argparse.ArgumentParser(prog="python -m docs.build", description="Build the documentation site.")
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="folder of the site; it is made anew")
    out = parser.parse_args().out
    try:
        failed = build(out)
    except LmrlError as error:
        print(error, file=sys.stderr)
        return 1
    if not failed:
        print(f"Open {out / 'index.html'}")
    return failed


def build(out: Path) -> int:
    """Build the site into a folder, which is made anew: 0 if all is well, else 1."""
    from sphinx.cmd.build import build_main

    if out.exists() and not (out / "searchindex.js").exists() and any(out.iterdir()):
        print(f"{out} holds something else than the site; give another --out, or empty it", file=sys.stderr)
        return 1
    shutil.rmtree(out, ignore_errors=True)
    with TemporaryDirectory() as folder:
        source, doctrees = Path(folder) / "source", Path(folder) / "doctrees"
        stage(source)
        options = ["-b", "html", "--fail-on-warning", "--quiet", "-c", str(DOCS), "-d", str(doctrees)]
        return int(build_main([*options, str(source), str(out)]) != 0)


def stage(folder: Path) -> None:
    """Write the Markdown of all pages to a folder.

    Raises:
        LmrlError: a link to a file that is not there, or an unknown mark; the message names the page.
    """
    folder.mkdir(parents=True)
    for source in [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in ELSEWHERE)]:
        text = source.read_text("utf-8")
        (folder / site_name(source)).write_text(filled(linked(text, source), source), encoding="utf-8")
        for target in (source.parent / link for link in _LINK.findall(text)):
            if target.suffix in _PICTURES:
                shutil.copy(target, folder)
    for name, text in pages.written():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def site_name(path: Path) -> str:
    """Where the site has what a file of the repository holds; on GitHub if it does not have it.

    The page of a task is that of its environment's file, which links from the repository lead to.
    """
    if path.parent == DOCS and path.suffix == ".md":
        return path.name
    name = path.relative_to(ROOT).as_posix()
    environment = re.fullmatch(r"lmrl_data/tasks/(\w+)/env.py", name)
    if environment:
        return f"{FOLDER}/{environment[1].replace('_', '-')}.md"
    return ELSEWHERE.get(name, GITHUB + name)


def filled(text: str, source: Path) -> str:
    """The text with the generated parts in the places of their marks."""

    def part(match: re.Match[str]) -> str:
        if match[1] not in pages.PARTS:
            raise LmrlError(f"{source}: unknown mark {match[0]}; there are: {', '.join(pages.PARTS)}")
        return pages.PARTS[match[1]]()

    return _MARK.sub(part, text)


def linked(text: str, source: Path) -> str:
    """The text with links that lead to the right place from the site."""

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(source.parent / match[1]))
        if not target.exists():
            raise LmrlError(f"{source}: link to {match[1]}, which is not there")
        # A picture is copied to the site, where it stands beside the page.
        return target.name if target.suffix in _PICTURES else site_name(target)

    return _LINK.sub(link, text)


if __name__ == "__main__":
    sys.exit(main())
