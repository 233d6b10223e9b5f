"""A panel beside the paper's curves: what is compared, what counts as inside, and what is said."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from claim_worlds import make
from jekyllhyde.lab.agreement import (
    DIFFERS,
    MATCHES,
    NOT_PUBLISHED,
    TOO_FEW,
    TOO_NOISY,
    Agreement,
    compare_with_published,
    published,
    published_runs,
    worst_first,
)
from jekyllhyde.lab.draw import draw
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import Curves
from mdps import Floats
from time_worlds import flat


def world(name: str, shift: float, width: float, runs: int, grid: Floats | None = None) -> Curves:
    """The paper's own curves of a panel, moved by `shift` (times: by that share) and with intervals
    of this half width; on the published places, or on a grid.
    """
    panel, known = PANELS[name], published(name)
    is_time = panel.kind == "time"
    tags = [tag for tag, label in panel.labels.items() if label in known]
    x = np.unique(np.concatenate([known[panel.labels[tag]][0] for tag in tags]))
    x = x if grid is None else grid
    lines = {tag: np.interp(x, *known[panel.labels[tag]]) for tag in tags}
    y = {tag: line * (1 + shift) if is_time else line + shift for tag, line in lines.items()}
    half = {tag: width * line if is_time else width + 0.0 * line for tag, line in y.items()}
    return Curves(
        replace(panel, series=tuple(tags)),
        x,
        {},
        y,
        {tag: y[tag] - half[tag] for tag in tags},
        {tag: y[tag] + half[tag] for tag in tags},
        {tag: np.zeros(len(x)) for tag in tags},
        {},
        runs,
    )


@pytest.mark.parametrize("name", [name for name in PANELS if published(name)])
def test_published_series_are_series_of_ours(name: str) -> None:
    panel = PANELS[name]
    assert set(published(name)) <= set(panel.labels.values())
    assert (published_runs(name) == 1) == panel.exact
    for x, y in published(name).values():
        assert (np.diff(x) > 0).all()
        assert np.isfinite(y).all()
        assert y.max() <= 1.001 * (panel.cap if panel.kind == "time" else 1.0)


def test_the_papers_own_numbers_match() -> None:
    for name in ("8a", "16a", "5b"):
        agreement = compare_with_published(world(name, 0.0, 0.0, 100))
        assert agreement.points == sum(len(x) for x, _ in published(name).values())
        assert (agreement.inside, agreement.verdict) == (1.0, MATCHES)
        assert agreement.deviation == pytest.approx(0.0, abs=1e-12)


def test_both_sides_noise_counts() -> None:
    """8a has 204 published runs: with 204 of ours, the difference is sqrt(2) times as uncertain."""
    width = 0.01
    for shift, inside in ((1.40 * width, 1.0), (1.60 * width, 0.0)):
        assert compare_with_published(world("8a", shift, width, 204)).inside == inside
    # with few runs of ours the paper's noise is small beside it
    assert compare_with_published(world("8a", 1.2 * width, width, 2)).inside == 0.0


def test_times_deviate_by_a_share() -> None:
    agreement = compare_with_published(world("16a", 0.2, 0.01, 100))
    assert agreement.verdict == DIFFERS
    assert agreement.deviation == pytest.approx(0.2)
    assert agreement.text.endswith("0 % within noise, deviation +20.0 %: differs")


def test_what_is_exact_must_agree() -> None:
    assert compare_with_published(world("5b", 0.01, 0.0, 1)).inside < 0.2
    assert compare_with_published(world("5b", 0.0, 0.0, 1)).inside == 1.0


def test_between_two_of_ours_only_where_they_hardly_differ() -> None:
    (x, _), *_ = published("8a").values()
    coarse = np.linspace(1.0, 100_000.0, 20)
    agreement = compare_with_published(world("8a", 0.0, 0.001, 200, coarse))
    few = agreement.series["J&H eps=100/t o=0.5"].points
    assert 0 < few < len(x)
    assert agreement.series["PG"].points > few  # flat from the beginning
    beyond = compare_with_published(world("8a", 0.0, 0.001, 200, coarse[:5]))
    assert beyond.points < agreement.points


def test_a_tenth_of_the_points_may_be_outside() -> None:
    curves = world("16a", 0.0, 0.01, 100)
    for share, verdict in ((0.05, MATCHES), (0.2, DIFFERS)):
        moved = {}
        for tag, line in curves.y.items():
            far = np.arange(len(line)) < share * len(line)
            moved[tag] = np.where(far, 2.0 * line, line)
        assert compare_with_published(replace(curves, y=moved)).verdict == verdict


def test_panels_of_ones_own_have_nothing_published() -> None:
    curves = world("8a", 0.0, 0.01, 100)
    own = replace(curves, panel=replace(curves.panel, published=""))
    agreement = compare_with_published(own)
    assert (agreement.points, agreement.verdict, agreement.text) == (
        0,
        NOT_PUBLISHED,
        NOT_PUBLISHED,
    )
    assert not published("3a")


def test_the_worst_comes_first() -> None:
    agreements = {
        "good": compare_with_published(world("8a", 0.0, 0.01, 100)),
        "off": compare_with_published(world("8a", 0.011, 0.01, 100)),
        "bad": compare_with_published(world("16a", 0.5, 0.01, 100)),
        "none": compare_with_published(
            replace(world("8a", 0.0, 0.0, 9), panel=replace(PANELS["8a"], published=""))
        ),
    }
    assert list(worst_first(agreements)) == ["bad", "off", "good", "none"]


def test_pictures_show_the_papers_curves_and_the_line(tmp_path: Path) -> None:
    curves = world("8a", 0.0, 0.01, 100)
    groups = {"some": tuple(curves.y)[:4], "others": tuple(curves.y)[4:]}
    for i, panel in enumerate((curves.panel, replace(curves.panel, groups=groups))):
        shown = replace(curves, panel=panel)
        draw(shown, tmp_path / f"{i}.svg")
        text = (tmp_path / f"{i}.svg").read_text()
        assert text.count("<!-- published -->") == (2 if panel.groups else 1)  # in each legend
        assert f"<!-- {compare_with_published(shown).text} -->" in text
        assert all(f"<!-- {name} -->" in text for name in panel.groups)
    own = replace(curves, panel=replace(curves.panel, published=""))
    draw(own, tmp_path / "own.svg")
    assert "published" not in (tmp_path / "own.svg").read_text()


def test_limits_of_a_panel_hold_for_its_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curves, seen = world("8a", 0.0, 0.01, 100), []
    module: Any = importlib.import_module("jekyllhyde.lab.draw")
    monkeypatch.setattr(module, "save_figure", lambda figure, *paths: seen.append(figure))
    panel = replace(curves.panel, logx=True, xlim=(100.0, 1e5), ylim=(0.5, 1.0))
    draw(replace(curves, panel=panel), tmp_path / "it.png")
    (axes,) = seen[0].axes
    assert (axes.get_xlim(), axes.get_ylim()) == ((100.0, 1e5), (0.5, 1.0))


def test_the_places_of_an_axis_are_its_ticks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single place has a bar for its interval, and there is no chain of half a state."""
    module: Any = importlib.import_module("jekyllhyde.lab.draw")
    seen: dict[str, Any] = {}
    for name in ("14a-long", "14a-critic", "14a"):
        keep = lambda figure, *paths, name=name: seen.setdefault(name, figure.axes[0])  # noqa: E731
        monkeypatch.setattr(module, "save_figure", keep)
        draw(make(PANELS[name], flat), tmp_path / "it.png")
    assert list(seen["14a-long"].get_xticks()) == [3]
    assert seen["14a-long"].containers
    assert list(seen["14a-critic"].get_xticks()) == list(range(3, 11))
    assert all(place == round(place) for place in seen["14a"].get_xticks())


def test_a_few_points_are_no_match() -> None:
    few, more = (Agreement(n, 1.0, 0.0, 0.0, relative=False, series={}) for n in (9, 10))
    assert (few.verdict, more.verdict) == (TOO_FEW, MATCHES)
    assert Agreement(9, 0.5, 0.0, 0.0, relative=False, series={}).verdict == DIFFERS
    assert list(worst_first({"more": more, "few": few})) == ["few", "more"]


@pytest.mark.parametrize(("name", "much"), [("8a", 0.05), ("16a", 0.25)])
def test_nothing_matches_by_having_few_runs(name: str, much: float) -> None:
    """Noise that hides any difference is no match, nor does it hide one that is larger yet."""
    quiet, loud = (compare_with_published(world(name, 0.0, size, 100)) for size in (0.01, 0.5))
    assert (quiet.verdict, loud.verdict) == (MATCHES, TOO_NOISY)
    assert quiet.noise < much < loud.noise
    assert compare_with_published(world(name, -0.9, 0.5, 100)).verdict == DIFFERS


def test_other_settings_before_the_papers_curves_are_not_compared_with_them() -> None:
    shown = replace(world("8a", 0.0, 0.01, 100), panel=replace(PANELS["8b"], published="8a"))
    assert compare_with_published(shown).verdict == NOT_PUBLISHED
