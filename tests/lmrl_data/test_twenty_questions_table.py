"""The knowledge table of Twenty Questions: its objects, its form, and the mistakes in its files that it reports."""

import re

import numpy as np
import pytest

from lmrl_data.errors import LmrlError
from lmrl_data.tasks.twenty_questions.table import KINDS, NO, SOMETIMES, YES, Table, knowledge_table, read_table

# The published list: categories and their objects; "/" separates the names of one object.
PUBLISHED = {
    "Sports": "Basketball, Football, Baseball, Soccer ball, Golf ball, Tennis ball, Volleyball, Tennis racket, "
    "Baseball bat, Helmet",
    "Animals": "Cat, Dog, Horse, Cow, Sheep, Rabbit, Lion, Tiger, Bear, Elephant",
    "Fruits": "Apple, Banana, Orange, Strawberry, Grape, Watermelon, Pineapple, Mango, Cantaloupe, Peach",
    "Vehicles": "Car, Truck, Motorcycle, Boat, Airplane/Plane, Train, Bus, Helicopter, Scooter, Ship",
    "Clothes": "Shirt, Pants/Pant/Pair of pants, Jacket, Dress, Skirt, Belt, Shoes/Shoe/Pair of shoes, "
    "Boots/Boot/Pair of boots, Socks/Sock/Pair of socks, Hat, Scarf",
    "Electronics": "Computer, Smartphone, Television/TV, Headphone/Headphones/Pair of headphones, "
    "Monitor/Computer monitor, Camera, Microwave/Microwave oven, Refrigerator, Blender, Computer keyboard/Keyboard",
    "Musical Instruments": "Piano, Guitar, Drum/Drums, Violin, Saxophone, Flute, Trumpet, Clarinet, Harp, Trombone",
    "Furniture": "Chair, Table, Bed, Desk, Couch, Dresser, Bookcase, Nightstand, Mattress, Pillow",
    "Office Supplies": "Pen, Paper/Piece of paper, Stapler, Printer, Calculator, "
    "Battery/Battery pack/Pack of batteries, Toothbrush, Toothpaste, Pencil, Sharpie, Scissors/Pair of scissors, Key, "
    "Diary, Calendar",
    "Vegetables": "Carrot, Potato, Broccoli, Tomato, Onion, Spinach, Corn, Peas/Pea, Celery, Cucumber",
    "Art": "Painting/Canvas painting/Oil painting/Watercolor painting, Paintbrush, Canvas/Painting canvas, "
    "Eraser/Pencil eraser, Marker, Glue/Glue stick/Bottle of glue, Sculpture",
    "Kitchen Tools": "Knife, Spoon, Fork, Plate, Bowl, Cooking pot/Pot, Pan/Saucepan/Frying pan, Cup, "
    "Chopstick/Chopsticks/Pair of chopsticks, Whisk",
    "Nature": "Rock, Tree, Bush, Mountain, Forest, Ocean, Sea, Lake, River, Meteorite, Cactus",
    "Toys": "Lego/Lego set, Doll/Toy doll/Plush doll, Kite, Puzzle/Jigsaw puzzle, Stuffed animal",
    "Jewelry": "Earring/Earrings/Pair of earrings, Necklace, Bracelet, Ring, Brooch, Hairclip, Pendant, Watch, Locket",
    "Garden Supplies": "Gloves/Glove/Pair of gloves, Shovel, Rake, Watering can, Lawn mower",
    "Tools": "Hammer, Screwdriver, Wrench, Saw, Pliers/plier/Pair of pliers, Drill",
}


@pytest.fixture(scope="module")
def table() -> Table:
    return knowledge_table()


# --- The objects ---------------------------------------------------------------------------------------------------


def test_the_published_objects_in_their_order(table: Table) -> None:
    published = [
        (category, [name.strip().lower() for name in names.split("/")])
        for category, objects in PUBLISHED.items()
        for names in objects.split(",")
    ]
    assert len(published) == len(table.names) == 158
    for column, (category, names) in enumerate(published):
        assert table.categories[column] == category
        assert table.names[column].lower() == table.aliases[column][0] == names[0]
        assert set(names) <= set(table.aliases[column])


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("Couch", "sofa"),
        ("Couch", "settee"),
        ("Refrigerator", "fridge"),
        ("Television", "tv set"),
        ("Airplane", "aeroplane"),
        ("Smartphone", "cell phone"),
        ("Smartphone", "mobile phone"),
        ("Motorcycle", "motorbike"),
        ("Wrench", "spanner"),
        ("Rabbit", "bunny"),
        ("Truck", "lorry"),
        ("Pants", "trousers"),
        ("Bookcase", "bookshelf"),
    ],
)
def test_everyday_names(table: Table, name: str, alias: str) -> None:
    assert alias in table.aliases[table.columns[name]]


def test_no_name_is_a_wider_class_or_another_object(table: Table) -> None:
    wider = {"ball", "animal", "fruit", "vegetable", "instrument", "tool", "melon", "brush", "bike", "screen", "clip"}
    first = {name.lower() for name in table.names}
    for name, aliases in zip(table.names, table.aliases, strict=True):
        assert not wider & set(aliases)
        assert first & set(aliases) == {name.lower()}
        assert all(alias == " ".join(alias.lower().split()) for alias in aliases)


def test_plural_objects(table: Table) -> None:
    plural = {name for name, more in zip(table.names, table.plural, strict=True) if more}
    assert {"Pants", "Scissors", "Peas", "Shoes", "Gloves"} <= plural
    assert not {"Cat", "Glue", "Dress", "Paper", "Grape"} & plural


# --- The attributes ------------------------------------------------------------------------------------------------


def test_arrays_and_wordings(table: Table) -> None:
    assert table.values.shape == (len(table.attributes), 158)
    assert table.values.dtype == np.uint8
    assert len(table.attributes) >= 160
    assert {attribute.kind for attribute in table.attributes} == set(KINDS)
    asked = [question for attribute in table.attributes for question in attribute.ask]
    assert len(set(asked)) == len(asked)
    for question in asked:
        assert re.fullmatch(
            r"(Is|Are|Does|Do|Can|Could|Would|Was|Did|Must|Might|Should|Has|Have) .*\b(it|its)\b.*\?", question
        )
    for attribute in table.attributes:
        assert 2 <= len(attribute.ask) <= 4
        assert attribute.phrases
        assert all(phrase == phrase.lower().strip() for phrase in attribute.phrases)
        assert not any(re.match(r"(is|does) it\b", phrase) for phrase in attribute.phrases)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1


def test_living_or_not_and_made_or_not_cover_everything(table: Table) -> None:
    for first, second in (("living", "inanimate"), ("natural", "man_made")):
        assert (table.values[table.rows[first]] + table.values[table.rows[second]] == YES).all()


def test_colours_of_what_is_sold_in_any_colour(table: Table) -> None:
    assert [table.value(colour, "Shirt") for colour in ("any", "red", "blue")] == [YES, SOMETIMES, SOMETIMES]
    assert [table.value(colour, "Banana") for colour in ("any", "yellow", "blue")] == [NO, YES, NO]


def test_plain_answers_tell_all_objects_apart(table: Table) -> None:
    answers = (table.values > 0).T.astype(np.int64)
    different = (answers[:, None, :] != answers[None, :, :]).sum(axis=2)
    different[np.diag_indices(158)] = 99
    assert different.min() >= 3


def test_no_attribute_is_a_copy_of_another(table: Table) -> None:
    copies: dict[bytes, list[str]] = {}
    for attribute, row in zip(table.attributes, table.values, strict=True):
        copies.setdefault((row > 0).tobytes(), []).append(attribute.id)
    assert [ids for ids in copies.values() if len(ids) > 1] == []


# What a reviewer would be ashamed of: attribute, objects that have it, objects that have it not.
GOLDEN = [
    ("strong", "Elephant, Horse, Truck", "Paper, Sheep, Socks"),
    ("scary", "Lion, Bear", "Rabbit, Spoon, Apple"),
    ("safe", "Pillow, Banana, Car", "Lion, Saw, Cactus"),
    ("child_safe", "Doll, Cup, Shirt", "Knife, Battery, Drill"),
    ("worn_by_women", "Dress, Shirt, Watch", "Pillow, Hammer"),
    ("worn_above_waist", "Hat, Shirt, Necklace", "Shoes, Pants, Belt"),
    ("laundered", "Shirt, Socks", "Shoes, Belt, Plate"),
    ("washed", "Plate, Apple, Car", "Television, Paper"),
    ("used_with_mouth", "Flute, Spoon, Toothbrush", "Drum, Hammer, Piano"),
    ("needs_ticket", "Train, Airplane", "Car, Motorcycle"),
    ("insured", "Car, Ship", "Banana, Chair"),
    ("omnivore", "Bear, Dog", "Cow, Tiger"),
    ("eaten_by_hand", "Apple, Banana", "Peas, Spinach"),
    ("frozen_food", "Peas, Corn", "Onion, Celery"),
    ("valuable", "Ring, Car, Painting", "Pencil, Socks, Potato"),
    ("recyclable", "Paper, Battery", "Cat, River"),
    ("tourist", "Camera, Airplane", "Hammer, Dresser"),
    ("quiet", "Spoon, Pillow, Computer", "Dog, Drum, Blender"),
    ("slow", "Cow, Elephant", "Horse, Car, Table"),
    ("europe", "Apple, Train", "Lion, Pineapple"),
]


@pytest.mark.parametrize(("attribute", "has", "lacks"), GOLDEN, ids=[attribute for attribute, _, _ in GOLDEN])
def test_cells_that_everybody_knows(table: Table, attribute: str, has: str, lacks: str) -> None:
    assert [name for name in has.split(", ") if table.value(attribute, name) == NO] == []
    assert [name for name in lacks.split(", ") if table.value(attribute, name) != NO] == []


# --- Mistakes in the files -----------------------------------------------------------------------------------------

OBJECTS = """
[[object]]
name = "Cat"
category = "Animals"
names = ["cat", "kitty"]
size_cm = [46, 18, 25]
weight_g = 4500
price_usd = 100
colours = ["black"]
shapes = []
[[object]]
name = "Dog"
category = "Animals"
names = ["dog"]
size_cm = [75, 25, 55]
weight_g = 20000
price_usd = 0
colours = ["any"]
shapes = []
[[object]]
name = "Lake"
category = "Nature"
names = ["lake"]
size_cm = [2e6, 5e5, 2000]
weight_g = 2e15
price_usd = 0
colours = []
shapes = ["flat"]
"""
ATTRIBUTES = """
[pet]
kind = "category"
ask = ["Is it a pet?"]
phrases = ["pet"]
yes = "<Animals>, -Dog"
sometimes = "Dog"
[heavy]
kind = "weight"
ask = ["Is it heavy?"]
phrases = ["heavy"]
over = { weight_g = 10000 }
[cheap]
kind = "price"
ask = ["Is it cheap?"]
phrases = ["cheap"]
under = { price_usd = 200, weight_g = 5000 }
[black]
kind = "colour"
ask = ["Is it black?"]
phrases = ["black"]
[any]
kind = "colour"
ask = ["Has it any colour?"]
phrases = ["any colour"]
[flat]
kind = "shape"
ask = ["Is it flat?"]
phrases = ["flat"]
"""


def test_every_way_to_say_which_objects() -> None:
    table = read_table(OBJECTS, ATTRIBUTES)
    assert table.names == ("Cat", "Dog", "Lake")
    assert table.values.tolist() == [[2, 1, 0], [0, 2, 2], [2, 0, 0], [2, 1, 0], [0, 2, 0], [0, 0, 2]]
    everything = read_table(OBJECTS, ATTRIBUTES.replace("<Animals>, -Dog", "<All>, -<Animals>, Cat"))
    assert everything.values[0].tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "Cat"', "name = Cat", "objects.toml is not TOML: .*line 3"),
        ("[pet]", "[pet", "attributes.toml is not TOML"),
        ("[heavy]", "[pet]", "attributes.toml is not TOML"),
        ('sometimes = "Dog"', 'sometimes = "Dgo"', r"\[pet\]: sometimes 'Dgo' is unknown; write one of: Dog"),
        ("<Animals>", "<Animal>", r"'<Animal>' is unknown; write one of: <Animals>"),
        ("-Dog", "-Lake", r"\[pet\]: yes takes away what is not listed: Lake"),
        ("-Dog", "Dog", r"\[pet\]: yes lists twice: Dog"),
        ("-Dog", "-Dog,", "'' is unknown"),
        ("<Animals>, -Dog", "<Animals>", r"\[pet\]: Dog is in both yes and sometimes"),
        ('category = "Nature"', 'category = "Natur"', "Lake: category 'Natur' is unknown; write one of: Nature"),
        ('kind = "weight"', 'kind = "weigth"', r"\[heavy\]: kind 'weigth' is unknown; write one of: weight"),
        ('names = ["dog"]', 'names = ["dog", "kitty"]', "name 'kitty' belongs to Cat and to Dog"),
        ('phrases = ["heavy"]', 'phrases = ["pet"]', r"phrase 'pet' belongs to \[pet\] and to \[heavy\]"),
        ('colours = ["black"]', 'colours = ["blak"]', "Cat: colours 'blak' is unknown; write one of: black"),
        ('shapes = ["flat"]', 'shapes = ["black"]', "Lake: shapes 'black' is unknown; write one of: flat"),
        ("weight_g = 4500", "", "Cat: weight_g is missing"),
        ("weight_g = 4500", "weight_g = 4500\nheight = 3", "Cat: key 'height' is unknown; write one of:"),
        ("weight_g = 4500", 'weight_g = "4500"', "Cat: size_cm must be three numbers"),
        ("weight_g = 4500", "weight_g = -1", "Cat: size_cm must be three numbers"),
        ("[46, 18, 25]", "[46, 18]", "Cat: size_cm must be three numbers"),
        ("[46, 18, 25]", "46", "Cat: size_cm must be three numbers"),
        ("over = { weight_g", "over = { weigth_g", r"\[heavy\]: number 'weigth_g' is unknown; write one of: weight_g"),
        ("over = { weight_g = 10000 }", "", r"\[heavy\]: write either yes and sometimes, or over and under"),
        ("over =", 'yes = ""\nover =', r"\[heavy\]: write either yes and sometimes, or over and under"),
        ('phrases = ["black"]', 'phrases = ["black"]\nyes = "Cat"', r"\[black\]: write either"),
        ('phrases = ["heavy"]', 'phrase = ["heavy"]', r"\[heavy\]: phrases is missing"),
    ],
)
def test_mistakes_are_named(old: str, new: str, message: str) -> None:
    objects, attributes = (text.replace(old, new, 1) for text in (OBJECTS, ATTRIBUTES))
    assert (objects, attributes) != (OBJECTS, ATTRIBUTES)
    with pytest.raises(LmrlError, match=message) as error:
        read_table(objects, attributes)
    assert "\n" not in str(error.value)
