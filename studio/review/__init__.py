"""Review page: rows to label, answers, and what they prove."""
