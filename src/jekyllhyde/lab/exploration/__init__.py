"""Exploration as experiments of the laboratory: what is run (`experiments`, `tuned_peers`), how
long agents take (`arrival`).
"""
