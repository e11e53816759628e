"""What the Train page shows."""
