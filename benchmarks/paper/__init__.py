"""The paper's experiments, one command each, our figure beside the paper's.

``python -m benchmarks.paper NAME [--quick]`` makes a table (Markdown and JSON) and a page of figures (HTML) in
benchmarks/results/paper; ``all`` makes whatever is not there yet. An experiment is a module of this package with
``run(context) -> Outcome``; `context` keeps every unit of work, `writing` writes, `published` holds the paper's own
numbers.
"""
