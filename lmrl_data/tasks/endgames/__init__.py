"""Won endgames against a bare king."""

from lmrl_data.registry import Bounds, Config, Task

_POLICIES = [
    "random",
    "optimal",
    "greedy-20",
    "greedy-40",
    "greedy-60",
    "greedy-80",
    "level-1",
    "level-5",
    "level-10",
]

TASK = Task(
    name="endgames",
    title="Endgames",
    summary=(
        "The agent plays White in a won endgame (queen, rook, queen and rook, or two rooks against the bare king) by "
        "saying moves in algebraic notation, and is shown each position as FEN."
    ),
    challenge=(
        "The mate takes up to 16 moves of a plan, in positions of which nearly all are new, and half of what the agent "
        "could do gives the win away: stalemate, a lost piece, a repetition. The test positions are of the harder half."
    ),
    configs={
        "default": Config(
            env_id="lmrl/Endgames-v0",
            kwargs={},
            bounds=Bounds(minimum=-1, mean=0.57845, maximum=1.0, maximum_from="optimal", exact=True),
            collection={"greedy-20": 0.1, "greedy-40": 0.25, "greedy-60": 0.35, "greedy-80": 0.2, "level-5": 0.1},
            sizes={"small": (20_000, 2_000), "full": (97_756, 9_776)},
            evaluation_episodes=645,
            evaluation={"positions": "test"},
        ),
    },
    env="lmrl_data.tasks.endgames.env:EndgamesEnv",
    starts="lmrl_data.tasks.endgames.env:evaluation_starts",
    partner="engine",
    policies={name: f"lmrl_data.tasks.endgames.policies:{name.replace('-', '_')}" for name in _POLICIES},
    reading="lmrl_data.tasks.chess.replies:read_move",
    info={
        "fen": "string",
        "opponent": "string",
        "engine": "string",
        "result": "string",
        "ending": "string",
        "agent_moves": "list<string>",
        "opponent_moves": "list<string>",
        "usable": "list<bool>",
        "best_moves": "list<string>",
        "distance_before": "list<int32>",
        "distance_after": "list<int32>",
    },
    options={"fen": "string"},
    column_notes={
        "fen": "the position that the game started from",
        "opponent": "who played Black",
        "engine": "name and behaviour hash of the Stockfish build that answered; empty where none did",
        "result": "`1-0`, `1/2-1/2`, or `*` where the limit of moves came first",
        "ending": "how the game ended, such as `checkmate` or `stalemate`",
        "agent_moves": "the agent's move of each turn in UCI; empty where it was unusable",
        "opponent_moves": "the answer to each in UCI; empty where there was none",
        "usable": "whether each turn's action was a legal move",
        "best_moves": "a move of the shortest mate before each turn of the agent; empty where no mate can be forced",
        "distance_before": "moves until mate with best play, before each turn; -1 where no mate can be forced",
        "distance_after": "the same after the agent's move, 0 for mate on the board",
    },
    paper={
        "episodes": 97_756,
        "mean_length": 11.9,
        "std_length": 12.0,
        "success_rate": 0.59,
        "mean_return": 0.586,
        "std_return": 0.492,
    },
    provenance=(
        "Start positions are drawn uniformly within each of the four classes; the test positions and their mirror "
        "images never come. The players know the exact distance to mate and play a move of the shortest mate, but any "
        "legal move with some probability (`greedy-60`: six moves in ten are random); one in ten games is played by an "
        "engine level instead. Best move and distances of each turn come from the retrograde analysis, not from an "
        "engine."
    ),
    batch_size=256,
    shard_size=5_000,
    tags=("chess", "endgames", "games", "stockfish"),
)
