"""Estimators: DEEM and the iRBM as scikit-learn knows estimators, and their files."""
