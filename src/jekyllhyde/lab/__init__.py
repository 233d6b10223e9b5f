"""Experiments: what is run, how it is scored, drawn and judged."""
