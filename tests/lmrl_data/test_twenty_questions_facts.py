"""What the knowledge table of Twenty Questions says: known facts, and what follows from what."""

import numpy as np
import pytest

from lmrl_data.tasks.twenty_questions.table import Table, knowledge_table
from lmrl_data.tasks.twenty_questions.understand import understand

# Attribute: objects that have it | objects that do not.
FACTS = """
living: Cat, Tree, Cactus | Rock, Car, Doll, River
animal: Elephant, Rabbit | Stuffed animal, Tree, Peas
food: Broccoli, Mango | Toothpaste, Plate, Cow
edible: Grape, Cow | Key, Horse
fruit: Peach, Tomato | Carrot, Spinach
vegetable: Celery, Potato | Apple, Strawberry
man_made: Kite, Glue, Ship | Lake, Onion, Meteorite
tool: Hammer, Shovel, Scissors | Ring, Socks, Lion
vehicle: Bus, Helicopter | Horse, Lawn mower, Chair
furniture: Desk, Couch | Refrigerator, Cup, Pillow
toy: Lego, Doll | Saw, Bear
ball: Volleyball, Golf ball | Orange, Tennis racket, Baseball bat
clothing: Skirt, Socks | Watch, Pillow
jewellery: Brooch, Locket | Key, Belt
electronic: Camera, Calculator | Hammer, Kite, Toothbrush
musical_instrument: Harp, Clarinet | Headphone, Television
string_instrument: Violin, Guitar | Trombone, Flute, Drum
wind_instrument: Trombone, Flute | Violin, Drum, Piano
brass_instrument: Trumpet, Trombone | Clarinet, Saxophone, Flute
woodwind: Saxophone, Clarinet | Trumpet, Guitar
pet: Dog, Cat | Lion, Cow
farm_animal: Sheep, Cow | Tiger, Elephant
wild_animal: Lion, Bear | Cow, Dog
feline: Tiger, Cat | Bear, Dog
carnivore: Tiger, Lion | Cow, Rabbit, Elephant
herbivore: Horse, Rabbit | Lion, Tiger
metal: Wrench, Fork, Train | Pillow, Banana, Puzzle
wooden: Desk, Pencil, Violin | Trumpet, Socks, Smartphone
plastic: Lego, Toothbrush | Sheep, Mountain, Piano
cloth: Scarf, Shirt | Hammer, Spoon
leather: Belt, Boots | Eraser, Plate
paper_made: Calendar, Diary | Fork, Whisk
ceramic: Plate, Cup | Saw, Tree
liquid: Ocean, River | Rock, Drill
red: Strawberry, Tomato | Banana, Elephant, Spinach
yellow: Banana, Pencil | Broccoli, Soccer ball
green: Cucumber, Cactus | Carrot, Violin
blue: Ocean | Banana, Lion
orange: Carrot, Basketball, Tiger | Peas, Cow
white: Golf ball, Sheep | Strawberry, Trombone
gold: Saxophone, Ring | Clarinet, Cactus
round: Basketball, Plate, Orange | Ship, Fork
spherical: Tennis ball, Peas | Plate, Banana
long: Pencil, Flute, Cucumber | Apple, Microwave
flat: Paper, Plate | Basketball, Elephant
rectangular: Paper, Television, Refrigerator | Apple, Earring
kitchen: Whisk, Refrigerator, Onion | Toothbrush, Bed, Horse
bathroom: Toothbrush, Toothpaste | Lawn mower, Fork
bedroom: Nightstand, Mattress | Train, Whisk
office: Stapler, Printer | Cow, Whisk
outdoors: Tree, Truck, Ship | Nightstand, Stapler
garage: Lawn mower, Car | Pillow, Celery
desert: Cactus | Cow, Ocean
orchestra: Harp, Trombone | Blender, Guitar
worn: Hat, Necklace, Headphone | Spoon, Couch
worn_on_head: Hat, Helmet | Shoes, Ring
worn_on_feet: Boots, Socks | Scarf, Gloves
worn_on_neck: Necklace, Scarf | Bracelet, Hairclip
pairs: Shoes, Chopstick, Gloves | Hat, Fork
keeps_warm: Scarf, Jacket | Bracelet, Cup
cooking: Pan, Whisk | Pillow, Rake
eating: Fork, Chopstick | Shovel, Whisk
cutting: Saw, Scissors, Knife | Spoon, Plate
writing_tool: Pen, Sharpie | Eraser, Stapler
sitting: Chair, Couch | Bookcase, Lake
sleeping: Mattress, Pillow | Desk, Stapler
tells_time: Watch, Smartphone | Ring, Guitar
calculates: Calculator, Computer | Pencil, Piano
locks: Key | Lake, Ring
protects: Helmet, Gloves | Violin, Grape
gardening: Rake, Watering can | Stapler, Violin
communicates: Smartphone | Hammer, Banana
wheels: Bus, Motorcycle, Lawn mower | Boat, Horse
engine: Motorcycle, Helicopter | Kite, Horse, Drill
strings: Harp, Tennis racket, Kite | Trumpet, Trombone
keys: Piano, Computer keyboard | Violin, Drum
screen: Monitor, Smartphone | Pen, Chair
handle: Hammer, Pan, Rake | Plate, Orange
legs: Table, Horse | Car, Carrot
blade: Knife, Saw | Spoon, Pillow
tail: Tiger, Cat | Apple, Chair
fur: Bear, Rabbit | Elephant, Fork
stripes: Tiger | Lion, Elephant
trunk: Elephant, Tree | Cow, Couch
mane: Lion, Horse | Cow, Tiger
pages: Diary | Plate, Trumpet
seeds: Apple, Watermelon | Celery, Spoon
stone_inside: Peach, Mango | Banana, Strawberry
electric: Refrigerator, Printer | Hammer, Flute, Horse
batteries: Calculator, Smartphone | Microwave, Violin, Chair
plugged_in: Television, Refrigerator | Watch, Stapler
fuel: Car, Airplane | Refrigerator, Kite
makes_noise: Drum, Dog, Blender | Pillow, Rock
flies: Airplane, Kite | Bus, Rabbit
moves_by_itself: Dog, Lion | Rock, Chair
sweet: Mango, Watermelon | Onion, Celery
crunchy: Carrot, Celery | Banana, Peach
peeled: Banana, Orange | Strawberry, Grape
grows_on_trees: Apple, Peach | Watermelon, Carrot, Peas
grows_underground: Potato, Carrot | Apple, Peas, Cucumber
grows_on_vine: Grape, Cucumber | Potato, Celery
hard: Hammer, Rock | Pillow, Scarf
soft: Pillow, Rabbit, Stuffed animal | Rock, Spoon, Plate
sharp: Knife, Cactus | Spoon, Tennis ball
hollow: Flute, Basketball | Eraser, Hammer
fragile: Plate, Cup | Hammer, Rock
floats: Boat, Apple | Rock, Hammer, Key
bounces: Basketball, Tennis ball | Rock, Knife
dangerous: Lion, Knife | Rabbit, Pillow
ancient: Bowl, Horse, Ring | Smartphone, Microwave, Saxophone
modern: Computer, Helicopter | Bowl, Flute, Chair
used_up: Toothpaste, Battery | Hammer, Plate
opens: Scissors, Locket | Fork, Rock
salt_water: Ocean, Sea | Lake, River
flows: River | Lake, Mountain
small: Ring, Key, Strawberry | Horse, Couch, Train
large: Elephant, Couch, Train | Pen, Apple
bigger_than_breadbox: Refrigerator, Guitar | Eraser, Cup, Flute
heavier_than_person: Cow, Piano | Cat, Chair, Pillow
fits_in_pocket: Key, Ring, Smartphone | Piano, Boots, Watermelon
held_in_one_hand: Banana, Hammer, Cup | Couch, Bus, Mountain
cheap: Pencil, Apple | Car, Piano, Ocean
expensive: Airplane, Piano | Spoon, Onion, Ocean
buyable: Shirt, Banana | Mountain, Sea
"""

# If the first then the others; what holds sometimes counts as holding, here and below.
IMPLICATIONS = """
living: organic, natural, ancient
animal: living, eyes, legs, four_legs, teeth, moves, moves_by_itself
pet: domestic_animal, cute
farm_animal: domestic_animal, herbivore, farm
zoo_animal: wild_animal
wild_animal: animal, wild
big_cat: feline, roars, dangerous
feline: animal, claws, whiskers, carnivore
hooves: animal, herbivore
food: edible, organic, plant, kitchen, at_home, food_related, liftable, supermarket
berry: fruit, bite_sized
melon: fruit, needs_knife, grows_on_vine
stone_inside: fruit, grows_on_trees, seeds
grows_underground: food
vehicle: transport, moves, machine, man_made, outdoors
engine: machine, motor, makes_noise
fuel: engine
motor: machine
road_vehicle: land_vehicle
land_vehicle: vehicle, wheels
watercraft: vehicle, floats, water_related, waterproof
aircraft: vehicle, flies, engine
public_transport: vehicle, many_passengers
musical_instrument: makes_noise, two_hands, music_related, needs_practice
string_instrument: musical_instrument, strings
wind_instrument: musical_instrument, hollow
brass_instrument: wind_instrument, metal, loud
woodwind: wind_instrument, keys
reed: woodwind
electronic: electric
screen: electric
batteries: electric
plugged_in: electric
appliance: electronic, plugged_in
furniture: at_home, indoors
ball: sports_equipment, game, throwable
jewellery: worn, accessory
clothing: worn
footwear: worn_on_feet, pairs
worn_on_ears: worn
worn: fits_in_bag, liftable, held_in_one_hand
cutlery: utensil, eating
utensil: kitchen, waterproof
cookware: metal, heats_food, hot
writing_tool: writing, drawing, used_with_paper
hand_tool: tool, manual
power_tool: tool, motor
toolbox: tool, repairs
fits_in_pocket: fits_in_bag, held_in_one_hand, portable
fits_in_bag: fits_in_car, liftable
throwable: held_in_one_hand
held_in_one_hand: liftable
portable: liftable
ring_shaped: round
spherical: round
brass: metal
steel: metal
metal: metal_parts
made_from_trees: man_made
body_of_water: natural, place, liquid
place: heavier_than_car
cheap: buyable
expensive: buyable
modern: man_made
"""

# If the first then none of the others.
EXCLUSIONS = """
living: man_made, electric, engine, inanimate, paper_made, worn
natural: electric, batteries, factory_made, worn, wheels
food: electric, worn, engine, metal, animal, toy, jewellery
animal: plant, vehicle, furniture
liquid: animal, hard, worn
fits_in_pocket: heavy, bigger_than_person, large, vehicle, furniture
held_in_one_hand: heavy, large
portable: heavier_than_person
small: large, bigger_than_breadbox, heavy
cheap: expensive
clothing: electronic, musical_instrument
carnivore: herbivore
brass_instrument: woodwind, string_instrument
salt_water: fresh_water
grows_on_trees: grows_underground, grows_on_vine
vehicle: toy, furniture, clothing, used_up
"""

ORDERS = {
    "weight_g": "Peas, Strawberry, Apple, Pineapple, Watermelon, Dog, Cow, Car, Bus, Airplane, Ship, Mountain, Ocean",
    "length_cm": "Peas, Ring, Eraser, Pen, Hammer, Baseball bat, Piano, Bed, Car, Bus, Train, Lake, Sea, Ocean",
    "height_cm": "Plate, Cup, Chair, Refrigerator, Elephant, Tree, Mountain",
    "volume_l": "Key, Smartphone, Shoes, Cat, Dog, Chair, Refrigerator, Car, Bus, Airplane, Ship, Lake, Ocean",
    "price_usd": "Paper, Apple, Fork, Scissors, Shoes, Bed, Piano, Car, Helicopter, Airplane",
}


# What only the files in phrases/facts know: question | objects that answer yes | objects that answer no.
ASKED = """
Would you dribble it? | Basketball | Baseball bat, Helmet
Does it land on its feet? | Cat | Dog, Cow
Do you count them when you can't sleep? | Sheep | Horse, Bed
Does it keep the doctor away? | Apple | Banana, Spinach
Does it get stuck in a traffic jam? | Car, Bus | Ship, Kite
Would you need a boarding pass for it? | Airplane | Kite, Car
Does it need ironing? | Shirt | Belt, Boots
Did Cinderella lose one? | Shoes | Scarf, Belt
Could coins get lost between its cushions? | Couch | Desk, Bookcase
Do you raid it at midnight? | Refrigerator | Blender, Monitor
Do angels play it? | Harp | Trombone, Drum
Is it beside the bed? | Nightstand | Car, Piano
Is it hidden under the doormat? | Key | Pencil, Battery
Do celebrities sign autographs with it? | Sharpie | Eraser, Glue
Does it make you cry when you cut it? | Onion | Potato, Celery
Are they in a pod? | Peas | Carrot, Corn
Does it make sawdust? | Saw | Wrench, Spoon
Do they keep a thief from leaving fingerprints? | Gloves | Skirt, Rake
Could it have killed the dinosaurs? | Meteorite | Cactus, Lake
Is it annoying when the last piece is missing? | Puzzle | Doll, Kite
Would Frodo know it well? | Ring | Skirt, Drum
Would a smoothie be made in it? | Blender | Plate, Camera
"""


@pytest.fixture(scope="module")
def table() -> Table:
    return knowledge_table()


def holders(table: Table, attribute: str) -> set[str]:
    """The objects for which a plain question is answered with yes."""
    return {name for name, value in zip(table.names, table.values[table.rows[attribute]], strict=True) if value}


def pairs_of(text: str) -> list[tuple[str, str]]:
    lines = (line.split(": ") for line in text.strip().splitlines())
    return [(first, other) for first, others in lines for other in others.split(", ")]


@pytest.mark.parametrize("line", FACTS.strip().splitlines(), ids=lambda line: line.split(":")[0])
def test_facts(table: Table, line: str) -> None:
    attribute, objects = line.split(": ")
    yes, no = (part.split(", ") for part in objects.split(" | "))
    assert {name: table.value(attribute, name) > 0 for name in (*yes, *no)} == {
        **dict.fromkeys(yes, True),
        **dict.fromkeys(no, False),
    }


@pytest.mark.parametrize("line", ASKED.strip().splitlines(), ids=lambda line: line.split(" |")[0])
def test_asked(table: Table, line: str) -> None:
    question, *named = line.split(" | ")
    yes, no = (part.split(", ") for part in named)
    row = understand(question).row
    assert row is not None
    assert {name: row[table.columns[name]] > 0 for name in (*yes, *no)} == {
        **dict.fromkeys(yes, True),
        **dict.fromkeys(no, False),
    }


@pytest.mark.parametrize(("first", "second"), pairs_of(IMPLICATIONS))
def test_implications(table: Table, first: str, second: str) -> None:
    assert holders(table, first) <= holders(table, second)


@pytest.mark.parametrize(("first", "second"), pairs_of(EXCLUSIONS))
def test_exclusions(table: Table, first: str, second: str) -> None:
    assert holders(table, first).isdisjoint(holders(table, second))


@pytest.mark.parametrize("number", ORDERS)
def test_numbers_are_in_the_right_order(table: Table, number: str) -> None:
    names = ORDERS[number].split(", ")
    values = [table.numbers[number][table.columns[name]] for name in names]
    assert values == sorted(set(values))


def test_numbers_are_possible(table: Table) -> None:
    density = table.numbers["weight_g"] / table.numbers["volume_l"]  # grams per litre of the box around it
    assert (density > 1).all()
    assert (density < 8000).all()
    assert (table.numbers["height_cm"] <= table.numbers["length_cm"]).all()
    unsold = {name for name, price in zip(table.names, table.numbers["price_usd"], strict=True) if np.isnan(price)}
    assert {"Ocean", "Mountain", "Lion"} <= unsold
    assert unsold.isdisjoint(holders(table, "buyable"))
    with pytest.raises(ValueError, match="read-only"):
        table.numbers["weight_g"][0] = 1
