"""train, fuse and apply: from votes to labels."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deem_core import export, tables
from deem_core.cli.options import add_command, add_reading_options, check_outputs, read_file
from deem_core.cli.progress import TrainingBar
from deem_core.cli.text import percent, size
from deem_core.cli.training import add_training_options, training_settings
from deem_core.comparing import registry
from deem_core.comparing.registry import METHODS
from deem_core.describe import accuracy
from deem_core.diagnostics.confidence import confidence, fused_codes, needs_review
from deem_core.errors import InputError
from deem_core.files import write_json
from deem_core.fused import in_terms_of
from deem_core.readers import Reading
from deem_core.votes import Votes

if TYPE_CHECKING:  # torch takes a second to import: only those who train wait for it
    from deem_core.estimator import DEEM

TRAINED = ("deem", "irbm", "irbm_cd")
"""Methods whose model can be saved; all others of the registry are asked once."""


def add(commands: Any) -> None:
    """Add the commands."""
    fuse = add_command(
        commands,
        "fuse",
        _fuse,
        "Fuse the votes in a file into one label per row.",
        "Trains without labels and writes the file again with the fused label, its confidence and more beside it.\n\n"
        "examples:\n"
        "  python -m deem_core fuse sample_data/experts_wide.csv -o fused.csv\n"
        "  python -m deem_core fuse answers.csv --truth-file gold.csv --method ds -o fused.parquet --json result.json",
    )
    add_reading_options(fuse)
    fuse.add_argument("-o", "--output", metavar="FUSED", required=True, help="CSV, TSV, .csv.gz or Parquet by suffix")
    fuse.add_argument(
        "--method",
        choices=list(METHODS),
        metavar="NAME",
        default="deem",
        help=f"how to fuse (default: deem); one of {', '.join(METHODS)}",
    )
    _add_export_options(fuse)
    add_training_options(fuse)
    train = add_command(
        commands,
        "train",
        _train,
        "Train a model on the votes in a file and save it.",
        "The model can label other files with the same learners: see apply.\n\n"
        "examples:\n"
        "  python -m deem_core train sample_data/experts_wide.csv -o model.safetensors --seed 0",
    )
    add_reading_options(train)
    train.add_argument("-o", "--output", metavar="MODEL", required=True, help="where to save the model (.safetensors)")
    train.add_argument("--method", choices=list(TRAINED), default="deem", help="which model (default: deem)")
    add_training_options(train)
    apply = add_command(
        commands,
        "apply",
        _apply,
        "Label a file with a model that was trained before.",
        "Learners are matched by name; those that are missing count as not having voted.\n\n"
        "examples:\n"
        "  python -m deem_core apply model.safetensors new.csv -o fused.csv",
    )
    apply.add_argument("model", metavar="MODEL", help="a file that train has written")
    add_reading_options(apply)
    apply.add_argument("-o", "--output", metavar="FUSED", required=True, help="CSV, TSV, .csv.gz or Parquet by suffix")
    _add_export_options(apply)
    apply.add_argument("--json", metavar="OUT", help="also write the result as JSON")


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the fused file is written."""
    parser.add_argument("--unsafe", action="store_true", help="leave cells that a spreadsheet would run as they are")
    parser.add_argument(
        "--review-below",
        metavar="X",
        type=_share,
        help="rows with a confidence below X need review, instead of the tenth that their votes back least",
    )
    parser.add_argument("--blank", action="store_true", help="leave labels below --review-below empty")


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = float("nan")
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return share


# ---------------------------------------------------------------------- commands


def _fuse(options: argparse.Namespace) -> None:
    _check_export(options)
    check_outputs([options.output, options.json], inputs=[options.file, options.truth_file])
    reading = read_file(options)
    begun = time.perf_counter()
    if options.method in TRAINED:
        model = _fitted(options, reading.votes)
        posterior = model.fuse_codes(reading.votes.codes)
        said, result = _story(model), _result_of(model)
    else:
        posterior, said, result = _aggregate(options.method, reading.votes, training_settings(options)["random_state"])
    seconds = time.perf_counter() - begun
    _write(reading, posterior, options)
    _report(reading, posterior, options, [*said], {**result, "seconds": seconds})


def _train(options: argparse.Namespace) -> None:
    check_outputs([options.output, options.json], inputs=[options.file, options.truth_file])
    reading = read_file(options)
    model = _fitted(options, reading.votes)
    model.save(options.output)
    posterior = model.fuse_codes(reading.votes.codes)
    _report(reading, posterior, options, _story(model), {**_result_of(model), "seconds": model.seconds_})


def _apply(options: argparse.Namespace) -> None:
    from deem_core.estimator import DEEM, IRBM  # noqa: PLC0415  # see TYPE_CHECKING above
    from deem_core.storage import load  # noqa: PLC0415

    _check_export(options)
    check_outputs([options.output, options.json], inputs=[options.model, options.file, options.truth_file])
    model: DEEM = load(options.model, {"DEEM": DEEM, "IRBM": IRBM})
    reading = read_file(options, [str(label) for label in model.classes_.tolist()])
    votes, sentences = in_terms_of(model, reading.votes)
    posterior = model.fuse_codes(votes.codes)
    reading = replace(reading, votes=votes)
    _write(reading, posterior, options)
    said = [f"The model was trained on {model.n_rows_:,} rows.", *sentences]
    options.method = "apply"
    _report(reading, posterior, options, said, {"warnings": sentences, "settings": {}, "restarts": []})


def _fitted(options: argparse.Namespace, votes: Votes) -> DEEM:
    from deem_core.runs.train_kind import make_model  # noqa: PLC0415  # a run and a command make the same model

    settings = training_settings(options)
    model = make_model({"method": options.method, **settings}, settings["random_state"])
    with TrainingBar() as bar:
        model.fit(votes, watch=bar, control=bar)
    return model


def _aggregate(method: str, votes: Votes, seed: int) -> tuple[NDArray[np.float64], list[str], dict[str, Any]]:
    found = registry.aggregate(method, votes, np.random.default_rng(seed))
    settings = {"iterations": {"value": found.iterations, "reason": "the method's own stop rule"}}
    return found.posterior, list(found.notes), {"settings": settings, "restarts": [], "warnings": list(found.notes)}


# ---------------------------------------------------------------------- words and files


def _check_export(options: argparse.Namespace) -> None:
    """Refuse, before any work is done, a fused file that cannot be written."""
    tables.check_name(options.output)
    if options.blank and options.review_below is None:
        raise InputError("--blank leaves doubtful labels empty: say below which confidence with --review-below.")


def _write(reading: Reading, posterior: NDArray[np.float64], options: argparse.Namespace) -> None:
    table = export.fused_table(reading, posterior, review_below=options.review_below, blank=options.blank)
    export.write(table, options.output, spreadsheet_safe=not options.unsafe)


def _to_review(votes: Votes, posterior: NDArray[np.float64], options: argparse.Namespace) -> int:
    """Return how many rows the fused file marks for review."""
    below = getattr(options, "review_below", None)  # train writes no such file
    if below is None:
        return int(needs_review(votes, posterior).sum())
    low = (confidence(posterior) < below) & (votes.votes_per_row > 0)
    return int((needs_review(votes, posterior, share=0.0) | low).sum())


def _story(model: DEEM) -> list[str]:
    """Return what training did, in a few readable lines."""
    settings = {name: item["value"] for name, item in model.settings_.items()}
    if not model.restarts_:
        how = f"Fitted the iRBM exactly in {settings['iterations']} iterations, {model.seconds_:.1f} s."
        return [how, *model.warnings_]
    kept = sum(restart["kept"] for restart in model.restarts_)
    layers = f"{settings['n_layers']} layer{'s' if settings['n_layers'] != 1 else ''}"
    how = (
        f"Trained {len(model.restarts_)} restarts on {model.device_} in {model.seconds_:.1f} s and kept {kept}: "
        f"{layers} ({model.settings_['n_layers']['reason']}), learning rate {settings['learning_rate']:g}"
        f"{_chosen(model)}, {settings['updates']:,} updates."
    )
    return [how, *(model.near_copies_.sentences or ["No near-copies among the learners."]), *model.warnings_]


def _chosen(model: DEEM) -> str:
    """Return why the learning rate is what it is, where a sweep was asked."""
    return "" if model.sweep_ is None else f" ({model.settings_['learning_rate']['reason'].rstrip('.')})"


def _result_of(model: DEEM) -> dict[str, Any]:
    return {
        "settings": model.settings_,
        "restarts": model.restarts_,
        "warnings": model.warnings_,
        "near_copies": list(model.near_copies_.sentences),
        "device": model.device_,
        **({} if model.sweep_ is None else {"sweep": model.sweep_.to_dict()}),
    }


def _report(
    reading: Reading,
    posterior: NDArray[np.float64],
    options: argparse.Namespace,
    said: Sequence[str],
    result: dict[str, Any],
) -> None:
    votes = reading.votes
    fused = fused_codes(votes, posterior)
    differs = int(((fused != votes.majority_vote.codes) & (fused >= 0)).sum())
    print(f"{Path(options.file).name}: {size(votes)}, fused by {options.method}.")
    for sentence in said:
        print(sentence)
    review = _to_review(votes, posterior, options)
    said_last = f"{differs:,} labels differ from the majority vote; {review:,} rows are worth a look."
    content = {
        "method": options.method,
        "n_rows": votes.n_rows,
        "n_learners": votes.n_learners,
        "n_classes": votes.n_classes,
        **result,
    }
    beside = _beside(votes)
    content["agreement"] = {name: float((codes == fused)[fused >= 0].mean()) for name, codes in beside.items()}
    if votes.truth is None:
        agreements = ", ".join(f"{name} {percent(share)}" for name, share in content["agreement"].items())
        print(f"The same label as: {agreements}. Without truth nobody can say who is right.")
    else:
        rates = {name: accuracy(codes, votes.truth) for name, codes in beside.items()}
        right = accuracy(fused, votes.truth)
        content |= {"accuracy": right, **{f"{name.replace(' ', '_')}_accuracy": rate for name, rate in rates.items()}}
        others = ", ".join(f"{name} {percent(rate)}" for name, rate in rates.items())
        print(f"Right: {options.method} {percent(right)}, {others} (evaluation only, never used in training).")
    if options.json:
        write_json(content, options.json)
    print(f"{said_last} Written: {options.output}")


def _beside(votes: Votes) -> dict[str, NDArray[np.int32]]:
    """Return the labels of simpler methods, to see what fusing changed: majority vote, Dawid-Skene, pools."""
    from deem_core.baselines import dawid_skene, pools  # noqa: PLC0415

    rng = np.random.default_rng(0)
    found = {
        "majority vote": votes.majority_vote.codes,
        "dawid skene": dawid_skene.aggregate(votes, rng).codes,
    }
    if votes.soft is not None:
        for pool in (pools.mean_prob, pools.geo_pool, pools.log_pool):
            found[pool.__name__.replace("_", " ")] = pool(votes, rng).codes
    return found
