"""Trials of settings, for a GPU; not part of what is released."""
import json, os, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp, numpy as np
from scipy import sparse
from jekyllhyde.deep import Batch, make_case
from jekyllhyde.mdp.deep_sea import deep_sea
from jekyllhyde.mdp.finite import FiniteMDP

def case(n, settings, config="recommended", **options):
    if n > 2:
        return make_case("deep_sea", "jekyll_hyde", config, settings, n=n, **options)
    return make_case("four_rooms", "jekyll_hyde", config, settings, level=n)

def trial(name, n, fixed, settings, seeds, episodes, every, seed=7, config="recommended"):
    return name, n, list(settings), Batch("jekyll_hyde", [case(n, {**fixed, **each}, config) for each in settings.values()], seeds=seeds, episodes=episodes, seed=seed, every=every)

def report(name, n, labels, batch, programs, out):
    start = time.perf_counter()
    results = batch.run(programs)
    seconds = time.perf_counter() - start
    steps = sum(int(r.step[:, -1].sum()) for r in results)
    print(f"== {name} n={n}: {seconds:.1f} s, {steps/seconds:.0f} steps/s", flush=True)
    for label, r in zip(labels, results):
        ok = r.solved(0.02 if n > 2 else 0.5)
        first = np.where(ok.any(1), r.episode[ok.argmax(1)], -1)
        keep = (ok.sum(1) / np.maximum(1, ok.shape[1] - ok.argmax(1)) * ok.any(1)).mean()
        S = r.pi.shape[2]
        if n > 2:
            corner = r.arrivals[:, :, :, n * n - 1]  # seeds, E, who
            seen = corner.sum(2) > 0
            reached = np.where(seen.any(1), r.episode[seen.argmax(1)], -1)
            cover = (r.arrivals.sum(2) > 0).sum(2).mean(0) / (n * (n + 1) / 2)
            by = [f"{cover[i]:.2f}" for i in np.linspace(0, len(cover) - 1, 6).astype(int)]
        else:
            reached, by = [], []
        share = r.arrivals[:, -1, 1].sum(1) / r.arrivals[:, -1].sum((1, 2))
        half = len(r.episode) // 2
        late = (r.arrivals[:, -1, 1] - r.arrivals[:, half, 1]).sum(1) / (r.arrivals[:, -1] - r.arrivals[:, half]).sum((1, 2))
        print(f"  {label:28s} end {ok[:, -1].mean():.2f} keep {keep:.2f} first {sorted(first.tolist())} corner {sorted(list(map(int, reached)))} cover {' '.join(by)} hyde {share.mean():.2f} late {late.mean():.2f}", flush=True)

def go(trials, out):
    start = time.perf_counter()
    with ThreadPoolExecutor(16) as pool:
        programs = list(pool.map(lambda t: t[3].compile(), trials))
    print(f"compiled in {time.perf_counter()-start:.1f} s", flush=True)
    for t, p in zip(trials, programs):
        report(*t, p, out)

C = "counts(decay={})"
def numbers():
    return {
        "base": {},
        "decay 1": {"bonus": "counts(decay=1.0)"},
        "decay 8": {"bonus": "counts(decay=8.0)"},
        "bonus power 1": {"bonus": "counts(power=1.0)"},
        "noise 0.1": {"hyde_noise": 0.1},
        "eta_hyde 3e-3": {"eta_hyde": 3e-3},
        "eta_hyde 3e-4": {"eta_hyde": 3e-4},
        "tau_hyde 0.05": {"tau_hyde": 0.05},
        "adam_eps 1e-8": {"adam_eps": 1e-8},
        "eta_c 3e-3": {"eta_c": 3e-3},
    }

PARTS = {
    "tiny": lambda: [trial("tiny", 5, {}, {"base": {}, "d": {"bonus": "counts(decay=1.0)"}}, 2, 60, 10)],
    "one": lambda: [
        trial("numbers", 30, {}, numbers(), 4, 1500, 25),
        trial("base", 50, {}, {"base": {}, "eps": {"adam_eps": 1e-8}}, 4, 1500, 50),
        trial("rooms", 1, {}, {"base": {}, "eps": {"adam_eps": 1e-8}}, 8, 400, 10),
        trial("rooms", 2, {}, {"base": {}, "eps": {"adam_eps": 1e-8}}, 8, 400, 10),
    ],
}
if __name__ == "__main__":
    for part in sys.argv[2:]:
        go(PARTS[part](), sys.argv[1])
