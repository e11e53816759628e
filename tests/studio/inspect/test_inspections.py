"""Inspections that a page starts, without doing their work."""

from studio.inspect import inspections
from tests.in_process import rewrite
from tests.studio.labelling import POSTERIOR, WIDE, finished


def test_an_inspection_leaves_the_gold_rows_of_its_training_out(workspace, monkeypatch):
    monkeypatch.setattr(type(workspace), "start", lambda self, run: None)
    dataset = workspace.add_dataset("votes.csv", WIDE.encode())
    gold = workspace.store(b"row,gold_label\n1,cat\n")
    for config, truth in (({"gold": gold}, [-1, 1, 0, -1]), ({}, [0, 1, 0, -1])):
        training = finished(workspace, dataset, POSTERIOR, config=config)
        rewrite(training, "model.safetensors", "a model")
        run = inspections.of_training(training)
        votes = workspace.with_gold(workspace.read(dataset).votes, run.spec)
        assert votes.truth.tolist() == truth
        assert inspections.of_training(training).id == run.id
