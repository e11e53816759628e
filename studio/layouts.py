"""The three layouts of files, each with a sentence and the smallest example."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """A way to write votes down.

    Attributes
    ----------
    name : "wide", "long" or "soft"
    title, icon : str
    sentence : str
        Markdown.
    example : str
        A whole small file.
    """

    name: str
    title: str
    icon: str
    sentence: str
    example: str


LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout(
            "wide",
            "Wide",
            ":material/view_column:",
            "One line per row and one column per learner. An empty cell is a vote that was not cast; `id` and "
            "`label` (the truth) are optional.",
            "id,model_a,model_b,model_c,label\nimg_1,cat,cat,dog,cat\nimg_2,dog,,dog,dog\n",
        ),
        Layout(
            "long",
            "Long",
            ":material/table_rows:",
            "One line per answer: which task, which worker, which label. True labels go into a second file, which "
            "can be added below a file once it is read.",
            "task,worker,label\nimg_1,ann,cat\nimg_1,bob,dog\nimg_2,ann,dog\n",
        ),
        Layout(
            "soft",
            "Soft",
            ":material/percent:",
            "One line per row and one column per learner and class, named `learner:class`, with probabilities.",
            "id,tree:cat,tree:dog,svm:cat,svm:dog\nimg_1,0.9,0.1,0.6,0.4\nimg_2,0.2,0.8,0.3,0.7\n",
        ),
    )
}
