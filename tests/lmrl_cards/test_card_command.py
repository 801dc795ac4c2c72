import re
import subprocess
import sys

import pytest

LMRL = [sys.executable, "-c", "from lmrl_data.cli import main; main()"]


def lmrl(*arguments, cwd):
    return subprocess.run([*LMRL, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)


def test_the_card_is_written_and_its_path_printed(fresh, tmp_path):
    folder = fresh("maze")
    done = lmrl("card", "lmrl-gym/maze", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "lmrl-gym/maze/README.md\n", "")
    written = {path.name for path in folder.rglob("*") if path.suffix in (".md", ".png", ".yaml")}
    assert written == {"README.md", "eval.yaml", "fully_observed.png", "partially_observed.png"}


def test_the_task_is_the_manifests_or_the_folders_name(fresh, tmp_path):
    folder = fresh("maze").rename(tmp_path / "renamed")
    assert lmrl("card", "-q", "renamed", cwd=tmp_path).stdout == ""
    assert (folder / "README.md").exists()
    (folder / "generation.json").unlink()
    done = lmrl("card", ".", cwd=folder)
    assert done.returncode == 2 and "unknown task 'renamed'" in done.stderr
    folder.rename(tmp_path / "maze")
    assert lmrl("card", ".", cwd=tmp_path / "maze").returncode == 0


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: [path.unlink() for path in folder.rglob("*.parquet")], "has no Parquet files"),
        (lambda folder: next(folder.glob("data/*/val*")).write_bytes(b"PAR1 PAR1"), "not a readable Parquet file"),
        (lambda folder: folder.rename(folder.with_name("elsewhere")), "is not a folder"),
    ],
)
def test_errors_are_one_line(fresh, tmp_path, spoil, message):
    spoil(fresh("maze"))
    done = lmrl("card", "lmrl-gym/maze", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lmrl: ") and done.stderr.count("\n") == 1 and message in done.stderr


def test_help_does_not_import_the_heavy_libraries():
    script = (
        "import sys, lmrl_cards, lmrl_cards.commands; print({'pyarrow', 'datasets', 'matplotlib'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_the_command_in_the_card_makes_the_same_bytes_again(tmp_path):
    options = ["--episodes", "60", "--validation", "7", "--seed", "5", "--shard-size", "25", "--workers", "1", "-q"]
    shares = ["--policy", "random=0.5", "--policy", "optimal=0.5"]
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    done = lmrl("generate", "--task", "maze", "--config", "partially_observed", *options, *shares, cwd=first)
    assert done.returncode == 0, done.stderr
    text = (first / "lmrl-gym/maze/README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```bash\nlmrl (generate .*)\n```", text)
    done = lmrl(*command.split(), "-q", cwd=second)
    assert done.returncode == 0, done.stderr
    made = [
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*.*") if path.is_file()}
        for root in (first, second)
    ]
    assert made[0] == made[1] and len(made[0]) > 6
