"""Rows page, and links to it from every heatmap."""
