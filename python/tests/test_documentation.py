"""What documents show is run."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

import surefoot

ROOT = Path(__file__).parents[2]
MODULES = sorted(path.stem for path in Path(surefoot.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # What they write does not stay in the checkout.
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module("surefoot" if name == "__init__" else f"surefoot.{name}")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


@pytest.mark.parametrize("document", ["README.md", "docs/python.md", "docs/guides.md"])
def test_code_blocks(
    document: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # What they write does not stay in the checkout.
    monkeypatch.chdir(tmp_path)
    text = (ROOT / document).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, document, "exec"), names)
    assert "Raise" in capsys.readouterr().out


def test_figures_are_what_is_drawn() -> None:
    path = ROOT / "docs/figures/draw.py"
    names: dict[str, object] = {"__name__": "draw"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    figures = names["figures"]
    assert callable(figures)
    for name, picture in figures().items():
        assert (path.parent / name).read_text() == picture.svg, f"run {path}"
    page = (ROOT / "docs/why-robust.md").read_text()
    assert sorted(re.findall(r"figures/([\w-]+\.svg)", page)) == sorted(figures())


def test_the_reference_has_every_public_name() -> None:
    names: dict[str, object] = {"__name__": "site", "__file__": str(ROOT / ".ci/site.py")}
    exec(compile((ROOT / ".ci/site.py").read_text(), "site.py", "exec"), names)
    sections = names["SECTIONS"]
    assert isinstance(sections, dict)
    listed = [name for section in sections.values() for name in section if "." not in name]
    # Types of arguments have no entry of their own.
    assert sorted(listed) == sorted(set(surefoot.__all__) - {"Change", "Kind", "__version__"})
