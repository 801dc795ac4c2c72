"""The documentation: the site builds without a warning, its links and search work, and the code on its pages runs."""

import importlib.util
import json
import os
import re
import shlex
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from typer.testing import CliRunner

from docs.build import DOCS, ELSEWHERE, ROOT, build, filled, linked, stage
from docs.commands import commands
from lmrl_cards.markdown import docstring_sections
from lmrl_data.cli import make_app
from lmrl_data.episode import episode_schema, evaluation_schema
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task, list_tasks, locate
from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans

ALL = os.environ.get("LMRL_TEST_ALL") is not None
CHROMIUM = os.environ.get("CHROMIUM_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
needs_sphinx = pytest.mark.skipif(
    not ALL and importlib.util.find_spec("furo") is None, reason="no Sphinx: pip install 'lmrl-gym[docs]'"
)
needs_browser = pytest.mark.skipif(
    not ALL and (CHROMIUM is None or importlib.util.find_spec("playwright") is None),
    reason="no Chromium or no playwright: see CONTRIBUTING.md",
)

SOURCES = {"README.md": ROOT / "README.md"} | {path.name: path for path in sorted(DOCS.glob("*.md"))}
SOURCES |= {name: ROOT / place for place, name in ELSEWHERE.items()}
PAGES = [*SOURCES, *(f"tasks/{name}.md" for name in list_tasks())]
# Pages that train or play with models: torch and transformers alone take seconds to import.
SLOW = {"guide.md", "leaderboard.md", "training.md", "faq.md"}

# The pages' own settings, made so small that a test can wait for it. Sixteen episodes are each room of text-nav twice,
# which is what a result needs to be sent in.
SHORTER = {r"\bmax_steps=\d+": "max_steps=2", r"\bepisodes=\d+": "episodes=4"}
SHORTER_COMMANDS = {
    "generate": ["--episodes", "60", "--validation", "12"],
    "train": ["--max-steps", "2"],
    "evaluate": ["--episodes", "16"],
}
# What is not run here, though its options are checked: patterns of commands or code, and why.
NOT_RUN = {
    "^lmrl publish": "sends to the Hub; test_publish.py runs it against a server of its own",
    "^lmrl import": "reads files of the paper, which we do not have; test_importing.py runs it on files like them",
    "^lmrl play": "asks a person",
    "openai:": "asks a language model's server; test_llm_remote.py and test_chat_policy.py have one of their own",
    "--executor ray": "starts a cluster; test_ray.py does so",
    "s3://": "needs a bucket; test_folders.py has one",
    "^(pip|git|hf) ": "needs the network",
    "^ray start": "starts a server",
    "^cd ": "goes into the clone",
    "^make ": "runs everything; the target is looked up in the Makefile",
    "^python -m ": "measures for minutes; the module and its files are looked up",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    assert build(folder) == 0
    return folder


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """The Markdown of all pages, with what is generated, and the README."""
    folder = tmp_path_factory.mktemp("staged") / "source"
    stage(folder)
    shutil.copy(ROOT / "README.md", folder)
    return folder


class Page(HTMLParser):
    """The links, anchors, headings and loaded files of an HTML page, and its text."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.headings, self.loaded, self.text = [], set(), [], [], ""
        self._heading = False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if "src" in given or (tag == "link" and given.get("rel") != "canonical"):
            self.loaded.append(given.get("src") or given["href"])
        if tag in ("h1", "h2", "h3"):
            self._heading = True
            self.headings.append("")

    def handle_endtag(self, tag):
        self._heading = self._heading and tag not in ("h1", "h2", "h3")

    def handle_data(self, data):
        self.text += data
        if self._heading:
            self.headings[-1] += data


@needs_sphinx
@pytest.mark.slow
def test_no_link_of_the_site_is_broken_and_nothing_comes_from_elsewhere(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) >= len(PAGES)
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                assert link in page.links, f"{path} loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path} links to {link}"
            if parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in pages[target].anchors, f"{path} links to {link}"


@needs_sphinx
@pytest.mark.slow
@pytest.mark.parametrize("name", list_tasks())
def test_each_task_has_a_page_with_every_heading_of_its_docstring(site, name):
    task = get_task(name)
    page = Page(site / "tasks" / f"{name}.html")
    headings = [heading.strip("¶") for heading in page.headings]
    sections = docstring_sections(locate(task.env))
    assert headings[0] == task.title
    assert len(sections) >= 9
    assert {*sections} <= {*headings}
    for word in [*task.policies, *task.info, *task.options, *(config.env_id for config in task.configs.values())]:
        assert word in page.text
    assert page.text.count("\nagent: ") >= 2 * len(task.configs) or task.partner == "engine"


@needs_sphinx
@pytest.mark.slow
def test_the_search_index_has_the_words_of_the_pages(site):
    text = (site / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    pages = {name: number for number, name in enumerate(index["docnames"])}
    where = {"fridg": "tasks/text-nav", "stockfish": "tasks/chess", "rollout": "api", "ollama": "faq"}
    for word, name in where.items():
        found = index["terms"][word]
        assert pages[name] in (found if isinstance(found, list) else [found])


@needs_sphinx
@needs_browser
@pytest.mark.slow
def test_the_search_finds_a_page_from_a_file_without_a_network(site):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # No sandbox, because CI runs as root, where Chromium has none.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        page = context.new_page()
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.fill("input[name=q]", "stale food")
        page.press("input[name=q]", "Enter")
        page.wait_for_selector("#search-results li a")
        found = page.locator("#search-results li a").all_inner_texts()
        assert "Text navigation" in found
        page.locator("#search-results li a", has_text="Text navigation").first.click()
        page.wait_for_selector("h1")
        assert page.locator("h1").inner_text().startswith("Text navigation")
        assert [request for request in requests if not request.startswith(("file:", "data:"))] == []
        browser.close()


def test_a_broken_link_and_an_unknown_mark_are_refused():
    with pytest.raises(LmrlError, match=r"guide\.md: link to nowhere\.md"):
        linked("[this](nowhere.md#at-all)", DOCS / "guide.md")
    with pytest.raises(LmrlError, match=r"unknown mark <!-- generated: nothing -->"):
        filled("<!-- generated: nothing -->", DOCS / "guide.md")


def test_links_lead_to_pages_of_the_site_or_to_github():
    said = (
        "[a](../benchmarks/README.md#chess) [b](../lmrl_data/tasks/text_nav/env.py) [c](../NOTICE) [d](https://x.org)"
    )
    github = "https://github.com/lmrl-gym/lmrl-gym/blob/main/NOTICE"
    expected = f"[a](speed.md#chess) [b](tasks/text-nav.md) [c]({github}) [d](https://x.org)"
    assert linked(said, DOCS / "guide.md") == expected


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    assert build(tmp_path) == 1
    assert (tmp_path / "thesis.txt").exists()


def test_every_column_is_explained(staged):
    text = (staged / "data.md").read_text("utf-8")
    for name in {*episode_schema(get_task("wordle")).names, *evaluation_schema(get_task("wordle")).names}:
        assert f"| `{name}` |" in text
    for name in list_tasks():
        assert f"](tasks/{name}.md#the-fields-of-info)" in text


def test_every_command_and_option_is_listed(staged):
    text = (staged / "commands.md").read_text("utf-8")
    for name, command in commands().items():
        section = text.partition(f"## lmrl {name}\n")[2].partition("\n## ")[0]
        assert [
            option for parameter in command.params for option in parameter.opts if f"`{option}`" not in section
        ] == []


# The code on the pages.


def blocks(text):
    """Language and code of each fenced block."""
    return re.findall(r"^```(\S*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def lines_of(code):
    """The commands of a block of bash, as words."""
    for line in code.replace("\\\n", " ").splitlines():
        for part in line.split("&&"):
            words = shlex.split(part, comments=True)
            if words:
                yield words


def reason(code):
    return next((why for pattern, why in NOT_RUN.items() if re.search(pattern, code)), None)


def check_other_command(words):
    """A command of another program has to name what is there."""
    assert reason(f"{' '.join(words)} "), f"{words}: run it, or say in NOT_RUN why not"
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE)
    if words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2]), words
        assert all((ROOT / word).exists() for word in words if word.startswith("tests/"))


def run_command(words):
    """Run a command of lmrl, made short; or only read its options."""
    if words[0] != "lmrl":
        return check_other_command(words)
    _, name, *arguments = words
    if reason(" ".join(words)):
        return commands()[name].make_context(name, arguments)
    extra = [] if "--settings" in arguments else SHORTER_COMMANDS.get(name, [])
    given = [word for pair in zip(extra[::2], extra[1::2], strict=True) if pair[0] not in arguments for word in pair]
    done = CliRunner().invoke(make_app(), [name, *arguments, *given], catch_exceptions=False)
    assert done.exit_code == 0, f"{' '.join(words)}\n{done.output}"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The folder of somebody who has made small datasets, models and results."""
    folder = tmp_path_factory.mktemp("home")
    generate(make_plans("wordle", config="default", episodes=300, validation=30), folder / "lmrl-gym" / "wordle")
    generate(make_plans("maze", episodes=60, validation=12), folder / "lmrl-gym" / "maze")
    generate(make_plans("text-nav", episodes=60, validation=12), folder / "lmrl-gym" / "text-nav")
    shutil.copytree(folder / "lmrl-gym" / "maze", folder / "my-lab" / "maze")
    return folder


@pytest.fixture(scope="module")
def home_with_models(home):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        run_command("lmrl train bc --task maze --model tiny".split())
        run_command("lmrl train bc --task text-nav --model tiny --output models/my-model".split())
    return home


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PAGES]
)
def test_the_code_of_the_page_runs(name, staged, home, request, tmp_path, monkeypatch):
    import datasets

    if name in SLOW:
        request.getfixturevalue("home_with_models")
    here = tmp_path / "here"
    shutil.copytree(home, here)
    monkeypatch.chdir(here)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    namespace = {"__name__": "page"}
    for number, (language, code) in enumerate(blocks((staged / name).read_text("utf-8"))):
        if language == "bash":
            for words in lines_of(code):
                run_command(words)
        elif language == "python" and not reason(code):
            for long, short in SHORTER.items():
                code = re.sub(long, short, code)
            exec(compile(code, f"{name}, block {number}", "exec"), namespace)


def test_the_pages_say_in_which_language_their_code_is():
    found = {language for path in DOCS.glob("*.md") for language, _ in blocks(path.read_text("utf-8"))}
    assert found == {"python", "bash", "text", "{eval-rst}"}


@pytest.mark.parametrize("name", SOURCES)
def test_commands_named_in_the_text_have_these_options(name):
    for said in re.findall(r"`lmrl\s+([a-z][^`]+)`", SOURCES[name].read_text("utf-8")):
        command, *words = said.split()
        known = [option for parameter in commands()[command].params for option in parameter.opts] + ["--help"]
        for word in words:
            assert not word.startswith("--") or word.partition("=")[0] in known, f"lmrl {said}"
