"""Endgames: distances to mate against published counts, python-chess, a slow search and Stockfish."""

from collections.abc import Iterator

import chess
import chess.engine
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrl_data.stockfish.binary import find_stockfish
from lmrl_data.tasks.endgames.positions import canonical, fens_of
from lmrl_data.tasks.endgames.retrograde import NO_MATE
from lmrl_data.tasks.endgames.squares import ROW, TRIANGLE
from lmrl_data.tasks.endgames.tablebase import (
    MATERIALS,
    best_moves,
    distance_to_mate,
    distances_after,
    table,
    white_distances,
)

SIDES = {"white": chess.WHITE, "black": chess.BLACK}
NEVER = 1000


def place(material: str, squares: list[int], turn: chess.Color) -> chess.Board:
    board = chess.Board(None)
    for square, symbol in zip(squares, f"K{MATERIALS[material]}k", strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    board.turn = turn
    return board


def random_boards(count: int, seed: int) -> list[chess.Board]:
    """Boards of all classes, both sides to move; the kings do not touch, and Black is not in check at White's turn."""
    rng = np.random.default_rng(seed)
    boards: list[chess.Board] = []
    while len(boards) < count:
        material = list(MATERIALS)[len(boards) % 4]
        squares = rng.permutation(64)[: len(MATERIALS[material]) + 2].tolist()
        board = place(material, squares, chess.COLORS[len(boards) // 4 % 2])
        if chess.square_distance(squares[0], squares[-1]) > 1 and not board.was_into_check():
            boards.append(board)
    return boards


def farthest(material: str, side: str) -> tuple[int, np.ndarray]:
    """The longest distance of a class, and the squares of the positions that have it."""
    distances: np.ndarray = getattr(table(material), side)
    longest = int(distances[distances != NO_MATE].max())
    rows = np.argwhere(distances == longest)
    rows[:, 0] = TRIANGLE[rows[:, 0]]
    return longest, rows


def count_on_board(members: np.ndarray) -> int:
    """The number of positions on the whole board that members of a table stand for."""
    return int(np.bincount(ROW) @ members.reshape(len(members), -1).sum(axis=1))


# Longest mates and how many positions have them, mirror images aside: the published statistics of Nalimov's tables for
# the three-piece classes; our own for the others, which Stockfish confirms below.
@pytest.mark.parametrize(
    ("material", "side", "longest", "positions"),
    [
        ("KQ-K", "white", 10, 1),
        ("KQ-K", "black", 10, 8),
        ("KR-K", "white", 16, 121),
        ("KR-K", "black", 16, 390),
        ("KQR-K", "white", 6, 6),
        ("KRR-K", "white", 7, 1444),
        # Black takes the piece that is left alone, which leaves the longest mate of the rook.
        ("KQR-K", "black", 16, 896),
        ("KRR-K", "black", 16, 896),
    ],
)
def test_longest_mates(material: str, side: str, longest: int, positions: int) -> None:
    found, squares = farthest(material, side)
    assert found == longest
    assert len(np.unique(canonical(material, squares))) == positions


def test_the_longest_mate_of_king_and_queen_is_the_known_one() -> None:
    _, squares = farthest("KQ-K", "white")
    known = chess.Board("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1")
    assert fens_of("KQ-K", squares)[0] in {known.fen(), known.transform(chess.flip_diagonal).fen()}


def test_numbers_of_positions() -> None:
    apart = 3612 * 62  # the kings do not touch; any other square for the piece
    queen, rook = table("KQ-K"), table("KR-K")
    assert count_on_board(queen.white != NO_MATE) == 144_508
    assert apart - count_on_board(queen.black != NO_MATE) == 23_048
    assert count_on_board(rook.white != NO_MATE) == 175_168


@pytest.mark.parametrize("material", MATERIALS)
def test_white_to_move_always_wins_and_long_before_the_fifty_move_rule(material: str) -> None:
    rng = np.random.default_rng(0)
    pieces = len(MATERIALS[material]) + 2
    squares = np.stack([rng.permutation(64)[:pieces] for _ in range(2000)])
    legal = [place(material, row.tolist(), chess.WHITE).is_valid() for row in squares]
    distances = white_distances(material, squares)
    np.testing.assert_array_equal(distances != NO_MATE, legal)
    assert max(farthest(material, side)[0] for side in SIDES) <= 16


def test_each_distance_follows_from_those_that_the_moves_lead_to() -> None:
    for board in random_boards(2000, seed=1):
        after = []
        for move in board.legal_moves:
            board.push(move)
            moves = distance_to_mate(board)
            after.append(NEVER if moves is None else moves)
            board.pop()
        if not after:
            expected = 0 if board.is_check() else NEVER
        else:
            expected = 1 + min(after) if board.turn == chess.WHITE else max(after)
        assert distance_to_mate(board) == (None if expected >= NEVER else expected), board.fen()


def mates_within(board: chess.Board, moves: int) -> bool:
    """Whether White, to move, mates within some moves: plain search."""
    if moves == 0:
        return False
    for move in board.legal_moves:
        if moves == 1 and not board.gives_check(move):
            continue
        board.push(move)
        mates = is_mated_within(board, moves - 1)
        board.pop()
        if mates:
            return True
    return False


def is_mated_within(board: chess.Board, moves: int) -> bool:
    replies = list(board.legal_moves)
    if not replies:
        return board.is_check()
    for reply in replies:
        board.push(reply)
        mates = mates_within(board, moves)
        board.pop()
        if not mates:
            return False
    return True


def test_short_mates_are_those_of_a_plain_search() -> None:
    searched = {chess.WHITE: 0, chess.BLACK: 0}
    for board in random_boards(400, seed=2):
        distance = distance_to_mate(board)
        within = mates_within if board.turn == chess.WHITE else is_mated_within
        if distance is None or distance > 3:
            assert not within(board, 1)
            continue
        searched[board.turn] += 1
        assert distance > 2 or within(board, distance), board.fen()
        assert distance == 0 or not within(board, distance - 1), board.fen()
    assert min(searched.values()) > 40


@pytest.fixture(scope="module")
def engine() -> Iterator[chess.engine.SimpleEngine]:
    engine = chess.engine.SimpleEngine.popen_uci(find_stockfish())
    engine.configure({"Threads": 1, "Hash": 16})
    yield engine
    engine.quit()


def announced(engine: chess.engine.SimpleEngine, board: chess.Board, nodes: int, enough: int) -> int:
    """The shortest mate that Stockfish announces in a search that ends when that is short enough."""
    shortest = NEVER
    # A game of its own for every search: the engine forgets the last one.
    with engine.analysis(board, chess.engine.Limit(nodes=nodes), game=object()) as analysis:
        for info in analysis:
            mate = info["score"].white().mate() if "score" in info else None
            if mate is not None and "upperbound" not in info and "lowerbound" not in info:
                shortest = min(shortest, mate)
            if shortest <= enough:
                break
    return shortest


def test_stockfish_agrees_on_500_positions(engine: chess.engine.SimpleEngine) -> None:
    boards = [b for b in random_boards(560, seed=3) if distance_to_mate(b) not in (None, 0)][:500]
    assert len(boards) == 500
    for board in boards:
        distance = distance_to_mate(board)
        assert distance is not None
        if distance > 3:
            # Long mates are beyond a short search: it may find no shorter one, and perfect play must lead to where it
            # sees the end.
            assert announced(engine, board, 2000, distance) >= distance, board.fen()
            while distance > 2:
                board.push(best_moves(board)[0])
                distance -= board.turn == chess.BLACK
        assert announced(engine, board, 3_000_000, distance) == distance, board.fen()


@pytest.mark.parametrize("material", ["KQR-K", "KRR-K"])
def test_stockfish_agrees_on_the_longest_mate(engine: chess.engine.SimpleEngine, material: str) -> None:
    longest, squares = farthest(material, "white")
    board = place(material, squares[0].tolist(), chess.WHITE)
    assert announced(engine, board, 50_000_000, longest) == longest


@given(st.sampled_from(list(MATERIALS)), st.permutations(range(64)), st.sampled_from(chess.COLORS), st.integers(1, 7))
def test_turned_and_mirrored_boards_have_the_same_distance(
    material: str, order: list[int], turn: chess.Color, symmetry: int
) -> None:
    board = place(material, order[: len(MATERIALS[material]) + 2], turn)
    image = board
    for bit, flip in enumerate((chess.flip_vertical, chess.flip_horizontal, chess.flip_diagonal)):
        if symmetry >> bit & 1:
            image = image.transform(flip)
    assert distance_to_mate(image) == distance_to_mate(board)


def test_distances_after_are_those_of_the_boards_after_and_best_moves_the_best_of_them() -> None:
    captures = 0
    for board in random_boards(800, seed=4):
        after = {}
        for move in board.legal_moves:
            captures += board.is_capture(move)
            board.push(move)
            after[move] = distance_to_mate(board)
            board.pop()
        assert distances_after(board) == after
        worth = {move: NEVER if moves is None else moves for move, moves in after.items()}
        best = (min if board.turn == chess.WHITE else max)(worth.values(), default=None)
        expected = sorted(move.uci() for move in worth if worth[move] == best)
        assert [move.uci() for move in best_moves(board)] == expected
    assert captures > 10


@pytest.mark.parametrize("material", MATERIALS)
def test_perfect_play_mates_when_the_table_says(material: str) -> None:
    longest, squares = farthest(material, "white")
    for row in squares[:: -(-len(squares) // 20)].tolist():
        board = place(material, row, chess.WHITE)
        for _ in range(2 * longest - 1):
            board.push(best_moves(board)[-1])
        assert board.is_checkmate()


@pytest.mark.parametrize(
    ("fen", "distance", "best"),
    [
        pytest.param("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", 0, [], id="mate"),
        pytest.param("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", None, [], id="stalemate"),
        pytest.param("7k/8/6K1/8/8/8/8/R7 w - - 0 1", 1, ["a1a8"], id="mate in one"),
        pytest.param("7k/8/6K1/8/8/8/8/R6R w - - 0 1", None, [], id="Black in check at White's turn"),
        pytest.param("8/8/8/8/8/1k6/1Q6/3K4 b - - 0 1", None, ["b3b2"], id="Black takes the queen"),
        pytest.param("8/8/8/8/8/1k6/1Q6/2K5 b - - 0 1", 6, ["b3c4"], id="the queen is defended"),
        pytest.param("8/8/8/4k3/4R3/8/Q7/K7 b - - 0 1", 9, ["e5e4"], id="Black takes the rook"),
    ],
)
def test_known_positions(fen: str, distance: int | None, best: list[str]) -> None:
    board = chess.Board(fen)
    assert distance_to_mate(board) == distance
    if distance is not None or best:
        assert [move.uci() for move in best_moves(board)] == best


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param(chess.STARTING_FEN, id="start"),
        pytest.param("8/8/8/4k3/8/8/8/4K3 w - - 0 1", id="bare kings"),
        pytest.param("8/8/8/4k3/8/8/8/QQ2K3 w - - 0 1", id="two queens"),
        pytest.param("8/8/8/4k3/8/8/P7/Q3K3 w - - 0 1", id="a pawn more"),
        pytest.param("7n/8/8/4k3/8/8/8/Q3K3 w - - 0 1", id="Black has a piece"),
        pytest.param("8/8/8/4K3/8/8/8/q3k3 b - - 0 1", id="Black has the queen"),
        pytest.param("8/8/8/8/8/8/8/Q3K3 w - - 0 1", id="no king"),
        pytest.param("8/8/8/4k3/8/8/8/Q3K2K w - - 0 1", id="two kings"),
        pytest.param("8/8/8/4k3/8/8/8/4K2R w K - 0 1", id="castling"),
    ],
)
def test_other_boards_are_not_in_the_tables(fen: str) -> None:
    board = chess.Board(fen)
    assert distance_to_mate(board) is None
    assert distances_after(board) == {}
    assert best_moves(board) == []
