"""The floor's progress bar."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jekyllhyde.errors import plain


@contextmanager
def progress_bar(total: int | None, title: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error, at a terminal only; what it yields is called with what was
    done since the last call.
    """
    from rich import console, progress

    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console.Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task(plain(title), total=total)
    with bar:
        yield lambda count: bar.advance(task, count)
