"""Training: contrastive updates of R models side by side, watched record by record.

Each update lowers the free energy of a batch of data and raises that of the samples that short chains reach from
it (paper, Algorithm 1). A `Trainer` is an iterator of records: the caller may stop at any of them, save `state()`,
and go on later as if nothing had happened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from deem_core.groups.latent_tree import GroupedModel
from deem_core.model.activations import few_operations
from deem_core.model.backend import make_engine, number_key
from deem_core.model.config import TrainConfig
from deem_core.model.contrast import Contrast, contrast
from deem_core.model.devices import upload
from deem_core.model.energy import Model, free_and_expected_energy, free_energy, initialise, posterior
from deem_core.model.group_start import initialise_from_groups
from deem_core.model.memory import Demand, check_memory
from deem_core.model.records import Record, not_finite
from deem_core.model.sampler import Chain, Kind, Sampler, sample
from deem_core.typing import Integers
from deem_core.votes.arrays import spread_rows

if TYPE_CHECKING:
    from deem_core.model.kernel.engine import Engine

RECORDS = 64
"""Records per run, evenly spaced over the updates (fewer only if there are fewer updates)."""

SHARE_ROWS = 1_000
"""Rows on which the predicted class shares are watched."""

CPU_STACK = 3
"""Restarts that train side by side on a CPU."""

MOST_BOOST = 50.0
"""Largest factor on the step of a learner that votes rarely."""


class Batches:
    """Random batches of row numbers without replacement, anew for every epoch."""

    def __init__(self, n_rows: int, batch_size: int, seed: int) -> None:
        self.n_rows, self.batch_size = n_rows, min(batch_size, n_rows)
        self.generator = torch.Generator().manual_seed(seed)
        self.order = torch.zeros(0, dtype=torch.int64)
        self.position = 0

    def next(self) -> Tensor:
        """Return the next (B,) row numbers."""
        if self.position + self.batch_size > len(self.order):
            self.order = torch.randperm(self.n_rows, generator=self.generator)
            self.position = 0
        rows = self.order[self.position : self.position + self.batch_size]
        self.position += self.batch_size
        return rows

    def state(self) -> list[Tensor]:
        """Return everything needed to go on later."""
        return [self.generator.get_state(), self.order, torch.tensor(self.position)]

    def restore(self, state: Sequence[Tensor]) -> None:
        """Go on from a saved state."""
        self.generator.set_state(state[0])
        self.order, self.position = state[1], int(state[2])


class Trainer:
    """R restarts in training.

    Parameters
    ----------
    codes : (n, d) int array
        Class codes, -1 for no vote.
    n_classes : int
    config : TrainConfig
        Resolved: nothing is None.
    seeds : sequence of int
        One per restart; the same seed gives the same restart in a stack of the same size.
    learning_rates : sequence of float, optional
        One per restart instead of the one in ``config``.
    device : torch.device
    tree : GroupedModel, optional
        Where training starts; by default the majority vote.
    crew : Executor, optional
        Threads that the kernel shares rows out to.
    """

    def __init__(
        self,
        codes: Integers,
        n_classes: int,
        config: TrainConfig,
        seeds: Sequence[int],
        *,
        device: torch.device,
        learning_rates: Sequence[float] | None = None,
        tree: GroupedModel | None = None,
        crew: Executor | None = None,
    ) -> None:
        self.engine: Engine | None = None
        self.config, self.seeds, self.device = config, list(seeds), device
        check_memory(self._demand(codes, n_classes), device)
        self.codes = torch.tensor(codes, device=device)  # a copy: the votes themselves are read-only
        n_rows, n_learners = codes.shape
        generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        n_layers = _known(config.n_layers)
        if tree is None:
            scale = _known(config.init_scale)
            model = initialise(n_learners, n_classes, n_layers, generators, scale=scale, activation=config.activation)
        else:
            model = initialise_from_groups(tree, n_layers, generators, activation=config.activation)
        if config.backend == "numba":
            self.engine = make_engine(model, crew)
            self.model = model = self.engine.model
        else:
            self.model = model.with_parameters([tensor.requires_grad_() for tensor in model.parameters()])
        self.start = [tensor.detach().clone() for tensor in model.parameters()[:3]]
        self.generator = generators[0]
        self.batches = [Batches(n_rows, _known(config.batch_size), seed) for seed in seeds]
        rates = [_known(config.learning_rate)] * len(self.seeds) if learning_rates is None else learning_rates
        self.rates = torch.tensor(list(rates), device=device)
        self.masks = self.model.free_masks()[:3]
        self.boost, self.decay = _sparse_help(codes, n_classes, n_layers, device)
        self.velocity = [torch.zeros_like(t) for t in model.parameters()] if config.momentum else []
        self.chains = self.codes.expand(len(self.seeds), -1, -1).clone() if config.chain_start == "persistent" else None
        self.update = 0
        self.seconds = 0.0
        self.sums = torch.zeros(2, len(self.seeds), device=device)  # of positive and negative F since the last record
        self.summed = 0
        self.failures: list[str | None] = [None] * len(self.seeds)
        self.watched = _evenly(self.codes, SHARE_ROWS)

    def _demand(self, codes: Integers, n_classes: int) -> Demand:
        """Return what this training asks of a GPU."""
        config = self.config
        return Demand(
            n_rows=codes.shape[0],
            n_learners=codes.shape[1],
            n_classes=n_classes,
            n_layers=_known(config.n_layers),
            n_models=len(self.seeds),
            batch_size=_known(config.batch_size),
            sampler_steps=config.sampler_steps,
            code_bytes=codes.dtype.itemsize,
            persistent=config.chain_start == "persistent",
            momentum=config.momentum > 0,
        )

    # ------------------------------------------------------------------ the loop

    @property
    def n_updates(self) -> int:
        """Updates of the whole run."""
        return int(_known(self.config.updates))

    @property
    def every(self) -> int:
        """Updates between two records."""
        return max(1, self.n_updates // RECORDS)

    def __iter__(self) -> Iterator[list[Record]]:
        """Train, and yield records (one per restart) at even distances.

        The last ones come after the last update.
        """
        return self.run(lambda: None)

    def run(self, before_update: Callable[[], None]) -> Iterator[list[Record]]:
        """Train as `__iter__` does, calling a function before every update.

        By then all records so far have been handed out.

        There `state()` is a place to go on from, and an exception stops the training without harm.
        """
        begun = time.perf_counter() - self.seconds
        while self.update < self.n_updates:
            self.seconds = time.perf_counter() - begun
            before_update()
            data, chain, energies = self.step()
            self.sums += energies
            self.summed += 1
            if self.update == 1 or self.update % self.every == 0 or self.update == self.n_updates:
                means = (self.sums / self.summed).cpu()  # a GPU has done all updates by now
                self.seconds = time.perf_counter() - begun
                self.sums, self.summed = torch.zeros_like(self.sums), 0
                yield self._records(means[0], means[1], data, chain)

    def step(self) -> tuple[Tensor, Chain, Tensor]:
        """Make one update.

        Return the batch (R, B, d), the chains from it, and mean F of both (2, R).
        """
        rows = upload(torch.stack([batches.next() for batches in self.batches]), self.device)  # (R, B)
        data = self.positives(rows)
        at = rows.unsqueeze(-1).expand(-1, -1, data.shape[2])
        start = data if self.chains is None else self.chains.gather(1, at).to(torch.int64)
        chain, energies, gradients = self._contrast(data, start)
        if self.chains is not None:
            self.chains.scatter_(1, at, chain.codes.to(self.chains.dtype))
        if gradients:  # otherwise the kernel has taken its step
            self._descend(gradients)
        self.update += 1
        return data, chain, energies

    def positives(self, rows: Tensor) -> Tensor:
        """Return the votes (R, B, d) whose energy an update lowers.

        Those of the rows (R, B).
        """
        return self.codes[rows].to(torch.int64)

    def _contrast(self, data: Tensor, start: Tensor) -> Contrast:
        """Run chains and return them, mean energies and gradients."""
        config = self.config
        kind: Kind = config.sampler  # type: ignore[assignment]  # checked by TrainConfig
        steps, alpha = config.sampler_steps, _known(config.step_size)
        if self.engine is not None:
            rates = self.rates.tolist() if self._plain else None
            keys = [number_key(seed, self.update) for seed in self.seeds]
            return self.engine.contrast(data, start, Sampler(kind, steps, alpha), keys, rates)
        if few_operations(self.device):
            return contrast(self.model, data, start, steps, self.generator, kind=kind, alpha=alpha)
        chain = sample(self.model, start, steps, self.generator, kind=kind, alpha=alpha)
        size = data.shape[1]
        both = free_energy(self.model, torch.cat([data, chain.codes], dim=1))
        positive, negative = both[:, :size].mean(1), both[:, size:].mean(1)
        gradients = torch.autograd.grad((positive - negative).sum(), self.model.parameters())
        return Contrast(chain, torch.stack([positive.detach(), negative.detach()]), list(gradients))

    @property
    def _plain(self) -> bool:
        """Whether a step is learning rate × gradient, the constants apart."""
        config = self.config
        return not (config.momentum or config.l1 or config.l2 or self.decay or self.boost is not None)

    @torch.no_grad()
    def _descend(self, gradients: Sequence[Tensor]) -> None:
        """Take one step of gradient descent; the iRBM's constants stay."""
        config = self.config
        for at, (tensor, gradient) in enumerate(zip(self.model.parameters(), gradients, strict=True)):
            step = gradient
            if config.l2:
                step = step + config.l2 * tensor
            if config.l1:
                step = step + config.l1 * tensor.sign()
            if at < 2 and self.boost is not None:
                step = step * (self.boost.unsqueeze(-1) if tensor.dim() == 3 else self.boost)
            if at < 3:
                if self.decay:
                    step = step + self.decay * (tensor - self.start[at])
                step = step * self.masks[at]
            if self.velocity:
                step = self.velocity[at].mul_(config.momentum).add_(step)
            tensor.addcmul_(step, self.rates.view(-1, *[1] * (tensor.dim() - 1)), value=-1)
        if self.engine is not None:
            self.engine.refresh()

    # ------------------------------------------------------------------ looking at it

    @torch.no_grad()
    def _records(self, positive: Tensor, negative: Tensor, data: Tensor, chain: Chain) -> list[Record]:
        watched = self.watched.expand(len(self.seeds), -1, -1)
        if self.engine is not None:
            energies = [self.engine.expected_energies(codes).mean(1).tolist() for codes in (data, chain.codes)]
            labels = self.engine.labels(watched)
        else:
            pair = (data, chain.codes)
            energies = [free_and_expected_energy(self.model, codes)[1].mean(1).tolist() for codes in pair]
            labels = posterior(self.model, watched).argmax(-1).cpu()
        records = []
        for r in range(len(self.seeds)):
            shares = torch.bincount(labels[r], minlength=self.model.n_classes).numpy() / max(labels.shape[1], 1)
            up, down = float(positive[r]), float(negative[r])
            if self.failures[r] is None and not np.isfinite([up, down]).all():
                self.failures[r] = not_finite(self.update)
            records.append(
                Record(
                    restart=r,
                    update=self.update,
                    epoch=self.update * data.shape[1] / len(self.codes),
                    positive=up,
                    negative=down,
                    difference=up - down,
                    energy_positive=energies[0][r],
                    energy_negative=energies[1][r],
                    energy_difference=energies[0][r] - energies[1][r],
                    acceptance=float(chain.acceptance[r]),
                    moved=float(chain.moved[r]),
                    shares=shares,
                    seconds=self.seconds,
                )
            )
        return records

    def finished(self) -> Model:
        """Return the models as they are now."""
        return self.model.with_parameters([tensor.detach() for tensor in self.model.parameters()])

    # ------------------------------------------------------------------ going on later

    def state(self) -> dict[str, Tensor]:
        """Return everything needed to go on later, as tensors by name."""
        saved = {f"parameter.{at}": tensor.detach().cpu() for at, tensor in enumerate(self.model.parameters())}
        saved |= {f"start.{at}": tensor.cpu() for at, tensor in enumerate(self.start)}
        saved |= {f"velocity.{at}": tensor.cpu() for at, tensor in enumerate(self.velocity)}
        for r, batches in enumerate(self.batches):
            saved |= {f"batches.{r}.{at}": tensor for at, tensor in enumerate(batches.state())}
        if self.chains is not None:
            saved["chains"] = self.chains.cpu()
        saved["generator"] = self.generator.get_state()
        saved["sums"] = self.sums.cpu()
        saved["counts"] = torch.tensor([self.update, self.summed])
        saved["seconds"] = torch.tensor(self.seconds, dtype=torch.float64)
        return {name: tensor.clone() for name, tensor in saved.items()}

    @torch.no_grad()
    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from a state of the same data, configuration and seeds.

        The rng of another kind of device cannot be taken over: then it is seeded anew by (first seed, update).
        """
        groups = {"parameter": self.model.parameters(), "start": self.start, "velocity": self.velocity}
        for group, tensors in groups.items():
            for at, tensor in enumerate(tensors):
                tensor.copy_(state[f"{group}.{at}"])
        for r, batches in enumerate(self.batches):
            batches.restore([state[f"batches.{r}.{at}"] for at in range(3)])
        if self.chains is not None:
            self.chains.copy_(state["chains"])
        if self.engine is not None:
            self.engine.refresh()
        self.sums.copy_(state["sums"])
        self.update, self.summed = state["counts"].tolist()
        self.seconds = float(state["seconds"])
        if state["generator"].shape == self.generator.get_state().shape:
            self.generator.set_state(state["generator"])
        else:
            seed = np.random.SeedSequence((self.seeds[0], self.update)).generate_state(1)[0]
            self.generator.manual_seed(int(seed))


def stack_size(restarts: int, device: torch.device, backend: str) -> int:
    """Return how many restarts to train side by side.

    All on a GPU, `CPU_STACK` by torch on a CPU, one by the kernel.

    Side by side spares the overhead of many small operations, of which the kernel has none; several stacks keep several
    cores busy. The size does not depend on the number of cores: the same seed gives the same labels on every CPU.
    """
    if device.type != "cpu":
        return restarts
    return 1 if backend == "numba" else min(restarts, CPU_STACK)


def _sparse_help(codes: Integers, n_classes: int, n_layers: int, device: torch.device) -> tuple[Tensor | None, float]:
    """Return the boost (d·K,) of rare learners, and their pull.

    The boost lengthens their steps; the pull leads back to the start.

    Both only without layers and with missing votes: a worker with few answers would hardly move otherwise, and
    is pulled back to the majority vote where its answers say little.
    """
    coverage = (codes >= 0).mean(axis=0)
    if n_layers or coverage.min(initial=1.0) >= 1:
        return None, 0.0
    boost = np.minimum(1 / np.maximum(coverage, 1 / MOST_BOOST), MOST_BOOST)
    return torch.tensor(np.repeat(boost, n_classes), dtype=torch.float32, device=device), 1 / len(codes)


def _evenly(codes: Tensor, most: int) -> Tensor:
    """Return at most so many rows, evenly spread."""
    if len(codes) <= most:
        return codes.to(torch.int64)
    return codes[torch.as_tensor(spread_rows(len(codes), most), device=codes.device)].to(torch.int64)


def _known(value: Any) -> Any:
    if value is None:
        raise ValueError("the configuration is not resolved")
    return value
