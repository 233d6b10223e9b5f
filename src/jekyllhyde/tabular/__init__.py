"""Tabular reinforcement learning from samples (Section 4.3, Appendix E): Algorithm 2 (on-policy)
and Algorithm 3 (J&H).
"""
