"""Pictures of groups of learners that err together."""

from __future__ import annotations

from deem_core.diagnostics.groups import GroupTree
from deem_core.diagnostics.rows import FUSED, Column, Is, RowFilter
from deem_core.figures import confusion as draw_confusion
from deem_core.figures import groups as draw_groups
from deem_core.figures.picture import Cells, Picture, Side


def group_tree(tree: GroupTree) -> Picture:
    """Return the tree of label, groups and learners."""
    listed = "; ".join(
        f"{name}: {', '.join(tree.learners[i] for i in group)}"
        for name, group in zip(tree.names, tree.members, strict=True)
    )
    return Picture(
        question="Which learners form groups?",
        draw=lambda theme: draw_groups.group_tree(
            tree.learners,
            tree.members,
            tree.follows,
            tree.group_agreement,
            label_group=tree.label_group,
            theme=theme,
        ),
        alt=f"Tree: the label, groups of learners, and the learners. {listed or 'There are no groups'}.",
        caption=(
            "The learners of a group follow a shared opinion, and that opinion follows the label: when it is wrong, "
            "they are wrong together, so the model does not count them as many opinions. In percent: how often a "
            "group's opinion is the label, and how often a learner votes for what it follows. By the model alone, "
            "without truth."
        ),
        min_width=460,
    )


def group_opinion(tree: GroupTree, group: int) -> Picture:
    """Return what the opinion of a group is for each label."""
    name = tree.names[group]
    return Picture(
        question=f"What is the opinion of {name} for each label?",
        draw=lambda theme: draw_confusion.confusion_matrix(
            tree.opinions[group], tree.classes, learner=name, label="label", said="opinion", theme=theme
        ),
        alt=f"Heatmap: the opinion of {name} for each label.",
        caption=(
            "In percent; each line adds up to 100: the opinion that the group shares when the label is this class. "
            "Off the diagonal are mistakes that its learners make together."
        ),
    )


def learner_in_group(tree: GroupTree, learner: int) -> Picture:
    """Return what a learner says for each opinion that it follows."""
    name, group = tree.learners[learner], tree.group_of[learner]
    names = [str(label) for label in tree.classes]
    followed = "label" if group is None else f"opinion of {tree.names[group]}"
    return Picture(
        question=f"What does {name} add of its own?",
        draw=lambda theme: draw_confusion.confusion_matrix(
            tree.votes[learner], tree.classes, learner=name, label=followed, theme=theme
        ),
        alt=f"Heatmap: what {name} says for each {followed}.",
        caption=(
            "In percent; each line adds up to 100: what the learner votes for when what it follows is this class. "
            "Off the diagonal are its own mistakes, which no other learner shares."
        ),
        cells=None
        if group is not None
        else Cells(
            Side("Label", names),
            Side("Vote", names),
            lambda m, vote, _: RowFilter((Is(FUSED, names[m]), Is(Column("vote", name), names[vote]))),
        ),
    )
