"""The list of mutations stays true: every line is there to be broken, every test to notice it."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.mutants import ROOT, Mutation, Tree, judge, mutations

MUTATIONS = mutations()


@cache
def names(file: str) -> frozenset[str]:
    """Tests of a file: its functions and classes, and methods after their class."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    found = {node.name for node in tree.body if isinstance(node, kinds)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{own.name}" for own in node.body if isinstance(own, kinds)}
    return frozenset(found)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_can_be_made_and_its_tests_are_there(mutation):
    assert mutation.fault() == ""
    assert mutation.tests
    for test in mutation.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file()
        assert not name or name.partition("[")[0] in names(file), test


def test_mutations_are_many_and_differ():
    assert len(MUTATIONS) >= 40
    assert max(Counter(one.name for one in MUTATIONS).values()) == 1
    assert max(Counter((one.file, one.old, one.new) for one in MUTATIONS).values()) == 1


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree of two files: one adds, one tests it."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "adding.py").write_text("def add(a, b):\n    return a + b  # a sum\n", encoding="utf-8")
    (tmp_path / "here" / "test_adding.py").write_text(
        "from adding import add\n\n\ndef test_two():\n    assert add(2, 2) == 4\n\n\n"
        "def test_three():\n    assert add(1, 2) == 3\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("tests.mutants.ROOT", tmp_path / "here")
    return Tree(tmp_path / "copy")


def wrong(old, new, *tests):
    return Mutation("adding goes wrong", "adding.py", old, new, tests)


def test_survivors_are_told_from_the_killed_and_from_tests_that_did_not_run(tree):
    product = "return a * b"  # of two and two it is right
    assert judge(wrong("return a + b", product, "test_adding.py::test_three"), tree) == ""
    assert judge(wrong("return a + b", product, "test_adding.py::test_two"), tree).startswith("survived")
    assert "did not run" in judge(wrong("def add", "def minus", "test_adding.py"), tree)
    assert (tree.folder / "adding.py").read_text() == (tree.folder.parent / "here" / "adding.py").read_text()


def test_what_cannot_be_mutated_is_an_error(tree):
    root = Path(tree.folder)
    assert "stands 0 times" in wrong("return a - b", "return 0").fault(root)
    assert "stands 2 times" in wrong("b", "c").fault(root)
    assert "no Python" in wrong("return a + b", "return a +").fault(root)
    assert "changes nothing" in wrong("# a sum", "# a product").fault(root)
    assert wrong("return a + b", "return a - b").fault(root) == ""
