"""`jh` as a user meets it: tables, JSON, files, and one sentence with status 2 for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import jekyllhyde as jh
from jekyllhyde import errors, intervals
from jekyllhyde.agent import AGENTS
from jekyllhyde.cli import main
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.lab.verdicts import VERDICTS
from jekyllhyde.registry import shell_name


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_plan_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(
        capsys, "plan", "chain", "--n-states", "6", "--parametrization", "direct", "--updates", "50"
    )
    assert status == 0
    assert err == ""
    assert "PG" in out
    assert "50 updates in" in out


def test_plan_json_agrees_with_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "plan",
        "chain",
        "--n-states",
        "6",
        "--parametrization",
        "direct",
        "--density",
        "pg",
        "uniform",
        "--target",
        "0.5",
        "--updates",
        "15000",
        "--json",
    ]
    status, out, _ = run(capsys, *arguments)
    report = json.loads(out)
    assert status == 0
    assert [one["time_to_target"] for one in report["runs"]] == [205, 101]
    assert [one["censored"] for one in report["runs"]] == [False, False]
    assert report["J_star"] == pytest.approx(0.99**4)


def test_plan_checks_the_theory(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(
        capsys,
        *[
            "plan",
            "chain",
            "--density",
            "uniform",
            "pg",
            "--eta",
            "10",
            "--updates",
            "3000",
            "--check",
        ],
    )
    assert status == 0
    assert out.count("Theorem 1") == 2
    assert out.count("C4-s") == 2
    arguments = [
        "plan",
        "chain",
        "--density",
        "uniform",
        "--eta",
        "10",
        "--updates",
        "300",
        "--check",
        "--json",
    ]
    report = json.loads(run(capsys, *arguments)[1])
    verdicts = {one["name"]: one["verdict"] for one in report["runs"][0]["checks"]}
    assert verdicts["C4"] == "holds"
    assert verdicts["Theorem 1"] == "holds"


def test_plan_writes_parquet_and_picture(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "a folder" / "ünï"
    status, _, _ = run(
        capsys,
        *[
            "plan",
            "garnet",
            "--n-states",
            "12",
            "--density",
            "mixture",
            "pg",
            "--o",
            "10/t",
            "--updates",
            "30",
        ],
        *("--out", str(tmp_path / "x")),
    )
    assert status == 0
    status = main(["plan", "deep_sea", "--n", "4", "--updates", "3", "--out", str(folder)])
    assert status == 0
    table = pq.read_table(tmp_path / "x" / "plan.parquet")
    assert table.column_names == [
        "series",
        "mdp",
        "parametrization",
        "density",
        "o",
        "eta",
        "lam",
        "convention",
        "t",
        "J",
        "J_norm",
    ]
    assert table.num_rows == 2 * 31
    expected = jh.plan(jh.garnet(12), density="mixture", o="10/t", updates=30)
    np.testing.assert_array_equal(table["J"].to_numpy()[:31], expected.J)
    assert (folder / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert not list((tmp_path / "x").glob(".*")), "temporary files are left behind"


def test_plan_takes_gymnasium_and_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mdp = jh.four_rooms(1, size=7)
    mdp.save(tmp_path / "rooms.npz")
    status, out, _ = run(
        capsys, "plan", str(tmp_path / "rooms.npz"), "--updates", "5", "--eta", "0.1", "--json"
    )
    assert status == 0
    assert json.loads(out)["J_star"] == pytest.approx(mdp.J_star)
    status, out, _ = run(
        capsys, "plan", "FrozenLake-v1", "--gamma", "0.9", "--updates", "5", "--json"
    )
    assert status == 0
    assert json.loads(out)["J_star"] == pytest.approx(
        jh.from_gymnasium("FrozenLake-v1", gamma=0.9).J_star
    )


FAULTS = {
    "plan nowhere": "problem is 'nowhere'",
    "plan NoSuchEnvironment-v0": "NoSuchEnvironment-v0",
    "plan Blackjack-v1": "Blackjack-v1",
    "plan missing.npz": "missing.npz",
    "plan chain --density sideways": "density is 'sideways'",
    "plan chain --density mixture": "needs o",
    "plan chain --density mixture --o 2": "o is 2",
    "plan chain --density mixture --o ten": "o 'ten' is not a schedule",
    "plan chain --o 0.5": "--o is given",
    "plan chain --eta -1": "eta is -1",
    "plan chain --eta nan": "eta 'nan'",
    "plan chain --updates -5": "updates is -5",
    "plan chain --parametrization linear": "parametrization is 'linear'",
    "plan chain --parametrization direct --lam 0.1": "lam is given",
    "plan chain --lam -1": "lam is -1",
    "plan chain --convention private": "convention is 'private'",
    "plan chain --beta 1.5": "beta is 1.5",
    "plan chain --gamma 1.5": "gamma is 1.5",
    "plan chain --n-states 1": "n_states is 1",
    "plan chain --level 2": "--level is given, but jh plan chain does not take it",
    "plan --updates 5 chain": "--updates stands where the problem should",
    "plan garnet --connectivity 99": "connectivity is 99",
    "plan four_rooms --level 3": "level is 3",
    "plan deep_sea --n 0": "n is 0",
    "train nowhere": "problem is 'nowhere'",
    "train chain --agent nobody": "agent is 'nobody'",
    "train chain --agent on-policy": "'on-policy', which is called tabular-on-policy",
    "train chain --agent tabular-on-policy --epsilon 0.1": (
        "--epsilon is given, but jh train chain --agent tabular-on-policy does not take it"
    ),
    "train --runs 3 chain": "as in: jh train chain --runs 3",
    "train chain --epsilon 2": "epsilon is 2",
    "train chain --o -1": "o is -1",
    "train chain --eta 0": "eta is 0",
    "train chain --trajectories 0": "trajectories is 0",
    "train chain --runs 0": "runs is 0",
    "train chain --steps 10": "--steps is given",
    "train chain --mdps 3": "--mdps is given",
    "train chain --level 3": "--level is given",
    "train chain --bonus gold": "bonus is 'gold'",
    "train FrozenLake-v1 --trajectories 5": "--trajectories is given",
    "train CartPole-v1 --agent tabular-on-policy --steps 5": (
        "a tabular agent takes Discrete spaces"
    ),
    "train chain --runs few": "runs is 'few'; it must be an integer",
    "plan chain --updates many": "updates is 'many'; it must be an integer",
    "plan chain --lam little": "lam is 'little'; it must be a number",
    "list nothing": "name is 'nothing'; it must be one of chain, ",
    "begin chain": "command is 'begin'; it must be one of plan, train, ",
    "figure 99z": "figure is '99z'",
    "figure 7a --runs 0": "runs is 0",
}


@pytest.mark.parametrize("arguments", FAULTS)
def test_bad_input_is_one_sentence_and_status_2(
    arguments: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out_flags = [] if arguments.startswith("list") else ["--out", str(tmp_path / "out")]
    status, out, err = run(capsys, *arguments.split(), *out_flags)
    assert status == 2
    assert out == ""
    assert err.startswith("jh: ")
    assert err.count("\n") == 1
    assert FAULTS[arguments] in err
    assert not list(tmp_path.rglob("*.*")), "nothing is written on bad input"


def test_unwritable_folder_is_refused_before_any_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("precious")
    status, _, err = run(
        capsys, "plan", "chain", "--updates", "1000000000", "--out", str(tmp_path / "file" / "sub")
    )
    assert status == 2
    assert "cannot be written" in err
    assert (tmp_path / "file").read_text() == "precious"


def test_read_only_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(
        Path, "touch", refuse
    )  # chmod does not stop the superuser, under whom tests may run
    status, _, err = run(capsys, "figure", "5a", "--out", str(tmp_path))
    assert status == 2
    assert "Permission denied" in err


def test_corrupt_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    jh.chain(5).save(tmp_path / "chain.npz")
    whole = (tmp_path / "chain.npz").read_bytes()
    (tmp_path / "chain.npz").write_bytes(whole[: len(whole) // 2])
    status, _, err = run(capsys, "plan", str(tmp_path / "chain.npz"))
    assert status == 2
    assert "chain.npz" in err


def test_an_environment_takes_a_discount(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["plan", "FrozenLake-v1", "--help"])
    assert "--gamma FLOAT" in (out := capsys.readouterr().out)
    assert "discount. (default: 0.99)" in out


def test_values_that_cannot_be_read_exit_with_status_2() -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["train", "chain", "--seed", "many"])
    assert stopped.value.code == 2


def test_train_on_a_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = [
        "train",
        "chain",
        "--n-states",
        "5",
        "--beta",
        "0.5",
        "--trajectories",
        "300",
        "--runs",
        "3",
        "--seed",
        "7",
        "--target",
        "0.3",
    ]
    status, out, _ = run(capsys, *arguments, "--out", str(tmp_path), "--json")
    report = json.loads(out)
    assert status == 0
    expected = jh.learn(
        jh.chain(5, 0.5), jh.TabularJekyllHyde(), trajectories=300, runs=3, seed=7, target=0.3
    )
    assert report["measured"][2]["mean"] == pytest.approx(np.mean(expected.time_to(0.3)))
    table = pq.read_table(tmp_path / "train.parquet")
    assert table.column_names[:4] == ["run", "trajectories", "J", "J_norm"]
    assert table.num_rows == int((~np.isnan(expected.J)).sum())
    assert (tmp_path / "train.png").read_bytes().startswith(b"\x89PNG")
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert "trajectories to 0.3" in out
    assert out.startswith("tabular-jekyll-hyde on chain: both spaces are Discrete; --agent jekyll-")


def test_train_on_random_mdps(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "train",
        "garnet",
        "--n-states",
        "12",
        "--mdps",
        "3",
        "--runs",
        "2",
        "--trajectories",
        "50",
        "--agent",
        "tabular-on-policy",
    ]
    report = json.loads(run(capsys, *arguments, "--json")[1])
    assert report["runs"] == 6


def test_train_on_an_environment(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = run(
        capsys,
        "train",
        "FrozenLake-v1",
        "--steps",
        "3000",
        "--runs",
        "2",
        "--out",
        str(tmp_path),
        "--json",
    )
    report = json.loads(out)
    assert status == 0
    assert [one["quantity"] for one in report["measured"]] == [
        "undiscounted return, last 100 episodes",
        "undiscounted return, last evaluation",
        "discounted J of the greedy policy",
        "discounted J of the optimum",
    ]
    J = jh.from_gymnasium("FrozenLake-v1").J_star
    assert report["measured"][3]["mean"] == pytest.approx(J)
    assert pq.read_table(tmp_path / "episodes.parquet").column_names == [
        "run",
        "episode",
        "step",
        "return",
        "length",
        "hyde",
    ]


def test_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list")
    assert status == 0
    assert all(
        name in out
        for name in (
            "chain",
            "garnet",
            "four_rooms",
            "deep_sea",
            "mixture",
            "softmax",
            "10/sqrt(t)",
        )
    )
    described = json.loads(run(capsys, "list", "--json")[1])
    assert described["domains"]["chain"]["options"]["n_states"] == 10
    assert described["domains"]["four_rooms"]["id"] == "jekyllhyde/FourRooms-v0"
    assert described["domains"]["four_rooms"]["horizon"] == 90
    assert set(described["agents"]) == set(map(shell_name, AGENTS))
    assert "cross-entropy" in described["names"]["deep actor rules"]
    assert "count" in described["names"]["tabular bonuses"]
    assert "ddqn-rnd" in out


def test_list_shows_what_one_name_takes(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list", "four-rooms")
    assert status == 0
    assert "where episodes start" in out
    report = json.loads(run(capsys, "list", "tabular-on-policy", "--json")[1])
    options = {option["option"]: option["default"] for option in report["options"]}
    assert options["density"] == "pg"  # the value in force, not None
    assert "epsilon" not in options


def test_the_documentation_has_the_tables_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    """After a change of options: jh list --markdown > docs/options.md."""
    page = Path(__file__).parent.parent / "docs" / "options.md"
    status, out, _ = run(capsys, "list", "--markdown")
    assert status == 0
    assert out == page.read_text()
    assert "| `n_states` | `50` | &#124;S&#124;, the number of states. |" in out.splitlines()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"jekyllhyde {jh.__version__}\n", "")


@pytest.mark.parametrize("name", ["four_rooms", "four-rooms", "FourRooms-v0"])
def test_one_problem_under_all_its_names(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "--size 7 --trajectories 50 --runs 2 --agent tabular-on-policy --json"
    report = json.loads(run(capsys, "train", name, *arguments.split())[1])
    result = jh.learn(jh.four_rooms(size=7), jh.TabularOnPolicy(), trajectories=50, runs=2, seed=0)
    assert report["measured"][0]["mean"] == pytest.approx(result.J_norm[:, -1].mean())


def test_a_domain_of_ones_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A function in a file is a problem of `plan` and `train`, with its options as flags."""
    file = tmp_path / "mine.py"
    file.write_text(
        "import jekyllhyde as jh\n"
        "def walk(length: int = 4) -> jh.FiniteMDP:\n"
        '    """A walk.\n\n    length : how far it goes.\n    """\n'
        "    return jh.chain(length, 0.5)\n"
        'far = jh.Domain("far", walk, horizon=7)\n'
    )
    for name in ("walk", "far"):
        problem = f"{file}:{name}"
        report = json.loads(run(capsys, "plan", problem, "--length", "6", "--json")[1])
        assert report["J_star"] == pytest.approx(0.99**4)
        flags = ["--length", "3", "--trajectories", "20", "--runs", "2"]
        report = json.loads(run(capsys, "train", problem, *flags, "--json")[1])
        assert report["runs"] == 2
    assert TabularEnv(f"{file}:far", length=5).horizon == 7
    with pytest.raises(SystemExit):
        main(["plan", problem, "--help"])
    assert "how far it goes. (default: 4)" in capsys.readouterr().out


AGENT = """
import numpy as np
from jekyllhyde.agent import Agent, Episodes

class Wanderer(Agent):
    \"\"\"Acts at random.

    habit : the action that it takes most often.
    \"\"\"

    name = "wanderer"

    def __init__(self, env=None, *, seed=0, habit: int = 0, gamma: float = 0.5):
        self.env, self.seed, self.habit, self.gamma = env, seed, habit, gamma
        self.episodes, self.settings = Episodes(), {"habit": habit, "gamma": gamma}

    def learn(self, total_timesteps, *, callback=None):
        self.env.reset(seed=self.seed)
        for _ in range(total_timesteps):
            _, reward, terminated, truncated, _ = self.env.step(self.habit)
            if terminated or truncated:
                self.episodes.add(reward, 1, 0)
                self.env.reset()
        return self

    def predict(self, observation, deterministic=True):
        return self.habit

    def save(self, path): ...
    def load(path, env=None): ...
    def arrays(self): return {}
"""


@pytest.mark.parametrize(("problem", "gamma"), [("chain", 0.9), ("CliffWalking-v1", 0.5)])
def test_an_agent_of_ones_own(
    problem: str, gamma: float, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A class in a file learns step by step, on domains and on environments, with its own flags."""
    (tmp_path / "mine.py").write_text(AGENT)
    flags = ["--gamma", "0.9"] if problem == "chain" else []
    status, out, _ = run(
        capsys,
        *["train", problem, "--agent", f"{tmp_path}/mine.py:Wanderer", *flags],
        *["--habit", "1", "--steps", "40", "--runs", "2", "--json"],
    )
    report = json.loads(out)
    assert status == 0
    assert report["agent"] == "wanderer"
    assert report["settings"] == {"habit": 1, "gamma": gamma}  # a model's discount is the agent's
    assert len(report["measured"]) == 3
    listed = json.loads(run(capsys, "list", f"{tmp_path}/mine.py:Wanderer", "--json")[1])
    assert [option["option"] for option in listed["options"]] == ["habit", "gamma"]
    if problem == "chain":
        assert report["measured"][1]["mean"] == pytest.approx(0.9**8)  # it always walks on


def test_help_shows_the_values_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "chain", "--convention", "paper", "--help"])
    out = " ".join(capsys.readouterr().out.replace("│", "").split())
    assert "(default: None)" not in out
    assert "--bonus STR (default: count)" in out or "(default: count)" in out
    assert "--n-states INT |S|, the number of states. (default: 10)" in out
    assert "--mdps" not in out
    assert "Folder for a Parquet table" in out
    assert "--seed INT Seed of the runs" in out


def measured(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, float]]:
    status, out, _ = run(capsys, "train", *arguments, "--json")
    assert status == 0
    report = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    return report["measured"]


def test_seeds_do_not_share_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    runs = []
    for i, seed in enumerate(("0", "1", "0")):
        folder = tmp_path / f"{i}"
        arguments = ["FrozenLake-v1", "--steps", "400", "--runs", "3", "--seed", seed]
        measured(capsys, *arguments, "--out", str(folder))
        table = pq.read_table(folder / "episodes.parquet")
        number, length = table["run"].to_numpy(), table["length"].to_numpy()
        runs.append([tuple(length[number == run]) for run in range(3)])
    assert runs[0] == runs[2]
    assert not set(runs[0]) & set(runs[1])
    assert len(set(runs[0])) == 3


def test_a_discount_of_zero_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    rows = measured(capsys, "CliffWalking-v1", "--gamma", "0", "--steps", "50", "--runs", "1")
    assert rows[2]["mean"] == -1.0  # one step; 0.99 gives about -12


def test_one_run_has_no_interval(capsys: pytest.CaptureFixture[str]) -> None:
    rows = measured(capsys, "chain", "--n-states", "4", "--trajectories", "20", "--runs", "1")
    assert [rows[0]["lo"], rows[0]["hi"]] == [None, None]
    arguments = ["--trajectories", "20", "--runs", "2", "--convention", "paper"]
    assert len(measured(capsys, "chain", *arguments)) == 2  # its hyde_clip is infinite


def test_intervals_are_those_of_the_floor(capsys: pytest.CaptureFixture[str]) -> None:
    rows = measured(capsys, "chain", "--n-states", "4", "--trajectories", "30", "--runs", "5")
    result = jh.learn(jh.chain(4), jh.TabularJekyllHyde(), trajectories=30, runs=5)
    y, lo, hi = map(float, intervals.summarize(result.J_norm_jekyll[:, -1], "mean"))
    assert [rows[1]["mean"], rows[1]["lo"], rows[1]["hi"]] == pytest.approx([y, lo, hi])


def test_what_pictures_need_is_checked_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(errors.EXTRAS, "plot", ("no_such_module",))
    for command in ("plan chain --updates 1000000000", "train chain --trajectories 1000000000"):
        status, out, err = run(capsys, *command.split(), "--out", str(tmp_path / "out"))
        assert (status, out) == (2, "")
        assert "install jekyllhyde[plot]" in err
    assert not (tmp_path / "out").exists()


def test_the_table_of_plan_fits_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    arguments = "--density pg undiscounted mixture --o 10/sqrt(t) --lam 0.001 --target 0.999"
    _, out, _ = run(capsys, "plan", "chain", *arguments.split(), "--updates", "20")
    assert "undiscounted lam=0.001" in out
    assert "updates to 0.999" in out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_figure_writes_picture_numbers_and_verdicts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, out, _ = run(
        capsys, "figure", "5a", "--store", str(tmp_path / "store"), "--out", str(tmp_path), "--json"
    )
    assert status == 0
    assert set(json.loads(out)) == {"5a"}
    assert sorted(path.name for path in tmp_path.glob("5a.*")) == [
        "5a.claims.json",
        "5a.csv",
        "5a.pdf",
        "5a.png",
    ]
    lines = (tmp_path / "5a.csv").read_text().splitlines()
    assert lines[0] == "series,x,y,lo,hi,median,censored,runs,failed"
    assert len(lines) == 1 + 7 * 1000
    claims = json.loads((tmp_path / "5a.claims.json").read_text())
    names = {"id", "claim", "place", "verdict", "reason", "measured", "parts"}
    assert names == set(claims[0])
    assert {claim["verdict"] for claim in claims} <= set(VERDICTS)


HEAVY = {"jax", "matplotlib", "pyarrow", "ray", "scipy.stats"}
UNUSED = {"scipy.sparse.csgraph", "scipy.sparse.linalg"}  # by small models
LEARN = "import jekyllhyde as jh; jh.learn(jh.chain(5), jh.TabularOnPolicy(), trajectories=2)"


@pytest.mark.parametrize(
    ("work", "heavy"),
    [
        ("import jekyllhyde", HEAVY | {"numba", "scipy"}),
        ("import jekyllhyde.intervals", HEAVY),
        (LEARN, HEAVY | UNUSED),
        # compiled code that is loaded from a cache may name the peers, and then loads them
        ("import jekyllhyde.tabular.run_state", HEAVY | {"jekyllhyde.tabular.peers"}),
        ("import jekyllhyde.cli as c; c.main(['plan', 'chain', '--updates', '5'])", HEAVY | UNUSED),
    ],
)
def test_importing_the_package_stays_light(work: str, heavy: set[str]) -> None:
    code = f"import sys; {work}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_public_name_loads() -> None:
    for name in jh.__all__:
        assert getattr(jh, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = jh.nothing  # type: ignore[attr-defined]
    assert "plan" in dir(jh)
