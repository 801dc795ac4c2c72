"""Chess: which texts are moves, how games end, and which positions a game can start from."""

import csv
from pathlib import Path

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmrl_data.errors import LmrlError
from lmrl_data.tasks.chess.rules import ending, read_fen, read_move

with (Path(__file__).parent / "cases" / "chess_moves.csv").open(encoding="utf-8", newline="") as file:
    CASES = list(csv.DictReader(file))

MARKS = ["", "+", "#", "!", "?", "!?", "??", "+!!", "#!"]
STARTS = [
    chess.STARTING_FEN,
    "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1",  # castling on all sides
    "1n2k1n1/P1P3PP/8/8/8/8/p1p3pp/1N2K1N1 w - - 0 1",  # promotions of all kinds
    "4k3/pppppppp/8/PPPPPPPP/pppppppp/8/PPPPPPPP/4K3 w - - 0 1",  # en passant everywhere
    "Q1Q1Q2k/8/Q1Q1Q3/8/Q1Q1Q3/7p/7P/K6n w - - 0 1",  # files and ranks have to be told apart
    "4k3/8/2N1N3/1N3N2/8/1N3N2/2N1N3/4K3 w - - 0 1",
]


def played(start: str, choices: list[int]) -> chess.Board:
    """A position reached by random play."""
    board = chess.Board(start)
    for choice in choices:
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(moves[choice % len(moves)])
    return board


positions = st.builds(played, st.sampled_from(STARTS), st.lists(st.integers(0, 999), max_size=40))


def written(board: chess.Board) -> dict[str, chess.Move]:
    """Every way to write a legal move, but for the marks at its end."""
    texts: dict[str, chess.Move] = {}
    for move in board.legal_moves:
        san = board.san(move).rstrip("+#")
        texts[san] = move
        if board.is_castling(move):
            texts[san.replace("O", "0")] = move
        if move.promotion:
            texts[san[:-1] + san[-1].lower()] = move
    return texts


def nearly_written(board: chess.Board) -> set[str]:
    """Texts that look like moves of a position; some of them are."""
    texts = {"O-O", "O-O-O", "0-0", "0-0-0", "o-o", "O-0", "--", "Z0", "0000", "@@@@", "e1g1", "e8c8"}
    for move in board.pseudo_legal_moves:
        piece = chess.piece_symbol(board.piece_type_at(move.from_square) or 0).upper()
        start, end = chess.square_name(move.from_square), chess.square_name(move.to_square)
        promotion = chess.piece_symbol(move.promotion) if move.promotion else ""
        for middle in ("", "x", "-", start, start[0], f"{start}x", f"{start[0]}x", f"{start[1]}x"):
            texts |= {f"{piece}{middle}{end}", f"{middle}{end}{promotion}", f"{middle}{end}={promotion.upper()}"}
        texts |= {move.uci().upper(), f"{piece.lower()}{end}", f"{end}=K", f"{end} ", f"1.{end}", f"{end} e.p."}
    return texts


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['text'] or 'empty'} {case['fen'].split()[0]}")
def test_the_cases_on_which_others_failed(case: dict[str, str]) -> None:
    move = read_move(chess.Board(case["fen"]), case["text"])
    assert (move.uci() if move else "") == case["uci"]
    assert (move is not None) == (case["legal"] == "yes")


@settings(max_examples=50)
@given(positions)
def test_exactly_the_legal_moves_are_read(board: chess.Board) -> None:
    texts = written(board)
    assert len(set(texts.values())) == board.legal_moves.count()
    for text, move in texts.items():
        assert all(read_move(board, text + mark) == move for mark in MARKS)
    for text in nearly_written(board):
        assert read_move(board, text) == texts.get(text)


@settings(max_examples=50)
@given(positions)
def test_uci_is_read_only_where_it_is_asked_for(board: chess.Board) -> None:
    moves = {move.uci(): move for move in board.legal_moves}
    texts = written(board)
    for text, move in moves.items():
        assert read_move(board, text, "uci") == move
        assert read_move(board, text) is None
    for text, move in texts.items():
        assert read_move(board, text, "uci") == move
    for text in nearly_written(board):
        assert read_move(board, text, "uci") == (moves.get(text) or texts.get(text))


def test_castling_as_in_chess960_is_no_uci() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert read_move(board, "e1g1", "uci") == chess.Move.from_uci("e1g1")
    assert read_move(board, "e1h1", "uci") is None
    assert read_move(board, "e1a1", "uci") is None


@given(positions, st.text(max_size=20))
def test_no_text_fails_and_none_is_a_move_by_accident(board: chess.Board, text: str) -> None:
    expected = written(board).get(text.rstrip("+#!?"))
    assert read_move(board, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "е4",  # Cyrillic
        "ｅ４",
        "e４",
        "e\u0664",  # Arabic digit
        "e4\u200b",
        "\ufeffe4",
        "e\u03014",
        "𝐞𝟒",
        "Ｎf3",
        "Νf3",  # Greek
        "♘f3",
        "e4\x00",
        "e 4",
        "e4\n",
        "\ud83d",
        "e4 e5",
        "e4;",
        "e4+" + "!" * 100,
        "e4" * 100_000,
        "+",
        "#" * 16,
        "P",
        "=Q",
    ],
)
def test_what_only_looks_like_a_move_is_none(text: str) -> None:
    assert read_move(chess.Board(), text) is None
    assert read_move(chess.Board(), text, "uci") is None


def test_all_four_promotions_and_no_other() -> None:
    board = chess.Board("1n5k/P7/8/8/8/8/7K/8 w - - 0 1")
    for piece in "QRBN":
        for letter in (piece, piece.lower()):
            assert read_move(board, f"a8={letter}") == chess.Move.from_uci(f"a7a8{piece.lower()}")
            assert read_move(board, f"axb8={letter}+") == chess.Move.from_uci(f"a7b8{piece.lower()}")
    for text in ("a8", "a8Q", "a8=K", "a8=P", "a8=", "a8(Q)", "axb8", "a8=qq", "A8=Q"):
        assert read_move(board, text) is None


def test_en_passant_only_at_once() -> None:
    board = chess.Board("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1")
    board.push_san("d5")
    assert read_move(board, "exd6") == chess.Move.from_uci("e5d6")
    board.push_san("Kd1")
    board.push_san("Kd8")
    assert read_move(board, "exd6") is None


def test_castling_rights_are_lost_for_good() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    for san in ("Rg1", "Ke7", "Rh1", "Ke8"):
        board.push_san(san)
    assert read_move(board, "O-O") is None
    assert read_move(board, "O-O-O") == chess.Move.from_uci("e1c1")


# Endings

SHUFFLE = ["Nf3", "Nf6", "Ng1", "Ng8"]
ROOK_SHUFFLE = ["Rg1", "Kd8", "Rh1", "Ke8"]


@pytest.mark.parametrize(
    ("fen", "moves", "result", "reason"),
    [
        (chess.STARTING_FEN, "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#".split(), "1-0", "checkmate"),
        (chess.STARTING_FEN, "f3 e5 g4 Qh4#".split(), "0-1", "checkmate"),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", ["Qf7"], "1/2-1/2", "stalemate"),
        ("2q5/8/8/8/8/1k6/8/1K6 w - - 0 1", ["Ka1", "Qc2"], "1/2-1/2", "stalemate"),
        ("8/8/8/3k4/8/8/4r3/4K3 w - - 0 1", ["Kxe2"], "1/2-1/2", "insufficient material"),
        ("8/8/8/8/8/3k4/4R3/7K w - - 0 1", ["Kg1", "Kxe2"], "1/2-1/2", "insufficient material"),
        ("8/8/3k4/8/8/8/4p3/4KB2 w - - 0 1", ["Kxe2"], "1/2-1/2", "insufficient material"),
        (chess.STARTING_FEN, SHUFFLE * 2, "1/2-1/2", "threefold repetition"),
        # The first position has a right to castle that the later ones do not have: it is another.
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", [*ROOK_SHUFFLE * 2, "Rg1"], "1/2-1/2", "threefold repetition"),
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", ROOK_SHUFFLE * 2, "1/2-1/2", "threefold repetition"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 98 80", ["Kd1", "Ke4"], "1/2-1/2", "fifty moves"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 99 80", ["Kd1"], "1/2-1/2", "fifty moves"),
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", ["Ra8#"], "1-0", "checkmate"),
        ("8/8/8/8/8/k7/7r/1K6 w - - 98 80", ["Ka1", "Rh1#"], "0-1", "checkmate"),
        ("7k/5Q2/8/6K1/8/8/8/8 w - - 99 80", ["Kg6"], "1/2-1/2", "stalemate"),
    ],
)
def test_games_end_when_they_must_and_not_before(fen: str, moves: list[str], result: str, reason: str) -> None:
    board = chess.Board(fen)
    for san in moves:
        assert ending(board) is None
        board.push_san(san)
    found = ending(board)
    assert found is not None and (found.result, found.reason) == (result, reason)


@pytest.mark.parametrize(
    ("fen", "san", "goes_on"),
    [
        ("8/8/8/4k3/8/8/P7/R3K3 w - - 99 80", "Kd1", False),
        ("8/8/8/4k3/8/8/P7/R3K3 w - - 99 80", "a3", True),
        ("8/8/8/4k3/8/8/r7/R3K3 w - - 99 80", "Rxa2", True),
    ],
)
def test_a_capture_or_a_pawn_move_begins_the_fifty_moves_anew(fen: str, san: str, goes_on: bool) -> None:
    board = chess.Board(fen)
    board.push_san(san)
    assert (ending(board) is None) == goes_on


@given(positions)
def test_endings_agree_with_python_chess(board: chess.Board) -> None:
    """`outcome` of python-chess, with the two draws that it wants claimed counted when they are on the board."""
    outcome, found = board.outcome(), ending(board)
    if outcome:
        assert found is not None and found.result == outcome.result()
    else:
        drawn = board.is_repetition(3) or board.halfmove_clock >= 100
        assert (found.result if found else None) == ("1/2-1/2" if drawn else None)


# Positions to start from


def test_positions_that_can_be() -> None:
    for fen in [*STARTS[:3], "8/8/8/4k3/8/8/8/R3K3 w - - 99 5000", "4k3/8/8/8/8/8/8/4K2R w K -"]:
        assert read_fen(fen, STARTS[0]).fen() == chess.Board(fen).fen()


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("", "read"),
        ("garbage", "read"),
        ("{0} {x} {", "read"),
        ("x" * 100_000, "read"),
        ("8/" * 50_000, "read"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w KQkq - 0 1", "read"),
        (f"{chess.STARTING_BOARD_FEN} x KQkq - 0 1", "read"),
        (f"{chess.STARTING_BOARD_FEN} w KQkq - -1 1", "read"),
        (None, "read"),
        (3, "read"),
        (["a", {"b": 1}], "read"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no game"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "no game"),
        ("4k3/8/8/8/8/8/4K3/4K3 w - - 0 1", "no game"),
        ("4k3/4K3/8/8/8/8/8/R7 w - - 0 1", "no game"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "no game"),  # Black is in check and White to move
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "no game"),
        ("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1", "no game"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - e6 0 1", "no game"),
        (f"{chess.STARTING_BOARD_FEN} w KQkq - 0 {10**50}", "no game"),
        (f"{chess.STARTING_BOARD_FEN} b KQkq - 0 1", "Black is to move"),
        ("8/8/8/4k3/8/8/8/4K3 w - - 0 1", "over by insufficient material"),
        ("8/8/8/8/8/1k6/2q5/K7 w - - 0 1", "over by stalemate"),
        ("8/8/8/8/8/k7/8/K6r w - - 0 1", "over by checkmate"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 100 80", "over by fifty moves"),
    ],
)
def test_positions_that_cannot_be(fen: object, reason: str) -> None:
    with pytest.raises(LmrlError, match=reason) as error:
        read_fen(fen, chess.STARTING_FEN)
    message = str(error.value)
    assert chess.STARTING_FEN in message and "\n" not in message and len(message) < 400
