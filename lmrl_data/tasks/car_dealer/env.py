"""The car dealer environment."""

import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

from gymnasium.spaces import Text

from lmrl_data.env import TextEnv
from lmrl_data.errors import LmrlError
from lmrl_data.starts import Starts
from lmrl_data.tasks.car_dealer.buyer import BuyerPartner, ModelBuyer
from lmrl_data.tasks.car_dealer.cars import BUYERS, STREAM, buyer_of, buyer_of_number, buyer_of_options
from lmrl_data.tasks.car_dealer.prices import MAX_CHARACTERS

if TYPE_CHECKING:
    from lmrl_data.tasks.car_dealer.model_buyer import SharedModel

MAX_TURNS = 25
REWARDS = ("share", "revenue")


class CarDealerEnv(TextEnv):
    """Sell a car to a buyer with a temper, wishes and a budget of its own.

    ## Description
    A customer comes into a car dealer's showroom, and the agent is the seller: the two talk until the customer buys or
    leaves. The buyer has a personality (one of 10), wants a brand (13), a type (6) and 1 to 4 features (of 8), and has
    a budget (10, 30, 50, 70 or 90 thousand dollars). It says what it wants when it is asked, some buyers all at once,
    some little by little; it never tells its budget.

    The built-in buyer is a negotiation model. To it the car is worth a share of the sticker price (MSRP), which begins
    at about 100 % and goes up with features that it wants, honest reasons, kindness, the true sticker price, things on
    top and small concessions, and down with pressure, insults, repetitions, unanswered questions, a price that goes up,
    a "final" price that was none, a false sticker price, and features that nobody asked for. It never pays more than
    that, nor more than its budget. It bargains towards that limit with bids of its own, and each line costs patience.
    The personalities put different weights on all of it (`tempers.py`; the model is in `mind.py`):

    | per cent of MSRP | start | features | reasons | kindness | MSRP | on top | small steps | pressure | patience |
    |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
    | analytical | 101 | 6 | 9 | 1 | 4 | 2 | 4 | 2 | 17 |
    | friendly | 101 | 5 | 2 | 11 | 1 | 3 | 3 | 3 | 19 |
    | thrifty | 95 | 3 | 3 | 1 | 1 | 6 | 13 | 1 | 18 |
    | busy | 104 | 6 | 3 | 0 | 2 | 2 | 6 | 1.5 | 12 |
    | skeptical | 96 | 5 | 9 | 2 | 8 | 1 | 5 | 3 | 17 |
    | enthusiastic | 103 | 16 | 2 | 5 | 0 | 2 | 2 | 2 | 19 |
    | indecisive | 99 | 5 | 7 | 7 | 2 | 3 | 3 | 2 | 20 |
    | proud | 106 | 8 | 2 | 10 | 0 | 2 | -4 | 3 | 16 |
    | tough | 97 | 4 | 3 | 0 | 2 | 3 | 13 | 1 | 19 |
    | practical | 100 | 8 | 9 | 3 | 2 | 3 | 3 | 2 | 17 |

    Start varies by 3 between buyers of a kind. The columns after it give what a kind of point adds when it is made as
    often as it counts: 3 reasons, 3 kindnesses, 2 things on top, 4 steps down of at most 3.5 % each. Pressure takes its
    figure away each time (of the indecisive, from the second time on; the first adds it). Patience is in lines.

    The highest possible mean return is 1.078 over the evaluation episodes: in every episode the most that the buyer can
    be brought to pay is known exactly, and the policy `optimal`, which knows the buyer, gets it (`bound.py`). Of those
    that know no more than the buyer says, `skilled` is the best. Returns over 4,000 other episodes (95 % bootstrap
    intervals; ± for the personalities):

    | | random | concise | discounts | features | mixture | skilled | optimal |
    |---|--:|--:|--:|--:|--:|--:|--:|
    | return | 0.466 | 0.144 | 0.345 | 0.443 | 0.870 | 1.032 | 1.077 |
    | interval | .456–.476 | .133–.154 | .330–.359 | .427–.458 | .858–.881 | 1.032–1.033 | 1.076–1.078 |
    | success | 0.677 | 0.153 | 0.351 | 0.442 | 0.846 | 1.000 | 1.000 |
    | lines | 10.8 | 16.6 | 15.9 | 17.9 | 15.8 | 14.0 | 18.8 |
    | analytical | 0.47 ±.03 | 0.09 ±.03 | 0.20 ±.04 | 0.53 ±.05 | 0.91 ±.03 | 1.03 ±.00 | 1.08 ±.00 |
    | friendly | 0.50 ±.03 | 0.19 ±.04 | 0.61 ±.05 | 0.54 ±.05 | 0.95 ±.03 | 1.04 ±.00 | 1.08 ±.00 |
    | thrifty | 0.36 ±.03 | 0.00 ±.00 | 0.37 ±.05 | 0.16 ±.03 | 0.91 ±.03 | 1.02 ±.00 | 1.07 ±.00 |
    | busy | 0.42 ±.03 | 0.29 ±.04 | 0.25 ±.04 | 0.44 ±.05 | 0.67 ±.05 | 1.05 ±.00 | 1.08 ±.00 |
    | skeptical | 0.44 ±.03 | 0.00 ±.00 | 0.05 ±.02 | 0.17 ±.04 | 0.66 ±.05 | 1.02 ±.00 | 1.08 ±.00 |
    | enthusiastic | 0.58 ±.03 | 0.24 ±.04 | 0.41 ±.05 | 0.63 ±.05 | 0.98 ±.03 | 1.05 ±.00 | 1.08 ±.00 |
    | indecisive | 0.47 ±.03 | 0.06 ±.02 | 0.51 ±.05 | 0.58 ±.05 | 0.93 ±.03 | 1.01 ±.00 | 1.08 ±.00 |
    | proud | 0.52 ±.03 | 0.47 ±.05 | 0.42 ±.05 | 0.63 ±.05 | 0.87 ±.04 | 1.05 ±.00 | 1.08 ±.00 |
    | tough | 0.43 ±.03 | 0.00 ±.00 | 0.48 ±.05 | 0.11 ±.03 | 0.91 ±.03 | 1.02 ±.00 | 1.07 ±.00 |
    | practical | 0.46 ±.03 | 0.07 ±.02 | 0.16 ±.03 | 0.61 ±.04 | 0.92 ±.03 | 1.03 ±.00 | 1.08 ±.00 |

    ## Action Space
    `Text`: what the seller says, up to 2,000 characters; more is not heard. The buyer reads free talk: prices
    ("$27,500", "27.5k", "twenty-seven five", "I can't go below 28", "another 500 off", "10% off the MSRP of $30,000",
    "let's meet in the middle"), monthly rates and mileages as what they are, features offered, asked about and denied,
    questions, and so on. An empty line and one that is no English are answered ("Sorry, I didn't catch that."), cost a
    turn, change nothing else, and are marked in `info["invalid_action"]`. Attempts to tell the buyer what it has agreed
    to lower what the car is worth to it.

    ## Observation Space
    `Text`: first a line that sets the scene and tells nothing of the buyer; then what the buyer answers.

    ## Starting State
    The buyer: a hash of the seed, each of 631,800 as likely as the others. `reset(options={"buyer": {"personality":
    "busy", "brand": "Volvo", "type": "wagon", "features": ["navigation"], "budget": 30000}})` fixes it. The MSRP
    follows from budget, brand and type: each brand sells each type in five classes, one for each budget, at 78 to 95 %
    of it.

    ## Rewards
    With the last line the price over (budget + MSRP) / 2 if the buyer buys, else 0; all other lines 0. A rejection is
    never rewarded.

    ## Episode End
    Terminated when the buyer accepts a price, or leaves because it has lost its patience. With the 25th line it
    decides: it buys if a price that it can accept is on the table, and leaves if not.

    ## Information
    With each line `understood` (bool: whether the buyer could make out the line and its price), and `invalid_action`
    (str) where there was nothing to make out. At the end `success` (bool), `return` (float) and `secret`, the buyer in
    words.

    ## Arguments
    - `buyer`: `"model"`, the built-in one; `"openai:MODEL@URL"` or `"hf:PATH"`: a language model, which is told its
      temper, wishes and budget and answers in its own words. Prices and the end are judged by the environment all the
      same: the price is the seller's last one, and no deal above the budget, or at a price that nobody has asked,
      counts. An answer that tells the budget, rambles or speaks for the seller is asked for once more, and then
      replaced by a few words in character, with `understood` False. The figures above are the built-in buyer's.
    - `reward`: `"share"` (above) or `"revenue"`: the price in thousands of dollars.

    ## Differences from the paper
    Conversations, reward, budgets and the numbers of personalities, brands, types and features are the paper's. Their
    names, the price list and the buyer are our own; the paper's buyer is a language model. The MSRP belongs to the car
    and is not what the seller says. A rejection is worth 0, where the paper's code pays up to 0.8 for it; so at the
    paper's success rate the standard deviation of the return is 0.50, not 0.42. Prices such as "$30k" are read right.

    ## Version History
    - v0: first version.
    """

    max_turns = MAX_TURNS
    limit_is_terminal = True  # the buyer decides with its answer to the last line
    start_options: ClassVar[tuple[str, ...]] = ("buyer",)

    def __init__(self, env_id: str = "lmrl/CarDealer-v0", buyer: str = "model", reward: str = "share") -> None:
        if reward not in REWARDS:
            raise LmrlError(f"reward is {reward!r}; it must be one of: {', '.join(REWARDS)}")
        super().__init__(env_id)
        self.action_space = Text(max_length=MAX_CHARACTERS, charset=string.printable)
        self.observation_space = Text(max_length=1000, charset=string.printable)
        self._partner: BuyerPartner | None = partner_of(buyer)
        self._recorded: BuyerPartner | None = None
        self.reproducible = self._partner.reproducible
        self.concurrency = self._partner.concurrency
        self._reward = reward

    @property
    def partner(self) -> str:
        """Who plays the buyer."""
        return self._open_partner.name

    @property
    def _open_partner(self) -> BuyerPartner:
        if self._partner is None:
            raise LmrlError("the environment has been closed; make another")
        return self._partner

    @property
    def _speaker(self) -> BuyerPartner:
        """Who speaks for the buyer in this episode."""
        return self._recorded or self._open_partner

    def follow(self, replies: Sequence[str], info: dict[str, Any]) -> None:
        """In the episode just started, take the buyer's answers from a record, as far as they can be given."""
        from lmrl_data.tasks.car_dealer.model_buyer import RecordedBuyer

        self._recorded = RecordedBuyer(self._buyer, replies, info)

    def close(self) -> None:
        """Let go of the buyer; a language model is closed when the last environment has let go of it."""
        self._partner = None

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        self._buyer = buyer_of_options(options["buyer"]) if "buyer" in options else buyer_of(seed)
        self._price = 0.0
        self._usable: list[bool] = []
        self._recorded = None
        return self._open_partner.open(self._buyer, seed)

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        answer = self._speaker.answer(action, last=self._turn + 1 == self.max_turns)
        info: dict[str, Any] = {"understood": answer.understood}
        if answer.problem is not None:
            info["invalid_action"] = answer.problem
        self._price = answer.price
        self._usable.append(answer.understood)
        reward = self._price / (1000 if self._reward == "revenue" else self._buyer.scale)
        return answer.text, reward, bool(answer.decision), answer.decision == "accept", info

    def _final_info(self) -> dict[str, Any]:
        return {"secret": self._buyer.secret}

    def episode_info(self) -> dict[str, Any]:
        """The ``info`` struct of the episode's record: who bought, or did not, and the sums in dollars."""
        return {
            **self._buyer.options,
            "msrp": self._buyer.msrp,
            "price": self._price,
            "last_bid": self._speaker.bid or 0.0,
            "partner": self._speaker.name,
            "usable": self._usable,
        }


_models: "WeakValueDictionary[str, SharedModel]" = WeakValueDictionary()


def partner_of(spec: str) -> BuyerPartner:
    """The buyer that a spec string names; environments of one language model share it.

    Raises:
        LmrlError: there is no such buyer, or it cannot be had.
    """
    if spec == "model":
        return ModelBuyer()
    if not spec.startswith(("openai:", "hf:")):
        raise LmrlError(f"buyer is {spec!r:.80}; it must be model, openai:MODEL@URL or hf:PATH")
    from lmrl_data.llm import chat_model
    from lmrl_data.tasks.car_dealer.model_buyer import LanguageModelBuyer, SharedModel

    model = _models.get(spec)
    if model is None:
        model = _models[spec] = SharedModel(chat_model(spec))
    return LanguageModelBuyer(model)


def evaluation_starts(buyer: str = "model", reward: str = "share") -> Starts:
    """The starts of evaluation: every buyer there can be."""
    return Starts(BUYERS, STREAM, lambda number: {"buyer": buyer_of_number(number).options})
