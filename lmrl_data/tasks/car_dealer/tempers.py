"""How the ten personalities bargain: the numbers of the negotiation model (see `mind`)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Temper:
    """The numbers of a personality. What is worth something to a buyer is given in per cent of the sticker price.

    Attributes:
        base: what the car is worth to it when it comes in.
        features: what all the features that it wants add, each its part.
        reasons: what three good reasons add, each a third.
        rapport: what three kinds of friendliness add, each a third.
        honesty: what the true sticker price adds, said by the seller.
        extras: what two things on top add, each a half.
        concessions: what four small steps down add, each a quarter; negative where they cheapen the car.
        pressure: what each attempt to press it takes away; of the indecisive buyer's first one, what it adds.
        unwanted: what each feature takes away that it never asked for, after the second.
        patience: the number of lines that it listens to, if nothing annoys or pleases it.
        attention: how many good points of one line it takes in.
        openness: how many of its wishes it tells at a time.
        opening: its first bid.
        yielding: which part of the way from its bid to its limit it goes when the seller comes down.
        holding: the same, when the seller does not.
        haste: how near to its bid an asking price must be for it to stop bargaining.
    """

    base: float
    features: float
    reasons: float
    rapport: float
    honesty: float
    extras: float
    concessions: float
    pressure: float
    unwanted: float
    patience: int
    attention: int
    openness: int
    opening: float
    yielding: float
    holding: float
    haste: float


TEMPERS = {
    "analytical": Temper(
        base=101, features=6, reasons=9, rapport=1, honesty=4, extras=2, concessions=4, pressure=2, unwanted=0.5,
        patience=17, attention=3, openness=3, opening=84, yielding=0.2, holding=0.06, haste=1,
    ),
    "friendly": Temper(
        base=101, features=5, reasons=2, rapport=11, honesty=1, extras=3, concessions=3, pressure=3, unwanted=0.2,
        patience=19, attention=3, openness=2, opening=84, yielding=0.25, holding=0.08, haste=1.5,
    ),
    "thrifty": Temper(
        base=95, features=3, reasons=3, rapport=1, honesty=1, extras=6, concessions=13, pressure=1, unwanted=1,
        patience=18, attention=2, openness=2, opening=74, yielding=0.18, holding=0.03, haste=1,
    ),
    "busy": Temper(
        base=104, features=6, reasons=3, rapport=0, honesty=2, extras=2, concessions=6, pressure=1.5, unwanted=0.5,
        patience=12, attention=2, openness=4, opening=88, yielding=0.35, holding=0.12, haste=3,
    ),
    "skeptical": Temper(
        base=96, features=5, reasons=9, rapport=2, honesty=8, extras=1, concessions=5, pressure=3, unwanted=0.5,
        patience=17, attention=2, openness=1, opening=80, yielding=0.18, holding=0.05, haste=1,
    ),
    "enthusiastic": Temper(
        base=103, features=16, reasons=2, rapport=5, honesty=0, extras=2, concessions=2, pressure=2, unwanted=0,
        patience=19, attention=3, openness=4, opening=88, yielding=0.3, holding=0.12, haste=3,
    ),
    "indecisive": Temper(
        base=99, features=5, reasons=7, rapport=7, honesty=2, extras=3, concessions=3, pressure=2, unwanted=0.3,
        patience=20, attention=2, openness=1, opening=82, yielding=0.15, holding=0.05, haste=0.5,
    ),
    "proud": Temper(
        base=106, features=8, reasons=2, rapport=10, honesty=0, extras=2, concessions=-4, pressure=3, unwanted=0,
        patience=16, attention=3, openness=4, opening=90, yielding=0.25, holding=0.15, haste=2,
    ),
    "tough": Temper(
        base=97, features=4, reasons=3, rapport=0, honesty=2, extras=3, concessions=13, pressure=1, unwanted=0.5,
        patience=19, attention=2, openness=3, opening=76, yielding=0.2, holding=0, haste=0.5,
    ),
    "practical": Temper(
        base=100, features=8, reasons=9, rapport=3, honesty=2, extras=3, concessions=3, pressure=2, unwanted=0.7,
        patience=17, attention=2, openness=2, opening=82, yielding=0.22, holding=0.07, haste=1,
    ),
}  # fmt: skip
