"""What a scripted seller notes of the conversation, reading the buyer's lines as the buyer reads the seller's."""

from lmrl_data.seeding import mix, stream_of
from lmrl_data.tasks.car_dealer.language import read


class Notes:
    """What a seller knows of the conversation.

    Attributes:
        seed: what the seller's choices are drawn from.
        turn: how many lines the seller has said.
        car: what the buyer came for, such as ``"Audi SUV"``; empty until the buyer says it.
        msrp: the sticker price in dollars; None until the buyer names it.
        wishes: features that the buyer has spoken of.
        new_wishes: how many of them were new in the buyer's last line.
        questioned: the feature that the buyer's last line asks about, or nothing (``""``).
        acts: of the buyer's last line (see `lmrl_data.tasks.car_dealer.language.Reading`).
        bids: the buyer's prices, rising.
        asks: the seller's own.
        said: the seller's last line.
        done: what the seller has said, with how often: acts, features, reasons, extras.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.turn = 0
        self.car = ""
        self.msrp: float | None = None
        self.wishes: list[str] = []
        self.new_wishes = 0
        self.questioned = ""
        self.acts: frozenset[str] = frozenset()
        self.bids: list[float] = []
        self.asks: list[float] = []
        self.done: dict[str, int] = {}
        self.said = ""

    def listen(self, line: str) -> None:
        """Note what a line of the buyer tells."""
        reading = read(line)
        self.acts = reading.acts
        if reading.prices.msrp is not None:
            self.msrp = reading.prices.msrp
        if reading.brands and reading.types and not self.car:
            self.car = f"{min(reading.brands)} {min(reading.types)}"
        named = sorted(reading.features | reading.asked)
        self.questioned = named[0] if named and line.rstrip().endswith("?") else ""
        new = [feature for feature in named if feature not in self.wishes]
        self.wishes += new
        self.new_wishes = len(new)
        bid = reading.prices.offer
        # The buyer also says the seller's prices again, to complain of them.
        if bid is not None and bid not in self.asks and (not self.bids or bid > self.bids[-1]):
            self.bids.append(bid)

    def draw(self, purpose: str, limit: int, *, each_turn: bool = True) -> int:
        """A number below `limit` by the hash of the seed: anew in each turn, or one for the whole episode."""
        return (mix(mix(self.seed, stream_of(purpose)), self.turn + 1 if each_turn else 0) >> 32) * limit >> 32

    def between(self, purpose: str, low: float, high: float, *, each_turn: bool = False) -> float:
        """A number between two, likewise."""
        return low + (high - low) * self.draw(purpose, 1000, each_turn=each_turn) / 1000

    def fresh(self, names: tuple[str, ...]) -> list[str]:
        """Those of the names that the seller has not used, beginning at a place that the seed chooses."""
        first = self.draw(names[0], len(names), each_turn=False)
        return [name for name in names[first:] + names[:first] if name not in self.done]

    def unpromised(self) -> list[str]:
        """The wishes that the seller has not promised yet."""
        return [feature for feature in self.wishes if feature not in self.done]
