"""What a measure is and what it says about rankings.

Arrays only: a ranking is a row of grade indices, 0 the best grade and L - 1 the
worst, -1 where there is no document (see :mod:`dcglearn.measures.scale`).
"""
