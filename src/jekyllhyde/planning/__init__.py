"""Exact policy updates U(theta, d) on a known model (Sections 2 and 4.2)."""
