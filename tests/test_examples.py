"""The notebooks in examples/ run, carry no outputs, and are linked in the docs."""

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_notebooks_are_stored_without_outputs_and_linked():
    docs = (ROOT / "docs" / "notebooks.md").read_text()
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        book = nbformat.read(path, as_version=4)
        assert all(not cell.outputs and cell.execution_count is None for cell in book.cells if cell.cell_type == "code")
        assert f"(../examples/{path.name})" in docs


@pytest.mark.slow
def test_notebooks_run_in_the_kernel_of_this_python(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(_kernels(tmp_path)))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for path in NOTEBOOKS:
        book = nbformat.read(path, as_version=4)
        NotebookClient(book, timeout=240, kernel_name="own", resources={"metadata": {"path": ROOT}}).execute()
        outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
        assert not [output for output in outputs if output.output_type == "error"]
        shown = [output.data for output in outputs if output.output_type in ("display_data", "execute_result")]
        assert any("application/vnd.plotly.v1+json" in data for data in shown), path.name
        pages = [data["text/html"] for data in shown if "text/html" in data and "plotly" not in str(data).lower()]
        assert pages, path.name
        assert not any("<script" in page for page in pages), path.name


def _kernels(folder):
    """Return a folder of kernels with this Python, whatever others are installed."""
    import json

    own = folder / "jupyter" / "kernels" / "own"
    own.mkdir(parents=True)
    words = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (own / "kernel.json").write_text(json.dumps({"argv": words, "display_name": "own", "language": "python"}))
    return folder / "jupyter"
