"""Shared fixtures and the hypothesis profile: deterministic, no deadlines, since the first call of
a kernel compiles it.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "project",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")
