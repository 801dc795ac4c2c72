"""How the oracle words its answers: a seed picks among the wordings, and none gives the city away."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TypeVar

from lmrl_data.seeding import mix, stream_of
from lmrl_data.tasks.guess_my_city.cities import City, cities
from lmrl_data.tasks.guess_my_city.values import has_none, spelling, value

T = TypeVar("T")


@cache
def _tables() -> Mapping[str, Mapping[str, Sequence[str]]]:
    tables: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(
        files(__package__).joinpath("phrases.toml").read_text("utf-8")
    )
    return tables


def facets() -> list[str]:
    """The names of the phrases: the facets, and a few parts of facets."""
    return list(_tables()["facets"])


def pick(choices: Sequence[T], seed: int, purpose: str) -> T:
    """One of the choices: the same for the same seed and purpose."""
    return choices[(mix(seed, stream_of(f"guess-my-city/{purpose}")) >> 32) * len(choices) >> 32]


def line(name: str, seed: int, about: str = "") -> str:
    """One of the lines that have nothing to do with the city, such as ``"opening"``; another one for something else."""
    return pick(_tables()["lines"][name], seed, f"{name}/{about}" if about else name)


@cache
def clauses(facet: str, city_name: str) -> tuple[str, ...]:
    """Every way to tell a city's fact, as clauses without capital and full stop; those that give it away are left out.

    Args:
        facet: a facet, ``"letter 0"`` and the like for the spelling of the name, ``"yes"`` or ``"no"`` for a verdict.
        city_name: of the city.
    """
    city = cities()[city_name]
    tables = _tables()
    if facet in tables["verdicts"]:
        made = list(tables["verdicts"][facet])
    elif facet in tables["facets"]:
        wordings = tables["facets"][f"no_{facet}" if has_none(facet, city) else facet]
        if facet == "water" and has_none(facet, city):
            wordings = tables["facets"]["no_water"]
        fact = "" if has_none(facet, city) and facet != "water" else value(facet, city)
        made = [wording.format(fact) for wording in wordings]
    else:
        kind, fact = spelling(facet, city)
        made = [wording.format(fact) for wording in tables["facets"][kind]]
    return tuple(clause for clause in made if not city.leaks.find(clause))


def tell(facet: str, city: City, seed: int, about: str = "") -> str:
    """A city's fact as a clause, in one of its wordings.

    Args:
        facet: as for `clauses`.
        city: the city.
        seed: of the episode.
        about: what the question is about: plain verdicts are worded anew for each facet.
    """
    return pick(clauses(facet, city.name), seed, f"phrase/{facet}/{about}" if about else f"phrase/{facet}")


def sentence(clause: str) -> str:
    """A clause as a sentence."""
    return f"{clause[0].upper()}{clause[1:]}{'' if clause[-1] in '.!?…' else '.'}"
