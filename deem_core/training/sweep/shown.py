"""What a notebook shows of a sweep."""

from __future__ import annotations

from typing import Any

import pandas as pd

from deem_core.notebook import curves, figure, paragraphs


class Shown:
    """Table, curves and figure of a sweep."""

    def plot(self, smoothing: float | None = None, *, theme: str = "light") -> Any:
        """Return the energy curves of all candidates as a Plotly figure.

        Parameters
        ----------
        smoothing : float in [0, 1), optional
            By default as the sweep was judged.
        theme : "light" or "dark"
        """
        return figure("sweep", self, smoothing, theme)

    def _repr_html_(self) -> str:
        """Return the verdicts, the advice and small curves, for notebooks."""
        sweep: Any = self
        said = [sweep.recommendation.why, sweep.recommendation.to_try]
        rows = [
            {
                "layers" if sweep.by_depth else "learning rate": (
                    verdict.n_layers if sweep.by_depth else f"{verdict.learning_rate:g}"
                ),
                "verdict": verdict.words,
                "reason": verdict.reason,
            }
            for verdict in sweep.verdicts
        ]
        table = pd.DataFrame(rows).to_html(index=False)
        lines = curves("Difference of energies, one line per candidate", sweep.difference.tolist())
        return f"{paragraphs(filter(None, said))}{table}{lines}"
