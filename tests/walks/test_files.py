"""The walks' files are as messy as they claim, and hide what the walks look for."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from tests.walks import judges, paper, tickets


def table(made: tickets.Tickets, encoding: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made.content.decode(encoding)), delimiter=";"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
def test_tickets_are_spelled_in_twelve_ways_and_hide_a_constant_annotator_and_a_copy(encoding):
    made = tickets.tickets(encoding=encoding)
    lines = table(made, encoding)
    assert len(lines) == len(made.truth) == 1200
    spellings = {line[name] for line in lines for name in tickets.ANNOTATORS} - {""}
    assert len(spellings) == 12
    assert {text.lower() for text in spellings} == set(tickets.CLASSES)
    assert any(not line["Text"].isascii() for line in lines)
    votes = {name: np.array([line[name].lower() for line in lines]) for name in tickets.ANNOTATORS}
    cast = votes[tickets.CONSTANT][votes[tickets.CONSTANT] != ""]
    assert np.mean(cast == "spam") == pytest.approx(tickets.CONSTANT_RATE, abs=0.02)
    assert 0.08 < np.mean(np.concatenate(list(votes.values())) == "") < 0.12
    both = (votes[tickets.COPIED] != "") & (votes[tickets.COPY] != "")
    assert np.mean(votes[tickets.COPIED][both] == votes[tickets.COPY][both]) > 0.95
    known = {line["Ticket"]: line["Gold"] for line in lines if line["Gold"]}
    assert tuple(known) == made.known
    assert len(known) == tickets.N_KNOWN
    assert all(made.truth[name] == label for name, label in known.items())


def test_the_forms_of_a_panel_hold_the_same_verdicts():
    panel = judges.panel()
    expected = {
        name: {judge: judges.CLASSES[code] for judge, code in zip(judges.JUDGES, codes, strict=True) if code >= 0}
        for name, codes in zip(panel.ids, panel.verdicts, strict=True)
    }
    both = list(csv.DictReader(io.StringIO(judges.label_and_probabilities(panel).decode())))
    pairs = list(csv.DictReader(io.StringIO(judges.verdict_and_probability(panel).decode())))
    assert {line["prompt_id"]: {j: line[j] for j in judges.JUDGES if line[j]} for line in both} == expected
    verdicts = [
        {judge: line[f"{judge}_verdict"] for judge in judges.JUDGES if line[f"{judge}_verdict"]} for line in pairs
    ]
    assert dict(zip(panel.ids, verdicts, strict=True)) == expected
    for line in both:
        for judge, verdict in expected[line["prompt_id"]].items():
            said = {name: float(line[f"{judge}:{name}"]) for name in judges.CLASSES}
            assert max(said, key=said.__getitem__) == verdict
            assert sum(said.values()) == pytest.approx(1)
    flat = [json.loads(line) for line in judges.records(panel).splitlines()]
    assert len(flat) == sum(map(len, expected.values()))
    assert all(expected[line["item"]][line["judge"]] == line["label"] for line in flat)
    assert {line["item"]: line["votes"] for line in map(json.loads, judges.nested(panel).splitlines())} == expected


def test_files_are_the_same_every_time():
    assert tickets.tickets().content == tickets.tickets().content
    assert judges.records(judges.panel()) == judges.records(judges.panel())
    assert paper.ensemble()[0] == paper.ensemble()[0]
    assert len(paper.ensemble()[1]) == paper.N_ROWS
