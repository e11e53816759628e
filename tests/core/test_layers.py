"""Layers point one way: pages → studio → deem_core, and only figures know how to draw."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def files(*places: str) -> list[Path]:
    found = [path for place in places for path in sorted((ROOT / place).rglob("*.py"))]
    assert found
    return found


def imports(path: Path) -> set[str]:
    """Names of all modules that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def packages(path: Path) -> set[str]:
    return {name.split(".", maxsplit=1)[0] for name in imports(path)}


def calls(path: Path) -> set[str]:
    return {
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    }


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", files("deem_core"), ids=name_of)
def test_the_library_knows_nothing_of_the_app(path):
    assert not packages(path) & {"streamlit", "studio", "pages", "app"}


@pytest.mark.parametrize("path", files("deem_core", "studio", "pages"), ids=name_of)
def test_only_figures_import_plotly(path):
    if ROOT / "deem_core" / "figures" not in path.parents:
        assert "plotly" not in packages(path)


@pytest.mark.parametrize("path", files("deem_core"), ids=name_of)
def test_numbers_do_not_import_pictures(path):
    drawing = {ROOT / "deem_core" / "figures", ROOT / "deem_core" / "report"}  # a report arranges pictures
    if not drawing & set(path.parents):
        assert not any(name.startswith("deem_core.figures") for name in imports(path))


@pytest.mark.parametrize("path", files("studio"), ids=name_of)
def test_what_pages_share_imports_no_page(path):
    assert not packages(path) & {"pages", "app"}


@pytest.mark.parametrize("path", files("pages"), ids=name_of)
def test_pages_arrange_and_do_not_compute(path):
    assert not packages(path) & {"numpy", "pandas", "pyarrow", "torch", "sklearn", "scipy"}


@pytest.mark.parametrize("path", files("pages"), ids=name_of)
def test_pages_leave_the_session_to_studio(path):
    assert "session_state" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [*files("deem_core", "studio", "pages"), ROOT / "app.py"], ids=name_of)
def test_nothing_but_the_command_line_prints(path):
    if ROOT / "deem_core" / "cli" not in path.parents:
        assert "print" not in calls(path)


@pytest.mark.parametrize("path", [*files("deem_core", "studio", "pages"), ROOT / "app.py"], ids=name_of)
def test_no_file_can_run_code(path):
    assert not packages(path) & {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
    assert not calls(path) & {"eval", "exec"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load":  # a third party's weights
            assert any(word.arg == "weights_only" and ast.unparse(word.value) == "True" for word in node.keywords)
