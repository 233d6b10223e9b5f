"""Exploration as experiments of the laboratory: what is run (`experiments`, `tuned_peers`), how
long agents take (`arrival`), how it is shown and what is said about it (`panels`, with the
estimates of their claims in `claim_estimates`).
"""
