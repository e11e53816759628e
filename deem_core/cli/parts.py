"""Commands on files that are read in parts."""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deem_core import __version__
from deem_core.answers.alarms import silence
from deem_core.answers.writers import TABLES, format_name
from deem_core.cli import outcome
from deem_core.cli.options import known_terms, reading_options, refuse_settings, training_settings
from deem_core.cli.terminal import Bar
from deem_core.control import Control
from deem_core.engine import LOCAL, Engine, engine_of
from deem_core.errors import InputError
from deem_core.files.plain import to_plain
from deem_core.large import Extract, Labelling, Parts, Totals, fuse_extract, make_extract, needs_parts, write_in_parts
from deem_core.large.exact import EXACT, ROUND_SECONDS, check_exact
from deem_core.large.labelling import Review, apply_extract, differences, train_extract
from deem_core.large.parts import folder_of
from deem_core.methods.dawid_skene import MAX_ITERATIONS
from deem_core.methods.registry import TRAINED
from deem_core.readers.large import LargeFile, open_large
from deem_core.readers.parse import delimiter_of
from deem_core.readers.stream import WholeOnlyError
from deem_core.text import count, duration, percent

if TYPE_CHECKING:  # scikit-learn takes a moment
    from deem_core.estimators.base import Fuser


@dataclass(frozen=True, eq=False)
class Found:
    """A large file, its extract, and where it is worked on."""

    file: LargeFile
    extract: Extract
    engine: Engine


def in_parts(options: argparse.Namespace, model: Fuser | None = None, *, keep: Parts | None = None) -> Found | None:
    """Return the file to be read in parts.

    None if it is to be read whole. ``keep`` gets the distinct rows of every part, if they are wanted.
    """
    if not _wanted(options):
        return None
    if options.sample < 1:
        raise InputError(f"--sample is {options.sample}; it must be at least 1.")
    try:
        engine = _engine(options)
        with Bar() as bar:
            large = open_large(options.file, control=bar, on=engine, **reading_options(options), **known_terms(model))
            if keep is not None:
                keep.open()  # first of all its journal: without one the folder would be in the way
            patterns = None if keep is None else keep.patterns
            return Found(large, make_extract(large, options.sample, keep=patterns, control=bar, on=engine), engine)
    except WholeOnlyError as error:
        if options.stream:
            raise
        print(error)
        return None


def _engine(options: argparse.Namespace) -> Engine:
    """Return where parts are worked on; here for commands without a choice."""
    return engine_of(getattr(options, "on", LOCAL))


def _wanted(options: argparse.Namespace) -> bool:
    """Tell whether to read in parts.

    What was begun in parts goes on so, however much memory is free by now.
    """
    if options.stream is not None:
        return bool(options.stream)
    output = getattr(options, "output", None)
    begun = output is not None and folder_of(output).exists()
    delimiter = None if options.delimiter is None else delimiter_of(options.delimiter)
    return begun or needs_parts(options.file, delimiter=delimiter, encoding=options.encoding)


def fuse(options: argparse.Namespace) -> bool:
    """Fuse a large file.

    Returns False if it is to be read whole.
    """
    if not _wanted(options):
        return False
    _check_format(options)
    settings = training_settings(options)
    if options.method not in TRAINED:
        refuse_settings(options.method, {name: value for name, value in settings.items() if name != "random_state"})
    if options.exact:
        check_exact(options.method)
    parts = Parts(options.output, _command(options, method=options.method, settings=settings, exact=options.exact))
    found = in_parts(options, keep=parts if options.exact else None)
    if found is None:
        return False
    start = time.perf_counter()
    with Bar() as bar:
        made = fuse_extract(
            found.extract,
            options.method,
            settings,
            kept=parts.model,
            exact=options.exact,
            control=bar.part(0.0, 0.5),
            on=found.engine,
        )
        if made.model is not None and options.method in TRAINED:
            parts.open()
            made.model.save(parts.model)
        totals = _write(found, made, parts, options, bar.part(0.5, 1.0))
    seconds = time.perf_counter() - start
    if options.method in TRAINED and made.summary is not None:
        sentences, result = outcome.story(made.summary), outcome.result_of(made.summary)
    else:
        sentences = list(made.sample.notes)
        result = {} if made.summary is None else outcome.result_of(made.summary)
        result["warnings"] = sentences
    result["seconds"] = seconds
    _tell(found, made, parts, totals, options=options, sentences=sentences, result=result)
    return True


def train(options: argparse.Namespace) -> bool:
    """Train on a large file.

    Returns False if it is to be read whole.
    """
    found = in_parts(options)
    if found is None:
        return False
    with Bar() as bar:
        model = train_extract(found.extract, options.method, training_settings(options), control=bar, on=found.engine)
    model.save(options.output)
    summary, answer = model.summary_, model.fuse(found.extract.sample)
    sentences = [f"Trained on {_learned_from(found.extract, options.method)}.", *outcome.story(summary)]
    result = {**outcome.result_of(summary), "seconds": summary.seconds, "sample_rows": found.extract.sample.n_rows}
    outcome.tell(answer, options, sentences, result, n_rows=found.file.n_rows)
    return True


def apply(options: argparse.Namespace, model: Fuser) -> bool:
    """Label a large file by a model.

    Returns False if it is to be read whole.
    """
    if not _wanted(options):
        return False
    _check_format(options)
    digest = hashlib.sha256(Path(options.model).read_bytes()).hexdigest()
    parts = Parts(options.output, _command(options, model=digest, draws=options.draws))
    found = in_parts(options, model)
    if found is None:
        return False
    with Bar() as bar:
        made = apply_extract(found.extract, model)
        totals = _write(found, made, parts, options, bar)
    differing = differences(found.extract, model).sentences()
    options.method = "apply"
    result = {"warnings": differing, "settings": {}, "restarts": []}
    _tell(found, made, parts, totals, options=options, sentences=differing, result=result)
    return True


def _check_format(options: argparse.Namespace) -> None:
    """Refuse a format that needs all rows at once."""
    name = format_name(options.output, options.format)
    if name not in TABLES:
        raise InputError(
            f"The format {name} needs the file read whole: add --no-stream, or write .jsonl, .csv or .parquet."
        )


def _write(found: Found, made: Labelling, parts: Parts, options: argparse.Namespace, control: Control) -> Totals:
    if options.review_share is not None:
        made = replace(made, review=Review.of(found.extract, made.sample, options.review_share))
    return write_in_parts(
        found.file,
        made,
        parts,
        spreadsheet_safe=not options.unsafe,
        review_below=options.review_below,
        blank=options.blank,
        control=control,
        on=found.engine,
    )


def _tell(
    found: Found,
    made: Labelling,
    parts: Parts,
    totals: Totals,
    *,
    options: argparse.Namespace,
    sentences: Sequence[str],
    result: dict[str, Any],
) -> None:
    """Print what was done in parts, then the outcome."""
    labelled = f"Labelled in {count(len(parts.done), 'part')}"
    labelled += " on the cluster" if found.engine.remote else ""
    if parts.resumed:
        labelled += f", {parts.resumed:,} of them by an earlier run"
    told = [f"{labelled}. {made.fitted}"]
    if options.method in EXACT and not (found.extract.complete or options.exact):
        seconds = found.extract.facts.n_votes * ROUND_SECONDS
        told.append(
            f"There are too many different rows of votes to hold at once; --exact fits {options.method} on all rows, "
            f"which takes up to about {duration(seconds)} a round on one core, with at most {MAX_ITERATIONS} rounds."
        )
    if not found.extract.whole:
        told.append(f"Notes, alarms and comparisons below rest on {found.extract.sample_words}.")
        if totals.silent:
            told.append(f"Of all rows, {silence(totals.silent)}")
    told += sentences
    if totals.known:
        told.append(
            f"Right in {percent(totals.right / totals.known)} of all {totals.known:,} rows with known truth "
            "(evaluation only)."
        )
    written = {
        "n_parts": len(parts.done),
        "n_resumed": parts.resumed,
        "sample_rows": found.extract.sample.n_rows,
        "fitted": made.fitted,
        **asdict(totals),
    }
    counts = (totals.changed, totals.review)
    outcome.tell(made.sample, options, told, {**result, "parts": written}, n_rows=found.file.n_rows, counts=counts)


def _learned_from(found: Extract, method: str) -> str:
    return found.table_words if method == "gds" else found.sample_words


def _command(options: argparse.Namespace, **own: Any) -> dict[str, Any]:
    """Return what the parts of an output depend on, as plain values."""
    path = Path(options.file)
    if not path.is_file():
        raise InputError(f"There is no file {str(path)!r}. Check the path.")
    status = path.stat()
    reading = {name: value for name, value in reading_options(options).items() if name != "missing"}
    content = {
        "file": [str(path.resolve()), status.st_size, status.st_mtime_ns],
        "reading": {**reading, "missing": options.missing},
        "export": [options.unsafe, options.review_below, options.review_share, options.blank],
        "sample": options.sample,
        "version": __version__,
        **own,
    }
    plain: dict[str, Any] = to_plain(content)
    return plain
