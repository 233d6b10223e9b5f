"""The archive of a store's runs: whole, the same every time, and enough to draw the figures."""

from __future__ import annotations

import csv
import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from jekyllhyde.cli.laboratory import StoreCommand
from jekyllhyde.errors import InputError
from jekyllhyde.lab import engine
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import Panel, read
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.store_archive import write_archive

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Store, Panel]:
    """A store with a panel of the paper, and with runs of something else."""
    store, panel = Store.open(tmp_path / "store", create=True), PANELS["5a"]
    other = Experiment("other", "plan", {"name": "chain"}, [{"label": "PG"}], {"updates": 3})
    for experiment in (panel.experiment, other):
        engine.run([experiment], store, workers=1)
    return store, panel


@pytest.mark.parametrize("name", ["figures.tar", "figures.tar.xz"])
def test_what_is_extracted_draws_the_panel_without_computing(
    filled: tuple[Store, Panel], tmp_path: Path, name: str
) -> None:
    store, panel = filled
    path = tmp_path / name
    assert write_archive(store, PANELS.values(), path) == ["5a"]
    (tmp_path / "kept").mkdir()
    subprocess.run(["tar", "xf", str(path), "-C", str(tmp_path / "kept")], check=True)
    sums = (tmp_path / "kept" / "SHA256SUMS").read_text().splitlines()
    for line in sums:
        digest, name = line.split("  ")
        assert hashlib.sha256((tmp_path / "kept" / name).read_bytes()).hexdigest() == digest
    assert "README" in (line.split("  ")[1] for line in sums)
    kept = Store.open(tmp_path / "kept" / "store")
    assert kept.verify() == {}
    assert all(kept.missing(digest, panel.experiment.runs) == [] for digest in panel.digests)
    assert len(kept.cells) == len(set(panel.digests)) < len(store.cells)
    before, after = read(panel, store), read(panel, kept)
    assert all((before.y[tag] == after.y[tag]).all() for tag in before.y)


def test_the_same_runs_make_the_same_file(filled: tuple[Store, Panel], tmp_path: Path) -> None:
    store, panel = filled
    paths = [tmp_path / name for name in ("a.tar.xz", "b.tar.xz", "c.tar")]
    for path in paths:
        write_archive(Store.open(store.folder), [panel], path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].stat().st_size < paths[2].stat().st_size


def test_the_command(
    filled: tuple[Store, Panel], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, panel = filled
    StoreCommand("archive", str(tmp_path / "it.tar"), store=store.folder).run()
    assert (tmp_path / "it.tar").is_file()
    assert "panels 5a" in capsys.readouterr().out
    with pytest.raises(InputError, match="archive needs the tar file"):
        StoreCommand("archive", store=store.folder).run()
    longer = replace(panel, experiment=PANELS["6a"].experiment)
    with pytest.raises(InputError, match="no panel's runs to archive"):
        write_archive(store, [longer], tmp_path / "none.tar")
    assert not (tmp_path / "none.tar").exists()


def test_the_archive_in_the_repository_has_the_runs_behind_the_results(tmp_path: Path) -> None:
    archive = ROOT / "archive" / "runs.tar.xz"
    if not archive.exists():
        pytest.skip("only a checkout has it")
    subprocess.run(["tar", "xf", str(archive), "-C", str(tmp_path)], check=True)
    store = Store.open(tmp_path / "store")
    assert not store.damaged
    for name in ("5a", "9c", "10b", "15a", "16b"):
        curves = read(PANELS[name], store)
        with (ROOT / "docs" / "results" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        for tag, label in curves.labels.items():
            written = {float(row["x"]): row["y"] for row in rows if row["series"] == label}
            y = dict(zip(curves.x.tolist(), curves.y[tag].tolist(), strict=True))
            near = {x: min(y, key=lambda place: abs(place - x)) for x in written}
            assert written == {x: f"{y[near[x]]:.6g}" for x in written}
