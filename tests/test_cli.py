"""The commands as a user types them: output, exit codes, and bad input of every kind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HOSTILE = Path(__file__).parent / "hostile"
SOUND = """(role r) (init (n 0)) (legal r a) (legal r b) (<= (next (did ?m)) (does r ?m)) (<= terminal (true (did ?m)))
(<= (goal r 100) (true (did a))) (<= (goal r 0) (not (goal r 100)))"""


def ggp(*args: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from ggp_agent.cli import main; main()", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_trace_prints_one_json_line_a_position(tmp_path: Path) -> None:
    (tmp_path / "game.kif").write_text(SOUND)
    done = ggp("trace", tmp_path / "game.kif", "--engine", "prolog", "--policy", "first", "--seed", "1", "--json")
    first, last = map(json.loads, done.stdout.splitlines())
    assert first == {
        "step": 0,
        "facts": ["(n 0)"],
        "legal": [["a", "b"]],
        "terminal": False,
        "goals": [0],
        "hash": first["hash"],
        "move": ["a"],
    }
    assert last["facts"] == ["(did a)"] and last["terminal"] and last["goals"] == [100] and last["move"] is None
    assert len(first["hash"]) == 16 and first["hash"] != last["hash"]


def test_a_random_trace_repeats_with_its_seed() -> None:
    one, two, other = (
        ggp("trace", "tic_tac_toe", "--policy", "random", "--seed", seed, "--json").stdout for seed in "112"
    )
    assert one == two != other


def test_first_orders_moves_by_their_spaced_text(tmp_path: Path) -> None:
    text = "(role r) (legal r (f a b)) (legal r (f a)) (goal r 0) (<= terminal (true x)) (<= (next x) (role r))"
    (tmp_path / "game.kif").write_text(text)
    first = json.loads(ggp("trace", tmp_path / "game.kif", "--json").stdout.splitlines()[0])
    assert first["move"] == ["(f a)"] and first["legal"] == [["(f a b)", "(f a)"]]


def test_perft_and_games() -> None:
    assert ggp("perft", "tic_tac_toe", "--depth", "3").stdout == "1 9\n2 72\n3 504\n"
    records = [json.loads(line) for line in ggp("games", "--json").stdout.splitlines()]
    assert {"connect_four", "breakthrough"} <= {record["name"] for record in records}
    assert "Connect Four" in ggp("games").stdout


def test_play_shows_the_board_and_the_result() -> None:
    command = ("play", "connect_four", "--seed", "1", "--player", "ucd,playouts=300,lanes=16", "--player", "random")
    done = ggp(*command)
    assert done.returncode == 0
    assert "   1 2 3 4 5 6 7" in done.stdout and "result: red 100" in done.stdout and "simulations]" in done.stdout
    assert done.stdout == ggp(*command).stdout
    assert "result: x 100" in ggp("play", "tic_tac_toe", "--seconds", "0.05").stdout


def test_players_must_fit_the_game() -> None:
    for wrong in (["--player", "random"], ["--player", "random"] * 3, ["--role", "z"], ["--player", "ucd,d=x"] * 2):
        assert ggp("play", "tic_tac_toe", *wrong).returncode == 2


def test_analyse_tells_what_it_thinks() -> None:
    done = ggp("analyse", "tic_tac_toe", "--moves", "(mark 1 1) (mark 2 2) (mark 1 2)", "--playouts", "500")
    assert done.returncode == 0 and done.stdout.startswith("info simulations ") and " pv noop+(mark 1 3)" in done.stdout
    searched = ggp(
        "analyse", "tic_tac_toe", "--moves", "(mark 1 1)", "--playouts", "4000", "--set", "lanes=16", "--json"
    )
    record = json.loads(searched.stdout.splitlines()[-1])
    assert record["moves"]["o"][0]["move"] == "(mark 2 2)" and record["pv"][0] == ["noop", "(mark 2 2)"]
    assert ggp("analyse", "tic_tac_toe", "--moves", "(mark 9 9)").returncode == 1
    assert ggp("analyse", "tic_tac_toe", "--set", "d=1:2").returncode == 2


def test_play_with_a_person() -> None:
    play = ("play", "tic_tac_toe", "--role", "x", "--seconds", "0.05")
    done = ggp(*play, stdin="?\nnonsense\n(mark 2 2)\n" + "1\n" * 20)
    assert done.returncode == 0 and "result: x" in done.stdout
    assert "not legal for x" in done.stderr and "x (mark 2 2)" in done.stdout
    assert ggp(*play, stdin="1\n").returncode == 130


def test_format_writes_and_checks(tmp_path: Path) -> None:
    path = tmp_path / "game.kif"
    path.write_text(SOUND.replace("(", " ( "))
    assert ggp("format", "--check", path).returncode == 1
    tidy = ggp("format", path).stdout
    assert ggp("format", "--write", path).returncode == 0
    assert path.read_text() == tidy and ggp("format", "--check", path).returncode == 0


def test_check_prints_findings_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "good.kif").write_text(SOUND)
    (tmp_path / "bad.kif").write_text(SOUND + "\n(<= terminal (not (true ?x)))\n(spare 1)")
    done = ggp("check", tmp_path / "good.kif", tmp_path / "bad.kif")
    assert done.returncode == 1 and "bad.kif:3:25: error: ?x under 'not'" in done.stdout
    assert "2 files: 1 errors, 1 warnings" in done.stderr
    records = [json.loads(line) for line in ggp("check", "--json", tmp_path / "bad.kif").stdout.splitlines()]
    assert [(record["line"], record["code"]) for record in records] == [(3, "unsafe"), (4, "unused")]
    assert ggp("check", HOSTILE / "negative_cycle.kif").returncode == 1
    assert ggp("check", HOSTILE / "ground_stratified.kif").returncode == 0


BAD_TEXTS = {
    "empty": (b"", "no rules"),
    "binary": (bytes(range(256)) * 100, "not a text file"),
    "parentheses": (b"(" * 10_000_000, "a rulesheet may have"),
    "depth": (b"(a " * 100_000 + b")" * 100_000, "nested more than"),
    "unbalanced": (b"(role r\n(legal r a)", "never closed"),
    "role": (SOUND.encode() + b"(<= (next z) (does nobody a))", "nobody is not a role"),
    "alternatives": (SOUND.encode() + b"(<= terminal " + b"(or (true a) (true b))" * 30 + b")", "multiply"),
    "unsafe": (SOUND.encode() + b"(fact ?x)", "not bound"),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
@pytest.mark.parametrize("command", ["check", "trace", "perft", "play"])
def test_bad_texts_end_with_a_message(name: str, command: str, tmp_path: Path) -> None:
    data, message = BAD_TEXTS[name]
    path = tmp_path / "bad.kif"
    path.write_bytes(data)
    done = ggp(command, path, *(["--depth", "2"] if command == "perft" else []))
    assert done.returncode == 1
    assert message in done.stdout + done.stderr and "bad.kif" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_moves", "no legal move"),
        ("two_goals", "2 goals at once"),
        ("no_goal", "has no goal"),
        ("looping_next", "no answer within"),
    ],
)
def test_bad_games_end_with_a_message(name: str, message: str) -> None:
    done = ggp("trace", HOSTILE / f"{name}.kif")
    assert done.returncode == 1 and message in done.stderr


def test_wrong_questions_are_told_from_wrong_games(tmp_path: Path) -> None:
    assert ggp("trace", "conect_four").returncode == 2
    assert "did you mean connect_four" in ggp("trace", "conect_four").stderr
    assert ggp("trace", "tic_tac_toe", "--engine", "abacus").returncode == 2
    assert ggp("play", "tic_tac_toe", "--role", "z").returncode == 2
    assert ggp("perft", "tic_tac_toe", "--depth", "0").returncode == 2
    assert ggp("nonsense").returncode == 2
    assert ggp("bench", "playouts", "nonsense").returncode == 2
    assert ggp("trace", tmp_path).returncode == 1


def test_odd_arguments_get_a_message(tmp_path: Path) -> None:
    (tmp_path / "empty_rule.kif").write_text("(<=)")
    assert ggp("format", tmp_path / "empty_rule.kif").returncode == 0
    assert ggp("check", "x" * 300).returncode in (1, 2)
    assert ggp("check", "x" * 5_000).returncode == 2
    assert ggp("circuit", "tic_tac_toe", "--draw", tmp_path / "no" / "x.png").returncode == 1
    assert ggp("circuit", "tic_tac_toe", "--draw", tmp_path / "x.foo").returncode == 2
    (tmp_path / "[").mkdir()
    (tmp_path / "[" / "x].kif").write_text(" (role  r)")
    assert ggp("format", "--check", tmp_path / "[" / "x].kif").returncode == 1
    (tmp_path / "old.kif").write_text(SOUND.replace("\n", " ; end\r") + "\r")
    assert ggp("check", tmp_path / "old.kif").returncode == 0


def test_moves_that_are_numbers_mean_themselves(tmp_path: Path) -> None:
    rules = " ".join(f"(legal r {i}) (<= (goal r {i}) (true (did {i})))" for i in range(4))
    text = f"(role r) {rules} (<= (next (did ?m)) (does r ?m)) (<= terminal (true (did ?m)))"
    (tmp_path / "numbers.kif").write_text(text)
    done = ggp("play", tmp_path / "numbers.kif", "--role", "r", stdin="\u00b2\n" + "9" * 5_000 + "\n3\n")
    assert done.returncode == 0 and "result: r 3" in done.stdout


def test_many_rules_in_one_relation_are_checked_in_time(tmp_path: Path) -> None:
    chain = " ".join(f"(<= (p v{i}) (p v{i + 1}) (true (n 0)))" for i in range(4_000))
    (tmp_path / "chain.kif").write_text(SOUND + chain + "(p v4000) (<= terminal (p v0))")
    assert ggp("check", tmp_path / "chain.kif").returncode == 0


def test_a_game_without_an_end_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "game.kif").write_text("(role r) (legal r a) (goal r 0) (<= terminal (true x))")
    for command in ("trace", "play"):
        done = ggp(command, tmp_path / "game.kif", "--max-steps", "5")
        assert done.returncode == 1 and "not over after 5" in done.stderr


def test_bench_prints_a_ratio(tmp_path: Path) -> None:
    engines = [word for name in ("lanes", "interpreted", "prolog") for word in ("--engine", name)]
    picture = tmp_path / "speed.png"
    options = ["--against", "open_spiel", "--seconds", "0.2", "--json", "--plot", str(picture)]
    done = ggp("bench", "playouts", "connect_four", *engines, *options)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["engine"] for record in records] == ["lanes", "interpreted", "prolog"]
    for record in records:
        assert record["playouts"] > 0 and 7 < record["mean_plies"] < 42
        assert record["ratio"] == pytest.approx(record["playouts_per_second"] / record["open_spiel_per_second"])
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_engines_trace_alike() -> None:
    one, two = (
        ggp("trace", "hex_5x5", "--policy", "random", "--seed", "4", "--json", "--engine", engine).stdout
        for engine in ("prolog", "lanes")
    )
    assert one == two and len(one.splitlines()) > 8
    counts = [ggp("perft", "tic_tac_toe", "--depth", "4", "--engine", name).stdout for name in ("auto", "prolog")]
    assert counts[0] == counts[1]


def test_circuits_are_printed_and_drawn(tmp_path: Path) -> None:
    assert "gates" in ggp("circuit", "tic_tac_toe", "--draw", tmp_path / "circuit.png").stdout
    assert (tmp_path / "circuit.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads(ggp("circuit", "hex_5x5", "--json").stdout)
    assert record["fluents"] == 75 and record["loops"] > 0 and record["gates"] < record["ground rules"]
    done = ggp("circuit", "gomoku", "--draw", tmp_path / "large.png")
    assert done.returncode == 2 and "would show nothing" in done.stderr
    assert ggp("circuit", HOSTILE / "negative_cycle.kif").returncode == 1


def test_bench_search_begins_again_when_a_game_is_solved() -> None:
    done = ggp("bench", "search", "nim", "--seconds", "0.8", "--against", "open_spiel", "--json")
    result = json.loads(done.stdout)
    assert result["seconds"] >= 0.8  # to solve it takes a hundredth of that
    assert result["per_second"] == pytest.approx(result["simulations"] / result["seconds"])
    assert result["ratio"] == pytest.approx(result["per_second"] / result["open_spiel_per_second"])
