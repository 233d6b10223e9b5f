"""The projection lemma of Appendix B: adding y to x in the simplex and projecting moves mass to
where y is large.

If y_i >= alpha for i <= k and y_i <= beta < alpha for i > k, then

    sum_{i <= k} P(x + y)_i >= min(1, sum_{i <= k} x_i + (alpha - beta)/2).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde.errors import InputError, check_count
from jekyllhyde.simplex import Place, project_row


@dataclass(frozen=True)
class ProjectionLemma:
    """Both sides. before, after : mass of the first k coordinates of x and of P(x + y).     bound :
    what the lemma promises.
    """

    before: float
    after: float
    bound: float


def projection_lemma(x: ArrayLike, y: ArrayLike, k: int) -> ProjectionLemma:
    """The two sides of the lemma for x [n] in the simplex and y [n], with alpha and beta as good as
    y allows.
    """
    point, push = np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)
    if point.ndim != 1 or point.shape != push.shape or not 0 < check_count(k, "k", 1) < len(point):
        raise InputError(
            f"x {point.shape}, y {push.shape} and k = {k} do not fit: "
            "x and y are [n] with 0 < k < n"
        )
    if not ((point >= 0).all() and abs(point.sum() - 1.0) <= 1e-9 and np.isfinite(push).all()):
        raise InputError("x must be a distribution and y finite")
    alpha, beta = push[:k].min(), push[k:].max()
    if not alpha > beta:
        raise InputError(
            f"the first {k} entries of y must exceed the others; "
            f"the smallest is {alpha:g}, the largest other {beta:g}"
        )
    projected = point + push
    project_row(projected.copy(), projected, Place(0), Place(len(point)))
    before = float(point[:k].sum())
    return ProjectionLemma(
        before=before,
        after=float(projected[:k].sum()),
        bound=min(1.0, before + float(alpha - beta) / 2.0),
    )
