"""How JAX's compiler is used: what it makes is kept on disk, runs in the thread that asks, copies
nothing that can be changed in place, and is forgotten before there is too much of it.
"""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jax

MAPS = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")


def keep_compiled() -> Any:
    """Keep what JAX compiles in `$XDG_CACHE_HOME/jekyllhyde/jax`, by default under `~/.cache`, and
    say where; not where that is impossible, nor where JAX has been told otherwise.
    """
    config: Any = jax.config
    if config.jax_compilation_cache_dir is None:
        # there may be no home, or one that cannot be written
        with suppress(OSError, RuntimeError):
            folder = Path(
                os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "jekyllhyde/jax"
            )
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                config.update("jax_compilation_cache_dir", str(folder))
    return config.jax_compilation_cache_dir


def stay_in_thread() -> None:
    """Let JAX compute on the CPU in the thread that asks, unless it has begun already: each step
    waits for its outcome, and changes of threads would cost a tenth of it.
    """
    with suppress(AttributeError):  # not every version has a choice
        config: Any = jax.config
        config.update("jax_cpu_enable_async_dispatch", False)


@cache
def in_place() -> dict[str, Any]:
    """Options with which the compiler sees that what is read from an array may be read before the
    array is written to, on the CPU. Without them it copies replay with every step where
    observations are long: some twenty times slower with 144 numbers.
    """
    options = {"xla_cpu_copy_insertion_use_region_analysis": True}
    if jax.default_backend() == "cpu":
        with suppress(Exception):  # not every version has that option
            jax.jit(lambda x: x, compiler_options=options)(0.0)
            return options
    return {}


def leave_room(share: float = 0.25) -> bool:
    """Forget compiled programs once the process has that share of the mappings that Linux allows
    it, and say whether: what is used again is loaded again.

    An agent's programs take about 1,200 mappings, and without this the fiftieth kind of agent in
    one process would end it with a segmentation fault.
    """
    with suppress(OSError, ValueError):  # other systems have no such files, and no such limit
        used, allowed = MAPS
        with used.open("rb") as lines:
            is_crowded = sum(1 for _ in lines) > share * int(allowed.read_text())
        if is_crowded:
            untyped: Any = jax
            untyped.clear_caches()
        return is_crowded
    return False
