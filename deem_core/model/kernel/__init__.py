"""Kernel: chains, gradient and update of a row at once, compiled by numba.

The same model and the same laws as `deem_core.model.energy` and `deem_core.model.sampler`, which stay the reference,
the way of a GPU, and the fallback where numba is missing.

    compilation   numba, and where compiled code is kept
    arithmetic    exponentials, and random numbers by counting
    evaluation    one row: layers, label, energies, gradient in the votes
    chains        one row's chain; evaluation of many rows
    hidden_votes  hard votes drawn for soft ones
    descent       the gradient of a batch in the parameters
    engine        models in memory, updates, measurements, threads
"""
