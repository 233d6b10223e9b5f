"""`report.html` of a training, or of several to compare: one page that needs nothing else."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde import __version__, intervals
from jekyllhyde.agent import LAST
from jekyllhyde.cli.training_folder import curves, read_config, running_mean
from jekyllhyde.errors import need
from jekyllhyde.files import write_text
from jekyllhyde.plotting import COLOURS

MARGIN = {"l": 50, "r": 20, "t": 30, "b": 40}  # of a chart, in pixels
TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
td, th { padding: .1rem .8rem .1rem 0 } h1, h2 { overflow-wrap: anywhere }
td, th { text-align: left; border-bottom: 1px solid #ddd; overflow-wrap: anywhere }
td.number { text-align: right; font-variant-numeric: tabular-nums }
code { background: #f4f4f4; overflow-wrap: anywhere } figure { margin: 1rem 0 }
</style><script>{{ plotly | safe }}</script></head><body>
<h1>{{ title }}</h1>
<table><tr><th>training<th>steps<th>episodes<th>return, last {{ last }}<th>last evaluation</tr>
{% for row in summary %}<tr>{% for cell in row %}<td{% if not loop.first %} class="number"{% endif
%}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</table>
{% for heading, words, chart in charts %}<h2>{{ heading }}</h2><p>{{ words }}</p>
<figure>{{ chart | safe }}</figure>{% endfor %}
{% for name, tables in provenance.items() %}<h2>{{ name }}</h2>
<p><code>{{ tables.run.command }}</code></p>
<table>{% for title in ("settings", "versions", "hardware") %}<tr><th colspan="2">{{ title }}</tr>
{% for key, value in tables[title].items() %}<tr><td>{{ key }}<td>{{ value }}</tr>{% endfor %}
{% endfor %}</table>{% endfor %}
<p>jekyllhyde {{ version }}</p></body></html>
"""


def write_page(path: Path, trainings: Mapping[Path, Sequence[Any]]) -> str:
    """Write the page on trainings, agents by their folder; returns its name."""
    need("plot")
    import jinja2
    from plotly.offline import get_plotlyjs

    title = " and ".join(_named(trainings))
    charts = [
        (
            "Returns",
            f"Undiscounted, running means of {LAST} episodes; bands are 95 % intervals over runs.",
            _chart({name: curves(agents) for name, agents in _named(trainings).items()}, "return"),
        ),
        (
            "Who led when",
            f"Share of the last {LAST} episodes that Hyde led.",
            _chart({name: _led(agents) for name, agents in _named(trainings).items()}, "share"),
        ),
    ]
    charts += _beliefs(trainings)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    page = environment.from_string(TEMPLATE).render(
        title=title,
        last=LAST,
        summary=[_summary(name, agents) for name, agents in _named(trainings).items()],
        charts=charts,
        provenance=dict(zip(_named(trainings), map(read_config, trainings), strict=True)),
        version=__version__,
        plotly=get_plotlyjs(),
    )
    write_text(path, page)
    return str(path)


def _named(trainings: Mapping[Path, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    # by the last parts of their paths, as many as tell them apart
    paths = [folder.resolve().parts for folder in trainings]
    for n in range(1, max(map(len, paths)) + 1):
        names = ["/".join(parts[-n:]) for parts in paths]
        if len(set(names)) == len(names):
            break
    return dict(zip(names, trainings.values(), strict=True))


def _summary(name: str, agents: Sequence[Any]) -> list[str]:
    steps = sum(agent.steps for agent in agents)
    episodes = sum(len(agent.episodes) for agent in agents)
    last = [agent.episodes.returns[-LAST:].mean() for agent in agents if len(agent.episodes)]
    evaluations = [agent.evaluations[-1]["mean"] for agent in agents if agent.evaluations]
    return [name, f"{steps}", f"{episodes}", _interval(last), _interval(evaluations)]


def _interval(values: Sequence[float]) -> str:
    if not values:
        return "-"
    mean, lo, hi = (float(x) for x in intervals.summarize(np.array(values), "mean"))
    return f"{mean:.4g}" if len(values) == 1 else f"{mean:.4g} [{lo:.4g}, {hi:.4g}]"


def _led(agents: Sequence[Any]) -> dict[str, Any]:
    end = min((int(agent.episodes.steps.max(initial=0)) for agent in agents), default=0)
    grid = np.linspace(0, end, 200)
    shares = [
        np.interp(grid, agent.episodes.steps, running_mean(agent.episodes.hyde))
        for agent in agents
        if len(agent.episodes)
    ]
    if not shares:
        return {}
    return {"Hyde": (grid, *intervals.summarize(np.array(shares), "mean"))}


def _chart(lines: Mapping[str, Mapping[str, Any]], ylabel: str) -> str:
    from plotly import graph_objects

    figure = graph_objects.Figure()
    labelled = [(name, key, line) for name, group in lines.items() for key, line in group.items()]
    for i, (name, key, (x, y, *band)) in enumerate(labelled):
        colour = COLOURS[i % len(COLOURS)]
        label = key if len(lines) == 1 else f"{name}: {key}"
        if band:
            edge: dict[str, Any] = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
            edge |= {"showlegend": False, "legendgroup": label}
            figure.add_scatter(x=x, y=band[0], **edge)
            red, green, blue = (int(colour[j : j + 2], 16) for j in (1, 3, 5))
            fill = f"rgba({red}, {green}, {blue}, 0.2)"
            figure.add_scatter(x=x, y=band[1], fill="tonexty", fillcolor=fill, **edge)
        figure.add_scatter(x=x, y=y, name=label, legendgroup=label, line={"color": colour})
    figure.update_layout(
        xaxis_title="environment steps",
        yaxis_title=ylabel,
        template="simple_white",
        legend={"orientation": "h", "y": -0.25},
        height=420,
        margin=MARGIN,
    )
    return _html(figure)


def _beliefs(trainings: Mapping[Path, Sequence[Any]]) -> list[tuple[str, str, str]]:
    # What each personality believes on a grid: Jekyll's values, Hyde's values, visits.
    from plotly import graph_objects

    shown = []
    for name, (agent, *_) in _named(trainings).items():
        shape = grid_shape(agent)
        if shape is None:
            continue
        states = np.arange(np.prod(shape)) + agent.env.observation_space.start
        tables = {"Jekyll's value": agent.q(states).max(axis=1)}
        if agent.has_hyde:
            tables["Hyde's value"] = agent.hyde.q(states).max(axis=1)
        tables["visits, log10(1 + n)"] = np.log10(1 + _visits(agent, len(states)))
        for title, values in tables.items():
            finite = np.where(np.isfinite(values), values, np.nan).reshape(shape)
            figure = graph_objects.Figure(graph_objects.Heatmap(z=finite, colorscale="Viridis"))
            figure.update_xaxes(constrain="domain")
            figure.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain")
            figure.update_layout(height=320, template="simple_white", margin=MARGIN)
            shown.append((f"{title} ({name}, run 0)", "One cell per state.", _html(figure)))
    return shown


def _visits(agent: Any, n_states: int) -> Any:
    # How often each state was left; with networks, as far as replay goes back.
    if hasattr(agent, "tables"):
        return agent.tables.n.sum(axis=1)
    replay = agent.state.everyone
    seen = np.asarray(replay.data.observation)[: int(replay.size)]
    return np.bincount(seen, minlength=n_states)


def grid_shape(agent: Any) -> tuple[int, int] | None:
    """Rows and columns of an environment whose states are the cells of a grid, such as FrozenLake
    and CliffWalking.
    """
    inner = getattr(agent.env, "unwrapped", None)
    shape = getattr(getattr(inner, "desc", None), "shape", getattr(inner, "shape", None))
    n_states = getattr(getattr(agent.env, "observation_space", None), "n", None)
    is_grid = isinstance(shape, tuple) and len(shape) == 2 and np.prod(shape) == n_states
    return (int(shape[0]), int(shape[1])) if is_grid and shape is not None else None


def _html(figure: Any) -> str:
    text: str = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        default_width="100%",
        config={"displaylogo": False, "responsive": True},
    )
    return text
