"""Files: atomic writes, tables in text and Parquet, results with arrays."""
