"""What the Export page shows."""
