"""The agents with networks under the contract of all agents: learning, acting, saving, resuming."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from jekyllhyde import deep
from jekyllhyde.agent import AGENTS
from jekyllhyde.deep.bonus import BONUSES, RND
from jekyllhyde.deep.deep_agent import DeepAgent
from jekyllhyde.envs.tabular import FourRooms, TabularEnv
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain

SMALL: dict[str, Any] = {"hidden": (8,), "batch": 8, "capacity": 200}
FACTORIES: dict[str, Callable[..., DeepAgent]] = {
    "jekyll_hyde": lambda **more: deep.JekyllHyde(**SMALL, hidden_hyde=(8,), warmup=20, **more),
    "ddqn": lambda **more: deep.DoubleDQN(**SMALL, **more),
    "ddqn_rnd": lambda **more: deep.DoubleDQN(**SMALL, bonus="rnd", **more),
    "bootstrapped_dqn": lambda **more: deep.BootstrappedDQN(**SMALL, heads=3, **more),
    "sac": lambda **more: deep.DiscreteSAC(**SMALL, warmup=20, **more),
    "sac_rnd": lambda **more: deep.DiscreteSAC(**SMALL, warmup=20, bonus="rnd", **more),
}
LAKE, STEPS = "FrozenLake-v1", 90


def same(first: DeepAgent, second: DeepAgent) -> bool:
    a, b = first.arrays(), second.arrays()
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize(
    "kind", [deep.JekyllHyde, deep.DoubleDQN, deep.BootstrappedDQN, deep.DiscreteSAC]
)
def test_keywords_are_the_settings(kind: type[DeepAgent]) -> None:
    keywords = inspect.signature(kind).parameters
    assert list(keywords)[:3] == ["env", "seed", "config"]
    assert set(list(keywords)[3:]) == {f.name for f in fields(kind.settings_type)}
    assert all(keywords[name].default is None for name in list(keywords)[3:])
    assert AGENTS[kind.name].cls is kind


@pytest.mark.parametrize("name", FACTORIES)
def test_the_contract(name: str, tmp_path: Path) -> None:
    """Same seed, same agent; two calls are one; saved, loaded and taught on is never stopped."""
    make = FACTORIES[name]
    whole = make(env=LAKE, seed=1).learn(STEPS)
    parts = make(env=LAKE, seed=1).learn(STEPS // 3)
    parts.save(tmp_path / "agent")
    loaded = type(parts).load(tmp_path / "agent", LAKE)
    assert same(parts, loaded)
    assert loaded.settings == parts.settings
    observations = np.arange(16)
    assert (loaded.predict(observations) == parts.predict(observations)).all()
    for agent in (parts, loaded):
        agent.learn(STEPS - STEPS // 3)
        assert same(agent, whole)
    assert not same(make(env=LAKE, seed=2).learn(STEPS), whole)
    assert len(whole.episodes) > 2
    assert whole.episodes.lengths.sum() <= STEPS


def test_a_loaded_agent_goes_on_in_the_middle_of_an_episode(tmp_path: Path) -> None:
    """In the first episode, whose reset has the agent's seed, and in a later one."""
    makers: list[Callable[[], Any]] = [FourRooms, lambda: gym.make("CartPole-v1")]
    for env in makers:
        for steps in (5, 100):
            whole = FACTORIES["ddqn"](env=env()).learn(steps + 30)
            part = FACTORIES["ddqn"](env=env()).learn(steps)
            part.save(tmp_path / "agent")
            assert same(deep.DoubleDQN.load(tmp_path / "agent", env()).learn(30), whole)


class Restless(TabularEnv):
    """A chain whose starts no seed determines."""

    starts = 0

    def reset(self, **options: Any) -> Any:
        super().reset(**options)
        Restless.starts += 1
        self._state = Restless.starts % 4
        return np.int64(self._state), {}


def test_where_no_seed_brings_the_episode_back_a_new_one_begins(tmp_path: Path) -> None:
    agent = FACTORIES["ddqn"](env=Restless(chain(6)))
    agent.learn(1).save(tmp_path / "agent")
    Restless.starts += 1
    loaded = deep.DoubleDQN.load(tmp_path / "agent", Restless(chain(6)))
    with pytest.warns(UserWarning, match="a new episode begins"):
        loaded.learn(1)
    assert loaded._episode is not None
    assert loaded._episode.number == 1
    assert len(loaded._episode.actions) == 1
    assert int(loaded.learn(5).state.t) == loaded.steps == 7


def test_the_record_of_episodes_adds_up() -> None:
    agent = FACTORIES["jekyll_hyde"](env=TabularEnv(chain(4)))
    agent.learn(250)
    assert agent._episode is not None
    assert agent.episodes.lengths.sum() + len(agent._episode.actions) == 250
    assert len(agent.episodes) == int(agent.state.episodes)
    # the chain pays 1 at its end, or less for leaving before
    assert ((agent.episodes.returns > 0) & (agent.episodes.returns <= 1)).all()
    assert set(agent.episodes.hyde) <= {0, 1}
    assert 0 < agent.episodes.hyde.mean()


def test_predict_takes_batches_and_draws() -> None:
    agent = FACTORIES["jekyll_hyde"](env=LAKE).learn(30)
    actions = agent.predict(np.arange(16))
    assert actions.shape == (16,)
    assert [agent.predict(s) for s in range(16)] == actions.tolist()
    assert isinstance(agent.predict(0), int)
    before = agent.arrays()[".key"]
    drawn = agent.predict(np.zeros(400, np.int64), deterministic=False)
    assert np.array_equal(before, agent.arrays()[".key"])  # learning does not see it
    pi = agent.probabilities(0)
    assert np.bincount(drawn, minlength=4) / 400 == pytest.approx(pi, abs=0.1)
    with pytest.raises(InputError, match="it must be an index from 0 to 15"):
        agent.predict(16)


class Sign(gym.Env[np.ndarray, int]):
    """See a sign, name it: actions 5 and 6 are minus and plus."""

    observation_space = Box(-1.0, 1.0, (1, 2))
    action_space = Discrete(2, start=5)  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: Any = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.sign = self.np_random.choice([-1.0, 1.0])
        return np.full((1, 2), self.sign, dtype=np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        assert action in (5, 6)
        right = (action == 6) == (self.sign > 0)
        return np.full((1, 2), self.sign, dtype=np.float32), float(right), True, False, {}


def test_array_observations_and_shifted_actions(tmp_path: Path) -> None:
    agent = deep.DoubleDQN(Sign(), **SMALL, eta_c=1e-2).learn(300)
    signs = np.array([-1.0, 1.0], dtype=np.float32)
    batch = np.stack([np.full((1, 2), sign) for sign in signs])
    assert [agent.predict(each) for each in batch] == [5, 6]
    agent.save(tmp_path / "agent")
    assert deep.DoubleDQN.load(tmp_path / "agent").predict(batch).tolist() == [5, 6]
    with pytest.raises(InputError, match="end in"):
        agent.predict(np.zeros(2))


def test_settings_without_an_environment() -> None:
    agent = deep.JekyllHyde(gamma=0.5, config="paper")
    assert (agent.settings.gamma, agent.settings.critics) == (0.5, 1)
    for call in (lambda: agent.learn(1), lambda: agent.predict(0), agent.arrays):
        with pytest.raises(InputError, match="no environment"):
            call()
    assert deep.DoubleDQN("jekyllhyde/FourRooms-v0", **SMALL).settings.gamma == 0.9
    with pytest.raises(InputError, match="hidden is 16; it must be a list"):
        deep.DoubleDQN(hidden=16)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Gymnasium cannot make the environment"):
        deep.JekyllHyde("NoSuchThing-v0")
    with pytest.raises(InputError, match="it must be the id of a Gymnasium environment"):
        deep.JekyllHyde(3)  # type: ignore[arg-type]


def test_folders_that_are_no_agents(tmp_path: Path) -> None:
    agent, folder = FACTORIES["jekyll_hyde"](env=LAKE), tmp_path / "agent"
    agent.save(folder)
    with pytest.raises(InputError, match="not a ddqn"):
        deep.DoubleDQN.load(folder)
    with pytest.raises(InputError, match="other observations"):
        deep.JekyllHyde.load(folder, TabularEnv(chain(4)))
    with pytest.raises(InputError, match="no environment"):
        deep.JekyllHyde.load(folder).learn(1)
    about = json.loads((folder / "agent.json").read_text())
    for change, words in (
        ({"settings": {**about["settings"], "hidden": [17]}}, "do not fit"),
        ({"settings": {**about["settings"], "eta": -1}}, "eta is -1"),
        ({"settings": {}}, "no agent that can be read"),
        ({"format": 2}, "which jekyllhyde 0.3 and before wrote; load it there, or train it anew"),
        ({"format": 4}, "a jekyll_hyde of format 4, not a jekyll_hyde of 3"),
    ):
        (folder / "agent.json").write_text(json.dumps({**about, **change}))
        with pytest.raises(InputError, match=words):
            deep.JekyllHyde.load(folder)
    (folder / "agent.json").write_text(json.dumps(about))
    (folder / "state.safetensors").write_bytes((folder / "state.safetensors").read_bytes()[:100])
    for place in (folder, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="no agent that can be read"):
            deep.JekyllHyde.load(place)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        agent.save(tmp_path / "file" / "agent")


def test_saving_replaces_agents_and_nothing_else(tmp_path: Path) -> None:
    agent = FACTORIES["ddqn"](env=LAKE)
    agent.save(tmp_path / "agent")
    agent.learn(3).save(tmp_path / "agent")
    assert same(deep.DoubleDQN.load(tmp_path / "agent"), agent)
    assert [file.name for file in tmp_path.iterdir()] == ["agent"]
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="holds other files"):
        agent.save(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


OWN = '''
import equinox as eqx
import jax
import jax.numpy as jnp
from jekyllhyde.deep.bonus import Bonus
from jekyllhyde.deep.explorers import Explorer


class Counts(Bonus):
    """1 / sqrt(n) of the next state."""

    scale: float = 1.0

    def init(self, key, space):
        return jnp.ones(space.n_states)

    def of(self, state, samples):
        return FACTOR * self.scale / jnp.sqrt(state[samples.following]), state

    def learn(self, state, samples):
        return state.at[samples.following].add(samples.weight)


class Uniform(Explorer):
    """Uniform actions."""

    def init(self, keys, config, space):
        return jnp.zeros(space.n_actions)

    def logits(self, state, config, x, allowed):
        return state

    def learn(self, state, config, samples):
        return state


def raise_best(logits, q, temperature):
    return -FACTOR * jnp.sum(jax.nn.softmax(logits) * q, -1)


class Unmarked(Bonus):
    name: str = "text"
    init = of = learn = lambda self, *rest: None
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(OWN.replace("FACTOR", "1.0"))
    return file


def short_run(agent: str = "jekyll_hyde", **settings: Any) -> np.ndarray:
    small = {**SMALL, **({"warmup": 5} if agent != "ddqn" else {}), **settings}
    result = deep.train(
        "chain", agent, n_states=5, seeds=1, episodes=6, every=6, hyperparameters=small
    )
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(result.networks)])


@pytest.mark.parametrize(
    ("agent", "setting", "name"),
    [
        ("jekyll_hyde", "bonus", "Counts(scale=2.0)"),
        ("ddqn", "bonus", "Counts"),
        ("sac", "bonus", "Counts"),
        ("jekyll_hyde", "actor_rule", "raise_best"),
    ],
)
def test_choices_of_the_users_own(agent: str, setting: str, name: str, own: Path) -> None:
    """They are used, they are described by their file's content, and an edit changes the result."""
    reference: dict[str, Any] = {setting: f"{own}:{name}"}
    first = short_run(agent, **reference)
    described = deep.describe(deep.configure(agent, **reference))[setting]
    assert described.startswith(name.partition("(")[0] + "@")
    assert (short_run(agent, **reference) == first).all()
    own.write_text(OWN.replace("FACTOR", "3.0"))
    assert (short_run(agent, **reference) != first).any()
    assert deep.describe(deep.configure(agent, **reference))[setting] != described


def test_an_explorer_of_the_users_own(own: Path) -> None:
    config = deep.configure("jekyll_hyde", explorer=f"{own}:Uniform")
    assert deep.describe(config)["explorer"].startswith("Uniform@")
    assert len(short_run(explorer=f"{own}:Uniform")) < len(short_run())  # it has no network


def test_an_agent_with_a_bonus_of_the_users_own(own: Path, tmp_path: Path) -> None:
    """Loading runs no code: what is the user's own is given again, and must be the same."""
    reference, folder = f"{own}:Counts(scale=2)", tmp_path / "agent"
    agent = FACTORIES["jekyll_hyde"](env=LAKE, bonus=reference).learn(40)
    assert agent.state.networks.explorer.bonus.sum() > 16
    agent.save(folder)
    with pytest.raises(InputError, match="its bonus is of your own, Counts@"):
        deep.JekyllHyde.load(folder)
    with pytest.raises(InputError, match="bonus was"):
        deep.JekyllHyde.load(folder, bonus=f"{own}:Counts")
    assert same(deep.JekyllHyde.load(folder, bonus=reference), agent)


def test_choices_that_cannot_be(own: Path) -> None:
    cases: list[tuple[str, Any, str]] = [
        ("bonus", "novelty", "bonus is 'novelty'; it must be one of rnd"),
        ("bonus", f"{own}:Uniform", "it must be a jekyllhyde.deep.bonus.Bonus"),
        ("bonus", f"{own}:Unmarked", "eqx.field"),
        ("bonus", "rnd(width=3)", "rnd takes"),
        ("bonus", 3, "bonus is 3; it must be one of rnd"),
        ("actor_rule", f"{own}:nothing", "has no function nothing"),
    ]
    for setting, value, words in cases:
        choice: dict[str, Any] = {setting: value}
        with pytest.raises(InputError, match=words):
            deep.configure("jekyll_hyde", **choice)


def test_a_bonus_that_is_named_is_the_configurations_own() -> None:
    published = deep.configure("ddqn", "published", bonus="rnd")
    assert published.with_bonus
    assert published.bonus == RND(per_action=True, deep_target=True)
    assert published == deep.configure("ddqn_rnd", "published")
    assert BONUSES.spell(deep.configure("ddqn", bonus="rnd(eta=0.1)").bonus) == "rnd(eta=0.1)"


@pytest.mark.parametrize("agent", deep.ALGORITHMS)
@pytest.mark.parametrize("config", deep.CONFIGS)
def test_settings_written_with_a_bonus_leave_the_others_as_configured(
    agent: str, config: str
) -> None:
    configured = deep.configure(agent, config, bonus="rnd")
    for written in ("rnd(eta=0.5)", "rnd( eta = 0.5 )"):
        changed = deep.configure(agent, config, bonus=written)
        assert changed == replace(configured, bonus=replace(configured.bonus, eta=0.5))
    assert deep.configure(agent, config, bonus=RND(eta=0.5)).bonus == RND(eta=0.5)
    twice = deep.configure(agent, changed, bonus="rnd(normalize=True)")
    assert twice.bonus == replace(configured.bonus, eta=0.5, normalize=True)


def test_infinite_settings_are_read_as_they_are_written(tmp_path: Path) -> None:
    """The paper has no clipping, neither of the agent's gradients nor of the bonus's."""
    record = RND(clip=np.inf, eta=0.1)
    assert BONUSES.make(BONUSES.spell(record)) == record
    agent = deep.JekyllHyde(LAKE, config="paper", capacity=10)
    agent.save(tmp_path / "agent")
    loaded = deep.JekyllHyde.load(tmp_path / "agent")
    assert loaded.settings == agent.settings
    assert loaded.settings.clip == loaded.settings.bonus.clip == np.inf


def test_options_and_digests_of_version_0_1() -> None:
    """RND's settings were the agent's; cells are still found under what 0.1 made of them."""
    config = deep.configure(
        "jekyll_hyde", "recommended_0_3", eta_rnd=0.1, normalize_bonus=False, adam_eps=1e-8
    )
    assert config.bonus == RND(eta=0.1, adam_eps=1e-8)
    assert deep.configure("ddqn", rnd=True) == deep.configure("ddqn_rnd")
    assert "bonus" not in deep.describe(config)
    with pytest.raises(InputError, match="eta_rnd is -1"):
        deep.configure("jekyll_hyde", "recommended_0_3", eta_rnd=-1)
    digests = {
        (agent, name): hashlib.sha256(
            repr(
                [deep.describe(deep.configure(agent, name, level=i, gamma=0.9)) for i in (1, 2)]
            ).encode()
        ).hexdigest()[:12]
        for agent in deep.ALGORITHMS
        for name in deep.CONFIGS
        if name not in ("recommended", "released")  # which came later
    }
    assert digests == DIGESTS


DIGESTS: dict[tuple[str, str], str] = {
    ("jekyll_hyde", "published"): "aaea7d4ddf74",
    ("jekyll_hyde", "paper"): "e4e00a9e66c2",
    ("jekyll_hyde", "recommended_0_3"): "a15e3b47059c",
    ("ddqn", "published"): "2c5b39842208",
    ("ddqn", "paper"): "f88db5b4a583",
    ("ddqn", "recommended_0_3"): "82ec57196cca",
    ("ddqn_rnd", "published"): "852e64d8377d",
    ("ddqn_rnd", "paper"): "d06f606ebeeb",
    ("ddqn_rnd", "recommended_0_3"): "ef348ea4dabc",
    ("bootstrapped_dqn", "published"): "06ccea576b27",
    ("bootstrapped_dqn", "paper"): "06ccea576b27",
    ("bootstrapped_dqn", "recommended_0_3"): "06ccea576b27",
    ("sac", "published"): "8b20f49ddb09",
    ("sac", "paper"): "c171be47e389",
    ("sac", "recommended_0_3"): "02cfff75d96d",
    ("sac_rnd", "published"): "9c5e4a17ab92",
    ("sac_rnd", "paper"): "d0674a3f13d4",
    ("sac_rnd", "recommended_0_3"): "937e4f935b22",
}
