"""Tests of the ``deem-studio`` command."""

import importlib.metadata
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tarfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from studio import launch

ROOT = Path(launch.__file__).resolve().parent.parent


class Replaced(Exception):  # noqa: N818
    """Stands for the moment when the process becomes Streamlit."""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An app folder that looks like a clone, with the launcher in it."""
    (tmp_path / "app.py").touch()
    monkeypatch.setattr(launch, "__file__", str(tmp_path / "studio" / "launch.py"))
    monkeypatch.chdir(tmp_path.parent)
    return tmp_path.resolve()


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    commands: list[list[str]] = []

    def execv(_path: str, command: list[str]) -> None:
        commands.append(command)
        raise Replaced

    monkeypatch.setattr(os, "execv", execv)
    return commands


@pytest.fixture
def handed_on(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    calls: list[list[str]] = []

    def cli_main(argv: list[str]) -> int:
        calls.append(argv)
        return 2

    command_line = SimpleNamespace(main=cli_main)
    monkeypatch.setitem(sys.modules, "deem_core.cli", command_line)
    monkeypatch.setattr("deem_core.cli", command_line, raising=False)
    return calls


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot replace a process")
@pytest.mark.parametrize(
    ("arguments", "options"), [([], []), (["app"], []), (["app", "--server.port", "8600"], ["--server.port", "8600"])]
)
def test_the_app_replaces_the_launcher(
    app: Path, executed: list[list[str]], arguments: list[str], options: list[str]
) -> None:
    with pytest.raises(Replaced):
        launch.main(arguments)
    assert executed == [[sys.executable, "-m", "streamlit", "run", str(app / "app.py"), *options]]
    assert Path.cwd() == app


def test_on_windows_ctrl_c_waits_for_streamlit_and_its_code_comes_back(
    app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Server:
        answers: tuple[Any, ...] = (KeyboardInterrupt, 3)

        def __init__(self, _command: list[str], cwd: Path) -> None:
            assert cwd == app
            self.waiting = iter(self.answers)

        def __enter__(self) -> "Server":
            return self

        def __exit__(self, *_: object) -> None: ...

        def wait(self) -> int:
            answer = next(self.waiting)
            if answer is KeyboardInterrupt:
                raise KeyboardInterrupt
            return int(answer)

    monkeypatch.setattr(
        launch, "sys", SimpleNamespace(platform="win32", executable=sys.executable, argv=["deem-studio"])
    )
    monkeypatch.setattr(subprocess, "Popen", Server)
    assert launch.main() == 3


def test_other_arguments_go_to_the_command_line(handed_on: list[list[str]]) -> None:
    assert launch.main(["describe", "votes.csv"]) == 2
    assert handed_on == [["describe", "votes.csv"]]


def test_help_shows_both_halves(handed_on: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    launch.main(["--help"])
    assert "deem-studio app" in capsys.readouterr().out
    assert handed_on == [["--help"]]


def test_an_installed_app_is_found_through_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share = tmp_path / "share" / "deem-studio"
    share.mkdir(parents=True)
    (share / "app.py").touch()
    record = importlib.metadata.PackagePath("..", "share", "deem-studio", "app.py")
    record.dist = SimpleNamespace(locate_file=lambda path: tmp_path / "lib" / path)  # type: ignore[assignment]
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(launch, "__file__", str(tmp_path / "lib" / "studio" / "launch.py"))
    monkeypatch.setattr(importlib.metadata, "files", lambda _name: [record])
    assert launch.app_root() == share.resolve()


def test_missing_files_are_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "__file__", str(tmp_path / "studio" / "launch.py"))
    monkeypatch.setattr(importlib.metadata, "files", lambda _name: None)
    with pytest.raises(SystemExit, match="install deem-studio again"):
        launch.app_root()


@pytest.mark.slow
def test_the_wheel_carries_the_whole_app(tmp_path: Path) -> None:
    source, wheels, venv = tmp_path / "source", tmp_path / "wheels", tmp_path / "venv"
    hidden = shutil.ignore_patterns(".git", ".venv", ".*_cache", "build", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, source, ignore=hidden)  # building leaves things behind
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(sys.executable, "-m", "build", source, "--outdir", wheels)  # the source distribution, and the wheel from it
    with tarfile.open(next(wheels.glob("*.tar.gz"))) as packed:
        inner = {Path(*Path(name).parts[1:]).as_posix() for name in packed.getnames()}
    assert {"app.py", "CHANGELOG.md", "deem_core/py.typed", "sample_data/formats/messages.npz"} <= inner
    assert not [name for name in inner if name.startswith("tests")]
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    scripts = venv / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", *wheels.glob("*.whl"))
    # The dependencies come from the environment that runs the tests.
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    assert "deem-studio app" in run(scripts / "deem-studio", "--help")
    root = Path(run(python, "-c", "from studio.launch import app_root; print(app_root())").strip())
    assert root.is_relative_to(venv.resolve())
    for pattern in ("app.py", "pages/*.py", "sample_data/**/*.*", ".streamlit/config.toml"):  # pip adds __pycache__
        here, there = ({file.relative_to(home) for file in home.glob(pattern)} for home in (source, root))
        assert {file for file in there if "__pycache__" not in file.parts} == here != set()
    for package in ("deem_core", "studio"):
        carried = {path.relative_to(source) for path in (source / package).rglob("*") if path.is_file()}
        assert {path for path in carried if not (packages / path).is_file()} == set()
    run(scripts / "deem-studio", "fuse", root / "sample_data" / "experts_wide.csv", "-o", "fused.csv")
    assert (tmp_path / "fused.csv").stat().st_size > 100_000

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [scripts / "deem-studio", "app", "--server.port", str(port), "--server.headless", "true"]
    own = environment | {"DEEM_HOME": str(tmp_path / "home")}
    with subprocess.Popen(command, cwd=elsewhere, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            assert answer(port, "/_stcore/health") == b"ok"
            assert b"<title>" in answer(port, "/")
        finally:
            server.terminate()
    assert not [*elsewhere.iterdir()]


def answer(port: int, path: str, seconds: float = 120.0) -> bytes:
    """Return what a server that may still be starting answers."""
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as told:
                return bytes(told.read())
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
