"""`jh eval`, `jh watch`, `jh compare` and `jh export`: what an agent of `jh train --out` is worth,
how it looks, and how it leaves.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import tyro

from jekyllhyde import intervals
from jekyllhyde.agent import find_agent
from jekyllhyde.cli.console import say, show_json, show_table
from jekyllhyde.cli.flags import keywords_of, values_of
from jekyllhyde.cli.training_folder import TrainingFolder, read_command, read_config
from jekyllhyde.episode import reset
from jekyllhyde.errors import InputError, check_choice, check_count, need, require
from jekyllhyde.files import write_file
from jekyllhyde.policy_returns import EVALUATION, evaluate_policy
from jekyllhyde.references import is_reference
from jekyllhyde.registry import python_name

WHO = ("jekyll", "hyde")
Trust = Annotated[
    bool, tyro.conf.arg(help="Run the code that the folder's command names: read it first.")
]
Folder = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER")]


class Training(NamedTuple):
    """A training that was stored: its folder, the environment's id and keywords, and the settings
    of the user's own, which are not stored.
    """

    folder: TrainingFolder
    env_id: str
    keywords: dict[str, Any]

    own: dict[str, Any]

    @classmethod
    def of(cls, path: Path, trust: bool) -> "Training":
        arguments, config = read_command(path, trust), read_config(path)["run"]
        own = {
            python_name(flag.removeprefix("--")): text
            for flag, text in pairwise(arguments)
            if is_reference(text)
        }
        record = find_agent(own.pop("agent", config["agent"]))
        folder = TrainingFolder(path, config["runs"], record)
        return cls(folder, arguments[0], keywords_of(values_of("env-kwargs", arguments)), own)

    def make(self, **more: Any) -> Any:
        from jekyllhyde.mdp.gym_import import make_environment

        return make_environment(self.env_id, {**self.keywords, **more})

    def personality(self, run: int, who: str, best: bool) -> Any:
        """Jekyll or Hyde of a run's newest agent, or of its best, in the environment."""
        check_choice(who, "who", WHO)
        runs = self.folder.runs
        require(run < runs, f"number is {run}; the training has {runs} runs, from 0 on")
        agent = self.folder.load(run, self.make(), "best" if best else "agent", **self.own)
        require(agent is not None, f"run {run} has no {'best ' if best else ''}agent yet")
        return agent.hyde if who == "hyde" else agent


@dataclass(frozen=True)
class TrainingCommand:
    """What the commands on an agent of a training share."""

    folder: Folder
    """A folder of jh train --out."""
    best: bool = False
    """The agent of the best evaluation, instead of the newest."""
    trust: Trust = False


@dataclass(frozen=True)
class Eval(TrainingCommand):
    """Returns of the policy of a training of `jh train --out FOLDER`, with intervals."""

    episodes: int = 100
    """Episodes of each run."""
    who: str = "jekyll"
    """jekyll or hyde."""
    drawn: bool = False
    """Actions are drawn from the policy, as by default where codes or pixels are seen."""
    greedy: bool = False
    """The most probable actions, as by default elsewhere."""
    seed: int = 0
    """Seed of the episodes."""
    json: bool = False
    """Print one JSON object instead of the table."""

    def run(self) -> None:
        require(not (self.drawn and self.greedy), "--drawn and --greedy exclude each other")
        training = Training.of(self.folder, self.trust)
        rows, means = [], []
        for run in range(training.folder.runs):
            personality = training.personality(run, self.who, self.best)
            result = evaluate_policy(
                personality,
                training.make(),
                self.episodes,
                deterministic=self.greedy if self.drawn or self.greedy else None,
                seed=self.seed,
            )
            means.append(result.mean)
            interval = {"mean": result.mean, "lo": result.lo, "hi": result.hi}
            least, most = float(result.returns.min()), float(result.returns.max())
            length = float(result.lengths.mean())
            rows.append({"run": str(run), **interval, "min": least, "max": most, "length": length})
        if len(means) > 1:
            mean, lo, hi = (float(x) for x in intervals.summarize(np.array(means), "mean"))
            blank = {"min": min(means), "max": max(means), "length": None}
            rows.append({"run": "means", "mean": mean, "lo": lo, "hi": hi, **blank})
        title = f"{self.who} of {self.folder} in {training.env_id}: returns of {self.episodes}"
        if self.json:
            show_json({"folder": str(self.folder), "who": self.who, "returns": rows})
        else:
            show_table(f"{title} episodes, with 95 % intervals", rows)


@dataclass(frozen=True)
class Watch(TrainingCommand):
    """Show Jekyll or Hyde of a training acting: as text in the terminal where the environment can,
    as a GIF or an mp4, or in a window.
    """

    out: Annotated[Path | None, tyro.conf.arg(help_behavior_hint="(default: the terminal)")] = None
    """File for the film, .gif or .mp4 (which needs ffmpeg)."""
    window: bool = False
    """Show it in a window."""
    who: str = "jekyll"
    """jekyll or hyde."""
    episodes: int = 1
    """Episodes to show."""
    most: int = 1000
    """Steps to show of each episode."""
    fps: int = 20
    """Pictures per second."""
    number: int = 0
    """Which run."""
    seed: int = 0
    """Seed of the episodes."""

    def run(self) -> None:
        for name in ("episodes", "most", "fps"):
            check_count(getattr(self, name), name, 1)
        training = Training.of(self.folder, self.trust)
        check_count(self.number, "number", 0)
        mode = "human" if self.window else "ansi" if self.out is None else "rgb_array"
        write = None if self.out is None else _writer(self.out, self.fps)
        env = training.make(render_mode=_mode(training, mode))
        personality = training.personality(self.number, self.who, self.best)
        frames = self._frames(env, personality)
        if write is not None:
            write(list(frames))
            say(str(self.out))
            return
        for frame in frames:
            if mode == "ansi":
                print(frame)
            time.sleep(1.0 / self.fps)

    def _frames(self, env: Any, personality: Any) -> Iterator[Any]:
        for number in range(self.episodes):
            observation, info = reset(env, self.seed, number, EVALUATION)
            yield env.render()
            for _ in range(self.most):
                mask = {name: info[name] for name in ("action_mask",) if name in info}
                action = personality.predict(observation, **mask)
                observation, _, terminated, truncated, info = env.step(action)
                yield env.render()
                if terminated or truncated:
                    break


@dataclass(frozen=True)
class Compare:
    """One page on several trainings of `jh train --out`: their curves together, who led when, what
    was set.
    """

    folders: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="FOLDER ...")]
    """Folders of jh train --out."""
    out: Path = Path("compare.html")
    """File for the page."""
    trust: Trust = False

    def run(self) -> None:
        from jekyllhyde.cli.training_page import write_page

        trainings: dict[Path, list[Any]] = {}
        for path in self.folders:
            training = Training.of(path, self.trust)
            runs = range(training.folder.runs)
            trainings[path] = [training.personality(run, "jekyll", False) for run in runs]
        require(trainings, "folders is empty; give those of the trainings to compare")
        say(write_page(self.out, trainings))


@dataclass(frozen=True)
class Export(TrainingCommand):
    """The policy of a training of `jh train --out` for others: its weights, a forward pass
    that needs NumPy alone, and a model card.
    """

    out: Path = Path("policy")
    """Folder for policy.npz, policy.py and README.md."""
    onnx: bool = False
    """Write policy.onnx too."""
    number: int = 0
    """Which run."""

    def run(self) -> None:
        training = Training.of(self.folder, self.trust)
        number = check_count(self.number, "number", 0)
        training.personality(number, "jekyll", self.best).export(self.out, onnx=self.onnx)
        say(*(str(file) for file in sorted(self.out.iterdir())))


def _mode(training: Training, mode: str) -> str:
    modes = training.make().metadata.get("render_modes", [])
    hints = {
        "ansi": "no text; give --out FILE.gif",
        "rgb_array": "no pictures",
        "human": "no window",
    }
    require(mode in modes, f"{training.env_id} has {hints[mode]} (it renders {', '.join(modes)})")
    return mode


def _writer(path: Path, fps: int) -> Callable[[list[Any]], None]:
    # Writes pictures [H, W, 3] as a film; what is missing is said before any work.
    need("plot")
    kind = path.suffix.lower()
    require(kind in (".gif", ".mp4"), f"out is {str(path)!r}; it must end in .gif or .mp4")

    def write_gif(frames: list[Any]) -> None:
        from PIL import Image

        first, *rest = [Image.fromarray(np.asarray(frame, np.uint8)) for frame in frames]
        options = {"append_images": rest, "duration": 1000 // fps, "loop": 0}
        write_file(path, lambda file: first.save(file, format="GIF", save_all=True, **options))

    def write_mp4(frames: list[Any]) -> None:
        from matplotlib.animation import FFMpegWriter
        from matplotlib.figure import Figure

        height, width, _ = np.shape(frames[0])
        figure = Figure(figsize=(width / 100, height / 100), dpi=100)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.axis("off")
        picture, writer = axes.imshow(frames[0]), FFMpegWriter(fps=fps)
        with writer.saving(figure, str(path), dpi=100):
            for frame in frames:
                picture.set_data(frame)
                writer.grab_frame()

    if kind == ".gif":
        return write_gif
    if shutil.which("ffmpeg") is None:
        raise InputError(f"out is {str(path)!r}; an mp4 needs ffmpeg, a .gif does not")
    return write_mp4
