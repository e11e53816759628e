"""Limits of a run's labels, in sentences with the run's own numbers."""

from __future__ import annotations

from deem_core.auto import AUTO
from deem_core.gold.words import ADVISED
from deem_core.methods.registry import METHODS
from deem_core.reporting.material import Material
from deem_core.text import count, percent
from deem_core.training.failure import sentence

CLOSE = 0.02
"""Mean confidence and accuracy that differ by less are called alike."""


def limits_of(material: Material) -> list[str]:
    """Return what to keep in mind before the labels are used."""
    return [
        _confidence(material),
        _truth(material),
        *_gold(material),
        _copies(material),
        _restarts(material),
        *_answer(material),
        *_model(material),
        "All learners may be wrong together. No fusion of votes can detect that: where no learner gives the right "
        "label, the fused label is wrong too.",
    ]


def _confidence(material: Material) -> str:
    whose = "models like this one are usually" if material.trained else "fused labels are often"
    sentence = (
        f"The probabilities of {whose} too high: they count the evidence of dependent learners too highly. Trust the "
        "order of rows by confidence more than the numbers."
    )
    mean, evaluation = material.summary.answer.mean_confidence, material.evaluation
    if mean is not None and evaluation is not None:
        right = evaluation.accuracy
        here = "about right"
        if abs(mean - right) > CLOSE:
            here = "too sure" if mean > right else "not sure enough"
        sentence += (
            f" Here they are {here} on average: the mean confidence is {percent(mean)}, and {percent(right)} of the "
            f"{evaluation.rows:,} rows with known truth are right (evaluation only)."
        )
    elif mean is not None:
        sentence += (
            f" Here the mean confidence is {percent(mean)}; that is not an estimate of how many labels are right."
        )
    return sentence


def _truth(material: Material) -> str:
    evaluation = material.evaluation
    if evaluation is None and material.gold is not None:
        return "There are no true labels besides the gold rows, so these alone tell how many fused labels are right."
    if evaluation is None:
        return (
            "Without true labels there is no telling how many fused labels are right, or whether they are better "
            "than the majority vote. A few hundred rows labelled by a trusted person would tell."
        )
    known, n_rows = evaluation.rows, material.summary.answer.n_rows
    part = "all rows have" if known == n_rows else f"{known:,} of {n_rows:,} rows have"
    return (
        f"The evaluation holds for rows like those with known truth ({part} one). Its intervals cover another sample "
        "of such rows, not another run or other data."
    )


def _gold(material: Material) -> list[str]:
    gold = material.gold
    if gold is None or not gold.n_gold:
        return []
    if gold.asked:
        drawn = "Some of them were chosen, and the estimates correct for that; so leave none of the chosen rows out"
        if 0 < gold.n_asked < gold.n_gold:
            drawn += ". The others must be a random sample of all rows"
    else:
        drawn = "They must be a random sample of all rows: rows picked because they are easy or odd mislead"
    sentence = f"What the {count(gold.n_gold, 'gold row')} tell depends on how they were drawn. {drawn}."
    if gold.n_gold < ADVISED:
        sentence += f" They are fewer than {ADVISED}, so the intervals are wide."
    return [sentence]


def _copies(material: Material) -> str:
    groups = material.summary.training.groups
    if groups is not None:
        return (
            "Learners that make the same mistakes can capture the label. The model gives each group it found one "
            "hidden opinion; "
            f"whether that explains these votes is tested without truth. {groups.reason}"
        )
    if not material.trained:
        auto = material.summary.training.method == AUTO
        looked = " Auto looks for groups and camps where there are enough learners for that." * auto
        return (
            f"Learners that are nearly copies of each other can capture the label.{looked} Most methods count learners "
            "as independent; the checkup and the panel health name those that are not, as far as the votes show it."
        )
    if "near_copies" not in material.settings:
        return (
            "Learners that are nearly copies of each other can capture the label. This method does not look for "
            "them, and every learner counts in full."
        )
    sentence = (
        "Learners that are nearly copies of each other can capture the label. The guard looks for them before training "
        "and finds tight groups; looser ones, such as models trained on the same data, may stay unseen."
    )
    if material.summary.training.hedged:
        sentence += (
            " Here loose groups were found, so the answer is the mean of training runs with and without them merged."
        )
    elif material.summary.training.from_groups:
        sentence += " Here training started from the grouped model, and every learner counts in full."
    elif material.settings.get("near_copies") == "keep":
        sentence += " Here every learner counts in full."
    return sentence


def _restarts(material: Material) -> str:
    training = material.summary.training
    if training.groups is not None:
        return (
            "The model was fitted exactly, without restarts. The seed only chooses rows where there are more than "
            "enough, and draws the tables of the test."
        )
    if not material.trained and METHODS[training.method].stochastic:
        return "The same votes and seed give the same labels; with another seed, tied or sampled rows may change."
    if not material.trained:
        return "This method draws nothing at random: the same votes give the same labels, whatever the seed."
    if not training.restarts:
        return "The model was fitted exactly, without restarts: the same votes give the same labels, whatever the seed."
    agreements = [one.agreement for one in training.kept_restarts if one.agreement is not None]
    sentence = "Another seed gives somewhat different labels."
    if len(agreements) < 2:
        return f"{sentence} With fewer than two restarts, how different is not known."
    low, high = percent(min(agreements)), percent(max(agreements))
    return (
        f"{sentence} The {len(agreements)} restarts that were kept agree with each other on {low} to {high} of the "
        "rows on average; their mean is steadier than any one of them."
    )


def _model(material: Material) -> list[str]:
    if not material.has_model:
        return []
    return [
        "Influence shows which learners the model relies on, and dependence which learners go together; neither "
        "shows who is right."
    ]


def _answer(material: Material) -> list[str]:
    sentences = []
    if material.summary.training.fallback:
        sentences.append(sentence(material.summary.training.restarts, material.summary.instead))
    if material.facts.n_silent:
        sentences.append(f"{material.facts.n_silent:,} rows have no votes and so no label.")
    return sentences
