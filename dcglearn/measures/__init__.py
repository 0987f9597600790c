"""Measures as values: grades, gains, discounts, DCG and linear utilities.

Rankings are arrays of grade indices: 0 is the best grade, L - 1 the worst, and -1 means that
a rank holds no document (see :mod:`dcglearn.measures.scale`).
"""
