"""The snippets in README and docs run, the commands and options they name exist, and nothing is left undocumented."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from deem_core import cli, readers
from deem_core.answers.conditions import CONDITIONS, DEFAULT
from deem_core.comparison import METHODS
from deem_core.runs.kinds import KINDS
from deem_core.training.guidance import Kind
from studio.serving import interface

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
TEXTS = {page.name: page.read_text() for page in PAGES}
SNIPPETS = {name: re.findall(r"```python\n(.*?)```", text, re.DOTALL) for name, text in TEXTS.items()}
COMMANDS = {
    name: [shlex.split(line) for line in re.findall(r"^    python -m deem_core (.*)$", text, re.MULTILINE)]
    for name, text in TEXTS.items()
}

QUICK = {
    "fuse": ["--restarts", "1", "--updates", "20"],
    "train": ["--restarts", "1", "--updates", "20"],
    "sweep": ["--rates", "0.1,0.3", "--updates", "20"],
    "compare": ["--methods", "mv,ds", "--seeds", "1"],
}
"""What makes a command quick; the last of two equal options counts."""


@pytest.fixture(autouse=True)
def at_home(monkeypatch, tmp_path):
    """Work in the project's folder, with a workspace of its own."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "workspace"))


def with_any(found):
    return [name for name in found if found[name]]


def test_pages_have_the_snippets_and_commands_that_are_tested_here():
    assert set(with_any(SNIPPETS)) >= {"README.md", "commands.md", "formats.md", "runs.md", "rivals.md"}
    assert set(with_any(COMMANDS)) >= {"README.md", "commands.md", "formats.md", "judges.md", "large_files.md"}


@pytest.mark.parametrize("name", with_any(SNIPPETS))
def test_python_snippets_run(name, tmp_path, monkeypatch):
    known = {}  # later snippets of a page may use what earlier ones made
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)  # some write files
    for snippet in SNIPPETS[name]:
        exec(compile(snippet, name, "exec"), known)  # noqa: S102  # our own pages


@pytest.mark.parametrize("name", with_any(COMMANDS))
def test_commands_and_their_options_exist(name):
    for words in COMMANDS[name]:
        assert cli.parser().parse_args(words).command


@pytest.mark.parametrize("name", with_any(COMMANDS))
def test_commands_on_what_is_there_run(name, tmp_path, capsys):
    for words in COMMANDS[name]:
        if "auto" in words:
            continue  # sweeps in full, for minutes; tests/core trains with it on less
        ready, runnable = [], words[0] in ("runs", "devices") and len(words) == 1
        for before, word in zip(["", *words], words, strict=False):
            if before in ("-o", "--json", "--csv") or (tmp_path / word).is_file():
                ready.append(str(tmp_path / word))
            else:
                ready.append(word)
            runnable = runnable or word.startswith("sample_data/") or before == "simulate"
        if runnable:
            untrained = "gds" in words or (words[0] == "fuse" and "deem" not in words)
            quick = [] if untrained else QUICK.get(words[0], [])
            assert cli.main([*ready, *quick]) == 0, capsys.readouterr().err
    capsys.readouterr()


def commands():
    """Return every command's name and parser."""
    return next(action.choices for action in cli.parser()._actions if action.choices)


def test_every_command_is_named_in_the_pages():
    everything = " ".join(TEXTS.values())
    for command in commands():
        assert re.search(rf"`{command}\b|deem_core {command}\b", everything), command


@pytest.mark.parametrize("name", TEXTS)
def test_benchmarks_that_are_named_exist(name):
    for module in re.findall(r"python -m benchmarks\.(\w+)", TEXTS[name]):
        assert any((ROOT / "benchmarks" / name).exists() for name in (f"{module}.py", f"{module}/__main__.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, place in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not place or place in anchors(linked.read_text()), place


def anchors(text):
    """Return the anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def figures_of(line):
    """Return the words of a line that are numbers with decimals."""
    return [word for word in re.split(r"[\s|]+", line) if re.fullmatch(r"[\d,]+\.\d+", word)]


def words_of(line):
    return " ".join(re.split(r"[\s|]+", line.strip(" |")))


@pytest.mark.parametrize("name", TEXTS)
def test_rows_of_figures_are_those_of_stored_results(name):
    results = [*(ROOT / "benchmarks" / "results").rglob("*.md"), *(ROOT / "benchmarks" / "results").rglob("*.txt")]
    stored = {words_of(line) for file in results for line in file.read_text().splitlines()}
    quoted = [line for line in TEXTS[name].splitlines() if line.startswith(("    ", "|")) and len(figures_of(line)) > 1]
    assert [line for line in quoted if words_of(line) not in stored] == []


def test_every_picture_is_shown():
    everything = " ".join(TEXTS.values())
    pictures = list((ROOT / "docs" / "images").glob("*.png"))
    assert len(pictures) > 10
    for picture in pictures:
        assert f"images/{picture.name}" in everything
        assert picture.stat().st_size < 200_000, picture.name


def test_reading_options_are_documented():
    actions = commands()["describe"]._actions
    options = [name for action in actions for name in action.option_strings if name.startswith("--")]
    assert len(options) > 10
    for option in set(options) - {"--help"}:
        assert option in TEXTS["formats.md"], option


def test_kinds_of_runs_are_documented():
    for kind in KINDS:
        assert f"| `{kind}` |" in TEXTS["runs.md"]


def test_verdicts_are_documented():
    for kind in Kind.__args__:
        assert kind in TEXTS["learning_rate.md"]


def test_the_table_of_rivals_is_that_of_the_registry():
    rows = [line for line in TEXTS["rivals.md"].splitlines() if re.match(r"\| `\w+` \|", line)]
    assert len(rows) == len(METHODS)
    for row, method in zip(rows, METHODS.values(), strict=True):
        assert row.startswith(f"| `{method.name}` | {method.title} | {method.paper} |")
        assert row.endswith(f"| {method.limit or '–'} |")


@pytest.mark.parametrize("file", [f"requirements{of}.txt" for of in ("", "-core", "-dev", "-bench")])
def test_every_requirement_is_justified(file):
    table = TEXTS["development.md"].split("## Built on")[1].casefold()
    names = re.findall(r"^([a-z-]+)==", (ROOT / file).read_text(), re.MULTILINE)
    assert names
    for name in names:
        assert {"torch": "pytorch"}.get(name, name) in table, name


def test_the_example_files_of_the_first_page_read():
    examples = re.findall(r"<pre>\n(.*?)</pre>", TEXTS["index.md"], re.DOTALL)
    layouts = [readers.read(example.encode()).report.layout for example in examples]
    assert layouts == ["wide", "long", "soft", "soft", "wide"]


def paths_in(text):
    """Files and modules of the project that a page names, such as ``deem_core/model/config.py``."""
    for name in re.findall(r"\b(?:deem_core|studio|pages|tests|benchmarks)(?:/[\w.-]+)+/?", text):
        yield name.rstrip("/.")


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_pages_name_are_there(name):
    for path in paths_in(TEXTS[name]):
        module = (ROOT / path.rpartition(".")[0]).with_suffix(".py")  # of a function in it
        assert (ROOT / path).exists() or module.exists(), path


def test_what_is_promised_of_security_names_tests_that_are_there():
    text = TEXTS["SECURITY.md"]
    named = set(re.findall(r"`(tests/[\w/.]+|test_\w+\.py)(?:::(\w+))?`", text))
    assert len(named) > 8
    for place, test in named:
        path = ROOT / place if "/" in place else ROOT / "tests" / "studio" / "serving" / place
        assert path.exists(), place
        assert not test or f"def {test}(" in path.read_text(), test


def test_the_readme_fits_on_two_screens():
    lines = TEXTS["README.md"].splitlines()
    assert len(lines) <= 90
    assert sum(line.startswith("![") for line in lines) == 1


def test_the_manual_of_the_interface_names_its_addresses_and_options():
    manual = TEXTS["http.md"]
    for route in interface.routes():
        if "{rest" not in route.path:
            assert f" {route.path.replace('{id}', 'ID')}`" in manual, route.path
    for name in ("as", "wait", *cli.requests.EXPORT, *cli.requests.FILES):
        assert f"`{name}`" in manual, name
    reading = [name for name in cli.requests._options("describe") if f"`--{name}" in TEXTS["formats.md"]]
    assert len(reading) > 10
    for name in reading:
        assert f"`{name}`" in manual, name


SITE = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_every_page_has_its_place_on_the_site():
    listed = re.findall(r": ([\w/]+\.md)$", SITE, re.MULTILINE)
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert pages | {"SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"} == set(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_no_other_host(tmp_path):
    line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]+src=[\"']?([^\"' >]+)", text)
        loaded += re.findall(
            r"<link[^>]+rel=[\"']?(?:stylesheet|preconnect|icon|preload)[^>]+href=[\"']?([^\"' >]+)", text
        )
        assert not [address for address in loaded if "//" in address], page
    api = (tmp_path / "api.html").read_text(encoding="utf-8")
    for name in ("read_votes", "GroupedDawidSkene", "predict_proba", "start_run"):
        assert name in api
    assert (tmp_path / "benchmarks" / "results" / "trust.html").exists()


def test_conditions_of_check_are_documented():
    rows = [line for line in TEXTS["checks.md"].splitlines() if line.startswith("| `")]
    by_default = {True: "yes", False: ""}
    assert rows == [
        f"| `{one.spelled}` | {one.what} | {by_default[one.name in DEFAULT]} |" for one in CONDITIONS.values()
    ]
