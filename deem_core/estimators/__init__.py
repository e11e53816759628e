"""Estimators: trained models as scikit-learn knows them, and their files."""
