"""Three newcomers' walks through the app: what they upload, what must be right at the end, and the walk itself.

The makers (`tickets`, `judges`, `paper`) are deterministic and quick, and know the truth that the files hide; other
tests may use their files too. The walks (``test_*.py``) are slow: they drive a browser through real trainings.
"""
