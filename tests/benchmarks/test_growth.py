from benchmarks.growth import SHAPE, growth

BASE = dict(zip(SHAPE, (10_000, 12, 3, 1, 1024), strict=True))
ROWS = [
    BASE | {"torch": 10.0, "numba": 2.0},
    BASE | {"rows": 1_000_000, "torch": 11.0, "numba": 2.0},
    BASE | {"d": 24, "torch": 20.0, "numba": 4.0},
    BASE | {"K": 6, "torch": 15.0, "numba": None},
    BASE | {"layers": 0, "torch": 6.0, "numba": 1.0},
    BASE | {"d": 5, "K": 100, "batch": 128, "torch": 30.0, "numba": 5.0},
]


def lines(figure, axis):
    return {each.name: (list(each.x), list(each.y)) for each in figure.data if (each.xaxis or "x") == axis}


def test_each_panel_departs_from_the_first_row_in_one_column():
    figure = growth(ROWS, ["torch"], "milliseconds")
    assert lines(figure, "x")["torch"] == ([10_000, 1_000_000], [10, 11])
    assert lines(figure, "x2")["torch, d grows"] == ([36, 72], [10, 20])
    assert lines(figure, "x2")["torch, K grows"] == ([36, 72], [10, 15])
    assert lines(figure, "x2")["torch, if proportional"] == ([36, 72], [10, 20])
    assert lines(figure, "x3") == {"torch": ([0, 1], [6, 10])}


def test_another_column_is_another_colour_and_gaps_are_left_out():
    figure = growth(ROWS, ["torch", "numba"], "milliseconds")
    assert "numba, K grows" not in lines(figure, "x2")
    assert lines(figure, "x2")["numba, d grows"] == ([36, 72], [2, 4])
    colours = {each.name: each.line.color for each in figure.data}
    assert colours["torch, d grows"] != colours["numba, d grows"]
