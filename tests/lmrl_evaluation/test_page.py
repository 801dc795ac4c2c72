"""The leaderboard page without a browser: what is in it, what is not, and which episodes it shows."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest

from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.findings import Finding
from lmrl_evaluation.leaderboard import leaderboard
from lmrl_evaluation.page import as_html, embedded_json
from lmrl_evaluation.samples import chosen, samples
from lmrl_evaluation.verify import Check

EVIL = "</script><script>x</script><img src=x onerror=x>\"' &lt;"
VOID = {"meta", "link", "input", "line", "circle"}


class Parts(HTMLParser):
    """The elements of a page, the texts in them, and what is not closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts, self.attributes = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))


@pytest.fixture(scope="module")
def results():
    return [evaluate("maze", "random", episodes=50), evaluate("wordle", "mixture", episodes=400)]


@pytest.fixture(scope="module")
def page(results):
    return as_html(leaderboard(results))


def embedded(page):
    (text,) = (data for tag, data in Parts(page).texts if tag == "script" and data.startswith('{"texts"'))
    return json.loads(text)


def test_every_element_is_closed_and_ids_are_different(page):
    parts = Parts(page)
    assert parts.open == []
    ids = [value for _, name, value in parts.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    targets = [value for tag, name, value in parts.attributes if (tag, name) == ("a", "href")]
    assert all(value.startswith("#") for value in targets)
    assert {value[1:] for value in targets if not value.startswith("#episode=")} <= set(ids)
    described = [value for _, name, value in parts.attributes if name == "aria-labelledby"]
    assert set(described) <= set(ids)


def test_nothing_is_loaded_from_elsewhere(page):
    assert not re.search(r"(?:src|href|action)=[\"']?(?:https?:)?//", page)
    assert "@import" not in page
    assert "url(" not in page


def test_only_its_own_script_and_style_may_run(page):
    ((policy),) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(scripts) == len(styles) == 1
    assert "unsafe" not in policy
    for name, text in (("script-src", scripts[0]), ("style-src", styles[0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} &#39;sha256-{digest}&#39;" in policy


def test_strangers_texts_stay_texts(results):
    maze, wordle = results
    rows = wordle.table.to_pylist()
    for row in rows:
        row["messages"][1]["content"] = EVIL
    table = pa.Table.from_pylist(rows, wordle.table.schema)
    evil = replace(wordle, policy=EVIL, method=EVIL, versions={"lmrl-gym": EVIL, EVIL: "1"}, table=table)
    refused = [Check(Path(EVIL), None, (Finding("", EVIL), Finding(EVIL, EVIL)), ())]
    page = as_html(leaderboard([maze, evil]), refused)
    plain = replace(wordle, versions={"lmrl-gym": "1", "x": "1"})
    harmless = as_html(leaderboard([maze, plain]), [Check(Path("x"), None, (Finding("", "x"), Finding("x", "x")), ())])
    assert sorted(Parts(page).tags) == sorted(Parts(harmless).tags)
    assert not [name for _, name, _ in Parts(page).attributes if name.startswith("on")]
    assert EVIL in embedded(page)["texts"]
    assert ("th", EVIL + " ") in Parts(page).texts


def test_embedded_json_has_nothing_that_ends_or_opens_an_element():
    text = embedded_json({EVIL: [EVIL, "</script x <!-- <script\u2028"]})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {EVIL: [EVIL, "</script x <!-- <script\u2028"]}


def test_the_page_is_the_same_each_time(results, page):
    assert as_html(leaderboard(results)) == page


def test_published_baselines_are_marked_and_apart(page):
    texts = [text.strip() for _, text in Parts(page).texts]
    assert "Published in arXiv 2311.18232, tables 2 and 4; not ranked" in texts
    assert texts.index("GPT-4") > texts.index("Published in arXiv 2311.18232, tables 2 and 4; not ranked")


def test_the_best_the_worst_and_others_between_are_shown(results):
    _, wordle = results
    rows = chosen(wordle.table, 20)
    returns = wordle.table["episode_return"].to_pylist()
    assert len(set(rows)) == 20
    assert [returns[row] for row in rows] == sorted((returns[row] for row in rows), reverse=True)
    assert (returns[rows[0]], returns[rows[-1]]) == (max(returns), min(returns))
    # Even in the order of returns: the middle one shown is the median.
    assert returns[rows[10]] == sorted(returns)[len(returns) // 2]
    assert chosen(wordle.table.slice(0, 3), 20) == sorted(range(3), key=lambda row: -returns[row])


def test_texts_are_stored_once(results, page):
    data = embedded(page)
    assert len(data["texts"]) == len(set(data["texts"]))
    assert data == json.loads(json.dumps(samples({result.folder_name: result for result in results})))
    (maze,) = (result for result in data["results"].values() if result["task"] == "maze")
    assert maze["of"] == 50
    shown = maze["episodes"][0]
    row = results[0].table.slice(shown["row"], 1).to_pylist()[0]
    assert [data["texts"][number] for number in shown["texts"]] == [message["content"] for message in row["messages"]]
    assert shown["seed"] == str(row["seed"])


def test_two_results_of_one_name_have_links_of_their_own(results):
    maze, _ = results
    page = as_html(leaderboard([maze, replace(maze, episodes_sha256="0" * 64)]))
    assert len(embedded(page)["results"]) == 2


def test_overall_means_are_of_policies_that_were_ranked_everywhere():
    results = [
        evaluate("maze", "optimal", episodes=25),
        evaluate("maze", "random", episodes=25),
        evaluate("wordle", "optimal", episodes=400),
    ]
    page = as_html(leaderboard(results))
    overall = page[page.index('id="overall"') : page.index("<nav")]
    first, second = re.findall(r"<tr>\n<th scope=\"row\".*?</tr>", overall, re.DOTALL)
    assert "optimal" in first
    assert "<strong>100.0</strong>" in first
    assert "random" in second
    assert "<strong>" not in second


def test_a_page_without_results_says_so():
    page = as_html([], [Check(Path("results/x/result.json"), None, (Finding("", "is broken"),), ())])
    assert "0 results on 0 boards" in page
    assert "is broken" in page
