"""Layers point one way: pages → studio → deem_core, and inside deem_core each room knows only those above it.

docs/architecture.md explains the order.
"""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]

ROOMS = (
    "text",
    "notebook",
    "errors",
    "control",
    "engine",
    "alarm",
    "typing",
    "votes",
    "files",
    "readers",
    "simulation",
    "groups",
    "model",
    "training",
    "answers",
    "methods",
    "estimators",
    "gold",
    "auto",
    "large",
    "comparison",
    "diagnostics",
    "figures",
    "runs",
    "reporting",
    "cli",
)
"""The rooms in the order of the data's walk; each may import those before it."""

DRAWING = {"figures", "reporting"}
"""Rooms that may import `figures`: a report arranges pictures."""

CODE = ("deem_core", "studio", "pages")

HELPER_OF_FIGURES = "deem_core.figures._"

MOST_LINES = 450
MOST_WORDS = 12
"""Of the first line of a docstring; the why goes into the second sentence."""

MOST_MODULES_OF_THE_LIBRARY = 23
"""Modules of deem_core that the app may import, packages counted as one; about twenty."""


def files(*places: str) -> list[Path]:
    paths = [path for place in places for path in sorted((ROOT / place).rglob("*.py"))]
    assert paths
    return paths


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """All parts of a file's syntax tree, parsed once for all tests."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@functools.cache
def imports(path: Path) -> set[str]:
    """Names of all modules that a file imports, wherever in it."""
    names = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def packages(path: Path) -> set[str]:
    return {name.split(".", maxsplit=1)[0] for name in imports(path)}


def rooms(path: Path) -> set[str]:
    """Rooms of deem_core that a file imports from."""
    parts = (name.split(".") for name in imports(path))
    return {part[1] for part in parts if part[0] == "deem_core" and len(part) > 1 and part[1] in ROOMS}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "deem_core").parts[0].removesuffix(".py")


@functools.cache
def calls(path: Path) -> set[str]:
    return {ast.unparse(node.func) for node in nodes(path) if isinstance(node, ast.Call)}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def expect_none(found: Iterable[tuple[Path, object]]) -> None:
    """No file breaks the rule; all that do are named together with what is wrong in them."""
    wrong = [f"{name_of(path)}: {', '.join(sorted(what)) if isinstance(what, set) else what}" for path, what in found]
    assert not wrong, "\n" + "\n".join(wrong)


# ---------------------------------------------------------------------- the order of rooms


def test_every_room_has_its_place_in_the_order():
    found = {room_of(path) for path in files("deem_core")} - {"__init__", "__main__"}
    assert found == set(ROOMS)


def test_a_room_imports_only_those_before_it():
    later = {room: set(ROOMS[at + 1 :]) for at, room in enumerate(ROOMS)}
    paths = [path for path in files("deem_core") if room_of(path) in later]
    expect_none((path, below) for path in paths if (below := rooms(path) & later[room_of(path)]))


def test_the_map_names_every_room():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room in ROOMS:
        assert f"`{room}" in text, room


def expect_without(paths: Iterable[Path], names: set[str]) -> None:
    """None of the files imports any of these packages."""
    expect_none((path, taken) for path in paths if (taken := packages(path) & names))


def outside_figures() -> list[Path]:
    return [path for path in files(*CODE) if ROOT / "deem_core" / "figures" not in path.parents]


def test_the_library_knows_nothing_of_the_app():
    expect_without(files("deem_core"), {"streamlit", "studio", "pages", "app"})


def test_only_figures_import_plotly():
    expect_without(outside_figures(), {"plotly"})


def test_only_the_cluster_imports_ray():
    own = {ROOT / "deem_core" / "engine" / name for name in ("cluster.py", "desk.py", "membership.py")}
    expect_without((path for path in [*files(*CODE), ROOT / "app.py"] if path not in own), {"ray"})


def test_numbers_do_not_import_pictures():
    numbers = [path for path in files("deem_core") if room_of(path) not in DRAWING]
    expect_none((path, "figures") for path in numbers if "figures" in rooms(path))


def test_figures_are_named_as_text_in_one_place():
    """What has a method ``plot`` asks `deem_core.notebook`, which loads the figures when they are wanted."""
    numbers = [path for path in files("deem_core") if room_of(path) not in DRAWING]
    texts = {
        name_of(path)
        for path in numbers
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("deem_core.figures")
    }
    assert texts == {"deem_core/notebook.py"}


def test_helpers_of_figures_stay_inside():
    taken = (
        (path, {name for name in imports(path) if name.startswith(HELPER_OF_FIGURES)}) for path in outside_figures()
    )
    expect_none((path, names) for path, names in taken if names)


# ---------------------------------------------------------------------- torch is loaded by those who train


STEPS = {
    "the library": "import deem_core",
    "the list of commands": "import deem_core.cli; deem_core.cli.parser()",
    "rooms without drawings": "import " + ", ".join(f"deem_core.{room}" for room in ROOMS if room not in DRAWING),
    "all rooms": "import " + ", ".join(f"deem_core.{room}" for room in ROOMS),
    "a simple method": "deem_core.fuse([['a', 'a', 'b'], ['b', 'b', 'b']], method='ds').labels",
}
"""What one process does, one thing after the other; what a step must not load, no step before it may load either."""


def modules_loaded_by(*steps: str) -> list[set[str]]:
    """Names of the modules that are there after each step."""
    script = "import sys\n" + "".join(f"{step}\nprint(*sys.modules)\n" for step in steps)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return [set(line.split()) for line in done.stdout.splitlines()]


@functools.cache
def loaded() -> dict[str, set[str]]:
    """Modules that are there after each of `STEPS`."""
    return dict(zip(STEPS, modules_loaded_by(*STEPS.values()), strict=True))


def test_no_package_loads_torch_numba_or_ray_on_import():
    assert "deem_core.reporting" in loaded()["all rooms"]
    assert not loaded()["all rooms"] & {"torch", "numba", "ray", "streamlit"}


def test_only_what_draws_loads_plotly():
    assert "deem_core.runs" in loaded()["rooms without drawings"]
    assert "plotly" not in loaded()["rooms without drawings"]


def test_the_library_itself_loads_next_to_nothing():
    heavy = {"numpy", "pandas", "pyarrow", "scipy", "sklearn", "torch", "numba"}
    assert "deem_core" in loaded()["the library"]
    assert not loaded()["the library"] & heavy


def test_listing_the_commands_is_quick():
    """scipy.stats alone takes half a second."""
    assert "deem_core.cli" in loaded()["the list of commands"]
    assert "scipy.stats" not in loaded()["the list of commands"]


def test_reading_and_fusing_by_a_simple_method_needs_no_torch():
    assert "deem_core.methods.dawid_skene" in loaded()["a simple method"]
    assert not loaded()["a simple method"] & {"torch", "numba"}


def test_the_first_page_of_the_app_needs_neither_torch_nor_numba(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEM_HOME", str(tmp_path))
    code = (
        "from streamlit.testing.v1 import AppTest; "
        f"page = AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout=60).run(); "
        "assert not page.exception and page.title[0].value == 'DEEM Studio'"
    )
    (modules,) = modules_loaded_by(code)
    assert "deem_core" in modules
    assert not modules & {"torch", "numba"}


# ---------------------------------------------------------------------- studio and pages


def test_what_pages_share_imports_no_page():
    expect_without(files("studio"), {"pages", "app"})


def test_pages_arrange_and_do_not_compute():
    expect_without(files("pages"), {"numpy", "pandas", "pyarrow", "torch", "sklearn", "scipy"})


def test_pages_leave_the_session_to_studio():
    texts = ((path, path.read_text(encoding="utf-8")) for path in files("pages"))
    expect_none((path, "session_state") for path, text in texts if "session_state" in text)


def test_pages_have_no_expression_that_streamlit_would_show():
    def shown(path: Path) -> list[int]:
        body = ast.parse(path.read_text(encoding="utf-8")).body[1:]  # the first is the docstring
        return [node.lineno for node in body if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call)]

    expect_none((path, lines) for path in [*files("pages"), ROOT / "app.py"] if (lines := shown(path)))


def test_the_app_knows_few_modules_of_the_library():
    modules = set()
    for path in files("studio", "pages"):
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "deem_core":
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    is_module = (ROOT / whole.replace(".", "/")).exists() or (
                        ROOT / f"{whole.replace('.', '/')}.py"
                    ).exists()
                    modules.add(whole if is_module else node.module)
    assert len(modules - {"deem_core"}) <= MOST_MODULES_OF_THE_LIBRARY + 2, sorted(modules)


# ---------------------------------------------------------------------- manners


def test_no_module_is_too_long_to_read():
    lengths = ((path, len(path.read_text(encoding="utf-8").splitlines())) for path in files(*CODE))
    expect_none((path, lines) for path, lines in lengths if lines > MOST_LINES)


def words(line: str) -> list[str]:
    """Words of a line; shapes, citations and symbols are none."""
    return [word for word in re.sub(r"\([^)]*\)", "", line).split() if re.search("[A-Za-z]{2}|^a$", word)]


def test_first_lines_of_docstrings_are_short():
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    firsts = (
        (path, text.splitlines()[0])
        for path in files(*CODE)
        for node in nodes(path)
        if isinstance(node, documented) and (text := ast.get_docstring(node))
    )
    expect_none((path, line) for path, line in firsts if len(words(line)) > MOST_WORDS)


def test_nothing_but_the_command_line_prints():
    quiet = [path for path in [*files(*CODE), ROOT / "app.py"] if ROOT / "deem_core" / "cli" not in path.parents]
    expect_none((path, "print") for path in quiet if "print" in calls(path))


def test_no_file_can_run_code():
    everything = [*files(*CODE), ROOT / "app.py"]
    expect_without(everything, {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"})
    expect_none((path, taken) for path in everything if (taken := calls(path) & {"eval", "exec"}))
    for path in everything:
        if "torch.load" in calls(path):  # a third party's weights
            loads = [
                node for node in nodes(path) if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load"
            ]
            kinds = [{word.arg: ast.unparse(word.value) for word in node.keywords} for node in loads]
            expect_none((path, kind) for kind in kinds if kind.get("weights_only") != "True")


def test_the_map_for_contributors_has_every_room_in_its_order():
    table = re.search(r"\| rooms \|.*?\n\n", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    named = [name for line in table.split("\n") if line for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert tuple(named) == ROOMS
