"""Pieces that name a file are done where that very file is seen, and go out again with it elsewhere."""

import os
from dataclasses import dataclass

from deem_core.control import NO_CONTROL
from deem_core.engine import Local
from deem_core.engine.sight import Sight, run_seeing


@dataclass
class Looking:
    at: int
    seen: bool
    content: str = ""


def looking(shared, piece, control):
    yield "news that nobody hears"
    shared.append((piece.at, piece.content))
    return piece.content or (f"seen {piece.at}" if piece.seen else None)


def loaded(piece):
    return Looking(piece.at, piece.seen, f"brought {piece.at}")


def test_a_piece_that_sees_nothing_goes_out_again_and_those_after_it_with_their_files():
    tried = []
    pieces = [Looking(0, True), Looking(1, False), Looking(2, True), Looking(3, False)]
    with Local().crew() as crew:
        found = run_seeing(crew, looking, pieces, tried, loaded=loaded, control=NO_CONTROL, live=1)
        done = {piece.at: value for piece, value in found}
    assert done == {0: "seen 0", 1: "brought 1", 2: "brought 2", 3: "brought 3"}
    assert [at for at, _ in tried] == [0, 1, 2, 3, 1]


def test_a_file_is_seen_while_it_is_the_same(tmp_path):
    path = tmp_path / "file"
    path.write_text("votes")
    sight = Sight.of(path)
    assert sight.clear
    changed = path.stat().st_mtime_ns
    path.write_text("VOTES")
    os.utime(path, ns=(changed, changed + 1))
    assert not sight.clear
    path.write_text("more votes")
    os.utime(path, ns=(changed, changed))
    assert not sight.clear
    path.write_text("votes")
    os.utime(path, ns=(changed, changed))
    assert sight.clear
    path.unlink()
    assert not sight.clear
