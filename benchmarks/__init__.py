"""Speed, memory and accuracy against peers, as ratios measured in one run."""
