"""The leaderboard page in headless Chromium: what is drawn, keys, phone width, dark, print, and strangers' texts."""

import os
import re
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.image import imread
from needed_programs import find_browser, find_stockfish_or_none, needs_browser

from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.findings import Finding
from lmrl_evaluation.leaderboard import leaderboard
from lmrl_evaluation.page import as_html
from lmrl_evaluation.samples import chosen
from lmrl_evaluation.verify import Check

if os.environ.get("LMRL_TEST_ALL") is None:
    pytest.importorskip("playwright", reason="playwright is not installed: pip install 'lmrl-gym[dev]'")

pytestmark = needs_browser

EVIL = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def results():
    made = [
        evaluate("wordle", "mixture", episodes=400),
        evaluate("wordle", "optimal", episodes=400),
        evaluate("wordle", "random", episodes=2),
        evaluate("maze", "random", episodes=50),
        evaluate("text-nav", "half-west", episodes=80),
        evaluate("twenty-questions", "random", episodes=20),
    ]
    if find_stockfish_or_none():
        made.append(evaluate("endgames", "greedy-40", episodes=10))
    rows = made[2].table.to_pylist()
    rows[0]["messages"][1]["content"] = EVIL
    evil = pa.Table.from_pylist(rows, made[2].table.schema)
    made[2] = replace(made[2], policy=EVIL, method=EVIL, table=evil, versions={EVIL: EVIL})
    return made


@pytest.fixture(scope="module")
def url(results, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "leaderboard.html"
    refused = [Check(Path(EVIL), None, (Finding("", EVIL),), ())]
    file.write_text(as_html(leaderboard(results), refused), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # No sandbox, because CI runs as root, where Chromium has none.
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser, url, fragment="", **options):
    """A page, which must neither complain nor ask for anything else."""
    context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(url + fragment)
    yield page
    assert complaints == []
    assert [request for request in requests if not request.startswith(("data:", url))] == []
    context.close()


def wait_for_fragment(page, fragment):
    """Wait until the page's address has a fragment, which it gets a moment after a step."""
    for _ in range(100):
        if page.evaluate("location.hash") == fragment:
            return
        page.wait_for_timeout(20)
    assert page.evaluate("location.hash") == fragment


def pixels(screenshot):
    """Colours of a screenshot, shape (height, width, 3), from 0 to 1."""
    return imread(BytesIO(screenshot), format="png")[..., :3]


def name_of(results, task):
    return next(result.folder_name for result in results if result.task == task and result.method == "scripted")


def test_strangers_texts_are_shown_and_never_run(browser, url, results):
    evil = results[2].folder_name
    with opened(browser, url, f"#episode={evil}/0/1") as page:
        assert page.locator("#viewer-title").inner_text().startswith(EVIL)
        assert page.locator("#talk .agent .text").first.inner_text() == EVIL
        assert (
            page.locator("table th.name", has_text="onerror").count() == 1
        )  # it has no rank, so not in the overall one
        assert page.evaluate("window.hacked") is None


def test_the_page_s_policy_stops_what_would_get_in(browser, url):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(url)
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=data:x onerror=\"window.hacked=1\">')")
        page.evaluate("""() => {
            const script = document.createElement('script');
            script.textContent = 'window.hacked = 1';
            document.body.append(script);
        }""")
        page.wait_for_timeout(100)
        assert page.evaluate("window.hacked") is None


def test_tables_sort_by_keyboard(browser, url):
    with opened(browser, url) as page:
        table = page.locator("section:has(#wordle-default) table").first
        names = lambda: table.locator("tbody th").evaluate_all("all => all.map(one => one.dataset.value)")  # noqa: E731
        assert names()[:2] == ["optimal", "mixture"]
        heading = table.locator("thead th", has_text="Return")
        assert heading.get_attribute("aria-sort") == "none"
        heading.locator("button").focus()
        page.keyboard.press("Enter")
        assert heading.get_attribute("aria-sort") == "descending"
        assert names() == ["optimal", "mixture", EVIL]
        page.keyboard.press("Space")
        assert heading.get_attribute("aria-sort") == "ascending"
        assert names() == [EVIL, "mixture", "optimal"]
        table.locator("thead th", has_text="Rank").locator("button").click()
        assert heading.get_attribute("aria-sort") == "none"
        assert names() == ["optimal", "mixture", EVIL]  # no rank comes last
        page.locator("thead th", has_text="Policy").nth(1).locator("button").click()


def test_tab_reaches_everything_with_a_visible_focus(browser, url):
    with opened(browser, url) as page:
        seen = set()
        for _ in range(400):
            page.keyboard.press("Tab")
            focused = page.evaluate("""() => {
                const one = document.activeElement;
                const style = getComputedStyle(one);
                return [one.tagName, one.className || one.textContent.trim().slice(0, 20), style.outlineStyle,
                    parseFloat(style.outlineWidth)];
            }""")
            if focused[0] == "BODY":
                break
            assert focused[2] != "none", focused
            assert focused[3] >= 1, focused
            seen.add(focused[0])
        assert {"A", "BUTTON", "DIV", "SUMMARY"} <= seen


def test_keys_step_through_an_episode_and_close_it(browser, url, results):
    name = name_of(results, "maze")
    best = chosen(results[3].table)[0]
    with opened(browser, url, f"#episode={name}") as page:
        where = page.locator("#where")
        assert where.inner_text().startswith("Start")
        for key, turn in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", None), ("Home", 0)]:
            page.keyboard.press(key)
            if turn:
                assert where.inner_text().startswith(f"Turn {turn} of ")
                wait_for_fragment(page, f"#episode={name}/{best}/{turn}")
        assert where.inner_text().startswith("Start")
        first = page.locator("#pick-episode").input_value()
        page.keyboard.press("PageDown")
        assert page.locator("#pick-episode").input_value() != first
        page.locator("#next").focus()
        page.keyboard.press("Enter")
        assert where.inner_text().startswith("Turn 1 of ")
        page.keyboard.press("Escape")
        assert not page.locator("#viewer").is_visible()
        wait_for_fragment(page, "")


def test_a_click_on_the_episodes_opens_them_and_the_menus_choose(browser, url, results):
    with opened(browser, url) as page:
        page.locator("section:has(#maze-fully_observed) td a").first.click()
        assert page.locator("#viewer-title").inner_text() == "random on maze"
        assert "20 of 50 episodes are in this page" in page.locator("#sampled").inner_text()
        page.locator("#pick-result").select_option(name_of(results, "text-nav"))
        assert page.locator("#viewer-title").inner_text() == "half-west on text-nav"
        page.locator("#pick-episode").select_option(index=3)
        row = re.match(r"number (\d+)", page.locator("#pick-episode option").nth(3).inner_text())[1]
        wait_for_fragment(page, f"#episode={name_of(results, 'text-nav')}/{row}/0")


def test_an_unknown_fragment_opens_nothing(browser, url):
    for fragment in ("#episode=nothing", "#episode=__proto__/1/1", "#episode=", "#wordle-default"):
        with opened(browser, url, fragment) as page:
            assert not page.locator("#viewer").is_visible()


def test_wordle_is_coloured_tiles(browser, url, results):
    wordle = results[1]
    with opened(browser, url, f"#episode={wordle.folder_name}") as page:
        page.keyboard.press("End")
        row = int(re.match(r"number (\d+)", page.locator("#pick-episode option").first.inner_text())[1])
        replies = [message["content"] for message in wordle.table["messages"][row].as_py()[2::2]]
        colours = "".join(replies).replace(" ", "")
        tiles = page.locator(".scene .tile")
        assert tiles.count() == 30
        for letter, kind in {"g": "green", "y": "yellow", "b": "grey"}.items():
            assert page.locator(f".scene .tile.{kind}").count() == colours.count(letter)
        picture = pixels(page.locator(f".scene .tile.green >> nth={colours.count('g') - 1}").screenshot())
        assert picture[4:8, 8:20].mean(axis=(0, 1)) == pytest.approx([0.235, 0.49, 0.275], abs=0.05)


def test_the_maze_shows_the_way(browser, url, results):
    with opened(browser, url, f"#episode={name_of(results, 'maze')}") as page:
        page.locator("#pick-episode").select_option(index=19)  # the worst, which takes all its turns
        assert page.locator(".scene .floor").count() == 26
        for turn in range(6):
            text = page.locator("#talk .now.environment .text").inner_text()
            row, column = re.search(r"You are at row (\d+), column (\d+)", text).groups()
            assert page.locator(".scene").get_attribute("aria-label") == f"agent at row {row}, column {column}"
            assert len(page.locator(".scene .way").get_attribute("points").split()) == turn + 1
            page.locator("#next").click()


def test_the_house_shows_rooms_and_things(browser, url, results):
    with opened(browser, url, f"#episode={name_of(results, 'text-nav')}") as page:
        assert page.locator(".scene .room").count() == 8
        assert page.locator(".scene .room.here").count() == 1
        page.keyboard.press("End")
        assert page.locator(".scene .thing", has_text="stale food").count() <= 1
        assert page.locator(".scene .stand", has_text="fridge, closed").count() == 1


def test_the_board_shows_the_position(browser, url, results):
    if not find_stockfish_or_none():
        pytest.skip("no Stockfish, no games")
    with opened(browser, url, f"#episode={name_of(results, 'endgames')}") as page:
        for key in ("Home", "ArrowRight", "End"):
            page.keyboard.press(key)
            fen = page.locator("#talk .now.environment .text").inner_text().split()[0]
            assert page.locator(".scene .piece").count() == sum(letter.isalpha() for letter in fen)
            assert page.locator(".scene .piece.black").count() == sum(letter.islower() for letter in fen)
            king = page.locator(".scene").get_attribute("aria-label").count("king")
            assert king == 2
        assert page.locator(".scene .moved").count() in (2, 4)


def test_dialogues_are_bubbles(browser, url, results):
    with opened(browser, url, f"#episode={name_of(results, 'twenty-questions')}") as page:
        assert not page.locator("#scene").is_visible()
        agent, environment = page.locator("#talk .agent").first, page.locator("#talk .environment").first
        assert agent.bounding_box()["x"] > environment.bounding_box()["x"]
        page.keyboard.press("End")
        assert page.locator("#talk .now").last.is_visible()
        assert page.locator("#talk .later").count() == 0


@pytest.mark.parametrize("task", [None, "wordle", "maze", "text-nav", "endgames", "twenty-questions"])
def test_a_phone_never_scrolls_sideways(browser, url, results, task):
    if task == "endgames" and not find_stockfish_or_none():
        pytest.skip("no Stockfish, no games")
    fragment = f"#episode={name_of(results, task)}" if task else ""
    with opened(browser, url, fragment, viewport=PHONE) as page:
        over = "one => one.scrollWidth - one.clientWidth"
        assert page.locator("html").evaluate(over) <= 0
        assert page.locator("#viewer").evaluate(over) <= 0


def contrast(page, selector):
    """Between the colour of a text and the ground behind it, whose layers may be transparent (WCAG 2, 1.4.3)."""
    layers = page.locator(selector).first.evaluate("""one => {
        const layers = [getComputedStyle(one).color];
        for (; one; one = one.parentElement) layers.push(getComputedStyle(one).backgroundColor);
        return layers;
    }""")
    text, *grounds = ([float(part) for part in re.findall(r"[\d.]+", layer)] for layer in layers)
    behind = np.zeros(3)
    for *colour, alpha in ((*ground[:3], ground[3] if len(ground) == 4 else 1.0) for ground in reversed(grounds)):
        behind = alpha * np.array(colour) + (1 - alpha) * behind
    shades = sorted((luminance(np.array(text[:3])), luminance(behind)))
    return (shades[1] + 0.05) / (shades[0] + 0.05)


def luminance(colour):
    """Relative luminance of a colour, each part from 0 to 255."""
    parts = colour / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(("scheme", "ground"), [("light", (0.9, 1.0)), ("dark", (0.0, 0.2))])
def test_light_and_dark_are_readable(browser, url, scheme, ground):
    with opened(browser, url, color_scheme=scheme) as page:
        picture = pixels(page.screenshot())
        assert ground[0] <= np.median(picture) <= ground[1]
        for selector in ("p", "h2 a", "caption", "thead th", "tbody td", "tbody small", "tbody a", ".refused h2", "dd"):
            assert contrast(page, selector) >= 4.5, selector


def test_print_leaves_out_what_paper_cannot_do(browser, url):
    with opened(browser, url, color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert np.median(pixels(page.screenshot())) > 0.95
        assert not page.locator("nav").is_visible()
        assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_tables_are_there(browser, url):
    with opened(browser, url, java_script_enabled=False) as page:
        assert page.locator("section.board tbody tr").last.is_visible()
        assert page.locator("thead button").count() == 0
