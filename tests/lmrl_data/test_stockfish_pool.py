"""Stockfish: how the program is found, and what its answers and its failures become."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import pytest
from engines import DIE, HANG, fake_engine, kill, needs_stockfish, processes_below, stockfish_behind

from lmrl_data.errors import LmrlError
from lmrl_data.stockfish import binary
from lmrl_data.stockfish.binary import find_stockfish
from lmrl_data.stockfish.pool import EnginePool
from lmrl_data.stockfish.search import Found, Line, Request

START = Request(chess.Board(), nodes=100)
PROMOTION = Request(chess.Board("8/8/8/8/8/k7/5p2/K7 b - - 0 1"), nodes=100)
INFO = "info depth 1 multipv 1 score cp 5 pv"


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    before = processes_below()
    yield
    assert processes_below() <= before


def program(place: Path, text: str = "#!/bin/sh\n") -> str:
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return str(place)


# Finding the program


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("STOCKFISH_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(binary, "GAMES", str(tmp_path / "games" / "stockfish"))


@pytest.mark.usefixtures("nothing_installed")
def test_the_variable_comes_first_then_the_path_then_the_folder_of_games(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    games = program(tmp_path / "games" / "stockfish")
    assert find_stockfish() == games
    on_path = program(tmp_path / "bin" / "stockfish")
    assert find_stockfish() == on_path
    named = program(tmp_path / "my own" / "fish")
    monkeypatch.setenv("STOCKFISH_PATH", named)
    assert find_stockfish() == named
    monkeypatch.setenv("STOCKFISH_PATH", "")
    assert find_stockfish() == on_path


@pytest.mark.usefixtures("nothing_installed")
def test_a_relative_path_is_a_file_of_this_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "stockfish")
    here = program(tmp_path / "here" / "stockfish")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("STOCKFISH_PATH", "stockfish")
    found = find_stockfish()
    monkeypatch.chdir(tmp_path)
    assert found == here


@pytest.mark.usefixtures("nothing_installed")
def test_no_stockfish_says_how_to_get_it() -> None:
    with pytest.raises(LmrlError, match=r"apt-get install stockfish.*STOCKFISH_PATH"):
        find_stockfish()


@pytest.mark.parametrize("kind", ["missing", "folder", "not executable"])
def test_a_bad_path_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    bad = tmp_path / "{bad} stockfish"
    if kind == "folder":
        bad.mkdir()
    elif kind == "not executable":
        bad.write_text("x")
    monkeypatch.setenv("STOCKFISH_PATH", str(bad))
    with pytest.raises(LmrlError, match=rf"^STOCKFISH_PATH={re.escape(str(bad))} is no program"):
        find_stockfish()


# Programs that are no Stockfish

TEXT_FILE = "not a program"


@pytest.mark.parametrize(
    ("path", "seconds", "reason"),
    [
        ("/bin/cat", 0.5, "no answer to 'uci' in 0.5 s"),
        ("/bin/true", 30, "died"),
        ("/bin", 30, "Permission denied"),
        ("/no/such/file", 30, "No such file"),
        (TEXT_FILE, 30, "Exec format error"),
    ],
)
def test_a_program_that_is_no_engine(tmp_path: Path, path: str, seconds: float, reason: str) -> None:
    if path == TEXT_FILE:
        path = program(tmp_path / "{x}" / "stockfish", TEXT_FILE)
    pool = EnginePool(path, timeout=seconds)
    for _ in range(2):
        with pytest.raises(LmrlError, match=re.escape(path)) as error:
            pool.search(START)
        assert re.search(reason, str(error.value))
        assert "STOCKFISH_PATH" in str(error.value) and "\n" not in str(error.value)
    pool.close()


@pytest.mark.parametrize(
    ("uci", "seconds", "reason"),
    [
        (DIE, 30, "died"),
        ("os._exit(3)", 30, "exit code: 3"),
        (HANG, 0.5, "no answer to 'uci' in 0.5 s"),
        ("OPTIONS.pop(0)", 30, "no option MultiPV"),
    ],
)
def test_trouble_in_the_handshake(tmp_path: Path, uci: str, seconds: float, reason: str) -> None:
    path = fake_engine(tmp_path, uci=uci)
    pool = EnginePool(path, timeout=seconds)
    with pytest.raises(LmrlError, match=rf"{path} is no Stockfish that can be used \(.*{reason}.*STOCKFISH_PATH"):
        pool.search(START)
    fake_engine(tmp_path)  # mended
    pool.timeout = 30
    assert pool.search(START).move == "e2e4"
    pool.close()


# Answers that cannot be used


@pytest.mark.parametrize(
    ("trouble", "request_", "reason"),
    [
        (DIE, START, "died in .* -9"),
        ("os._exit(3)", START, "died in .*exit code: 3"),
        (f"say('{INFO} e2e4'); os._exit(0)", START, "died in"),
        (HANG, START, "did not answer"),
        (f"say('{INFO} e2e4'); {HANG}", START, "did not answer"),
        (f"say('{INFO} e2e4', 'bestmove e2e5')", START, "'e2e5' is no legal move"),
        (f"say('{INFO} e2e5', 'bestmove e2e4')", START, "'e2e5' is no legal move"),
        (f"say('{INFO} e2e4', 'bestmove (none)')", START, r"'\(none\)' is no legal move"),
        (f"say('{INFO} e2e4', 'bestmove 0000')", START, "'0000' is no legal move"),
        (f"say('{INFO} e2e4', 'bestmove')", START, "'' is no legal move"),
        (f"say('{INFO} e2e4', 'bestmove e4')", START, "'e4' is no legal move"),
        (f"say('{INFO} e2e4', 'bestmove ' + 'x' * 10**6)", START, "'xxx.{,90} is no legal move"),
        (f"say('{INFO} f2f1q', 'bestmove f2f1Q')", PROMOTION, "'f2f1Q' is no legal move"),
        ("say('bestmove e2e4')", START, "no line before 'bestmove e2e4'"),
        ("say('info depth 1 score high pv e2e4', 'bestmove e2e4')", START, "unreadable line .*score high"),
    ],
)
def test_trouble_in_a_search_is_a_clear_error_and_the_next_request_works(
    tmp_path: Path, trouble: str, request_: Request, reason: str
) -> None:
    path = fake_engine(tmp_path, go=f"if once(): {trouble}")
    pool = EnginePool(path, size=1)
    if request_ is START:
        pool.search(START)
    (tmp_path / "trouble").touch()
    pool.timeout, began = 1 if HANG in trouble else 30, time.monotonic()
    with pytest.raises(LmrlError, match=reason) as error:
        pool.search(request_)
    assert time.monotonic() - began < 10
    assert all(part in str(error.value) for part in (path, "'go nodes 100'", f"'fen {request_.board.fen()}'"))
    assert len(str(error.value)) < 500 and "\n" not in str(error.value)
    pool.timeout = 30
    assert pool.search(START).lines == (Line("e2e4", 20, None),)
    pool.close()


@pytest.mark.parametrize(
    "garbage",
    [
        r"say('', '   ', 'garbage', 'info', 'info string score cp 3', 'bestmov e7e5', 'pv e7e5')",
        r"say(b'\xff\xfe\x00 bestmove e7e5\n', bytes(range(128, 256)) + b'\n')",
        r"say('info string ' + 'y' * 10_000_000)",
        r"say('info depth 3 currmove d2d4 currmovenumber 4', 'readyok', 'id name Other')",
        r"say('info depth 9 multipv 1 score cp -999 upperbound nodes 3 pv d2d4\r')",
        r"os.write(2, b'noise\n' * 20_000)",
        r"time.sleep(0.3)",
    ],
)
def test_garbage_noise_and_slowness_do_no_harm(tmp_path: Path, caplog: pytest.LogCaptureFixture, garbage: str) -> None:
    pool = EnginePool(fake_engine(tmp_path, uci=garbage, go=garbage), size=1)
    for _ in range(2):
        assert pool.search(START).lines == (Line("e2e4", 20, None),)
    pool.close()
    assert "noise" not in caplog.text


def test_what_is_said_to_the_engine(tmp_path: Path) -> None:
    """Options are set when they change, and set back; the hash table is cleared before a search that is to be pure."""
    heard = tmp_path / "heard"
    listen = f"open({str(heard)!r}, 'a').write('\\n'.join(asked) + '\\n'); asked.clear()"
    pool = EnginePool(fake_engine(tmp_path, go=listen), size=1)
    board = chess.Board()
    moved = board.copy()
    moved.push_san("Nf3")
    moved.push_san("Nf6")
    moved.push_san("Ng1")
    moved.push_san("Ng8")
    elo = (("UCI_LimitStrength", "true"), ("UCI_Elo", "1400"), ("Hash", "16"))
    pool.search(Request(board, nodes=7))
    pool.search(Request(moved, nodes=8, lines=4))
    pool.search(Request(board, milliseconds=9, options=elo, fresh=False))
    pool.search(Request(board, nodes=10))
    pool.close()
    start = f"position fen {chess.STARTING_FEN}"
    assert heard.read_text().splitlines() == [
        *("setoption name Threads value 1", "setoption name Hash value 1"),
        *("setoption name UCI_LimitStrength value false", "setoption name MultiPV value 1"),
        *("ucinewgame", start, "go nodes 7"),
        *("setoption name MultiPV value 4", "ucinewgame", f"{start} moves g1f3 g8f6 f3g1 f6g8", "go nodes 8"),
        *("setoption name Hash value 16", "setoption name UCI_LimitStrength value true"),
        *("setoption name MultiPV value 1", "setoption name UCI_Elo value 1400", start, "go movetime 9"),
        *("setoption name Hash value 1", "setoption name UCI_LimitStrength value false"),
        *("ucinewgame", start, "go nodes 10"),
    ]


def test_options_that_the_engine_would_ignore_are_refused(tmp_path: Path) -> None:
    pool = EnginePool(fake_engine(tmp_path), size=1)
    for option, reason in [
        (("UCI_Elo", "1200"), "at least 1350"),
        (("UCI_Elo", "3000"), "at most 2850"),
        (("Skill Level", "3"), "no option Skill Level"),
    ]:
        with pytest.raises(LmrlError, match=reason):
            pool.search(Request(chess.Board(), nodes=100, options=(option,)))
    assert pool.search(Request(chess.Board(), nodes=100, options=(("UCI_Elo", "1350"),))).move == "e2e4"
    pool.close()


def test_one_failure_among_many_requests_ends_them_all_at_once(tmp_path: Path) -> None:
    """Not one timeout after the other: a thousand requests to an engine that hangs would take a night."""
    pool = EnginePool(fake_engine(tmp_path, go=HANG), size=2, timeout=1)
    began = time.monotonic()
    with pytest.raises(LmrlError, match="did not answer"):
        pool.search_all([START] * 20)
    assert time.monotonic() - began < 8
    pool.close()


def test_no_more_processes_than_the_size_of_the_pool(tmp_path: Path) -> None:
    before = processes_below()
    pool = EnginePool(fake_engine(tmp_path, go="time.sleep(0.01)"), size=3)
    assert len(pool.search_all([START] * 12)) == 12
    assert len(processes_below() - before) == 3
    assert pool.search_all([]) == []
    pool.close()


# Closing


def test_closing_twice_is_fine_and_use_afterwards_is_an_error(tmp_path: Path) -> None:
    pool = EnginePool(fake_engine(tmp_path))
    pool.search(START)
    pool.close()
    pool.close()
    for use in (lambda: pool.search(START), lambda: pool.search_all([START, START]), lambda: pool.build):
        with pytest.raises(LmrlError, match="closed; make the environment or policy again"):
            use()


# Stockfish itself

FENS = [
    chess.STARTING_FEN,
    "8/7p/8/7p/1p5p/1Kp5/npp5/qrkr1Q2 w - -",  # in public an engine timed out on it
    "6k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1",
    "8/8/8/8/8/k7/5p2/K7 b - - 0 1",
    "7k/8/8/8/8/6q1/7r/K7 w - - 98 120",  # one legal move, then mate
]


def requests() -> list[Request]:
    boards = [chess.Board(fen) for fen in FENS]
    boards[0].push_san("e4")
    return [
        Request(board, nodes=nodes, lines=4) for board, nodes in zip(boards, (100, 300, 100, 700, 2000), strict=True)
    ]


@pytest.fixture(scope="module")
def expected() -> tuple[str, list[Found]]:
    """The build, and what engines that have just started find."""
    found = []
    for request in requests():
        pool = EnginePool(find_stockfish(), size=1)
        found.append(pool.search(request))
        build = pool.build
        pool.close()
    return build, found


@needs_stockfish
def test_searches_are_pure_functions_of_the_request(expected: tuple[str, list[Found]]) -> None:
    build, found = expected
    for size in (1, 3):
        pool = EnginePool(find_stockfish(), size=size)
        paper = Request(chess.Board(), milliseconds=10, options=(("UCI_LimitStrength", "true"), ("UCI_Elo", "1350")))
        pool.search_all([paper] * 3)
        assert pool.search_all(requests()) == found
        assert pool.search_all(requests()[::-1]) == found[::-1]
        assert pool.build == build and re.fullmatch(r"Stockfish .* [0-9a-f]{8}", build)
        pool.close()


@needs_stockfish
def test_lines_are_legal_and_the_best_comes_first(expected: tuple[str, list[Found]]) -> None:
    for request, found in zip(requests(), expected[1], strict=True):
        values = [line.value for line in found.lines]
        assert len(values) == min(4, request.board.legal_moves.count())
        assert values == sorted(values, reverse=True)
        assert len({line.move for line in found.lines}) == len(values)
        assert all(chess.Move.from_uci(line.move) in request.board.legal_moves for line in found.lines)
        assert found.move == found.lines[0].move
    mate, mated = expected[1][2].lines[0], expected[1][4].lines[0]
    assert (mate.move, mate.cp, mate.mate) == ("e1e8", None, 1)
    assert (mated.move, mated.cp, mated.mate) == ("a1b1", None, -1)


@needs_stockfish
def test_a_finished_game_is_an_error_and_not_a_move() -> None:
    board = chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")
    pool = EnginePool(find_stockfish(), size=1)
    with pytest.raises(LmrlError, match=r"'\(none\)' is no legal move"):
        pool.search(Request(board, nodes=100))
    pool.close()


@needs_stockfish
def test_another_behaviour_is_another_build(tmp_path: Path, expected: tuple[str, list[Found]]) -> None:
    double = 'line = b"go nodes %d\\n" % (2 * int(line.split()[2]))'
    pool = EnginePool(stockfish_behind(tmp_path, go=double), size=1)
    name, _, behaviour = pool.build.rpartition(" ")
    assert expected[0].startswith(name) and not expected[0].endswith(behaviour)
    pool.close()


@needs_stockfish
def test_an_engine_that_died_while_idle_is_replaced(expected: tuple[str, list[Found]]) -> None:
    before = processes_below()
    pool = EnginePool(find_stockfish(), size=2)
    for _ in range(2):
        assert pool.search_all(requests()[:4]) == expected[1][:4]
        engines = processes_below() - before
        kill(engines)
        deadline = time.monotonic() + 10
        while not all(engine.protocol.returncode.done() for engine in pool._all):  # until the pool has noticed
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert not processes_below() & engines
    assert pool.search_all(requests()[:4]) == expected[1][:4]
    assert pool.build == expected[0]
    pool.close()
