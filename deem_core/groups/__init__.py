"""Groups: which learners depend on which, from the votes alone."""
