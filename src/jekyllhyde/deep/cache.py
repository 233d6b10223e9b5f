"""What JAX compiles is kept on disk between processes: in `$XDG_CACHE_HOME/jekyllhyde/jax`, by
default under `~/.cache`.
"""

import os
from pathlib import Path

import jax


def keep_compiled() -> Path | None:
    """Keep compiled programs on disk, and say where; not where that is impossible, nor where JAX
    has been told otherwise.
    """
    chosen = getattr(
        jax.config, "jax_compilation_cache_dir", None
    )  # by its environment variable, by the caller, or here before
    if chosen is not None:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(home) if home else Path.home() / ".cache") / "jekyllhyde" / "jax"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home, or one that cannot be written
        return None
    if not os.access(folder, os.W_OK):
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))  # type: ignore[no-untyped-call]
    return folder
