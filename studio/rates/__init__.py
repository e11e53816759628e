"""What the Learning rate page shows."""
