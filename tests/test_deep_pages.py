"""What docs/deep.md and docs/differences.md say of the deep experiments is what the kept tables
have.
"""

from __future__ import annotations

import csv
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

DOCS = Path(__file__).resolve().parent.parent / "docs"


def script(name: str) -> Any:
    """A module beside the one that writes the pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "figures"))
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def tables() -> Any:
    return script("deep_tables")


def spoken(name: str) -> str:
    """A page's text, on one line."""
    return " ".join((DOCS / f"{name}.md").read_text().split())


def test_what_is_said_of_figure_3_is_what_its_table_has(tables: Any) -> None:
    rows = {tuple(row.values())[:4]: row for row in tables.read("figure3")}

    def solved(agent: str, config: str, episode: int = 500) -> list[int]:
        ends = [rows[agent, config, level, str(episode)] for level in "12"]
        assert {end["seeds"] for end in ends} == {"100"}
        return [round(100 * float(end["solved"])) for end in ends]

    def mean(agent: str, config: str) -> list[float]:
        return [float(rows[agent, config, level, "500"]["exact_score"]) for level in "12"]

    text, said = spoken("deep"), "{} and {} of 100".format
    one, two = solved("jekyll_hyde", "published")
    assert f"`published` solves {one} of 100 seeds on level 1 and {two} of 100 on level 2" in text
    assert solved("jekyll_hyde", "paper") == [0, 0]
    assert f"`released` solves {said(*solved('jekyll_hyde', 'released'))}." in text
    assert f"ours has solved {said(*solved('jekyll_hyde', 'released', 450))}:" in text
    fallen, (one, two) = said(*solved("ddqn", "released")), solved("ddqn", "published")
    assert f"with the falling step it solves {fallen}, without it {one} and {two}," in text
    means = [f"{score:.1f}" for row in ("released", "published") for score in mean("ddqn", row)]
    assert "mean scores are {} and {} instead of {} and {}.".format(*means) in text
    both = said(*solved("ddqn_rnd", "released")), *solved("ddqn_rnd", "published")
    assert "DDQN+RND solves {} instead of {} and {};".format(*both) in text
    for level in (0, 1):
        assert mean("sac_rnd", "released")[level] > mean("ddqn_rnd", "released")[level]
        assert mean("sac_rnd", "published")[level] < mean("ddqn_rnd", "published")[level]
    ahead = [a > b for a, b in zip(mean("sac", "released"), mean("ddqn", "released"), strict=True)]
    assert ahead == [True, False]
    assert f"table average {mean('jekyll_hyde', 'published')[0]:.0f}." in text
    late = [
        row["solved"]
        for (agent, config, _, episode), row in rows.items()
        if (agent, config) == ("jekyll_hyde", "recommended") and int(episode) >= 250
    ]
    assert "every evaluation of every seed from episode 250 on" in text
    assert set(late) == {"1"}
    for count, stated in ((12, "[51, 90]"), (2, "[3, 36]")):  # of the authors' release
        ends = binomtest(count, 16).proportion_ci(method="wilson")
        assert f"[{100 * ends.low:.0f}, {100 * ends.high:.0f}]" == stated
        assert stated in text


def test_what_is_said_of_the_deep_conventions_is_what_their_table_has(tables: Any) -> None:
    rows = {row["convention"]: row for row in tables.read("conventions")}
    written = (DOCS / "results" / "deep-conventions.md").read_text()
    assert tables.conventions_table(list(rows.values())) == written
    text = spoken("differences")
    assert "```{include} results/deep-conventions.md" in text
    assert {(row["level"], row["seeds"], row["episodes"]) for row in rows.values()} == {
        ("1", "64", "250")
    }
    solved = {name: int(row["solved"]) for name, row in rows.items()}
    mean = {name: f"{float(row['exact_score']):.1f}" for name, row in rows.items()}
    base, rule = solved["published"], solved["actor rule of the text"]
    first, shared, loss = (
        f"released: {detail}"
        for detail in ("RND's first weights", "shared first weights, biases", "RND's loss")
    )
    for sentence in (
        f"takes the solved seeds from {base} to {rule} of 64; one critic without a target takes"
        f" them to {solved['one critic without a target']}, more than any other row",
        f"Without the warm-up {solved['no warm-up']} are solved, and the mean score falls from"
        f" {mean['published']} to {mean['no warm-up']}.",
        f"raise it to {mean['fixed random table of states']} and {mean['no clipping']},",
        f"So are {solved[first]} solved seeds by RND's first weights",
        f"details of the release together solve {solved['released']},",
        f"with the same base of {base}, had 31",
        f"on the loss ({solved[loss]} here)",
        f"are one option here and solve {solved[shared]}, fewer",
        f"the mean score rises to {mean[shared]}.",
    ):
        assert sentence in text, sentence
    assert max(solved, key=lambda name: solved[name]) == "one critic without a target"
    released = {name: count for name, count in solved.items() if name.startswith("released: ")}
    assert max(released, key=lambda name: released[name]) == first
    assert len(rows) - 1 == 15


def test_a_folder_may_have_some_of_the_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = script("deep_summary")
    monkeypatch.setattr(summary, "HERE", tmp_path)
    scores = np.array([[0.0, 9.4], [0.0, 9.6], [9.0, 10.0], [0.0, 1.0]], np.float32)
    stored = {"episode": [10, 20], "optimum": 10.0, "diverged": [0, 0, 0, 1], "exact_score": scores}
    arrays: dict[str, Any] = {
        f"published/1//{name}": np.asarray(array) for name, array in stored.items()
    }
    np.savez(tmp_path / "conventions.npz", **arrays)
    summary.summarize(tmp_path)
    assert [path.name for path in tmp_path.glob("*.csv")] == ["deep-conventions.csv"]
    with (tmp_path / "deep-conventions.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    low, high = float(row.pop("exact_score_lo")), float(row.pop("exact_score_hi"))
    assert 1.0 <= low < 7.5 < high <= 10.0
    assert row == {
        "convention": "published",
        "level": "1",
        "seeds": "4",
        "episodes": "20",
        "solved": "2",
        "exact_score": "7.5",
        "diverged": "1",
    }
