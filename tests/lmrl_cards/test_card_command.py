import re
import subprocess
import sys

import pytest

from lmrl_data.cli import main


@pytest.fixture
def lmrl(monkeypatch, capsys):
    """Run the command line in this process: exit code, standard output and standard error."""

    def run(*arguments, cwd):
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["lmrl", *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        return exited.value.code, *capsys.readouterr()

    return run


def test_the_card_is_written_and_its_path_printed(fresh, tmp_path):
    folder = fresh("maze")
    command = [sys.executable, "-c", "from lmrl_data.cli import main; main()", "card", "lmrl-gym/maze"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "lmrl-gym/maze/README.md\n", "")
    written = {path.name for path in folder.rglob("*") if path.suffix in (".md", ".png", ".yaml")}
    assert written == {"README.md", "eval.yaml", "fully_observed.png", "partially_observed.png"}


def test_the_task_is_the_manifests_or_the_folders_name(fresh, tmp_path, lmrl):
    folder = fresh("maze").rename(tmp_path / "renamed")
    assert lmrl("card", "-q", "renamed", cwd=tmp_path) == (0, "", "")
    assert (folder / "README.md").exists()
    (folder / "generation.json").unlink()
    code, output, error = lmrl("card", ".", cwd=folder)
    assert (code, output) == (2, "") and "unknown task 'renamed'" in error
    folder.rename(tmp_path / "maze")
    assert lmrl("card", ".", cwd=tmp_path / "maze") == (0, "README.md\n", "")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: [path.unlink() for path in folder.rglob("*.parquet")], "has no Parquet files"),
        (lambda folder: next(folder.glob("data/*/val*")).write_bytes(b"PAR1 PAR1"), "not a readable Parquet file"),
        (lambda folder: folder.rename(folder.with_name("elsewhere")), "is not a folder"),
    ],
)
def test_errors_are_one_line(fresh, tmp_path, lmrl, spoil, message):
    spoil(fresh("maze"))
    code, output, error = lmrl("card", "lmrl-gym/maze", cwd=tmp_path)
    assert (code, output) == (2, "")
    assert error.startswith("lmrl: ") and error.count("\n") == 1 and message in error


def test_help_does_not_import_the_heavy_libraries():
    script = (
        "import sys, lmrl_cards, lmrl_cards.commands; print({'pyarrow', 'datasets', 'matplotlib'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_the_command_in_the_card_makes_the_same_bytes_again(tmp_path, lmrl):
    options = ["--episodes", "60", "--validation", "7", "--seed", "5", "--shard-size", "25"]
    shares = ["--policy", "random=0.5", "--policy", "optimal=0.5"]
    first, second = tmp_path / "first", tmp_path / "second"
    command = ["generate", "--task", "maze", "--config", "partially_observed", *options, *shares]
    made = []
    for root in (first, second):
        root.mkdir()
        assert lmrl(*command, "--workers", "1", "-q", cwd=root) == (0, "", "")
        assert lmrl("card", "-q", "lmrl-gym/maze", cwd=root) == (0, "", "")
        made.append({path.relative_to(root): path.read_bytes() for path in root.rglob("*.*") if path.is_file()})
        card = (root / "lmrl-gym/maze/README.md").read_text(encoding="utf-8")
        (text,) = re.findall(r"```bash\nlmrl (generate .*)\n```", card)
        command = text.split()
    assert made[0] == made[1] and len(made[0]) > 6
