"""The knowledge table: what is true of the 158 objects, read from `objects.toml` and `attributes.toml`.

The two files say at their top how they are written. A person corrects them there; nothing is made from them beforehand.
"""

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError

NO, SOMETIMES, YES = np.uint8(0), np.uint8(1), np.uint8(2)
CATEGORIES = (
    *("Sports", "Animals", "Fruits", "Vehicles", "Clothes", "Electronics", "Musical Instruments", "Furniture"),
    *("Office Supplies", "Vegetables", "Art", "Kitchen Tools", "Nature", "Toys", "Jewelry", "Garden Supplies", "Tools"),
)
KINDS = (
    *("category", "material", "colour", "shape", "size", "weight", "price", "place", "wear", "use", "user", "part"),
    *("power", "sound", "life", "food", "property"),
)
NUMBERS = ("length_cm", "height_cm", "thickness_cm", "volume_l", "weight_g", "price_usd")
# The colour of what is sold in nearly every colour.
ANY_COLOUR = "any"

_OBJECT_KEYS = ("name", "category", "names", "size_cm", "weight_g", "price_usd", "colours", "shapes")
_ATTRIBUTE_KEYS = ("kind", "ask", "phrases")
# Two ways of saying which objects have an attribute; of colours and shapes, keys of the objects say it.
_LISTS, _LIMITS = ("yes", "sometimes"), ("over", "under")
_OBJECT_KEY = {"colour": "colours", "shape": "shapes"}

Values = NDArray[np.uint8]


class Attribute(NamedTuple):
    """Something that is true of some objects.

    Attributes:
        id: its name in `attributes.toml`.
        kind: one of `KINDS`.
        ask: questions in natural wordings that ask for it; the first is the plainest.
        phrases: lower-case key phrases that mean it in a question of somebody else's.
    """

    id: str
    kind: str
    ask: tuple[str, ...]
    phrases: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """What is known of the objects; every array has an element or a column per object.

    Attributes:
        names: the objects, in the published order.
        aliases: all names that count as naming each object, in lower case.
        is_a: the other objects of the list that people would call each object as well.
        categories: the published category of each object.
        plural: whether one normally speaks of it in the plural ("Are they ...").
        numbers: by name (`NUMBERS`), shape (objects,): the largest dimension in centimetres, the height of the object
            as it usually stands or lies, its smallest dimension, the volume of the box around it in litres, the weight
            in grams, and the price in dollars, which is NaN where nobody sells one.
        sizes: the box around each object in centimetres, shape (objects, 3).
        attributes: the attributes, in the order of the rows of `values`.
        values: `NO`, `SOMETIMES` or `YES`, shape (attributes, objects). `SOMETIMES`: true of some of them, or honest
            people differ; a plain question is answered with yes.
        groups: what a list in the files may name, an object, a category or all; each as its columns with their names.
    """

    names: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...]
    is_a: tuple[tuple[str, ...], ...]
    categories: tuple[str, ...]
    plural: NDArray[np.bool_]
    numbers: Mapping[str, NDArray[np.float64]]
    sizes: NDArray[np.float64]
    attributes: tuple[Attribute, ...]
    values: Values
    groups: Mapping[str, Mapping[int, str]]

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each attribute id."""
        return {attribute.id: row for row, attribute in enumerate(self.attributes)}

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each object's (first) name."""
        return {name: column for column, name in enumerate(self.names)}

    def value(self, attribute: str, name: str) -> int:
        """What holds of an object: `NO`, `SOMETIMES` or `YES`."""
        return int(self.values[self.rows[attribute], self.columns[name]])


@cache
def knowledge_table() -> Table:
    """The table of the task."""
    folder = files("lmrl_data.tasks.twenty_questions")
    objects, attributes = ((folder / f"{name}.toml").read_text("utf-8") for name in ("objects", "attributes"))
    return read_table(objects, attributes)


def read_table(objects: str, attributes: str) -> Table:
    """A table from the texts of the two files.

    Raises:
        LmrlError: a text is no TOML; a key is missing or unknown; an object, category, kind, colour, shape or number is
            unknown; an object is listed twice; two objects share a name or two attributes a phrase.
    """
    blocks = _load(objects, "objects.toml").get("object", [])
    tables = _load(attributes, "attributes.toml")
    _check(blocks, tables)
    numbers = _numbers(blocks)
    groups = _groups(blocks)
    values = np.full((len(tables), len(blocks)), NO)
    for row, (name, table) in zip(values, tables.items(), strict=True):
        if table["kind"] in _OBJECT_KEY:
            row[:] = [_looks(name, block[_OBJECT_KEY[table["kind"]]]) for block in blocks]
        elif any(key in table for key in _LIMITS):
            row[_within(name, table, numbers)] = YES
        else:
            _fill(row, name, table, groups)
    values.flags.writeable = False
    return Table(
        names=tuple(block["name"] for block in blocks),
        aliases=tuple(tuple(block["names"]) for block in blocks),
        is_a=tuple(tuple(block.get("is_a", ())) for block in blocks),
        categories=tuple(block["category"] for block in blocks),
        plural=np.array([block.get("plural", False) for block in blocks]),
        numbers=numbers,
        sizes=np.array([block["size_cm"] for block in blocks], np.float64).reshape(-1, 3),
        attributes=tuple(
            Attribute(name, table["kind"], tuple(table["ask"]), tuple(table["phrases"]))
            for name, table in tables.items()
        ),
        values=values,
        groups=groups,
    )


def _load(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LmrlError(f"{name} is not TOML: {error}; mend that line") from error


def _check(blocks: Sequence[Mapping[str, Any]], tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Find the mistakes that would not show by themselves."""
    for name, table in tables.items():
        where = f"attributes.toml, [{name}]:"
        _check_keys(table, _ATTRIBUTE_KEYS, _LISTS + _LIMITS, where)
        _check_known([table["kind"]], KINDS, f"{where} kind")
        ways = sum(any(key in table for key in keys) for keys in (_LISTS, _LIMITS))
        if ways != (table["kind"] not in _OBJECT_KEY):
            raise LmrlError(
                f"{where} write either yes and sometimes, or over and under; with a colour or shape neither"
            )
    for block in blocks:
        where = f"objects.toml, {block.get('name', 'an object without name')}:"
        _check_keys(block, _OBJECT_KEYS, ("plural", "is_a"), where)
        _check_known(block.get("is_a", []), [other["name"] for other in blocks], f"{where} is_a")
        _check_known([block["category"]], CATEGORIES, f"{where} category")
        for kind, key in _OBJECT_KEY.items():
            known = [name for name, table in tables.items() if table["kind"] == kind]
            _check_known(block[key], known, f"{where} {key}")
        size, numbers = block["size_cm"], (block["weight_g"], block["price_usd"])
        if not (isinstance(size, list) and len(size) == 3 and all(map(_is_measure, (*size, *numbers)))):
            raise LmrlError(f"{where} size_cm must be three numbers, weight_g and price_usd one, none below 0")
    _check_once(((alias, block["name"]) for block in blocks for alias in block["names"]), "objects.toml: name")
    phrases = ((phrase, f"[{name}]") for name, table in tables.items() for phrase in table["phrases"])
    _check_once(phrases, "attributes.toml: phrase")


def _is_measure(number: object) -> bool:
    return isinstance(number, int | float) and number >= 0


def _check_keys(block: Mapping[str, Any], needed: Sequence[str], allowed: Sequence[str], where: str) -> None:
    missing = [key for key in needed if key not in block]
    if missing:
        raise LmrlError(f"{where} {missing[0]} is missing; write it")
    _check_known(block, [*needed, *allowed], f"{where} key")


def _check_known(words: Iterable[str], known: Sequence[str], where: str) -> None:
    for word in words:
        if word not in known:
            near = difflib.get_close_matches(word, known, 3, 0.5) or known
            raise LmrlError(f"{where} {word!r} is unknown; write one of: {', '.join(near)}")


def _check_once(pairs: Iterable[tuple[str, str]], what: str) -> None:
    owners: dict[str, str] = {}
    for word, owner in pairs:
        if word in owners:
            raise LmrlError(f"{what} {word!r} belongs to {owners[word]} and to {owner}; take it from one of them")
        owners[word] = owner


def _numbers(blocks: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[np.float64]]:
    sizes = np.array([block["size_cm"] for block in blocks], np.float64).reshape(-1, 3)
    prices = np.array([block["price_usd"] for block in blocks], np.float64)
    columns = (
        sizes.max(axis=1),
        sizes[:, 2],
        sizes.min(axis=1),
        sizes.prod(axis=1) / 1000,
        np.array([block["weight_g"] for block in blocks], np.float64),
        np.where(prices > 0, prices, np.nan),
    )
    for column in columns:
        column.flags.writeable = False
    return dict(zip(NUMBERS, columns, strict=True))


def _groups(blocks: Sequence[Mapping[str, Any]]) -> dict[str, dict[int, str]]:
    """What a list may name: an object, a category or all; each as its columns with their names."""
    groups: dict[str, dict[int, str]] = {"<All>": {}}
    for column, block in enumerate(blocks):
        for group in ("<All>", f"<{block['category']}>", block["name"]):
            groups.setdefault(group, {})[column] = block["name"]
    return groups


def _looks(name: str, usual: Sequence[str]) -> np.uint8:
    """Whether an object has a colour or a shape, by its usual ones."""
    if name in usual:
        return YES
    return SOMETIMES if ANY_COLOUR in usual else NO


def _within(name: str, table: Mapping[str, Any], numbers: Mapping[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
    """Which objects keep all limits of an attribute; none does that has no price where the price counts."""
    compare = {"over": np.greater, "under": np.less}
    tests = [(key, *limit) for key in _LIMITS for limit in table.get(key, {}).items()]
    _check_known([number for _, number, _ in tests], NUMBERS, f"attributes.toml, [{name}]: number")
    kept: NDArray[np.bool_] = np.all([compare[key](numbers[number], limit) for key, number, limit in tests], axis=0)
    return kept


def _fill(row: Values, name: str, table: Mapping[str, Any], groups: Mapping[str, Mapping[int, str]]) -> None:
    """Write the values of an attribute that lists its objects."""
    where = f"attributes.toml, [{name}]:"
    for key, value in zip(_LISTS, (YES, SOMETIMES), strict=True):
        for column, object_name in listed(table.get(key, ""), groups, f"{where} {key}").items():
            if row[column]:
                raise LmrlError(f"{where} {object_name} is in both yes and sometimes; take it from one of them")
            row[column] = value


def listed(text: str, groups: Mapping[str, Mapping[int, str]], where: str) -> dict[int, str]:
    """The columns and names of a list of objects; the top of `attributes.toml` describes the grammar."""
    chosen: dict[int, str] = {}
    for item in text.split(",") if text.strip() else []:
        word = " ".join(item.split())
        away, name = word.startswith("-"), word.removeprefix("-")
        _check_known([name], list(groups), where)
        for column, object_name in groups[name].items():
            if away != (column in chosen):
                mistake = "takes away what is not listed" if away else "lists twice"
                raise LmrlError(f"{where} {mistake}: {object_name}; mend the list")
            if away:
                del chosen[column]
            else:
                chosen[column] = object_name
    return chosen
