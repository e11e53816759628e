from dataclasses import replace

import numpy as np

from deem_core.answers.scores import fused_codes
from deem_core.diagnostics import certainty
from deem_core.diagnostics.certainty import restart_support


def test_support_is_the_share_of_restarts_that_give_the_label(layered, monkeypatch):
    model, codes = layered.model, layered.votes.codes
    fused = fused_codes(layered.votes, model.fuse_codes(codes))
    (part,) = model.parts_
    alone = [type(part)(part.reduction, part.model.single(r), part.maps[[r]]) for r in range(len(part.maps))]
    own = np.stack([single.posteriors(codes).argmax(axis=1) for single in alone])
    expected = np.where(fused == -1, np.nan, (own == fused).mean(axis=0))
    np.testing.assert_allclose(restart_support(model, layered.votes, fused), expected)
    assert 0 < np.nanmean(expected) < 1
    monkeypatch.setattr(certainty, "_SUPPORT_CELLS", 1)  # many chunks
    np.testing.assert_allclose(restart_support(model, layered.votes, fused), expected)


def test_rows_without_votes_have_no_support(layered):
    codes = layered.votes.codes[:3].copy()
    codes[1] = -1
    votes = replace(layered.votes.select_rows(slice(3)), codes=codes)
    support = restart_support(layered.model, votes, np.array([0, -1, 0]))
    assert np.isnan(support).tolist() == [False, True, False]
