"""What is released: lists of files are complete, versions agree, containers and workflows name what is there."""

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest

import deem_core

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def files_below(folder):
    return [path for path in sorted((ROOT / folder).rglob("*")) if path.is_file() and "__pycache__" not in path.parts]


def pins(text):
    return set(re.findall(r"^([a-z][a-z\d-]*==[\w.]+)", text, re.MULTILINE))


@pytest.mark.parametrize("package", ["deem_core", "studio"])
def test_every_file_of_a_package_is_in_the_wheel(package):
    lists = SETUPTOOLS["package-data"]
    for path in files_below(package):
        if path.suffix == ".py":
            assert (path.parent / "__init__.py").exists(), path
            continue
        homes = [home for home in lists if path.is_relative_to(ROOT / home.replace(".", "/"))]
        within = [path.relative_to(ROOT / home.replace(".", "/")).as_posix() for home in homes]
        taken = any(
            fnmatch.fnmatch(name, pattern) and name.count("/") == pattern.count("/")
            for home, name in zip(homes, within, strict=True)
            for pattern in lists[home]
        )
        assert taken, f"{path} is missing in [tool.setuptools.package-data] of pyproject.toml"
    assert (ROOT / "deem_core" / "py.typed").exists()


def test_every_file_of_the_app_is_in_the_wheel():
    listed = {pattern: home for home, patterns in SETUPTOOLS["data-files"].items() for pattern in patterns}
    there = {path for pattern in listed for path in ROOT.glob(pattern) if path.is_file()}
    for pattern, home in listed.items():
        assert home == Path("share/deem-studio", pattern).parent.as_posix(), pattern
    wanted = {ROOT / "app.py"}.union(*(files_below(folder) for folder in ("pages", "sample_data", ".streamlit")))
    assert wanted - there == set()


def test_the_wheel_without_torch_and_its_extra_are_all_of_the_requirements():
    core = pins((ROOT / "requirements-core.txt").read_text(encoding="utf-8"))
    whole = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert "-r requirements-core.txt\n" in whole
    assert SETUPTOOLS["dynamic"]["dependencies"]["file"] == ["requirements-core.txt"]
    extra = set(PROJECT["project"]["optional-dependencies"]["torch"])
    assert extra == pins(whole)
    assert not {name.split("==")[0] for name in core} & {"torch", "numba"}


def test_the_version_is_the_same_everywhere():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE)
    assert released[0] == deem_core.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {deem_core.__version__}\n" in citation
