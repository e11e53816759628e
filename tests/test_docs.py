"""The snippets in README and docs run, and the commands they name exist."""

import re
import shlex
from pathlib import Path

import pytest

from deem_core import cli, readers

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "formats.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_snippets_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    snippets = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, page.name, "exec"), {})  # noqa: S102  # our own pages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_sample_data_run(page, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(ROOT)
    commands = re.findall(r"^    python -m deem_core (.*)$", page.read_text(), re.MULTILINE)
    assert commands
    for command in commands:
        words = shlex.split(command)
        if words[0] == "describe" and words[1].startswith("sample_data/"):
            assert cli.main(words) == 0
        elif "-o" in words and not any(word.startswith("your") for word in words):
            out = words.index("-o") + 1
            words[out] = str(tmp_path / words[out])
            words = [str(tmp_path / word) if (tmp_path / word).exists() else word for word in words]
            quick = ["--restarts", "1", "--updates", "20"] if words[0] in ("fuse", "train") else []
            assert cli.main([*words, *quick]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_reading_options_are_documented():
    described = (ROOT / "docs" / "formats.md").read_text()
    for option in ("--id", "--truth", "--truth-file", "--learner", "--ignore", "--missing", "--json"):
        assert option in described


def test_every_requirement_is_justified_in_the_readme():
    table = (ROOT / "README.md").read_text().casefold()
    names = re.findall(r"^([a-z-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert names
    for name in names:
        assert {"torch": "pytorch"}.get(name, name) in table


def test_the_example_files_of_the_readme_read():
    examples = re.findall(r"<pre>\n(.*?)</pre>", (ROOT / "README.md").read_text(), re.DOTALL)
    layouts = [readers.read(example.encode()).report.layout for example in examples]
    assert layouts == ["wide", "long", "soft"]
