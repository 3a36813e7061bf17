"""The notebooks run from top to bottom, and show what they promise."""

import os

import pytest
from conftest import ROOT, adult_file

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path, monkeypatch):
    adult = adult_file()
    if adult is None:
        assert not os.environ.get("CI"), "adult.csv is missing; fetch it with `surefoot data fetch adult german`"
        pytest.skip("adult.csv is missing; fetch it with `surefoot data fetch adult german`")
    monkeypatch.setenv("SUREFOOT_DATA", str(adult.parent))
    notebook = nbformat.read(path, as_version=4)
    # Outputs are not committed.
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [kind for cell in cells for output in cell.outputs for kind in output.get("data", {})]
    assert "text/html" in shown
    if "plot" in "".join(cell.source for cell in cells):
        assert "image/svg+xml" in shown
    keep = os.environ.get("SUREFOOT_NOTEBOOKS")
    if keep:
        nbformat.write(notebook, os.path.join(keep, path.name))
