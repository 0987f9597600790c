"""Measures as values: grades, gains, discounts, DCG and linear utilities.

Rankings are arrays of grade indices: 0 is the best, and -1 means no document (see
:mod:`dcglearn.measures.scale`).
"""
