"""The tables of Guess My City: what is in them, what is refused, and that nothing that is said gives a city away."""

import tomllib
from dataclasses import fields, replace
from importlib.resources import files

import pytest

from lmrl_data.tasks.guess_my_city import cities as cities_module
from lmrl_data.tasks.guess_my_city import phrasing
from lmrl_data.tasks.guess_my_city.cities import City, cities
from lmrl_data.tasks.guess_my_city.env import GuessMyCityEnv
from lmrl_data.tasks.guess_my_city.facts import all_cities, facts, in_country
from lmrl_data.tasks.guess_my_city.leaks import Leaks
from lmrl_data.tasks.guess_my_city.mentions import keywords
from lmrl_data.tasks.guess_my_city.oracle import CHARACTERS
from lmrl_data.tasks.guess_my_city.world import place_names

PACKAGE = files("lmrl_data.tasks.guess_my_city")
LINES = tomllib.loads(PACKAGE.joinpath("phrases.toml").read_text("utf-8"))["lines"]
TOLD = [name for name in phrasing.facets() if not name.startswith(("no_", "name_"))]
SPELLING = ["length", "words", "vowels", "letter 0", "letter 1", "letter 2", "letter 3", "letter 4", "letter -1"]
RICH = (
    *("landmarks", "food", "drink", "industry", "sports", "music", "arts", "history", "transport", "university"),
    *(
        "festival",
        "nature",
        "people",
        "architecture",
        "shopping",
        "nightlife",
        "fun_fact",
        "water",
        "climate",
        "terrain",
    ),
)


def test_there_are_a_hundred_cities_of_the_published_list() -> None:
    assert len(cities()) == 100
    by_country = {country: len(in_country(country)) for country in {city.country for city in cities().values()}}
    expected = {"China": 18, "Taiwan": 1, "Indonesia": 9, "India": 8, "Brazil": 6, "Japan": 4, "United States": 4}
    assert {country: by_country[country] for country in expected} == expected
    assert {"Mumbai", "Kolkata", "Busan", "Kyiv", "Kinshasa", "Xi'an", "Seoul", "Taipei"} <= cities().keys()


@pytest.mark.parametrize("facet", RICH)
def test_rich_facets_tell_the_cities_apart(facet: str) -> None:
    assert len({getattr(city, facet) for city in cities().values()}) == 100


def test_numbers_are_possible() -> None:
    for city in cities().values():
        assert -35 < city.latitude < 60 and -120 < city.longitude < 152
        assert 0 < city.population_millions < 40 and 0 <= city.elevation_m < 2700 and -1100 < city.founded < 1990
        assert -8 <= city.utc_offset <= 10 and city.utc_offset * 2 % 1 == 0
        assert abs(city.longitude / 15 - city.utc_offset) < 3.5, city.name
        # The sun is right: January is the warmer of the two months south of the tropics, and the colder north of them.
        if abs(city.latitude) > 24:
            assert (city.january_c > city.july_c) == (city.latitude < 0), city.name


def says(city: City) -> set[str]:
    """Everything that the oracle may ever say about a city."""
    found = {phrasing.sentence(clause) for facet in (*TOLD, *SPELLING) for clause in phrasing.clauses(facet, city.name)}
    for verdict in ("yes", "no"):
        for facet in (*TOLD, *SPELLING, verdict):
            found |= {phrasing.sentence(f"{verdict}, {clause}") for clause in phrasing.clauses(facet, city.name)}
    return found | {line for lines in LINES.values() for line in lines}


@pytest.mark.parametrize("name", cities())
def test_nothing_that_is_said_gives_the_city_away(name: str) -> None:
    city = cities()[name]
    for text in says(city):
        assert city.leaks.find(text) is None, text
        for forbidden in (name, city.country):
            # Words of up to three letters and names of several words count as whole words.
            if len(forbidden) > 3 and forbidden.isalpha():
                assert forbidden.casefold() not in text.casefold(), text


@pytest.mark.parametrize("name", cities())
def test_every_fact_has_two_wordings_or_more(name: str) -> None:
    for facet in (*TOLD, *SPELLING, "yes", "no"):
        assert len(set(phrasing.clauses(facet, name))) >= 2, facet


def test_what_is_said_fits_the_space() -> None:
    space = GuessMyCityEnv().observation_space
    for city in cities().values():
        for text in says(city):
            assert text in space and len(text) < 500, text
            assert text[0].isupper() or not text[0].isalpha()
            assert "  " not in text and text[-1] in ".!?…}"
            assert "{" not in text or text in LINES["unsure"]
    assert len(set(CHARACTERS)) == len(CHARACTERS)


@pytest.mark.parametrize(
    ("names", "text", "leak"),
    [
        (["Lima"], "The climate is mild.", "climate"),
        (["Rome"], "It shines like chrome", "chrome"),
        (["Paris", "Parisian"], "A parisienne, perhaps", "parisienne"),
        (["São Paulo"], "in sao paulo", "sao paulo"),
        (["Xi'an"], "It is Xi’an.", "xi'an"),
        (["Rio"], "various periods of history", None),
        (["Rio"], "down to Rio!", "rio"),
        (["Edo"], "the freedom of kimonos", None),
        (["UK"], "the UK", "uk"),
        (["Bogotá"], "bogota", "bogota"),
        (["India"], "the Indian Ocean", "indian"),
        (["Hong Kong"], "king kong", None),
    ],
)
def test_leaks_are_found(names: list[str], text: str, leak: str | None) -> None:
    assert Leaks(names).find(text) == leak


def test_the_two_koreas_do_not_name_each_other() -> None:
    for name in ("Seoul", "Busan", "Daegu", "Incheon", "Pyongyang"):
        assert not any("korea" in text.casefold() for text in says(cities()[name]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"snow": "sometimes"}, "snow = 'sometimes' is none of"),
        ({"rain_mm": "much"}, "rain_mm = 'much' is no"),
        ({"coastal": 1}, "coastal = 1 is no"),
        ({"olympics": ("1996",)}, "olympics"),
        ({"food": "a dish called Romanesco"}, "food gives it away by 'romanesco'"),
        ({"food": "pasta and pizza."}, "food is no clause"),
        ({"neighbours": ("Italia",)}, "neighbours gives it away"),
    ],
)
def test_wrong_tables_are_refused(change: dict[str, object], message: str) -> None:
    row = {field.name: getattr(cities()["Rome"], field.name) for field in fields(City)[1:]}
    with pytest.raises(ValueError, match=message):
        cities_module._read("Rome", {**row, **change})


def test_tables_without_a_key_and_shared_names_are_refused() -> None:
    row = {field.name: getattr(cities()["Rome"], field.name) for field in fields(City)[1:]}
    del row["food"]
    with pytest.raises(ValueError, match="keys are not those of a city"):
        cities_module._read("Rome", row)
    with pytest.raises(ValueError, match="Bombay stands for"):
        cities_module._check_names([cities()["Mumbai"], replace(cities()["Delhi"], aliases=("Bombay",))])
    with pytest.raises(ValueError, match="a name is there twice"):
        cities_module._check_names([replace(cities()["Delhi"], aliases=("Dilli", "Dilli"))])


def test_fact_tables_name_known_cities_and_say_something() -> None:
    rows = list(facts())
    assert len(rows) > 3000
    assert all(fact.cities <= all_cities() for _, fact in rows)
    assert all(phrase and phrase == phrase.casefold() for phrase, _ in rows)
    assert set(keywords()) <= set(cities())


def test_world_knows_the_countries_of_all_cities() -> None:
    homes = {name for _, place in place_names() if not place.city for name in place.cities}
    assert homes == all_cities()
