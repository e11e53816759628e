"""A file whose every name would do something if a page or a file let it."""

import csv
import io

import numpy as np

MARK = "zq"
"""Two letters of every such name, by which they are found."""

LEARNERS = (
    *("$\\frac{zq}{2}$", ":red[zq learner]", "<img src=zq onerror=alert(1)>", "**zq** _bold_ `code`"),
    *('=HYPERLINK("http://zq.example")', "[zq](http://zq.example)", ":smile: :material/home: zq", "zq\u202e drawkcab"),
)
CLASSES = ("$zq^2$", ":green-badge[zq]", "<b>zq</b>", "@zq +1")
ROWS = 160
FILE = "**zq** $x$ :red[y] <b>.csv"


def votes() -> bytes:
    """Return a wide file with such learners, classes, ids and texts."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=ROWS)
    codes = np.where(rng.random((ROWS, 8)) < 0.75, truth[:, None], rng.integers(4, size=(ROWS, 8)))
    codes[:, 7] = codes[:, 6]  # a copy, of which findings speak
    text = np.array(CLASSES, object)
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(["id", "prompt", *LEARNERS, "label"])
    for row in range(ROWS):
        named = (f"zq{row} $x$ :red[id]", f"=zq{row} ~~text~~ <script>zq</script>")
        writer.writerow([*named, *text[codes[row]], text[truth[row]]])
    return sink.getvalue().encode()
