"""Endgames: start positions for training and the fixed ones for testing."""

from collections import Counter

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from lmrl_data.errors import LmrlError
from lmrl_data.tasks.endgames import build_positions, positions
from lmrl_data.tasks.endgames.positions import check_fen, is_held_out, train_positions
from lmrl_data.tasks.endgames.retrograde import NO_MATE
from lmrl_data.tasks.endgames.tablebase import MATERIALS, distance_to_mate, read_board, white_distances

TEST = positions.test_positions()
TRAIN_SEEDS = np.arange(20_000) * 7919
EXAMPLE = TEST[0].fen


@pytest.fixture(scope="module")
def train() -> list[chess.Board]:
    return [chess.Board(fen) for fen in train_positions(TRAIN_SEEDS)]


def images(board: chess.Board) -> set[str]:
    """The placements of a board's turns and mirror images, by python-chess."""
    boards = [board, board.transform(chess.flip_diagonal)]
    boards += [b.transform(chess.flip_vertical) for b in boards]
    boards += [b.transform(chess.flip_horizontal) for b in boards]
    return {b.board_fen() for b in boards}


def material_of(board: chess.Board) -> str:
    found = read_board(board)
    assert found is not None
    return found[0]


def test_the_file_of_test_positions_is_what_the_command_writes() -> None:
    assert build_positions.build() == positions.TEST_FILE.read_text(encoding="ascii")


def test_test_positions_are_legal_hard_and_even_over_the_classes() -> None:
    assert Counter(start.material for start in TEST) == {"KQ-K": 162, "KR-K": 161, "KQR-K": 161, "KRR-K": 161}
    medians = {material: build_positions.median_distance(material) for material in MATERIALS}
    for start in TEST:
        board = chess.Board(start.fen)
        assert board.fen() == start.fen
        assert board.is_valid() and board.turn == chess.WHITE and not board.is_check()
        assert (material_of(board), distance_to_mate(board)) == (start.material, start.distance)
        assert start.distance >= medians[start.material]


def test_no_test_position_is_another_turned_or_mirrored() -> None:
    seen: set[str] = set()
    for start in TEST:
        board = chess.Board(start.fen)
        assert board.board_fen() not in seen
        seen |= images(board)


@pytest.mark.parametrize("material", MATERIALS)
def test_the_median_is_that_of_positions_all_over_the_board(material: str) -> None:
    squares = np.random.default_rng(0).integers(64, size=(200_000, len(MATERIALS[material]) + 2))
    distances = white_distances(material, squares)
    assert build_positions.median_distance(material) == np.median(distances[distances != NO_MATE])


def test_train_positions_are_legal_and_whole_fens(train: list[chess.Board]) -> None:
    for fen, board in zip(train_positions(TRAIN_SEEDS[:4000]), train, strict=False):
        assert board.fen() == fen
        assert fen.endswith(" w - - 0 1")
        assert board.is_valid() and not board.is_check()
        assert distance_to_mate(board) is not None


def test_train_never_sees_a_test_position_or_its_image(train: list[chess.Board]) -> None:
    held_out = {placement for start in TEST for placement in images(chess.Board(start.fen))}
    assert not any(board.board_fen() in held_out for board in train)
    # Left in, they would come.
    free = positions.draw("KQ-K", TRAIN_SEEDS, 0, np.empty(0, np.int64))
    assert sum(chess.Board(fen).board_fen() in held_out for fen in positions.fens_of("KQ-K", free)) > 50


def test_classes_are_equally_likely(train: list[chess.Board]) -> None:
    counts = Counter(map(material_of, train))
    assert chisquare([counts[material] for material in MATERIALS]).pvalue > 0.001


@pytest.mark.parametrize("material", MATERIALS)
def test_positions_of_a_class_are_equally_likely(train: list[chess.Board], material: str) -> None:
    drawn = np.array([found[1] for board in train if (found := read_board(board)) and found[0] == material])
    # Uniform ones, taken in another way: any squares at all, less those that cannot be and those held out.
    squares = np.random.default_rng(0).integers(64, size=(200_000, drawn.shape[1]))
    squares = squares[white_distances(material, squares) != NO_MATE]
    test = [read_board(chess.Board(start.fen)) for start in TEST if start.material == material]
    held_out = positions.canonical(material, np.array([found[1] for found in test if found]))
    squares = squares[~np.isin(positions.canonical(material, squares), held_out)]
    if material == "KRR-K":
        squares[:, 1:3].sort(axis=1)
    columns = [(drawn[:, piece], squares[:, piece]) for piece in range(drawn.shape[1])]
    columns.append((white_distances(material, drawn), white_distances(material, squares)))
    for ours, theirs in columns:
        counts = np.array([np.bincount(values, minlength=64) for values in (ours, theirs)])
        assert chi2_contingency(counts[:, counts[1] > 400]).pvalue > 0.001


def test_a_seed_has_one_position_however_it_is_batched() -> None:
    whole = train_positions(TRAIN_SEEDS[:500])
    order = np.random.default_rng(0).permutation(500)
    assert train_positions(TRAIN_SEEDS[:500][order]).tolist() == whole[order].tolist()
    assert [train_positions(TRAIN_SEEDS[i : i + 1])[0] for i in range(50)] == whole[:50].tolist()
    assert train_positions(np.array([2**63 - 1], np.uint64)).tolist() == train_positions(np.array([2**63 - 1])).tolist()
    assert train_positions(np.empty(0, np.int64)).shape == (0,)


# The data of a version of the environment stand on these: they change only with the version.
def test_positions_of_a_few_seeds() -> None:
    assert train_positions(np.array([0, 1, 2, 3, 2**62])).tolist() == [
        "8/1K6/7Q/8/8/8/8/3k4 w - - 0 1",
        "3k4/8/8/6K1/8/8/8/7R w - - 0 1",
        "8/8/8/4Q3/K7/8/5k2/8 w - - 0 1",
        "8/2k5/8/8/8/1R6/8/4K3 w - - 0 1",
        "3k4/8/R5K1/8/8/2Q5/8/8 w - - 0 1",
    ]


def test_held_out_are_the_test_positions_and_their_images(train: list[chess.Board]) -> None:
    for start in TEST[:40]:
        for placement in images(chess.Board(start.fen)):
            assert is_held_out(chess.Board(f"{placement} w - - 3 9"))
            assert not is_held_out(chess.Board(f"{placement} b - - 0 1"))
    assert not any(map(is_held_out, train[:500]))
    assert not is_held_out(chess.Board())


def test_an_episode_can_begin_at_any_position_of_either_kind() -> None:
    for fen in [start.fen for start in TEST] + train_positions(TRAIN_SEEDS[:500]).tolist():
        assert check_fen(fen).fen() == fen


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        pytest.param(7, "it is no text", id="number"),
        pytest.param(None, "it is no text", id="none"),
        pytest.param("", "it cannot be read as a FEN", id="empty"),
        pytest.param("8/8/8 w - - 0 1", "it cannot be read as a FEN", id="three ranks"),
        pytest.param("x" * 10_000, "it cannot be read as a FEN", id="long"),
        pytest.param(chess.STARTING_FEN, "it has castling rights", id="start"),
        pytest.param("8/8/8/4k3/8/8/8/4K2R w K - 0 1", "it has castling rights", id="castling"),
        pytest.param("8/8/8/4k3/8/8/8/4K3 w - - 0 1", "its pieces are others", id="bare kings"),
        pytest.param("8/8/8/4K3/8/8/3r4/3k4 w - - 0 1", "its pieces are others", id="Black has the rook"),
        pytest.param("8/8/8/4k3/8/8/3R4/3K4 b - - 0 1", "it is Black's turn", id="Black to move"),
        pytest.param("8/8/8/3k4/8/8/3R4/3K4 w - - 0 1", "it is not legal", id="Black in check"),
        pytest.param("8/8/8/8/8/8/3Rk3/3K4 w - - 0 1", "it is not legal", id="kings touch"),
        pytest.param("8/8/8/4k3/8/8/3R4/3K4 w - e6 0 1", "it is not legal", id="en passant"),
        pytest.param("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "the fifty-move rule comes before its mate in 1", id="clock"),
    ],
)
def test_other_starts_are_refused(fen: object, reason: str) -> None:
    with pytest.raises(LmrlError) as caught:
        check_fen(fen)
    message = str(caught.value)
    assert f"cannot be the start: {reason}; it must be" in message
    assert EXAMPLE in message and "\n" not in message and len(message) < 350


def test_a_start_may_have_moves_on_the_clock() -> None:
    assert check_fen("7k/8/6K1/8/8/8/8/R7 w - - 98 80").halfmove_clock == 98


def test_the_example_of_the_message_can_be_the_start() -> None:
    assert check_fen(EXAMPLE).fen() == EXAMPLE


@given(st.text() | st.text("KQRk12345678/ wb-", max_size=60) | st.binary())
def test_any_other_value_gives_the_same_error(fen: object) -> None:
    try:
        assert distance_to_mate(check_fen(fen)) is not None
    except LmrlError as error:
        assert "cannot be the start" in str(error)
