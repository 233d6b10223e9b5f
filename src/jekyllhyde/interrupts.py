"""Ctrl-C between two steps of learning, never within one.

A KeyboardInterrupt may come between any two instructions, also between the end of an update and
the assignment of its result. Within `Interrupts` the first Ctrl-C waits for the end of the step; a
second one comes at once, for an environment may never return, but never while a step is taken
over. Handlers of the user's own are called at the same moments.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """`let_in` is called between steps; `is_closed` is true while a step is taken over."""

    def __init__(self) -> None:
        self.is_closed = self._is_waiting = False
        self._handler: Any = None  # none where Ctrl-C is ignored, or belongs to another thread

    def __enter__(self) -> Self:
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler) and threading.current_thread() is threading.main_thread():
            self._handler = handler
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        self.is_closed = False
        self.let_in()

    def let_in(self) -> None:
        """Interrupt now, where Ctrl-C was pressed."""
        if self._is_waiting:
            self._is_waiting = False
            self._handler(signal.SIGINT, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._is_waiting and not self.is_closed:
            self._is_waiting = False
            self._handler(number, frame)
        else:
            self._is_waiting = True
