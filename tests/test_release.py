"""What is released: lists of files are complete, versions agree, containers and workflows name what is there."""

import fnmatch
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

import deem_core
from studio.serving.policy import HOSTS, PASSWORD, SHARED, decide

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
    there = {path for pattern in listed for path in ROOT.glob(pattern)}
    assert [path for path in there if not path.is_file()] == [], "setuptools refuses to pack a folder"
    for pattern, home in listed.items():
        assert home == Path("share/deem-studio", pattern).parent.as_posix(), pattern
    wanted = {ROOT / "app.py"}.union(*(files_below(folder) for folder in ("pages", "sample_data")))
    assert wanted | {ROOT / ".streamlit" / "config.toml"} == there  # and no secrets.toml of whoever builds it


def test_the_wheel_without_torch_and_its_extra_are_all_of_the_requirements():
    core = pins((ROOT / "requirements-core.txt").read_text(encoding="utf-8"))
    whole = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert "-r requirements-core.txt\n" in whole
    assert SETUPTOOLS["dynamic"]["dependencies"]["file"] == ["requirements-core.txt"]
    extra = set(PROJECT["project"]["optional-dependencies"]["torch"])
    assert extra == pins(whole)
    assert not {name.split("==")[0] for name in core} & {"torch", "numba"}


def test_the_extra_for_clusters_is_the_ray_that_is_tested():
    extra = [name for name in PROJECT["project"]["optional-dependencies"]["ray"] if not name.startswith("deem-studio")]
    lines = (ROOT / "requirements-ray.txt").read_text(encoding="utf-8").splitlines()
    assert extra == [line for line in lines if line.startswith("ray")]


def test_the_version_is_the_same_everywhere():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE)
    assert released[0] == deem_core.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {deem_core.__version__}\n" in citation
    wheels = re.findall(r"deem_studio-(\d[\d.]*\d)-py3", (ROOT / "docs" / "install.md").read_text(encoding="utf-8"))
    assert set(wheels) == {deem_core.__version__}


# ---------------------------------------------------------------------- the container

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICE = COMPOSE["services"]["deem-studio"]


def test_the_container_starts_the_app_for_everybody_and_so_in_shared_mode(monkeypatch):
    from studio import launch

    command = json.loads(re.findall(r"^CMD (.*)$", DOCKERFILE, re.MULTILINE)[-1])
    assert command[0] in PROJECT["project"]["scripts"]
    started = []
    monkeypatch.setattr(launch, "run_app", lambda options: started.extend(options) or 0)
    assert launch.main(command[1:]) == 0
    options = dict(word.removeprefix("--").split("=") for word in started)
    assert (options["server.port"], options["server.headless"]) == ("8501", "true")
    rules = decide({}, address=options["server.address"])
    assert (rules.is_open, rules.shared) == (True, True)
    assert f"EXPOSE {options['server.port']}" in DOCKERFILE


def test_the_container_runs_without_rights_and_says_how_it_feels():
    steps = [line.split()[0] for line in DOCKERFILE.splitlines() if re.match(r"[A-Z]+ ", line)]
    assert steps.index("USER") < steps.index("CMD")
    user = re.search(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE)[1]
    assert user != "root"
    home = re.search(r"DEEM_HOME=(\S+)", DOCKERFILE)[1]
    assert f"VOLUME {home}\n" in DOCKERFILE
    assert f"--owner {user} --group {user} --mode 0700 {home}" in DOCKERFILE
    check = json.loads(re.search(r"HEALTHCHECK[^[]*(\[.*\])", DOCKERFILE)[1])
    assert "127.0.0.1:8501/_stcore/health" in check[-1]
    compile(check[-1], "healthcheck", "exec")


def test_what_is_copied_into_the_container_is_there_and_is_what_the_wheel_needs():
    for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE):
        for name in shlex.split(line)[:-1]:
            assert (ROOT / name).exists(), name
    let_in = set(re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE))
    homes = {pattern.split("/")[0] for patterns in SETUPTOOLS["data-files"].values() for pattern in patterns}
    packages = {name.rstrip("*") for name in SETUPTOOLS["packages"]["find"]["include"]}
    project = PROJECT["project"]
    named = {
        "pyproject.toml",
        project["readme"],
        *project["license-files"],
        *SETUPTOOLS["dynamic"]["dependencies"]["file"],
    }
    assert homes | packages | named <= let_in
    assert {name for name in let_in if not (ROOT / name).exists()} == set()


def test_compose_opens_the_port_to_this_machine_alone_and_keeps_the_workspace():
    assert all(port.startswith("127.0.0.1:") for port in SERVICE["ports"])
    assert SERVICE["ports"][0].endswith(":8501")
    assert set(SERVICE["environment"]) == {SHARED, HOSTS, PASSWORD}
    volume, place = SERVICE["volumes"][0].split(":")
    assert volume in COMPOSE["volumes"]
    assert f"DEEM_HOME={place}" in DOCKERFILE
    assert SERVICE["image"] == f"deem-studio:{deem_core.__version__}"
    for name in SERVICE["build"]["args"]:
        assert f"ARG {name}=" in DOCKERFILE


# ---------------------------------------------------------------------- workflows

WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")}


@pytest.mark.parametrize("name", ["test.yml", "release.yml"])
def test_workflows_name_what_is_there(name):
    flow = yaml.safe_load(WORKFLOWS[name])
    assert flow["permissions"] == {"contents": "read"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for job in flow["jobs"].values():
        assert job["timeout-minutes"]
        for action in [step["uses"] for step in job["steps"] if "uses" in step]:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), f"{action} is not pinned: a tag can be moved"
        lines = [step["run"] for step in job["steps"] if "run" in step]
        assert lines
        for line in lines:
            for target in re.findall(r"^make ([a-z-]+)", line, re.MULTILINE):
                assert re.search(f"^{target}: ", makefile, re.MULTILINE), target
            for file in re.findall(r"requirements[\w-]*\.txt", line):
                assert (ROOT / file).exists(), file
            for module in re.findall(r"python -m (tests[\w.]+)", line):
                assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module


def test_every_promised_system_and_python_is_tried():
    matrix = yaml.safe_load(WORKFLOWS["test.yml"])["jobs"]["test"]["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["project"]["requires-python"] == f">={matrix['python'][0]}"
    assert (
        f"torch=={dict(pin.split('==') for pin in PROJECT['project']['optional-dependencies']['torch'])['torch']}"
        in (WORKFLOWS["test.yml"])
    )
