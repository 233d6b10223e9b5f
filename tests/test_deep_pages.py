"""What docs/deep.md and docs/differences.md say of the deep experiments is what the kept tables
have.
"""

from __future__ import annotations

import csv
import importlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

AGENTS = ("jekyll_hyde", "ddqn", "sac")
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


def test_what_is_said_of_the_sweeps_is_what_their_seeds_have(tables: Any) -> None:
    rows, text = tables.sweep_seeds(), spoken("deep")

    def scores(call: str, level: str, what: str, value: float) -> np.ndarray:
        chosen = (call, level, what, value)
        return np.array(
            [
                float(row["exact_score"])
                for row in rows
                if (row["call"], row["level"], row["what"], float(row["value"])) == chosen
            ]
        )

    # the published settings, in two sweeps
    twice = [scores("jekyll_hyde", "1", *at) for at in (("eta", 0.001), ("eta_rnd", 0.003))]
    assert [len(each) for each in twice] == [30, 30]
    assert "give {:.1f} and {:.1f} on level 1".format(*(each.mean() for each in twice)) in text
    errors = [each.std() / np.sqrt(len(each) - 1) for each in twice]
    assert "standard errors are {:.1f} and {:.1f}.".format(*errors) in text
    assert 0.3 < (np.concatenate(twice) > 89.14 - 0.5).mean() < 0.7  # about half of them fail
    sac = [row for row in rows if row["call"] == "sac"]
    tops = {"1": 89.14, "2": 88.83}
    assert not any(float(row["exact_score"]) > tops[row["level"]] - 0.5 for row in sac)
    once = [(row["level"], row["value"]) for row in sac if float(row["first"])]
    assert once == [("2", "0.001")] * 2
    assert "at its best rate 2 of 10 seeds of level 2 were there once." in text
    ends = {
        (row["agent"], row["level"]): float(row["exact_score"])
        for row in tables.read("figure3")
        if (row["config"], row["episode"]) == ("published", "500")
    }
    for level in "12":
        assert scores("sac", level, "eta", 0.001).mean() > ends["sac_rnd", level]
        for width in ("ddqn", "ddqn 64-64"):  # plain Double DQN with a smaller step, or as wide
            best = max(scores(width, level, "eta_c", rate).mean() for rate in (0.001, 0.003))
            assert best > tops[level] - 1


def test_what_is_said_of_speed_on_a_cpu_is_what_was_measured() -> None:
    measured = json.loads((DOCS.parent / "benchmarks" / "results" / "deep.json").read_text())
    text = (DOCS / "deep.md").read_text()
    one_core, share = measured["one_core"], 100 * measured["share"]
    for name, kind in {
        "J&H": "J&H, ours",
        "the same update in eager PyTorch": "J&H, eager PyTorch",
        "SAC": "SAC, ours",
        "DDQN": "DDQN, ours",
        "DQN of Stable-Baselines3": "DQN, Stable-Baselines3",
        "DQN of SBX": "DQN, SBX",
    }.items():
        assert f"| {name} | {int(one_core[kind] + 0.5):,} |" in text
    total = [f"{measured['all_cores'][name]['steps_per_s']:,.0f}" for name in AGENTS]
    assert "Ten seeds on two cores: {} (J&H), {} (DDQN), {} (SAC)".format(*total) in text
    assert f"make 34: ours is {one_core['J&H, ours'] / 34:.0f} times as fast" in text
    assert f"{measured['flops'] / 1e6:.0f} million floating-point operations" in text
    rate = f"at {share:.0f} % of the rate at which the same core multiplies [256, 64] by [64, 64]"
    assert f"{rate} over and over ({measured['gemm_flops_per_s'] / 1e9:.0f} GFLOP/s)" in text
    report = (DOCS.parent / "benchmarks" / "results" / "deep.md").read_text()
    shares = dict(re.findall(r"^\| ((?:K|width) \| \d+) \|.*\| (\d+ %) \|$", report, re.MULTILINE))
    for batch, width in (("16", "32"), ("64", "64"), ("128", "128"), ("512", "256")):
        row = f"| {batch} | {shares[f'K | {batch}']} | | {width} | {shares[f'width | {width}']} |"
        assert row in text


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
