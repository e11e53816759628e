"""The numbers the paper printed, and nothing else: (value, spread or None), accuracies in per cent, times in seconds.

Each group names the table it was copied from by the label that the paper's source gives it.
"""

from __future__ import annotations

Value = tuple[float, float | None]

MAIN_TABLE = "fig:main-results-ni"
_MAIN_COLUMNS = ("tree3k", "mniste", "petfinder", "csgo", "microagg2", "eyemovem", "artichars", "gesture")
_MAIN: dict[str, tuple[Value, ...]] = {
    "best": tuple((x, None) for x in (87.62, 86.79, 94.09, 90.13, 63.39, 74.75, 92.87, 69.98)),
    "average": (
        *((73.59, 10.47), (65.72, 16.0), (65.68, 17.5), (78.79, 8.31)),
        *((60.3, 2.49), (63.5, 9.52), (70.39, 16.36), (60.69, 6.46)),
    ),
    "mv": tuple((x, None) for x in (94.63, 82.41, 77.02, 85.34, 61.85, 71.32, 79.04, 64.23)),
    "lsml": tuple((x, None) for x in (95.67, 85.63, 79.57, 88.82, 62.80, 72.45, 79.69, 65.38)),
    "ds": tuple((x, None) for x in (95.29, 92.63, 80.15, 86.94, 63.01, 73.44, 82.30, 64.72)),
    "ebcc": tuple((x, None) for x in (94.98, 87.92, 78.58, 86.79, 62.82, 73.26, 84.10, 63.43)),
    "hlm": tuple((x, None) for x in (94.65, 85.21, 79.03, 87.08, 62.93, 71.09, 79.06, 66.25)),
    "la2": (
        *((95.60, 0.00), (86.71, 0.05), (78.05, 0.00), (86.79, 0.00)),
        *((61.95, 0.00), (72.49, 0.01), (79.95, 0.01), (64.48, 0.00)),
    ),
    "flyingsquid": tuple((x, None) for x in (94.35, 77.35, 69.50, 82.58, 61.10, 72.18, 78.91, 62.03)),
    "dnn_sto": (
        *((93.28, 1.73), (77.73, 4.48), (78.36, 0.27), (82.79, 7.03)),
        *((61.90, 0.88), (68.48, 10.23), (83.53, 1.37), (66.57, 0.59)),
    ),
    "dnn_det": (
        *((93.10, 1.73), (78.63, 4.49), (76.79, 0.93), (82.56, 6.86)),
        *((62.35, 0.21), (67.44, 10.15), (82.84, 2.30), (65.88, 0.79)),
    ),
    "irbm_cd": (
        *((95.23, 0.05), (87.13, 0.04), (77.97, 0.07), (85.75, 0.14)),
        *((61.86, 0.00), (73.03, 0.10), (79.22, 0.04), (66.55, 0.05)),
    ),
    "deem": (
        *((95.52, 0.08), (94.95, 0.00), (79.84, 0.08), (88.16, 0.46)),
        *((63.06, 0.01), (73.73, 0.29), (82.21, 0.33), (67.00, 0.51)),
    ),
}
MAIN = {name: dict(zip(_MAIN_COLUMNS, values, strict=True)) for name, values in _MAIN.items()}
"""Method → set → accuracy."""

TIMES_TABLE = "tab:all_methods_comparison"
_TIME_COLUMNS = ("tree3k", "mniste", "csgo", "petfinder", "microagg2", "eyemovem", "artichars", "gesture")
_TIMES: dict[str, tuple[Value, ...]] = {
    "mv": tuple((x, None) for x in (0.64, 1.11, 0.05, 0.30, 0.54, 0.25, 0.24, 0.29)),
    "lsml": tuple((x, None) for x in (1.45, 4.50, 0.06, 1.34, 1.71, 1.08, 3.65, 1.75)),
    "ds": tuple((x, None) for x in (5.68, 53.03, 1.43, 8.04, 11.29, 3.88, 17.25, 14.21)),
    "ebcc": (
        *((3.37, 1.50), (31.64, 4.52), (0.12, 0.05), (8.58, 0.81)),
        *((15.19, 0.10), (2.63, 0.75), (7.47, 3.09), (6.06, 1.28)),
    ),
    "hlm": tuple((x, None) for x in (1.02, 2.83, 0.03, 0.47, 0.55, 0.30, 0.60, 0.87)),
    "deem": (
        *((16.12, 0.43), (42.68, 0.81), (7.35, 0.68), (21.03, 0.54)),
        *((15.02, 0.58), (18.94, 0.51), (44.75, 0.70), (19.09, 0.75)),
    ),
}
TIMES = {name: dict(zip(_TIME_COLUMNS, values, strict=True)) for name, values in _TIMES.items()}
"""Method → set → seconds, on one NVIDIA L40S; LA is printed as "< 1 s" and left out."""

EXPERTS_TABLE = "table:moe-draft"
EXPERTS: dict[str, dict[str, tuple[Value, Value]]] = {
    "mniste47": {
        "mv": ((91.66, None), (83.02, None)),
        "lsml": ((94.87, None), (86.74, None)),
        "ds": ((97.3, None), (92.01, None)),
        "la1": ((94.33, 0.05), (86.55, 0.1)),
        "la2": ((95.09, 0.0), (86.80, 0.18)),
        "ebcc": ((96.68, None), (88.60, None)),
        "hlm": ((92.82, None), (85.38, None)),
        "irbm_cd": ((96.62, 0.07), (86.32, 0.18)),
        "deem": ((97.1, 0.5), (94.04, 0.61)),
    },
    "mniste568": {
        "mv": ((91.66, None), (83.02, None)),
        "lsml": ((95.83, None), (87.55, None)),
        "ds": ((95.07, None), (93.62, None)),
        "la1": ((95.02, 0.01), (88.55, 0.07)),
        "la2": ((95.37, 0.0), (89.57, 0.01)),
        "ebcc": ((95.74, None), (90.77, None)),
        "hlm": ((92.59, None), (87.19, None)),
        "irbm_cd": ((96.07, 0.10), (88.89, 0.09)),
        "deem": ((96.07, 0.42), (94.29, 0.76)),
    },
    "mniste4_7": {
        "mv": ((84.82, None), (82.98, None)),
        "lsml": ((88.32, None), (86.20, None)),
        "ds": ((91.70, None), (92.52, None)),
        "la1": ((87.96, 0.03), (86.51, 0.02)),
        "la2": ((88.38, 0.0), (86.73, 0.0)),
        "ebcc": ((94.53, None), (88.57, None)),
        "hlm": ((87.11, None), (85.28, None)),
        "irbm_cd": ((92.28, 0.39), (86.13, 0.25)),
        "deem": ((95.27, 0.08), (94.69, 0.0)),
    },
    "ampdata": {
        "mv": ((54.82, None), (99.63, None)),
        "lsml": ((46.34, None), (99.92, None)),
        "ds": ((89.29, None), (97.64, None)),
        "la1": ((28.15, 0.05), (99.91, 0.14)),
        "la2": ((28.15, 0.05), (99.91, 0.11)),
        "ebcc": ((34.06, None), (98.70, None)),
        "hlm": ((60.28, None), (98.36, None)),
        "irbm_cd": ((29.99, 0.98), (99.92, 0.01)),
        "deem": ((96.63, 0.44), (96.17, 0.81)),
    },
}
"""Set → method → accuracy on the expert classes, accuracy on the rest."""

ALONE_TABLE = "tab:mniste"
ALONE: dict[str, tuple[Value, Value]] = {
    "mv": ((81.08, None), (88.33, None)),
    "lsml": ((86.48, None), (90.04, None)),
    "ds": ((85.72, None), (96.83, None)),
    "la1": ((85.19, 0.02), (90.55, 0.04)),
    "la2": ((85.90, 0.0), (90.71, 0.01)),
    "ebcc": ((92.72, None), (96.23, None)),
    "hlm": ((85.09, None), (89.00, None)),
    "irbm_cd": ((90.42, 0.56), (94.03, 0.23)),
    "deem": ((94.64, 0.0), (96.15, 0.0)),
}
"""MnistE-4/7: method → accuracy on class 4 alone, on class 7 alone."""

EXPERT_WEIGHT = (3.0, 7.0)
"""Times that the paper's DEEM weighs experts above the others on their classes (section on mixtures of experts)."""

DISENTANGLEMENT_TABLE = "tab:maxmi_frob"
DISENTANGLEMENT: tuple[tuple[Value, Value], ...] = (
    ((0.827, 0.294), (4.428, 1.796)),
    ((0.981, 0.272), (3.504, 1.439)),
    ((0.314, 0.068), (2.687, 0.985)),
)
"""Largest mutual information and Frobenius norm at the input and after each layer, mean and spread over classes."""

IMAGENET_TABLE = "tab:imgnet-paper"
IMAGENET: dict[str, Value] = {
    "best": (60.83, None),
    "mv": (56.41, None),
    "lsml": (20.33, None),
    "ds": (56.24, None),
    "la2": (57.98, 0.0),
    "hlm": (56.21, None),
    "irbm_cd": (57.37, 0.11),
    "deem": (57.47, 0.05),
}

HUNDRED_TABLE = "tab:classifier-scalability"
HUNDRED: dict[str, Value] = {
    "best": (69.8, None),
    "average": (52.55, 13.27),
    "mv": (63.89, None),
    "lsml": (65.06, None),
    "ds": (65.12, None),
    "ebcc": (66.17, None),
    "hlm": (66.12, None),
    "la2": (64.08, None),
    "irbm_cd": (64.09, 0.02),
    "deem": (67.05, 0.12),
}
"""GesturePhsm extended to 100 learners."""

SOFT_TABLE = "tab:soft-labels-table-appx"
SOFT: dict[str, Value] = {"best": (94.29, None), "average": (71.03, 17.85), "mv": (82.24, None), "deem": (84.09, 0.29)}
"""The revised PetFinder ensemble, which we do not hold: shown in a note, comparable with none of our rows."""

WHERE = {
    "recovery": ("fig:ci-irbm",),
    "main": (MAIN_TABLE, TIMES_TABLE),
    "experts": (
        "table:moe",
        EXPERTS_TABLE,
        ALONE_TABLE,
        "fig:moe",
        "fig:mniste47-impact",
        "fig:mniste47-accs",
        "fig:mniste568-accs",
    ),
    "expert_weights": ("fig:moe", "fig:mniste47-impact"),
    "disentanglement": (DISENTANGLEMENT_TABLE, "tab:maxmi_frob-draft", "fig:maxmi_frob_paper", "fig:maxmi_frob_apx"),
    "many_classes": (IMAGENET_TABLE,),
    "many_learners": (HUNDRED_TABLE,),
    "sensitivity": ("fig:quality-impact",),
    "soft": (SOFT_TABLE,),
    "learning_rates": ("fig:phsm-neg-energy", "fig:tree3k-energy-diff"),
    "samplers": (),
    "ablations": (),
    "few_ablations": (),
}
"""Experiment → the paper's tables and figures it makes again; samplers and settings are told of in its text only."""
DRAWINGS = ("fig:fm-rbm", "fig:deem", "fig:irbm-fixed-visualization")
"""Figures of the paper that show the model and hold no result."""
