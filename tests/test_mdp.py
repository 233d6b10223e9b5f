"""FiniteMDP: what it accepts, what it refuses and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from mdps import dense_model, random_mdp, random_policy


def model() -> dict[str, Any]:
    """Three states, two actions, the last state terminal."""
    P = np.zeros((3, 2, 3))
    P[0, 0] = [0.0, 1.0, 0.0]
    P[0, 1] = [0.25, 0.5, 0.25]
    P[1, :] = [0.0, 0.0, 1.0]
    return {
        "P": P,
        "r": np.arange(6.0).reshape(3, 2),
        "p0": np.array([0.5, 0.5, 0.0]),
        "gamma": 0.9,
        "terminal": [2],
    }


def build(**changes: Any) -> FiniteMDP:
    fields = model() | changes
    return FiniteMDP(fields.pop("P"), fields.pop("r"), **fields)


def changed(index: tuple[int, ...], value: float, field: str = "P") -> dict[str, Any]:
    array = np.array(model()[field], dtype=float)
    array[index] = value
    return {field: array}


FAULTS: list[tuple[dict[str, Any], str]] = [
    (changed((0, 1, 0), 0.2), "P does not sum to 1 for state 0, action 1: the row sums to 0.95"),
    (changed((0, 0, 1), 0.0), "P does not sum to 1 for state 0, action 0: the row sums to 0"),
    (
        changed((1, 0, 0), -0.5),
        "P has the entry -0.5 for state 1, action 0; probabilities are numbers in [0, 1]",
    ),
    (
        changed((0, 1, 2), np.nan),
        "P has the entry nan for state 0, action 1; probabilities are numbers in [0, 1]",
    ),
    (
        changed((0, 1, 2), np.inf),
        "P has the entry inf for state 0, action 1; probabilities are numbers in [0, 1]",
    ),
    ({"P": np.ones((3, 2))}, "P has shape (3, 2); it must be [S, A, S], or sparse [S*A, S]"),
    ({"P": np.ones((3, 2, 4))}, "P has shape (3, 2, 4); it must be [S, A, S], or sparse [S*A, S]"),
    ({"P": np.ones((0, 2, 0))}, "P has shape (0, 2, 0); it must be [S, A, S], or sparse [S*A, S]"),
    ({"P": "transitions"}, "P is not an array of numbers"),
    ({"P": [[[1.0]], [[1.0, 0.0]]]}, "P is not an array of numbers"),
    (
        {"P": sparse.csr_array(np.ones((7, 3)))},
        "P is sparse of shape (7, 3); it must be [S*A, S] with at least one state",
    ),
    (
        {"r": np.zeros((3, 3))},
        "r has shape (3, 3); it must have shape [3, 2], [3, 2, 3] or sparse [6, 3]",
    ),
    (
        {"r": np.zeros((2, 2))},
        "r has shape (2, 2); it must have shape [3, 2], [3, 2, 3] or sparse [6, 3]",
    ),
    (
        {"r": sparse.csr_array((6, 2))},
        "r is sparse of shape (6, 2); it must have shape [3, 2], [3, 2, 3] or sparse [6, 3]",
    ),
    (changed((1, 1), np.nan, "r"), "r is not a finite number for state 1, action 1"),
    (changed((1, 0), np.inf, "r"), "r is not a finite number for state 1, action 0"),
    ({"r": [["a", "b"]] * 3}, "r is not an array of numbers"),
    ({"gamma": -0.1}, "gamma is -0.1; it must lie in [0, 1]"),
    ({"gamma": 1.01}, "gamma is 1.01; it must lie in [0, 1]"),
    ({"gamma": np.nan}, "gamma is nan; it must lie in [0, 1]"),
    ({"gamma": None}, "gamma is None; it must lie in [0, 1]"),
    (
        {"p0": [0.5, 0.4, 0.0]},
        "p0 is not a distribution: its entries must be non-negative and sum to 1",
    ),
    (
        {"p0": [1.5, -0.5, 0.0]},
        "p0 is not a distribution: its entries must be non-negative and sum to 1",
    ),
    (
        {"p0": [np.nan, 1.0, 0.0]},
        "p0 is not a distribution: its entries must be non-negative and sum to 1",
    ),
    ({"p0": [0.5, 0.5]}, "p0 has shape (2,); P has 3 states"),
    ({"p0": [0.0, 0.0, 1.0]}, "p0 starts in terminal states only: nothing is reachable"),
    ({"terminal": [3]}, "terminal contains 3; states are the integers 0 to 2"),
    ({"terminal": [-1]}, "terminal contains -1; states are the integers 0 to 2"),
    ({"terminal": [1.5]}, "terminal contains 1.5; states are the integers 0 to 2"),
    ({"J_low": np.inf}, "J_low is inf; it must be a finite number"),
    ({"J_low": "low"}, "J_low is 'low'; it must be a finite number"),
]


@pytest.mark.parametrize(
    ("changes", "sentence"), FAULTS, ids=[sentence[:45] for _, sentence in FAULTS]
)
def test_a_fault_gets_its_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        build(**changes)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("fault", ["row sum", "negative", "NaN"])
def test_sparse_input_is_checked_like_dense(fault: str) -> None:
    P = model()["P"].reshape(6, 3)
    P[2, 2] += {"row sum": 0.5, "negative": -1.5, "NaN": np.nan}[fault]
    with pytest.raises(InputError, match="state 1, action 0"):
        build(P=sparse.csr_array(P))


def test_faults_in_the_rows_of_terminal_states_are_ignored() -> None:
    P, r = model()["P"], model()["r"]
    P[2], r[2] = np.nan, np.inf
    mdp = build(P=P, r=r)
    assert mdp.P[[4, 5]].nnz == 0
    assert (mdp.r[2] == 0).all()


@given(seed=st.integers(0, 2**32 - 1), n_states=st.integers(2, 9), n_actions=st.integers(1, 4))
def test_sparse_and_dense_input_give_the_same_mdp(seed: int, n_states: int, n_actions: int) -> None:
    base = random_mdp(seed, n_states, n_actions)
    P, r = dense_model(base)
    rows = (n_states * n_actions, n_states)
    for state in base.terminal:
        P[state, :, 0] = 1.0
    common: dict[str, Any] = {"p0": base.p0, "gamma": base.gamma, "terminal": base.terminal}
    forms: list[Any] = [
        P,
        sparse.csr_array(P.reshape(rows)),
        sparse.coo_array(P.reshape(rows)),
        sparse.csc_matrix(P.reshape(rows)),
    ]
    for form in forms:
        for rewards in (r, sparse.csr_array(r.reshape(rows)), sparse.coo_matrix(r.reshape(rows))):
            mdp = FiniteMDP(form, rewards, **common)
            assert (mdp.n_states, mdp.n_actions) == (n_states, n_actions)
            for name in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(mdp.P, name), getattr(base.P, name))
            np.testing.assert_array_equal(mdp.r_next, base.r_next)
            np.testing.assert_array_equal(mdp.r, base.r)


def test_three_forms_of_the_reward_agree() -> None:
    r = model()["r"]
    per_successor = np.repeat(r[:, :, None], 3, axis=2)
    pi = np.full((3, 2), 0.5)
    v1 = 0.5 * (2.0 + 3.0)
    v0 = (0.5 * (0.0 + 1.0) + 0.9 * 0.75 * v1) / (
        1.0 - 0.9 * 0.125
    )  # half of a sure step, half of (.25, .5, .25)
    J = 0.5 * v0 + 0.5 * v1
    for form in (r, per_successor, sparse.csr_array(per_successor.reshape(6, 3))):
        mdp = build(r=form)
        np.testing.assert_allclose(mdp.r[:2], r[:2], rtol=1e-15)
        assert pytest.approx(J, rel=1e-14) == mdp.evaluate(pi).J
    varying = per_successor.copy()
    varying[0, 1] = [4.0, -2.0, 8.0]
    np.testing.assert_allclose(build(r=varying).r[0, 1], 0.25 * 4.0 - 0.5 * 2.0 + 0.25 * 8.0)


def test_repeated_entries_of_a_sparse_P_are_summed_and_the_input_is_left_alone() -> None:
    P = model()["P"].reshape(6, 3)
    data, indices = [0.5, 0.5, 0.25, 0.5, 0.25, 1.0, 1.0], [1, 1, 2, 1, 0, 2, 2]
    repeated = sparse.csr_array((data, indices, [0, 2, 5, 6, 7, 7, 7]), shape=(6, 3))
    mdp = build(P=repeated)
    np.testing.assert_array_equal(mdp.P.toarray()[:4], P[:4])
    np.testing.assert_array_equal(repeated.data, data)
    np.testing.assert_array_equal(repeated.indices, indices)


def test_defaults_and_representation() -> None:
    mdp = FiniteMDP(model()["P"], model()["r"], terminal=2)  # type: ignore[arg-type]
    np.testing.assert_array_equal(mdp.p0, [1.0, 0.0, 0.0])
    assert mdp.gamma == 0.99
    assert repr(mdp) == "FiniteMDP('mdp': 3 states, 2 actions, 6 transitions, gamma=0.99)"


def test_an_mdp_does_not_change() -> None:
    fields = model()
    mdp = FiniteMDP(fields["P"], fields["r"], p0=fields["p0"], gamma=0.9, terminal=np.array([2]))
    before = mdp.evaluate(mdp.uniform_policy()).J
    for array in (
        mdp.P.data,
        mdp.P.indices,
        mdp.P.indptr,
        mdp.r,
        mdp.r_next,
        mdp.p0,
        mdp.terminal,
        mdp.is_terminal,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    fields["P"][:] = fields["r"][:] = fields["p0"][:] = 7.0
    assert before == mdp.evaluate(mdp.uniform_policy()).J
    matrix = sparse.csr_array(model()["P"].reshape(6, 3))
    mdp = build(P=matrix)
    matrix.data[:] = 7.0
    assert mdp.P.data.max() == 1.0


def test_a_policy_is_checked_and_terminal_rows_do_not_matter() -> None:
    mdp = build()
    faults: list[tuple[Any, str]] = [
        (np.full((3, 3), 1 / 3), r"pi has shape \(3, 3\); this MDP takes \(3, 2\)"),
        ([[0.5, 0.5], [0.7, 0.2], [0.5, 0.5]], "its row for state 1 is not a distribution"),
        ([[1.5, -0.5], [0.5, 0.5], [0.5, 0.5]], "its row for state 0 is not a distribution"),
        ([[0.5, 0.5], [np.nan, 0.5], [0.5, 0.5]], "its row for state 1 is not a distribution"),
        ([[np.inf, -np.inf], [0.5, 0.5], [0.5, 0.5]], "its row for state 0 is not a distribution"),
        ([[0.5, 0.5], [0.5, 0.50001], [0.5, 0.5]], "its row for state 1 is not a distribution"),
        ([["left", "right"]] * 3, "pi is not an array of numbers"),
    ]
    for pi, sentence in faults:
        with pytest.raises(InputError, match=sentence):
            mdp.evaluate(pi)
    given_pi = np.array([[0.5, 0.5], [0.25, 0.75], [np.nan, -3.0]])
    kept = given_pi.copy()
    assert mdp.evaluate(given_pi).J == mdp.evaluate([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]).J
    np.testing.assert_array_equal(given_pi, kept)


def two_rooms(gamma: float) -> FiniteMDP:
    """Action 0 stays in state 0 for ever, action 1 ends; state 1 is the terminal one."""
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[0, 1, 1] = 1.0
    return FiniteMDP(P, [[-1.0, 2.0], [0.0, 0.0]], gamma=gamma, terminal=[1])


def test_without_discount_a_policy_must_end() -> None:
    mdp = two_rooms(1.0)
    proper = mdp.evaluate([[0.75, 0.25], [0.5, 0.5]])
    assert pytest.approx(-3.0 + 2.0) == proper.J
    np.testing.assert_allclose(proper.density(), [4.0, 1.0])
    with pytest.raises(
        InputError, match=r"with gamma = 1 its values must be finite.* from state 0"
    ):
        mdp.evaluate([[1.0, 0.0], [0.5, 0.5]])
    with pytest.raises(
        InputError, match=r"with gamma = 1 the undiscounted density must be finite.* from state 0"
    ):
        two_rooms(0.9).density([[1.0, 0.0], [0.5, 0.5]], gamma=1.0)
    assert pytest.approx(-10.0) == two_rooms(0.9).evaluate([[1.0, 0.0], [0.5, 0.5]]).J
    endless = FiniteMDP(np.ones((1, 1, 1)), [[1.0]], gamma=1.0)
    with pytest.raises(InputError, match="never reaches a terminal state from state 0"):
        endless.evaluate([[1.0]])


def test_normalize_maps_the_reference_to_0_and_the_optimum_to_1() -> None:
    mdp = random_mdp(3, 6, 3)
    assert mdp.normalize(mdp.J_low) == 0.0
    assert mdp.normalize(mdp.J_star) == 1.0
    assert mdp.J_low == mdp.evaluate(mdp.uniform_policy()).J
    np.testing.assert_allclose(
        mdp.normalize([mdp.J_low, 0.5 * (mdp.J_low + mdp.J_star)]), [0.0, 0.5]
    )
    assert build(J_low=-2.5).J_low == -2.5
    flat = build(r=np.zeros((3, 2)))
    with pytest.raises(InputError, match="the normalized return is undefined"):
        flat.normalize(0.0)


@pytest.mark.parametrize("gamma", [1.5, -1.0, np.nan, "x"])
def test_density_checks_its_gamma(gamma: Any) -> None:
    mdp = chain(4)
    with pytest.raises(InputError, match=r"it must lie in \[0, 1\]"):
        mdp.density(random_policy(0, mdp), gamma=gamma)


def test_sparse_arrays_that_lead_outside_are_refused() -> None:
    """SciPy checks the indices of a matrix when it is made, not when they are changed later."""
    for form in ("csr", "csc", "coo"):
        for place in (7, -1):
            P = sparse.eye_array(3, format=form)
            if form == "coo":
                P.coords[1].setflags(write=True)
                P.coords[1][0] = place
            else:
                P.indices[0] = place
            with pytest.raises(InputError, match="P is not a sound sparse matrix"):
                FiniteMDP(P, np.zeros((3, 1)))
            with pytest.raises(InputError, match="r is not a sound sparse matrix"):
                FiniteMDP(sparse.eye_array(3, format="csr"), P)
    P = sparse.eye_array(3, format="csr")
    P.indptr[1] = 9
    with pytest.raises(InputError, match="P is not a sound sparse matrix"):
        FiniteMDP(P, np.zeros((3, 1)))


@pytest.mark.parametrize("guess", [np.zeros(2), np.zeros((300, 1)), np.full(300, np.nan), ["a"]])
def test_guesses_that_do_not_fit_are_refused(guess: Any) -> None:
    mdp = garnet(300, goal=5)
    pi = mdp.uniform_policy()
    with pytest.raises(InputError, match="guess"):
        mdp.evaluate(pi, solver="iterative", guess=guess)
    with pytest.raises(InputError, match="guess"):
        mdp.evaluate(pi).density(guess=guess)
