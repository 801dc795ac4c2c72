"""The text navigation environment."""

from typing import Any, ClassVar

from lmrl_data.game import GameEnv, text_space
from lmrl_data.tasks.text_nav.game import TextNavGame, text_nav_game


class TextNavEnv(GameEnv[TextNavGame]):
    """Walk through a house and put the stale food into the fridge.

    ## Description
    A house of eight rooms with seven things in it. The quest: find the stale food, which lies on the table of the
    living room, bring it to the kitchen, put it into the fridge and close the fridge. The rules are those of TextWorld.

    The shortest plans take 7 commands from the bedroom, 6 from the living room, 7 from the dining room, 8 from the
    kitchen, 9 from the garden, 7 from the office, 8 from the bathroom and 9 from the backyard (mean 7.625). So the
    exact optimum is a return of 1 from every room, in both configs: the first observation tells the rooms apart.

    ## Action Space
    `Text`: `go north`, `take bowl from table`, `take bowl`, `put bowl on table`, `insert bowl into fridge`,
    `drop bowl`, `open fridge`, `close fridge`, `eat fruit` (food only), in any case. Usual other words (`get`,
    `pick up`, `put fruit in fridge`, `n`, articles) mean the same commands, and `take bowl` takes it from the table as
    well. A command that cannot be done now, or that is not known, changes nothing and costs a turn;
    `info["invalid_action"]` says which.

    ## Observation Space
    `Text`: the exits, the furniture with what is visible on or in it, what lies on the floor, and a line `Commands: …`
    with all that can be done now, always in the same order. In the config `fully_observed` also the name of the room
    and what the agent carries; in `partially_observed` neither. A closed container shows nothing of what is in it.

    ## Starting State
    The room: a hash of the seed, each of the eight as likely as the others. `reset(options={"room": "kitchen"})` fixes
    it. Both containers are closed.

    ## Rewards
    1 for closing the fridge with the stale food in it, else 0.

    ## Episode End
    Terminated when the quest is done, and when the stale food is eaten, which is a failure; truncated after 15 turns.

    ## Information
    `invalid_action` (str) for an unusable command. At the end `success` (bool) and `return` (float).

    ## Arguments
    - `observe`: `"fully_observed"` or `"partially_observed"`: what the two configs set.

    ## Differences from the paper
    The house, the things and the quest are the paper's. The simulator is our own instead of TextWorld's interpreter,
    and compared with TextWorld command by command in the tests. The texts are our own. The seed fixes the start.
    The policies that collect the data are not wholly random outside their half of the house: they play the best command
    there with probability 0.265. With none, the data would succeed in less than 5 % of the episodes (paper: 26 %).

    ## Version History
    - v0: first version.
    """

    start_options: ClassVar[tuple[str, ...]] = ("room",)

    def __init__(self, env_id: str = "lmrl/TextNav-v0", observe: str = "fully_observed") -> None:
        super().__init__(text_nav_game(observe), env_id)
        # One thing on the floor beside others in the hand can take a few characters more than any sample.
        self.observation_space = text_space(self.game.sample_texts(), longer=32)

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        if "room" in options:
            return self._begin(self.game.start_of(options["room"]))
        return self._begin(self._draw(seed))
