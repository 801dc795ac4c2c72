"""Chess against a seeded Stockfish."""

from lmrl_data.registry import Bounds, Config, Task

_LEVELS = [f"level-{number}" for number in range(1, 11)]
_POLICIES = ["random", *_LEVELS, "blunder-10", "blunder-20", "blunder-40"]

TASK = Task(
    name="chess",
    title="Chess",
    summary="The agent plays White by saying moves in algebraic notation, and is shown each position as FEN.",
    challenge=(
        "The reward comes at the end of some forty moves, and a single blunder loses what was won. The data are games "
        "of players from beginner to engine; a learner has to find out which moves won, in positions of which nearly "
        "all are new."
    ),
    configs={
        "default": Config(
            env_id="lmrl/Chess-v0",
            kwargs={},
            bounds=Bounds(minimum=-400, mean=0.176, maximum=0.975, maximum_from="level-10", exact=False),
            collection={
                "level-1": 0.05,
                "level-2": 0.17,
                "level-3": 0.05,
                "level-7": 0.18,
                "level-8": 0.20,
                "level-9": 0.15,
                "blunder-10": 0.10,
                "blunder-20": 0.10,
            },
            sizes={"small": (2_000, 200), "full": (625_000, 62_500)},
            evaluation_episodes=1000,
        ),
    },
    env="lmrl_data.tasks.chess.env:ChessEnv",
    starts="lmrl_data.tasks.chess.env:evaluation_starts",
    partner="engine",
    label="lmrl_data.tasks.chess.labels:label",
    policies={name: f"lmrl_data.tasks.chess.policies:{name.replace('-', '_')}" for name in _POLICIES},
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
        "cp_before": "list<int32>",
        "mate_before": "list<int32>",
        "cp_after": "list<int32>",
        "mate_after": "list<int32>",
        "cp_loss": "list<int32>",
    },
    options={"fen": "string"},
    column_notes={
        "fen": "the position that the game started from",
        "opponent": "who played Black",
        "engine": "name and behaviour hash of the Stockfish build that answered; empty where none did",
        "result": "`1-0`, `0-1`, `1/2-1/2`, or `*` where the limit of moves came first",
        "ending": "how the game ended, such as `checkmate` or `threefold repetition`",
        "agent_moves": "the agent's move of each turn in UCI; empty where it was unusable",
        "opponent_moves": "the answer to each in UCI; empty where there was none",
        "usable": "whether each turn's action was a legal move",
        "best_moves": "Stockfish's best move before each turn of the agent",
        "cp_before": "its score of the position before the turn, in centipawns for White; null where it sees a mate",
        "mate_before": "moves until the mate that it sees before the turn, negative where White is mated; else null",
        "cp_after": "its score after the agent's move; null where it sees a mate or the move was unusable",
        "mate_after": "the mate that it sees after the agent's move, 0 for mate on the board",
        "cp_loss": "what the move gave away in centipawns, scores being cut off at 1000; null where it was unusable",
    },
    paper={
        "episodes": 625_000,
        "mean_length": 46.7,
        "std_length": 18.16,
        "success_rate": 0.60,
        "mean_return": 0.210,
        "std_return": 0.970,
    },
    provenance=(
        "Players of eight strengths as White against one opponent: levels of a ladder from beginner to engine, which "
        "search a fixed number of nodes with Stockfish and pick among its best lines by a hash of the seed, and the "
        "strongest level with a share of random moves (`blunder-10`: a tenth). Few games are even, as in the paper's "
        "data, where players win or lose and hardly ever draw. Each move of the agent is judged by Stockfish at 5,000 "
        "nodes. The players see the position alone, not the game so far. The score's maximum is the strongest level's "
        "mean over 200 evaluation episodes."
    ),
    batch_size=64,
    shard_size=500,
    tags=("chess", "games", "stockfish"),
)
