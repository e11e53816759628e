"""The progress bar on a terminal, and its silence elsewhere."""

from types import SimpleNamespace

import pytest

from deem_core.cli import terminal
from deem_core.cli.terminal import Bar
from deem_core.errors import InputError


class Terminal:
    """A stderr that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.fixture
def screen(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(stderr=screen))
    return screen


def test_a_bar_shows_step_share_and_time_left_and_is_wiped_away(screen):
    with Bar() as bar:
        bar.tell("Training", 0.0)
        assert "0%  Training " in screen.text
        bar.begun -= 30
        bar.tell("Training", 0.5, None)
        assert "50%  Training: about 30 s left" in screen.text
        longest = max(len(line) for line in screen.text.split("\r"))
    last = screen.text.split("\r")[-2]
    assert last.strip() == ""
    assert len(last) >= longest


def test_a_note_is_printed_once_and_the_bar_goes_on_below_it(screen):
    with Bar() as bar:
        bar.tell("Training", 0.5)
        bar.note("A process was lost.")
        bar.note("A process was lost.")
        bar.tell("Training", 0.6)
    assert screen.text.count("A process was lost.\n") == 1
    assert " 60%  Training" in screen.text.split("lost.\n")[1]


def test_long_steps_are_clipped(screen):
    with Bar() as bar:
        bar.tell("Running " + "x" * 100, 0.5)
    assert max(len(line) for line in screen.text.split("\r")) < 100
    assert "… about" not in screen.text
    assert "…: about" in screen.text


def test_where_there_is_no_terminal_nothing_is_drawn(capsys):
    with Bar() as bar:
        bar.tell("Training", 0.5)
    assert capsys.readouterr().err == ""


def test_a_device_without_memory_is_explained():
    with pytest.raises(InputError, match="--batch 256"), Bar():
        raise RuntimeError("CUDA out of memory")
