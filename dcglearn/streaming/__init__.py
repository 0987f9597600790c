"""The likelihood of judgments in packed files, which need not fit in memory."""
