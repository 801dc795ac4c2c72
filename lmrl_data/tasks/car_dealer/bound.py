"""The most that any seller can get from a buyer, and the seller who gets it.

A buyer's limit is what the car is worth to it, at most its budget. Each kind of good point counts a fixed number of
times, and nothing else raises the worth (see `mind`). So the worth with every point made and no fault is the highest
there can be, and no sale is above the limit that it gives, whatever is said: `ceiling` is an upper bound on every sale.
`Informed` knows the buyer and makes every point within the buyer's patience, so the bound is attained: it is exact.
"""

from lmrl_data.tasks.car_dealer.buyer import ModelBuyer
from lmrl_data.tasks.car_dealer.cars import FEATURES, Buyer, buyer_of
from lmrl_data.tasks.car_dealer.mind import MOST, Mind
from lmrl_data.tasks.car_dealer.notes import Notes
from lmrl_data.tasks.car_dealer.sellers import EXTRAS, REASONS, WARMTH

# The last steps down to the ceiling, in per cent of the sticker price.
STEP = 1.2


def ceiling(buyer: Buyer, seed: int) -> int:
    """The highest price that the buyer of an episode can be brought to pay, in dollars."""
    best = Mind(buyer, seed)
    best.included = set(buyer.features)
    best.points = {kind: most if getattr(best.temper, kind) > 0 else 0 for kind, most in MOST.items()}
    if best.likes_a_nudge:
        best.lost = -best.temper.pressure
    return best.limit


class Informed:
    """A seller who knows the buyer of the seed, hears what goes on in it, and sells at the `ceiling`."""

    short = False

    def __init__(self, seed: int) -> None:
        self._buyer = buyer_of(seed)
        self._double = ModelBuyer()
        self._double.open(self._buyer, seed)
        self._ceiling = ceiling(self._buyer, seed)

    def acts(self, notes: Notes) -> list[str]:
        """Make what points are left, come down to the ceiling in small steps, and stay there."""
        if not notes.said:
            return ["greet", "ask_car"]
        self._double.answer(notes.said, last=False)
        mind = self._double.mind
        if not mind.told_car:
            return ["ask_car"]
        points = self._points_left(mind)
        made = points[: mind.temper.attention]
        said = self._put(made, mind)
        if mind.likes_a_nudge and mind.limit < self._ceiling:
            said.append("pressure")
        # The steps down go along with the last points.
        lines_left = -(-len(points) // mind.temper.attention)
        if notes.asks or mind.question == "price" or lines_left <= self._steps(mind):
            said += self._price_talk(notes, mind)
        if mind.question == "reason" and not notes.asks and not made:
            said.append(notes.fresh(REASONS)[0])
        return said

    def price(self, notes: Notes) -> float:
        """The ceiling, reached in steps."""
        step = round(STEP * self._buyer.msrp / 100)
        if not notes.asks:
            return float(self._ceiling + step * self._steps(self._double.mind))
        return float(max(self._ceiling, notes.asks[-1] - step))

    def _steps(self, mind: Mind) -> int:
        """How many steps down the buyer still wants to see."""
        wanted = mind.temper.concessions > 0 and mind.limit < self._ceiling
        return MOST["concessions"] - mind.points["concessions"] if wanted else 0

    def _points_left(self, mind: Mind) -> list[str]:
        """The points that are still to be made, the buyer's question first, until the limit cannot rise."""
        if mind.limit >= self._ceiling:
            return [mind.question] if mind.question in FEATURES else []
        features = [feature for feature in mind.buyer.features if feature not in mind.included]
        points = sorted(features, key=lambda feature: feature != mind.question)
        for kind, topics in (("honesty", ("sticker",)), ("reasons", REASONS), ("extras", EXTRAS), ("rapport", WARMTH)):
            left = MOST[kind] - mind.points[kind] if getattr(mind.temper, kind) > 0 else 0
            points += [topic for topic in topics if topic not in mind.topics][:left]
        return points

    def _put(self, points: list[str], mind: Mind) -> list[str]:
        """The acts that make some points."""
        features = [point for point in points if point in FEATURES and point != mind.question]
        said = [f"yes_feature:{mind.question}"] if mind.question in FEATURES else []
        said += [f"feature:{','.join(features)}"] if features else []
        return said + [point for point in points if point not in FEATURES]

    def _price_talk(self, notes: Notes, mind: Mind) -> list[str]:
        if not notes.asks:
            return ["first_ask"]
        if notes.asks[-1] > self._ceiling:
            return ["lower"]
        # Now the buyer comes nearer with each bid, or takes the price in the end. No line must be said twice.
        return [*notes.fresh(REASONS + EXTRAS + WARMTH)[:1], "hold"]
