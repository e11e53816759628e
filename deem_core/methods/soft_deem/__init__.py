"""Soft DEEM: soft votes as evidence on hidden hard votes.

DEEM compares votes with samples, and samples are one-hot. Probabilities put in place of votes lie inside the simplex:
the model would learn to tell inside from corner and nothing about labels. Here row n has hidden one-hot votes z with
law p(z, h) ∝ exp(−E(z, h)), and its soft votes say how likely each z_i is, Q_i(z_i). With one-hot probabilities z is
known and this is DEEM itself (docs/method.md, Soft votes).

    weighing   soft votes → evidence Q
    proposal   exact draws of (h, z) from the model without its layers, given the evidence
    inference  p(h | soft votes), the layers put in by importance weights
    part       kept restarts, ready to be asked
    training   positives that are drawn, restarts and their health

`deem_core.estimators.soft` is the estimator.
"""
